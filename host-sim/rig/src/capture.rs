//! The logs of all boards as one trace on one time line.
//!
//! Lines go to disk as they come, each at once, into a trace of its own beside the output, in which every board has the time of its own
//! clock: of a capture that is killed, all lines that came are there, and [`from_unaligned`](super::log_sources::from_unaligned) takes
//! them up. When
//! all lines are there, the clocks are [aligned](super::clocks) by the time of the mesh as boards tell it, and from the packets that went from board to board, and the trace is
//! written by the common time. The output is replaced in the end, when all of it is there. A capture of any
//! length takes the same memory.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use hopwise_figures::LONGEST_TEXT;
use hopwise_files::{NewFile, check_writable};
use hopwise_node::router::Event;
use hopwise_trace::line::{Header, Nanos, Record, TraceLine};
use hopwise_trace::reader::{BadTrace, Reader};
use hopwise_trace::text::read_event;
use hopwise_trace::writer::Writer;
use serde::Serialize;

use super::board_log::BadLogTable;
use super::clock_notes::{ClockKey, Clocks};

use super::live::{HELD_BACK, Live};
use super::mesh::Mesh;
use super::probe_rs::Unfit;
use super::time_line::{Failed, TimeLine};

/// A stamp beyond this is none: thirty years.
const LONGEST_SECONDS: f64 = 1e9;

#[derive(Clone, Debug, PartialEq)]
pub struct LogLine {
    pub node: u64,
    /// When, in seconds, by the board's own clock.
    pub stamp: f64,
    /// When it came here, in seconds since the beginning, if that is known.
    pub arrived: Option<f64>,
    /// How severe it is: trace, debug, info, warn or error.
    pub level: &'static str,
    pub text: String,
}

