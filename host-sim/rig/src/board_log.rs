//! The boards' logs: streams of defmt frames, decoded.

use std::path::Path;

use defmt_decoder::{DecodeError, Frame, Locations, StreamDecoder, Table};
use defmt_parser::Level;

#[derive(Clone, Debug, PartialEq)]
pub struct BoardLine {
    /// When the board had written it, by the clock of whoever reads the stream.
    pub at: u64,
    pub board: usize,
    /// When it was written by the board's own clock, in seconds, if the firmware stamps its lines.
    pub stamp: Option<f64>,
    /// How severe it is; `None` for plain output.
    pub level: Option<Level>,
    pub text: String,
    /// File and line of the statement, if the firmware has debug information.
    pub place: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read its defmt table: {0}")]
pub struct BadLogTable(String);

pub struct LogFormat {
    table: Option<Table>,
    locations: Option<Locations>,
}

impl LogFormat {
    /// From the firmware's ELF file. A firmware without defmt has no log; that is no error.
    pub fn of_elf(elf: &[u8]) -> Result<Self, BadLogTable> {
        let table = Table::parse(elf).map_err(|error| BadLogTable(error.to_string()))?;
        let locations = table.as_ref().and_then(|table| table.get_locations(elf).ok());
        Ok(LogFormat { table, locations })
    }

    /// Of a firmware that writes no log.
    pub fn none() -> Self {
        LogFormat {
            table: None,
            locations: None,
        }
    }

    pub fn readers(&self, boards: usize) -> LogReaders<'_> {
        LogReaders::new((0..boards).map(|_| self))
    }

    fn line(&self, at: u64, board: usize, frame: &Frame<'_>) -> BoardLine {
        let locations = self.locations.as_ref();
        let location = locations.and_then(|locations| locations.get(&frame.index()));
        let place = location.map(|location| {
            let file = location.file.file_name().map_or(Path::new(""), Path::new);
            format!("{}:{}", file.display(), location.line)
        });
        let stamp = frame.display_timestamp();
        BoardLine {
            at,
            board,
            stamp: stamp.and_then(|stamp| stamp.to_string().parse().ok()),

            level: frame.level(),
            text: frame.display_message().to_string(),
            place,
        }
    }
}

pub struct LogReaders<'t> {
    formats: Vec<&'t LogFormat>,
    decoders: Vec<Option<Box<dyn StreamDecoder + Send + Sync + 't>>>,
    /// Pieces of logs that were no defmt frames.
    pub undecodable: u64,
}

impl<'t> LogReaders<'t> {
    /// For boards with the firmware of each.
    pub fn new(formats: impl IntoIterator<Item = &'t LogFormat>) -> Self {
        let formats: Vec<&LogFormat> = formats.into_iter().collect();
        let decoder = |format: &&'t LogFormat| format.table.as_ref().map(|table| table.new_stream_decoder());
        LogReaders {
            decoders: formats.iter().map(decoder).collect(),
            formats,
            undecodable: 0,
        }
    }

    /// The lines that are complete with these bytes of a board's stream.
    pub fn decode(&mut self, board: usize, at: u64, bytes: &[u8]) -> Vec<BoardLine> {
        let mut lines = Vec::new();
        let format = self.formats[board];
        let Some(decoder) = &mut self.decoders[board] else {
            return lines;
        };
        decoder.received(bytes);
        loop {
            match decoder.decode() {
                Ok(frame) => lines.push(format.line(at, board, &frame)),
                Err(DecodeError::UnexpectedEof) => return lines,
                Err(DecodeError::Malformed) => {
                    self.undecodable += 1;
                    let table = format.table.as_ref();
                    if !table.is_some_and(|table| table.encoding().can_recover()) {
                        return lines;
                    }
                }
            }
        }
    }
}
