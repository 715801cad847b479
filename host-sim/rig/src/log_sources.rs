//! Where logs come from, besides [boards at probes](super::probe_logs): recorded streams, and what a capture has left that did not come
//! to its end. Each gives its lines to a [`Capture`].

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use hopwise_trace::reader::Reader;

use super::board_log::{BoardLine, LogFormat};
use super::capture::{CannotCapture, Capture, LogLine};
use super::mesh::Mesh;

const PIECE: usize = 1 << 16;

/// A line as a capture takes it, with when it arrived if that is known.
pub fn log_line(line: BoardLine, arrived: Option<f64>) -> LogLine {
    LogLine {
        node: line.board as u64,
        // A line without a stamp is about as old as its arrival.
        stamp: line.stamp.or(arrived).unwrap_or(0.0),
        arrived,
        level: line.level.map_or("info", |level| level_name(level.as_str())),
        text: line.text,
    }
}

pub fn stream_of(folder: &Path, node: u64) -> PathBuf {
    folder.join(format!("{node}.rtt"))
}

/// The lines of recorded streams: the bytes of the log channel of node 3 are in `3.rtt`.
pub fn from_streams(mesh: &Mesh, elf: &Path, folder: &Path, capture: &mut Capture<'_>) -> Result<(), CannotCapture> {
    let unreadable = |path: &Path, error| CannotCapture::Input {
        path: path.to_path_buf(),
        error,
    };
    let format = LogFormat::of_elf(
        &hopwise_files::read(elf, hopwise_files::MAX_IMAGE).map_err(|error| unreadable(elf, error))?,
    )?;
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
    let mut names = LEVELS.into_iter();
    names.find(|name| name.eq_ignore_ascii_case(level)).unwrap_or("info")
}
