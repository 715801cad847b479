//! The probe-rs program: every command line that it is given, whether it is fit for them, and how it is ended.
//!
//! `probe-rs-options.txt` beside this crate's manifest has the options of each version that was tried, written by `tools/probe-rs`,
//! which also gives every call below to the real program. The oldest version there is the oldest that is taken.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::bench::{Bench, NoBench};

/// Older ones halt a board at its next reset whatever they are told, or were never tried.
pub const OLDEST: Version = Version([0, 32, 0]);

/// What probe-rs prints for each line of a log: time, level, text. The mark between them is in no time and no level.
pub const LOG_FORMAT: &str = "{t}|{L}|{s}";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// What probe-rs calls its chip.
    pub chip: &'a str,
    /// Its probe: vendor, product and number.
    pub probe: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call<'a> {
    Version,
    List,
    /// Writes a program into the flash, and reads it back.
    Image(Target<'a>, &'a Path),
    /// Writes bytes to a place in the flash, and reads them back.
    Bytes(Target<'a>, u32, &'a Path),
    /// Prints so many words of memory, from an address on, as they are.
    Read(Target<'a>, u32, u32),
    Reset(Target<'a>),
    Log(Target<'a>, &'a Path),
    /// What cargo runs for the one board of a chip that is plugged in; cargo adds the file.
    Run(&'a str),
}

/// A piece of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    Command(&'static str),
    Flag(&'static str),
    Setting(&'static str, OsString),
    /// A file, an address or a number.
    File(OsString),
}

/// Unless told so, probe-rs halts a board at its next reset or hard fault, and leaves it halted: a board that restarts by itself
/// would be dead until its power is cut.
const LETS_RUN: [Word; 2] = [Word::Flag("--no-catch-reset"), Word::Flag("--no-catch-hardfault")];

impl Target<'_> {
    fn words(self) -> [Word; 2] {
        [
            Word::Setting("--chip", self.chip.into()),
            Word::Setting("--probe", self.probe.into()),
        ]
    }
}

impl Call<'_> {
    /// The command line, after the name of the program.
    pub fn words(self) -> Vec<Word> {
        let file = |path: &Path| [Word::File(path.into())];
        let checked = [Word::Flag("--disable-progressbars"), Word::Flag("--verify")];
        match self {
            Call::Version => vec![Word::Flag("--version")],
            Call::List => words("list", &[]),
            Call::Image(target, elf) => words("download", &[&target.words(), &checked, &file(elf)]),
            Call::Bytes(target, address, path) => {
                let place = [
                    Word::Setting("--binary-format", "bin".into()),
                    Word::Setting("--base-address", format!("{address:#010x}").into()),
                ];
                words("download", &[&target.words(), &place, &checked, &file(path)])
            }
            Call::Read(target, address, count) => {
                let raw = [Word::Setting("--format", "binary".into())];
                let place = ["b32".into(), format!("{address:#010x}"), count.to_string()];
                words(
                    "read",
                    &[&target.words(), &raw, &place.map(|word| Word::File(word.into()))],
                )
            }
            Call::Reset(target) => words("reset", &[&target.words()]),
            Call::Log(target, elf) => {
                let format = [Word::Setting("--log-format", LOG_FORMAT.into())];
                words("attach", &[&LETS_RUN, &target.words(), &format, &file(elf)])
            }
            Call::Run(chip) => words("run", &[&LETS_RUN, &[Word::Setting("--chip", chip.into())]]),
        }
    }

    /// The same as arguments of a program.
    pub fn arguments(self) -> Vec<OsString> {
        let mut arguments = Vec::new();
        for word in self.words() {
            match word {
                Word::Command(text) | Word::Flag(text) => arguments.push(text.into()),
                Word::Setting(option, value) => arguments.extend([option.into(), value]),
                Word::File(path) => arguments.push(path),
            }
        }
        arguments
    }

    /// One of each kind, at a probe that nobody has, for those who try them all.
    pub fn samples() -> [Call<'static>; 8] {
        let target = Target {
            chip: "STM32F446RE",
            probe: "0483:374b:NOBODYHASTHISONE",
        };
        [
            Call::Version,
            Call::List,
            Call::Image(target, Path::new("image.elf")),
            Call::Bytes(target, 0x0800_8000, Path::new("config.bin")),
            Call::Read(target, 0x0800_8000, 1_024),
            Call::Reset(target),
            Call::Log(target, Path::new("image.elf")),
            Call::Run(target.chip),
        ]
    }
}

fn words(command: &'static str, parts: &[&[Word]]) -> Vec<Word> {
    [Word::Command(command)].into_iter().chain(parts.concat()).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub [u32; 3]);

impl Version {
    /// From what `probe-rs --version` says: `probe-rs 0.32.0 (git commit: ...)`.
    pub fn read(said: &str) -> Option<Self> {
        let numbers = said.trim_start().strip_prefix("probe-rs ")?.split_whitespace().next()?;
        // A version that is not out yet has more after a sign: 0.33.0-alpha.1.
        let numbers = numbers.split(['-', '+']).next()?;
        let numbers: Vec<u32> = numbers.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
        numbers.try_into().ok().map(Version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Version([major, minor, patch]) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    #[error(
        "there is no program '{0}': https://probe.rs says how to install probe-rs, and --probe-rs says where it is if not in PATH"
    )]
    NotThere(String),
    #[error("{name}: {error}")]
    DoesNotStart { name: String, error: io::Error },
    #[error("'{0}' is not probe-rs: it does not say which version it has")]
    NoVersion(String),
    #[error(
        "'{name}' has version {version}, and {OLDEST} or a newer one is needed: cargo install probe-rs-tools --locked"
    )]
    TooOld { name: String, version: Version },
    #[error(transparent)]
    NoBench(#[from] NoBench),
}

