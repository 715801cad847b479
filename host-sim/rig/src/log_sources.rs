//! Where logs come from, besides [real boards](super::probe_logs): emulated boards, recorded streams, and what a capture has left that
//! did not come to its end. Each gives its lines to a [`Capture`].

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use hopwise_emulate::log::{BoardLine, LogFormat};
use hopwise_emulate::setup::{self, Differences};
use hopwise_emulator::time::{MILLISECOND, SECOND, Time};
use hopwise_node::wire::{Pattern, Traffic};
use hopwise_trace::reader::Reader;

use super::capture::{CannotCapture, Capture, LogLine};
use super::emulated::{CannotEmulate, Firmware, blueprint};
use super::mesh::Mesh;

/// How often emulated boards' logs are read.
const SLICE: Time = 10 * MILLISECOND;
/// Emulated boards are switched on one after the other, as by hand, within this.
const STARTS_WITHIN: Time = 200 * MILLISECOND;
/// How far off their crystals are.
const DRIFT_PPM: f64 = 30.0;
/// Streams are read in pieces of this size.
const PIECE: usize = 1 << 16;

/// How emulated boards run.
#[derive(Clone, Debug)]
pub struct EmulatedRun {
    /// Decides everything that is random.
    pub seed: u64,
    /// How long.
    pub duration: Time,
    /// Packets a second that each board sends, besides what the mesh file says.
    pub traffic: Option<u32>,
    /// Where the streams are kept, as `0.rtt`, `1.rtt` ...
    pub record: Option<PathBuf>,
}

/// The lines of emulated boards, with clocks that differ, until the time is over or `stop` is set.
pub fn from_emulated(
    mesh: &Mesh,
    firmware: &Firmware,
    run: &EmulatedRun,
    capture: &mut Capture<'_>,
    stop: &AtomicBool,
) -> Result<(), CannotCapture> {
    let mut mesh = mesh.clone();
    mesh.log_packets = true;
    if let Some(rate) = run.traffic {
        mesh.traffic = Some(Traffic {
            rate,
            count: 0,
            pattern: Pattern::Uniform,
            size: 32,
        });
    }
    let format = log_format(&firmware.elf)?;
    let mut blueprint = blueprint(&mesh)?;
    let nodes = mesh.network.nodes();
    // In another order than that of their numbers.
    blueprint.starts = mesh
        .nodes()
        .map(|node| STARTS_WITHIN * (node * 7 % nodes) / nodes)
        .collect();
    let differences = Differences {
        seed: run.seed,
        drift_ppm: DRIFT_PPM,
    };
    let assembled = setup::assemble(&blueprint, &firmware.image, differences);
    let mut world = assembled.map_err(CannotEmulate::Build)?;
    let mut streams = run.record.as_deref().map(Streams::create).transpose()?;
    let mut readers = format.readers(world.boards().len());
    while world.now() < run.duration && !stop.load(Ordering::Relaxed) {
        world.run_until((world.now() + SLICE).min(run.duration));
        let mut lines = Vec::new();
        for (board, emulated) in world.boards_mut().iter_mut().enumerate() {
            for (at, bytes) in emulated.take_log() {
                lines.extend(readers.decode(board, at, &bytes));
                if let Some(streams) = &mut streams {
                    streams.append(board, &bytes)?;
                }
            }
        }
        lines.sort_by_key(|line| (line.at, line.board));
        for line in lines {
            let arrived = line.at as f64 / SECOND as f64;
            capture.add(&log_line(line, Some(arrived)))?;
        }
    }
    capture.undecodable += readers.undecodable;
    streams.map_or(Ok(()), Streams::finish)
}

fn log_format(elf: &[u8]) -> Result<LogFormat, CannotCapture> {
    LogFormat::of_elf(elf).map_err(|error| CannotCapture::Log(error.into()))
}

fn log_line(line: BoardLine, arrived: Option<f64>) -> LogLine {
    LogLine {
        node: line.board as u64,
        // A line without a stamp is about as old as its arrival.
        stamp: line.stamp.or(arrived).unwrap_or(0.0),
        arrived,
        level: line.level.map_or("info", |level| level_name(level.as_str())),
        text: line.text,
    }
}

/// A folder with the streams of boards. Streams that are there are replaced when the new ones are whole.
struct Streams<'a> {
    folder: &'a Path,
    /// Boards whose stream has been begun.
    begun: Vec<bool>,
}

impl<'a> Streams<'a> {
    fn create(folder: &'a Path) -> Result<Self, CannotCapture> {
        std::fs::create_dir_all(folder).map_err(|error| cannot_write(folder, error))?;
        Ok(Streams {
            folder,
            begun: Vec::new(),
        })
    }

