//! Where logs come from: probe-rs at real boards, and recorded streams.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::mesh::Mesh;
use hopwise_emulate::log::{Line, LogFormat};

/// What probe-rs prints for each line: time, level, text. The mark between them is in no time and no level.
const FORMAT: &str = "{t}|{L}|{s}";

/// The arguments of probe-rs for the log of a board.
pub fn arguments(mesh: &Mesh, probe: &str, elf: &Path) -> Vec<String> {
    let elf = elf.display().to_string();
    let words = [
        "attach",
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

/// A line as probe-rs prints it: time in seconds, level, text.
pub fn read_line(line: &str) -> Option<(f64, &'static str, String)> {
    let (time, rest) = line.split_once('|')?;
    let (level, text) = rest.split_once('|')?;
    let time = time.trim().parse().ok()?;
    Some((time, level_name(level.trim()), text.trim_end().to_string()))
}

/// The levels of defmt; what has none is as important as information.
pub fn level_name(level: &str) -> &'static str {
    const LEVELS: [&str; 5] = ["trace", "debug", "info", "warn", "error"];
    LEVELS
        .into_iter()
        .find(|name| name.eq_ignore_ascii_case(level))
        .unwrap_or("info")
}

/// A probe-rs program at every board.
pub struct Probes {
    children: Vec<(u64, Child)>,
    lines: Receiver<(u64, String, Instant)>,
}

impl Probes {
    /// Starts them.
    pub fn start(program: &str, mesh: &Mesh, elf: &Path) -> Result<Self, String> {
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
            let mut child = child.map_err(|error| format!("{program}: {error}"))?;
            if let Some(output) = child.stdout.take() {
                let sender: Sender<_> = sender.clone();
                std::thread::spawn(move || {
                    let lines = BufReader::new(output).lines().map_while(Result::ok);
                    // Nobody listens any more: that is the end.
                    lines
                        .map(|line| sender.send((node, line, Instant::now())))
                        .take_while(Result::is_ok)
                        .count()
                });
            }
            probes.children.push((node, child));
        }
        match probes.children.is_empty() {
            true => Err("the mesh file names no probes: `probe-rs list` shows those that are plugged in".into()),
            false => Ok(probes),
        }
    }

    /// The next line, whose it is, and when it came; `None` if there is none for a while.
    pub fn next(&self, wait: Duration) -> Result<Option<(u64, String, Instant)>, AllEnded> {
        match self.lines.recv_timeout(wait) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(AllEnded),
        }
    }
}

/// All programs have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllEnded;

impl Drop for Probes {
    fn drop(&mut self) {
        for (_, child) in &mut self.children {
            // One that has ended by itself is fine, too.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The lines of recorded streams: the bytes of the log channel of node 3 are in `3.rtt`.
pub fn recorded(folder: &Path, mesh: &Mesh, format: &LogFormat) -> Result<(Vec<Line>, u64), String> {
    let mut readers = format.readers(mesh.network.nodes() as usize);
    let mut lines = Vec::new();
    for node in mesh.nodes() {
        let path = folder.join(format!("{node}.rtt"));
        if path.exists() {
            let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            lines.extend(readers.decode(node as usize, 0, &bytes));
        }
    }
    match lines.is_empty() {
        true => Err(format!(
            "{}: there are no streams such as 0.rtt with lines in them",
            folder.display()
        )),
        false => Ok((lines, readers.undecodable)),
    }
}