/// A probe-rs program that is there, and new enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    path: OsString,
    /// The command of ours that takes the place of probe-rs at a bench.
    command: Option<&'static str>,
}

impl Program {
    /// Asks a program for its version. If there is a bench, its probes are meant, and this program knows how to use them.
    pub fn find(name: &str) -> Result<Self, Unfit> {
        let mut program = Program {
            path: name.into(),
            command: None,
        };
        if let (Some(bench), Ok(path)) = (Bench::named(), std::env::current_exe()) {
            // Said once, not once a board.
            bench.boards()?;
            program.path = path.into();
            program.command = Some("bench-probe");
        }
        let output = program.command(Call::Version).stdin(Stdio::null()).output();
        let output = output.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Unfit::NotThere(name.into()),
            _ => Unfit::DoesNotStart {
                name: name.into(),
                error,
            },
        })?;
        match Version::read(&String::from_utf8_lossy(&output.stdout)) {
            None => Err(Unfit::NoVersion(name.into())),
            Some(version) if version < OLDEST => Err(Unfit::TooOld {
                name: name.into(),
                version,
            }),
            Some(_) => Ok(program),
        }
    }

    pub fn command(&self, call: Call<'_>) -> Command {
        let mut command = Command::new(&self.path);
        command.args(self.command).args(call.arguments());
        command
    }
}

/// Runs a command to its end and returns what it said. One that takes longer than `limit` is ended, and that is an error: a probe can
/// hang, and probe-rs then waits for it for ever.
pub fn output_within(command: &mut Command, limit: Duration) -> io::Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    // Read while it runs: it waits when a pipe is full. What it has started itself may keep a pipe open after its end.
    let (stdout, stderr) = (read_all(child.stdout.take()), read_all(child.stderr.take()));
    let until = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            let said = |bytes: Receiver<Vec<u8>>| bytes.recv_timeout(LAST_WORDS).unwrap_or_default();
            return Ok(Output {
                status,
                stdout: said(stdout),
                stderr: said(stderr),
            });
        }
        if Instant::now() >= until {
            end_all(vec![child]);
            let seconds = limit.as_secs();
            let why = format!("no end after {seconds} s: unplug the board and plug it in again");
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        std::thread::sleep(LOOK);
    }
}

/// How long the last words of a program that has ended may take.
const LAST_WORDS: Duration = Duration::from_secs(1);

fn read_all(pipe: Option<impl io::Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, bytes) = channel();
    std::thread::spawn(move || {
        let mut all = Vec::new();
        if let Some(mut pipe) = pipe {
            // What came before an error is what there is.
            let _ = pipe.read_to_end(&mut all);
        }
        sender.send(all)
    });
    bytes
}

const LOOK: Duration = Duration::from_millis(10);

type End = fn(&mut Child);

/// How programs are ended, and for how long each may take: first as Ctrl-C does, then as `kill` does, then for certain. One that is
/// killed leaves the board as it is, perhaps halted.
#[cfg(unix)]
const WAYS: &[(End, Duration)] = &[
    (|child| ask(child, rustix::process::Signal::INT), Duration::from_secs(3)),
    (
        |child| ask(child, rustix::process::Signal::TERM),
        Duration::from_secs(1),
    ),
    (kill, Duration::from_secs(1)),
];
/// Elsewhere one program cannot be asked without asking all that share its window.
#[cfg(not(unix))]
const WAYS: &[(End, Duration)] = &[(kill, Duration::from_secs(1))];

#[cfg(unix)]
fn ask(child: &mut Child, signal: rustix::process::Signal) {
    // One that ends just now is fine, too.
    let _ = rustix::process::kill_process(rustix::process::Pid::from_child(child), signal);
}

fn kill(child: &mut Child) {
    let _ = child.kill();
}

pub fn end_all(mut children: Vec<Child>) {
    for (end, timeout) in WAYS {
        // Whoever has ended is waited for here, so that no number is used that may be somebody else's by now.
        children.retain_mut(is_running);
        children.iter_mut().for_each(end);
        let until = Instant::now() + *timeout;
        while !children.is_empty() && Instant::now() < until {
            std::thread::sleep(LOOK);
            children.retain_mut(is_running);
        }
    }
}

fn is_running(child: &mut Child) -> bool {
    matches!(child.try_wait(), Ok(None))
}