    fn append(&mut self, board: usize, bytes: &[u8]) -> Result<(), CannotCapture> {
        let path = partial_stream_of(self.folder, board as u64);
        if self.begun.len() <= board {
            self.begun.resize(board + 1, false);
        }
        let begun = std::mem::replace(&mut self.begun[board], true);
        let mut options = OpenOptions::new();
        // Opened for each piece: there may be more boards than files can be open.
        let opened = match begun {
            true => options.append(true).open(&path),
            false => File::create(&path),
        };
        let written = opened.and_then(|mut file| file.write_all(bytes));
        written.map_err(|error| cannot_write(&path, error))
    }

    fn finish(self) -> Result<(), CannotCapture> {
        let begun = self.begun.iter().zip(0..).filter(|(begun, _)| **begun);
        for (_, board) in begun {
            let path = stream_of(self.folder, board);
            std::fs::rename(partial_stream_of(self.folder, board), &path)
                .map_err(|error| cannot_write(&path, error))?;
        }
        Ok(())
    }
}

fn stream_of(folder: &Path, node: u64) -> PathBuf {
    folder.join(format!("{node}.rtt"))
}

fn partial_stream_of(folder: &Path, node: u64) -> PathBuf {
    folder.join(format!("{node}.rtt.partial"))
}

fn cannot_write(path: &Path, error: io::Error) -> CannotCapture {
    CannotCapture::Output {
        path: path.to_path_buf(),
        error,
    }
}

/// The lines of recorded streams: the bytes of the log channel of node 3 are in `3.rtt`.
pub fn from_streams(mesh: &Mesh, elf: &Path, folder: &Path, capture: &mut Capture<'_>) -> Result<(), CannotCapture> {
    let unreadable = |path: &Path, error| CannotCapture::Input {
        path: path.to_path_buf(),
        error,
    };
    let format = log_format(&std::fs::read(elf).map_err(|error| unreadable(elf, error))?)?;
    let mut readers = format.readers(mesh.network.nodes() as usize);
    let mut piece = vec![0; PIECE];
    let mut lines = 0;
    for node in mesh.nodes() {
        let path = stream_of(folder, node);
        if !path.exists() {
            continue;
        }
        let mut stream = File::open(&path).map_err(|error| unreadable(&path, error))?;
        loop {
            match stream.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => {
                    for line in readers.decode(node as usize, 0, &piece[..count]) {
                        lines += 1;
                        capture.add(&log_line(line, None))?;
                    }
                }
                Err(error) => return Err(unreadable(&path, error)),
            }
        }
    }
    capture.undecodable += readers.undecodable;
    match lines {
        0 => Err(CannotCapture::NoStreams(folder.to_path_buf())),
        _ => Ok(()),
    }
}

/// The lines that a capture has left which did not come to its end.
pub fn from_unaligned(path: &Path, capture: &mut Capture<'_>) -> Result<(), CannotCapture> {
    let unreadable = |error| CannotCapture::Input {
        path: path.to_path_buf(),
        error,
    };
    let bad = |error| CannotCapture::ReadBack {
        path: path.to_path_buf(),
        error,
    };
    let mut reader = Reader::new(BufReader::new(File::open(path).map_err(unreadable)?)).map_err(bad)?;
    for line in reader.by_ref() {
        capture.add_again(&line.map_err(bad)?)?;
    }
    capture.undecodable += u64::from(reader.cut().is_some());
    Ok(())
}

/// The levels of defmt, from the least severe.
pub const LEVELS: [&str; 5] = ["trace", "debug", "info", "warn", "error"];

/// What has no level is as important as information.
pub(crate) fn level_name(level: &str) -> &'static str {
    LEVELS
        .into_iter()
        .find(|name| name.eq_ignore_ascii_case(level))
        .unwrap_or("info")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_what_they_were_until_the_new_ones_are_whole() {
        let folder = std::env::temp_dir().join(format!("hopwise-streams-{}", std::process::id()));
        let read = || std::fs::read_to_string(stream_of(&folder, 0)).unwrap();
        let mut streams = Streams::create(&folder).unwrap();
        streams.append(0, b"good").unwrap();
        streams.finish().unwrap();
        let mut streams = Streams::create(&folder).unwrap();
        streams.append(0, b"bet").unwrap();
        assert_eq!(read(), "good");
        drop(streams);
        let mut streams = Streams::create(&folder).unwrap();
        streams.append(0, b"bett").unwrap();
        streams.append(0, b"er").unwrap();
        streams.finish().unwrap();
        assert_eq!(read(), "better");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
