//! Where logs come from: emulated boards, recorded streams, and probe-rs at real boards. Each gives its lines to a
//! [`Capture`].

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use hopwise_core::wire::{Pattern, Traffic};
use hopwise_emulate::log::{BoardLine, LogFormat};
use hopwise_emulate::setup::{self, Differences};
use hopwise_emulator::time::{MILLISECOND, SECOND, Time};

use super::capture::{CannotCapture, Capture, LogLine};
use super::emulated::{CannotEmulate, Firmware, blueprint};
use super::mesh::Mesh;

/// How often emulated boards' logs are read.
const SLICE: Time = 10 * MILLISECOND;
/// Emulated boards are switched on one after the other, as by hand, within this.
const STARTS_WITHIN: Time = 200 * MILLISECOND;
/// How far off their crystals are.
const DRIFT_PPM: f64 = 30.0;
/// How often a look is taken at whether to end.
const LOOK: Duration = Duration::from_millis(50);
/// Streams are read in pieces of this size.
const PIECE: usize = 1 << 16;

/// No line of a log has more bytes.
const LONGEST_LINE: usize = 1 << 16;

/// What probe-rs prints for each line: time, level, text. The mark between them is in no time and no level.
const FORMAT: &str = "{t}|{L}|{s}";

/// How emulated boards run.
#[derive(Clone, Debug)]
pub struct EmulatedRun {
    /// Decides all that happens by chance.
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

/// The lines of real boards, through a probe-rs program at each, until the time is over, all programs have ended, or `stop` is
/// set.
pub fn from_probes(
    mesh: &Mesh,
    program: &str,
    elf: &Path,
    duration: Option<Duration>,
    capture: &mut Capture<'_>,
    stop: &AtomicBool,
) -> Result<(), CannotCapture> {
    let probes = Probes::start(program, mesh, elf)?;
    let begin = Instant::now();
    let end = duration.map(|duration| begin + duration);
    while !stop.load(Ordering::Relaxed) && end.is_none_or(|end| Instant::now() < end) {
        match probes.lines.recv_timeout(LOOK) {
            Ok((node, line, at)) => match read_line(&line) {
                Some((stamp, level, text)) => capture.add(&LogLine {
                    node,
                    stamp,
                    arrived: Some(at.duration_since(begin).as_secs_f64()),
                    level,
                    text,
                })?,
                None => capture.undecodable += 1,
            },
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok(())
}

/// The arguments of probe-rs for the log of a board. Unless told otherwise it halts a board at its next reset or hard fault,
/// and leaves it halted: a board that restarts by itself would be dead until its power is cut.
fn arguments(mesh: &Mesh, probe: &str, elf: &Path) -> Vec<String> {
    let elf = elf.display().to_string();
    let words = [
        "attach",
        "--no-catch-reset",
        "--no-catch-hardfault",
        "--chip",
        mesh.kind.chip,
        "--probe",
        probe,
        "--log-format",
        FORMAT,
        &elf,
    ];
    words.map(String::from).to_vec()
}

/// The lines of a program, each up to [`LONGEST_LINE`]; the rest of a longer one is passed over.
struct BoundedLines<R>(R);

impl<R: BufRead> Iterator for BoundedLines<R> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut line = Vec::new();
        let read = self.0.by_ref().take(LONGEST_LINE as u64).read_until(b'\n', &mut line);
        if read.ok()? == 0 {
            return None;
        }
        match line.last() {
            Some(b'\n') => drop(line.pop()),
            _ => drop(self.0.skip_until(b'\n')),
        }
        Some(String::from_utf8_lossy(&line).into_owned())
    }
}

/// A line as probe-rs prints it: time in seconds, level, text.
fn read_line(line: &str) -> Option<(f64, &'static str, String)> {
    let (time, rest) = line.split_once('|')?;
    let (level, text) = rest.split_once('|')?;
    let time = time.trim().parse().ok()?;
    Some((time, level_name(level.trim()), text.trim_end().to_string()))
}

/// The levels of defmt, from the least severe.
pub const LEVELS: [&str; 5] = ["trace", "debug", "info", "warn", "error"];

/// What has no level is as important as information.
fn level_name(level: &str) -> &'static str {
    LEVELS
        .into_iter()
        .find(|name| name.eq_ignore_ascii_case(level))
        .unwrap_or("info")
}

/// A probe-rs program at every board.
struct Probes {
    children: Vec<Child>,
    lines: Receiver<(u64, String, Instant)>,
}

impl Probes {
    fn start(program: &str, mesh: &Mesh, elf: &Path) -> Result<Self, CannotCapture> {
        let (sender, lines) = channel();
        let mut probes = Probes {
            children: Vec::new(),
            lines,
        };
        let with_probe = mesh.nodes().filter_map(|node| Some((node, mesh.probe(node)?)));
        for (node, probe) in with_probe {
            let child = Command::new(program)
                .args(arguments(mesh, &probe, elf))
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .spawn();
            let mut child = child.map_err(|error| CannotCapture::Program {
                program: program.into(),
                error,
            })?;
            if let Some(output) = child.stdout.take() {
                let sender: Sender<_> = sender.clone();
                std::thread::spawn(move || {
                    let lines = BoundedLines(BufReader::new(output));
                    // Nobody listens any more: that is the end.
                    lines
                        .map(|line| sender.send((node, line, Instant::now())))
                        .take_while(Result::is_ok)
                        .count()
                });
            }
            probes.children.push(child);
        }
        match probes.children.is_empty() {
            true => Err(CannotCapture::NoProbes),
            false => Ok(probes),
        }
    }
}

impl Drop for Probes {
    fn drop(&mut self) {
        for child in &mut self.children {
            // One that has ended by itself is fine, too.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_end_is_not_held() {
        let long = "x".repeat(10 * LONGEST_LINE);
        let text = format!("one\n{long}\n\u{1b}two\nthree");
        let lines: Vec<String> = BoundedLines(text.as_bytes()).collect();
        assert_eq!(lines, ["one", &long[..LONGEST_LINE], "\u{1b}two", "three"]);
        let bytes = BoundedLines(&b"\xff\nfour\n"[..]).collect::<Vec<_>>();
        assert_eq!(bytes, ["\u{fffd}", "four"], "one bad line does not end a log");
    }

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
