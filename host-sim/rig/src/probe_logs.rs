//! The logs of real boards, through a probe-rs program at each. One that ends is started anew, after pauses that grow, until it has
//! been tried often enough.

use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::capture::{CannotCapture, Capture, LogLine};
use super::log_sources::level_name;
use super::mesh::Mesh;
use super::probe_rs::{Call, Program, Target, end_all};

const LONGEST_LINE: usize = 1 << 16;
/// How often a look is taken at whether to end.
const LOOK: Duration = Duration::from_millis(50);
/// After this long without a word, programs that were ended have nothing more to say.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// A program that lasted as long has nothing to do with failures before.
const STEADY: Duration = Duration::from_secs(60);
/// So long may a program take to end by itself when it says nothing more.
const ENDS_WITHIN: Duration = Duration::from_secs(1);

/// The pauses before a program that has ended is started anew; after the last it is not.
pub const PAUSES: [Duration; 7] = [
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
    Duration::from_secs(15),
    Duration::from_secs(30),
];

#[derive(Clone, Copy, Debug)]
pub struct ProbeRun<'a> {
    pub program: &'a str,
    pub elf: &'a Path,
    /// How long; unless said, until all programs are given up.
    pub duration: Option<Duration>,
    /// The pauses before a program that has ended is started anew: [`PAUSES`].
    pub pauses: &'a [Duration],
}

/// What there is to tell of a probe besides the lines of its board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeNews {
    Says {
        node: u64,
        text: String,
    },
    /// probe-rs has ended, though nobody asked it to.
    Ended {
        node: u64,
        status: String,
        /// When it is started again, unless it is given up.
        again_in: Option<Duration>,
    },
}

impl fmt::Display for ProbeNews {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProbeNews::Says { node, text } => write!(f, "board {node}: {text}"),
            ProbeNews::Ended { node, status, again_in } => {
                write!(f, "board {node}: probe-rs has ended ({status}) ")?;
                match again_in {
                    Some(pause) => write!(f, "and is started again in {:.1} s", pause.as_secs_f64()),
                    None => write!(f, "once too often: it is given up"),
                }
            }
        }
    }
}

/// The lines of real boards, until the time is over, all programs are given up, or `stop` is set. Returns the nodes that were given
/// up.
pub fn from_probes(
    mesh: &Mesh,
    run: &ProbeRun<'_>,
    capture: &mut Capture<'_>,
    tell: &mut dyn FnMut(&ProbeNews),
    stop: &AtomicBool,
) -> Result<Vec<u64>, CannotCapture> {
    let mut probes = Probes::new(mesh, run)?;
    let end = run.duration.map(|duration| probes.begin + duration);
    while !stop.load(Ordering::Relaxed) && end.is_none_or(|end| Instant::now() < end) && probes.any_left() {
        probes.start_those_due(tell);
        if let Ok((place, heard)) = probes.heard.recv_timeout(LOOK) {
            probes.take(place, heard, capture, tell)?;
        }
        capture.show_due(probes.begin.elapsed().as_secs_f64())?;
    }
    let given_up = probes.given_up();
    // What boards said until now is in the trace, too.
    probes.end();
    while let Ok((place, heard)) = probes.heard.recv_timeout(LAST_WORDS) {
        if matches!(heard, Heard::Line(..)) {
            probes.take(place, heard, capture, tell)?;
        }
    }
    Ok(given_up)
}

enum Heard {
    Line(String, Instant),
    Says(String),
    Silent,
}

/// With the place of the probe.
type OfProbe = (usize, Heard);

enum State {
    Due(Instant),
    Running { child: Child, since: Instant },
    GivenUp,
}

struct Probe {
    node: u64,
    chip: &'static str,
    /// As probe-rs selects it.
    name: String,
    state: State,
    /// How often it has ended soon after it was started.
    failures: usize,
}

struct Probes<'a> {
    run: &'a ProbeRun<'a>,
    program: Program,
    begin: Instant,
    probes: Vec<Probe>,
    heard: Receiver<OfProbe>,
    sender: Sender<OfProbe>,
}

impl<'a> Probes<'a> {
    fn new(mesh: &Mesh, run: &'a ProbeRun<'a>) -> Result<Self, CannotCapture> {
        let begin = Instant::now();
        let probe = |node| {
            Some(Probe {
                node,
                chip: mesh.kind_of(node).chip,
                name: mesh.probe(node)?,
                state: State::Due(begin),
                failures: 0,
            })
        };
        let probes: Vec<Probe> = mesh.nodes().filter_map(probe).collect();
        if probes.is_empty() {
            return Err(CannotCapture::NoProbes);
        }
        let (sender, heard) = channel();
        Ok(Probes {
            run,
            // Said once, not once a board.
            program: Program::find(run.program)?,
            begin,
            probes,
            heard,
            sender,
        })
    }