impl LogLine {
    /// What it is in a trace: the event that it tells of, or else the line itself, of which the beginning is kept.
    fn record(&self) -> Record {
        match read_event(&self.text) {
            Some(event) => Record::Event(event),
            None => Record::Log {
                level: self.level.into(),
                text: self.text.chars().take(LONGEST_TEXT).collect(),
            },
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum CannotCapture {
    #[error("cannot write the output: {}: {error}", path.display())]
    Output { path: PathBuf, error: io::Error },
    #[error("{}: {error}", path.display())]
    ReadBack { path: PathBuf, error: BadTrace },
    #[error("cannot write the output: {0}")]
    Show(io::Error),
    #[error("{}: {error}", path.display())]
    Input { path: PathBuf, error: io::Error },
    #[error("{0}")]
    Log(#[from] BadLogTable),
    #[error("{}: there are no streams such as 0.rtt with lines in them", .0.display())]
    NoStreams(PathBuf),
    #[error("the mesh file names no probes: `probe-rs list` shows those that are plugged in")]
    NoProbes,
    #[error("{0}")]
    Unfit(#[from] Unfit),
}

/// What a capture comes to. The keys are stable.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaptureSummary {
    pub lines: u64,
    pub events: u64,
    /// Pieces of logs that could not be read.
    pub undecodable: u64,
    /// Nodes that said something.
    pub nodes: usize,
    /// Packets, and times of the mesh that boards told, by which clocks were compared.
    pub clock_pairs: usize,
    /// Half of them are off by no more than this.
    pub clock_residual_median_us: f64,
    /// 95 of 100 are.
    pub clock_residual_95_us: f64,
    pub clock_residual_worst_us: f64,
    /// Nodes that neither the time of the mesh nor a packet connects with the others.
    pub nodes_not_aligned: Vec<u64>,
}

/// Files beside the output, which are removed in the end.
struct Scratch {
    /// Boards' own times.
    unaligned: PathBuf,
    /// Pieces of the trace, each by time.
    runs: PathBuf,
    keep_unaligned: bool,
}

impl Scratch {
    /// With the first of the files. What an earlier capture has left is not touched.
    fn beside(output: &Path) -> io::Result<(Self, File)> {
        // What is no file, such as a pipe, has nothing beside it.
        let folder = match output.metadata() {
            Ok(there) if !there.is_file() => std::env::temp_dir(),
            _ => output.parent().unwrap_or(Path::new("")).to_path_buf(),
        };
        let name = output.file_name().unwrap_or_default().to_string_lossy();
        let mut number = std::process::id();
        loop {
            let path = |what: &str| folder.join(format!("{name}.{number}.{what}"));
            match File::create_new(path("unaligned")) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number = number.wrapping_add(1),
                file => {
                    let scratch = Scratch {
                        unaligned: path("unaligned"),
                        runs: path("runs"),
                        keep_unaligned: false,
                    };
                    return Ok((scratch, file?));
                }
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is not there need not be removed.
        let _ = std::fs::remove_file(&self.runs);
        if !self.keep_unaligned {
            let _ = std::fs::remove_file(&self.unaligned);
        }
    }
}

/// Is shown every line, with its time and with what it is in the trace. The time is in seconds since the capture began; if it is not known when
/// lines came, by the board's own clock.
pub type Show<'a> = dyn FnMut(f64, &LogLine, &Record) -> io::Result<()> + 'a;

pub struct Capture<'a> {
    mesh: Mesh,
    output: PathBuf,
    scratch: Scratch,
    /// Not buffered, so that every line is with the system at once, whatever becomes of this program.
    writer: Writer<File>,
    show: &'a mut Show<'a>,
    clocks: Clocks,
    live: Live,
    lines: u64,
    events: u64,
    /// Events of packets on cables, by which clocks are compared.
    crossings: u64,
    /// Pieces of logs that could not be read.
    pub undecodable: u64,
}

impl<'a> Capture<'a> {
    /// Begins a capture whose trace goes to a file. An output that cannot be written is noticed now.
    pub fn create(output: &Path, mesh: &Mesh, show: &'a mut Show<'a>) -> Result<Self, CannotCapture> {
        // A link is followed, not replaced.
        let output = output.canonicalize().unwrap_or_else(|_| output.to_path_buf());
        let failed = |error| CannotCapture::Output {
            path: output.clone(),
            error,
        };
        check_writable(&output).map_err(failed)?;
        let (scratch, file) = Scratch::beside(&output).map_err(failed)?;
        let writer = Writer::new(file, &Header::new(&mesh.network, mesh.baud));
        Ok(Capture {
            writer: writer.map_err(failed)?,
            mesh: mesh.clone(),
            scratch,
            show,
            clocks: Clocks::default(),
            live: Live::default(),
            lines: 0,
            events: 0,
            crossings: 0,
            undecodable: 0,
            output,
        })
    }

    /// Takes a line. If it is known when it came, it is shown [a moment](HELD_BACK) later, by the time of the mesh.
    pub fn add(&mut self, line: &LogLine) -> Result<(), CannotCapture> {
        if !line.stamp.is_finite() || line.stamp.abs() > LONGEST_SECONDS {
            self.undecodable += 1;
            return Ok(());
        }
        let kept = TraceLine {
            at: (line.stamp * 1e9).round() as Nanos,
            node: line.node,
            record: line.record(),
        };
        // What is shown is not lost any more.
        let clock = self.keep(&kept, line.arrived)?;
        match line.arrived {
            Some(arrived) => {
                self.live.hold(clock, line.clone(), kept.record);
                self.show_due(arrived)
            }
            None => (self.show)(line.stamp, line, &kept.record).map_err(CannotCapture::Show),
        }
    }

    /// Shows what is to be shown by now, in seconds since the capture began.
    pub fn show_due(&mut self, now: f64) -> Result<(), CannotCapture> {
        for (time, line, record) in self.live.due(now - HELD_BACK, &self.clocks) {
            (self.show)(time, &line, &record).map_err(CannotCapture::Show)?;
        }
        Ok(())
    }

    /// Takes a line that was kept before, by a capture that did not come to its end.
    pub(crate) fn add_again(&mut self, line: &TraceLine) -> Result<(), CannotCapture> {
        self.keep(line, None).map(drop)
    }

    fn keep(&mut self, line: &TraceLine, arrived: Option<f64>) -> Result<ClockKey, CannotCapture> {
        let clock = self.clocks.note(line, arrived);
        self.lines += 1;
        self.events += u64::from(matches!(line.record, Record::Event(_)));
        self.crossings += u64::from(is_crossing(&line.record));
        // From now on there is something to lose.
        self.scratch.keep_unaligned = true;
        let written = self.writer.write(line).map_err(|error| self.cannot_write(error));
        written.map(|()| clock)
    }

    fn cannot_write(&self, error: io::Error) -> CannotCapture {
        CannotCapture::Output {
            path: self.output.clone(),
            error,
        }
    }

    /// Shows the last lines, aligns the clocks and writes the trace.
    pub fn finish(mut self) -> Result<CaptureSummary, CannotCapture> {
        self.show_due(f64::INFINITY)?;
        let failed = |error| CannotCapture::Output {
            path: self.output.clone(),
            error,
        };
        self.writer.finish().map_err(failed)?;
        let mut scratch = self.scratch;
        let unreadable = |error| CannotCapture::ReadBack {
            path: scratch.unaligned.clone(),
            error,
        };
        let reopen = || -> Result<Reader<BufReader<File>>, CannotCapture> {
            let file = File::open(&scratch.unaligned).map_err(failed)?;
            Reader::new(BufReader::new(file)).map_err(unreadable)
        };
        let time_line =
            TimeLine::find(&self.mesh, &self.clocks.notes, reopen()?, self.crossings).map_err(unreadable)?;
        let output = NewFile::create(&self.output).map_err(failed)?;
        let written = time_line.write(&self.mesh, reopen()?, &scratch.runs, output);
        let output = written.map_err(|error| match error {
            Failed::Read(error) => unreadable(error),
            Failed::Write(error) => failed(error),
        })?;
        output.finish().map_err(failed)?;
        scratch.keep_unaligned = false;
        let nodes: BTreeSet<u64> = self.clocks.notes.keys().map(|(node, _)| *node).collect();
        let alignment = time_line.alignment;

        let micros = |seconds: f64| (seconds * 1e7).round() / 10.0;
        Ok(CaptureSummary {
            lines: self.lines,
            events: self.events,
            undecodable: self.undecodable,
            nodes: nodes.len(),
            clock_pairs: alignment.pairs,
            clock_residual_median_us: micros(alignment.residual_median),
            clock_residual_95_us: micros(alignment.residual_95),
            clock_residual_worst_us: micros(alignment.residual_worst),
            nodes_not_aligned: time_line.apart,
        })
    }
}

fn is_crossing(record: &Record) -> bool {
    matches!(record, Record::Event(Event::Sent { .. } | Event::Received { .. }))
}