    fn any_left(&self) -> bool {
        self.given_up().len() < self.probes.len()
    }

    fn given_up(&self) -> Vec<u64> {
        let given_up = self.probes.iter().filter(|probe| matches!(probe.state, State::GivenUp));
        given_up.map(|probe| probe.node).collect()
    }

    fn start_those_due(&mut self, tell: &mut dyn FnMut(&ProbeNews)) {
        for place in 0..self.probes.len() {
            let now = Instant::now();
            if !matches!(self.probes[place].state, State::Due(when) if when <= now) {
                continue;
            }
            match self.start(place) {
                Ok(child) => self.probes[place].state = State::Running { child, since: now },
                Err(error) => self.pause(place, error.to_string(), tell),
            }
        }
    }

    fn start(&self, place: usize) -> std::io::Result<Child> {
        let target = Target {
            chip: self.probes[place].chip,
            probe: &self.probes[place].name,
        };
        let mut command = self.program.command(Call::Log(target, self.run.elf));
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let command = command.stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        let sender = self.sender.clone();
        thread::spawn(move || {
            let says = sender.clone();
            let errors = thread::spawn(move || send_lines(errors, &says, place, Heard::Says));
            send_lines(output, &sender, place, |line| Heard::Line(line, Instant::now()));
            // Both are over before the end is told. Nobody to tell it to is fine.
            let _ = errors.join();
            let _ = sender.send((place, Heard::Silent));
        });
        Ok(child)
    }

    fn take(
        &mut self,
        place: usize,
        heard: Heard,
        capture: &mut Capture<'_>,
        tell: &mut dyn FnMut(&ProbeNews),
    ) -> Result<(), CannotCapture> {
        let node = self.probes[place].node;
        match heard {
            Heard::Line(line, at) => match read_line(&line) {
                Some((stamp, level, text)) => capture.add(&LogLine {
                    node,
                    stamp,
                    arrived: Some(at.duration_since(self.begin).as_secs_f64()),
                    level,
                    text,
                })?,
                None => capture.undecodable += 1,
            },
            Heard::Says(text) => tell(&ProbeNews::Says { node, text }),
            Heard::Silent => self.ended(place, tell),
        }
        Ok(())
    }

    fn ended(&mut self, place: usize, tell: &mut dyn FnMut(&ProbeNews)) {
        let probe = &mut self.probes[place];
        let State::Running { child, since } = std::mem::replace(&mut probe.state, State::GivenUp) else {
            return;
        };
        if since.elapsed() >= STEADY {
            probe.failures = 0;
        }
        let status = last_status(child);
        self.pause(place, status, tell);
    }

    fn pause(&mut self, place: usize, status: String, tell: &mut dyn FnMut(&ProbeNews)) {
        let probe = &mut self.probes[place];
        let again_in = self.run.pauses.get(probe.failures).copied();
        probe.failures += 1;
        probe.state = again_in.map_or(State::GivenUp, |pause| State::Due(Instant::now() + pause));
        tell(&ProbeNews::Ended {
            node: probe.node,
            status,
            again_in,
        });
    }

    fn end(&mut self) {
        let probes = self.probes.iter_mut();
        let states = probes.map(|probe| std::mem::replace(&mut probe.state, State::GivenUp));
        let children = states.filter_map(|state| match state {
            State::Running { child, .. } => Some(child),
            State::Due(_) | State::GivenUp => None,
        });
        end_all(children.collect());
    }
}

impl Drop for Probes<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

/// Sends each line of a stream, until it or the interest in it ends.
fn send_lines<R: Read>(stream: Option<R>, sender: &Sender<OfProbe>, place: usize, heard: impl Fn(String) -> Heard) {
    let lines = stream.map(|stream| BoundedLines(BufReader::new(stream)));
    for line in lines.into_iter().flatten() {
        if sender.send((place, heard(line))).is_err() {
            return;
        }
    }
}

/// How a program has ended, or that it had to be.
fn last_status(mut child: Child) -> String {
    let until = Instant::now() + ENDS_WITHIN;
    while Instant::now() < until {
        match child.try_wait() {
            Ok(None) => thread::sleep(LOOK / 5),
            Ok(Some(status)) => return status.to_string(),
            Err(error) => return error.to_string(),
        }
    }
    end_all(vec![child]);
    "it had closed its output".into()
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
}
