//! Boards at real serial ports: the ST-LINK's USB port, or a pseudo-terminal of an emulated board.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::termios::{OptionalActions, QueueSelector, tcflush, tcgetattr, tcsetattr};

use super::talk::Talk;
use hopwise_emulate::computers::Question;
use hopwise_emulate::host_port::{HostPort, Reply};

/// A board that is there says hello within this.
const HELLO_WITHIN: Duration = Duration::from_secs(3);
/// A question is answered within this, or not at all: packets live for six seconds, but a mesh that takes longer than this is in
/// trouble.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);
/// How often the link's clock is looked at while nothing comes.
const LOOK: Duration = Duration::from_millis(1);
/// Questions on their way at once.
const AT_ONCE: usize = 4;

/// What is wrong with a serial port.
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", path.display())]
pub struct BadPort {
    /// Which.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: PortFault,
}

/// What can be wrong with a serial port.
#[derive(Debug, thiserror::Error)]
pub enum PortFault {
    /// It cannot be opened, read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// It is something else.
    #[error("no serial port: {0}")]
    NotSerial(#[from] rustix::io::Errno),
    /// It has been unplugged.
    #[error("the port is gone")]
    Gone,
    /// Nobody says hello.
    #[error("no board answers at {0} baud; is it flashed, and is that the mesh's baud rate?")]
    Silent(u32),
    /// A board is there, but takes no computer.
    #[error("the board takes no computer here: another one is at it, or this is not its serial port")]
    Refused,
}

/// One serial port with the computer's end of the link.
struct SerialLine {
    file: File,
    path: PathBuf,
    port: HostPort,
    begin: Instant,
    /// Bytes that the terminal had no room for yet.
    unsent: Vec<u8>,
}

impl SerialLine {
    fn open(path: &Path, baud: u32) -> Result<Self, PortFault> {
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(flags.bits() as i32)
            .open(path)?;
        configure(&file, baud)?;
        Ok(SerialLine {
            file,
            path: path.to_path_buf(),
            port: HostPort::new(fresh_epoch(), baud, 0),
            begin: Instant::now(),
            unsent: Vec::new(),
        })
    }

    fn now(&self) -> u64 {
        self.begin.elapsed().as_micros() as u64
    }

    /// Carries bytes both ways.
    fn exchange(&mut self) -> Result<(), BadPort> {
        self.carry().map_err(|fault| BadPort {
            path: self.path.clone(),
            fault,
        })
    }

    fn carry(&mut self) -> Result<(), PortFault> {
        let mut buffer = [0; 4096];
        match self.file.read(&mut buffer) {
            Ok(0) => return Err(PortFault::Gone),
            Ok(count) => self.port.receive(&buffer[..count], self.now()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
        if self.unsent.is_empty() {
            self.unsent = self.port.transmit(self.now());
        }
        if !self.unsent.is_empty() {
            match self.file.write(&self.unsent) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Raw bytes at the mesh's speed.
fn configure(file: &File, baud: u32) -> Result<(), rustix::io::Errno> {
    let mut modes = tcgetattr(file)?;
    modes.make_raw();
    modes.set_speed(baud)?;
    tcsetattr(file, OptionalActions::Now, &modes)?;
    tcflush(file, QueueSelector::IOFlush)
}

/// Differs from that of the last program that was at this port.
fn fresh_epoch() -> u32 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    ((since.as_millis() as u32) ^ std::process::id().rotate_left(20)).max(1)
}

/// Boards at serial ports.
pub struct SerialMesh {
    lines: Vec<SerialLine>,
}

impl SerialMesh {
    /// Opens ports and waits until a board answers at each.
    pub fn open(paths: &[PathBuf], baud: u32) -> Result<Self, BadPort> {
        let open = |path: &PathBuf| {
            SerialLine::open(path, baud).map_err(|fault| BadPort {
                path: path.clone(),
                fault,
            })
        };
        let lines = paths.iter().map(open);
        let mut mesh = SerialMesh {
            lines: lines.collect::<Result<_, _>>()?,
        };
        let end = Instant::now() + HELLO_WITHIN;
        while let Some(silent) = mesh.lines.iter().find(|line| !line.port.is_up()) {
            let fault = if silent.port.is_refused() {
                PortFault::Refused
            } else if Instant::now() > end {
                PortFault::Silent(baud)
            } else {
                mesh.step()?;
                continue;
            };
            return Err(BadPort {
                path: silent.path.clone(),
                fault,
            });
        }
        Ok(mesh)
    }

    /// Waits for bytes for a moment, and carries them.
    fn step(&mut self) -> Result<(), BadPort> {
        let mut fds: Vec<PollFd<'_>> = self
            .lines
            .iter()
            .map(|line| PollFd::new(&line.file, PollFlags::IN))
            .collect();
        let wait = Timespec {
            tv_sec: 0,
            tv_nsec: LOOK.as_nanos() as i64,
        };
        // Interrupted or not: what there is, is read next.
        let _ = poll(&mut fds, Some(&wait));
        self.lines.iter_mut().try_for_each(SerialLine::exchange)
    }

    /// The port of one line, to send through, and its time.
    pub fn port(&mut self, line: usize) -> (&mut HostPort, u64) {
        let line = &mut self.lines[line];
        let now = line.now();
        (&mut line.port, now)
    }

    /// Waits for the reply to what was sent through a line under a number.
    pub fn wait(&mut self, line: usize, number: u32, within: Duration) -> Result<Option<Reply>, BadPort> {
        let end = Instant::now() + within;
        while Instant::now() < end {
            self.step()?;
            let found = self.lines[line]
                .port
                .replies()
                .into_iter()
                .find(|reply| reply.0 == number);
            if let Some((_, reply)) = found {
                return Ok(Some(reply));
            }
        }
        Ok(None)
    }

    /// Keeps the links up for a while.
    pub fn idle(&mut self, time: Duration) -> Result<(), BadPort> {
        let end = Instant::now() + time;
        while Instant::now() < end {
            self.step()?;
        }
        Ok(())
    }

    /// Carries bytes until all that was sent has been taken over by the board.
    pub fn flush(&mut self, line: usize, within: Duration) -> Result<bool, BadPort> {
        let end = Instant::now() + within;
        while Instant::now() < end {
            self.step()?;
            if self.lines[line].port.all_taken() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn ask_all(&mut self, questions: &[Question]) -> Result<Vec<Option<Reply>>, BadPort> {
        let mut replies = vec![None; questions.len()];
        let mut waiting: Vec<usize> = (0..questions.len()).rev().collect();
        // By line and number: the question, and until when its answer is waited for.
        let mut open: BTreeMap<(usize, u32), (usize, Instant)> = BTreeMap::new();
        while !waiting.is_empty() || !open.is_empty() {
            while open.len() < AT_ONCE * self.lines.len() {
                let Some(index) = waiting.pop() else { break };
                let question = &questions[index];
                let (port, now) = self.port(question.at);
                let number = port.ask(question.dest, question.query, &question.more, now);
                open.insert((question.at, number), (index, Instant::now() + ANSWERS_WITHIN));
            }
            self.step()?;
            for (place, line) in self.lines.iter_mut().enumerate() {
                for (number, reply) in line.port.replies() {
                    if let Some((index, _)) = open.remove(&(place, number)) {
                        replies[index] = Some(reply);
                    }
                }
            }
            open.retain(|_, (_, until)| Instant::now() < *until);
        }
        Ok(replies)
    }
}

impl Talk for SerialMesh {
    fn entrances(&self) -> Vec<u64> {
        let address = |line: &SerialLine| line.port.board().map_or(0, |board| board.address);
        self.lines.iter().map(address).collect()
    }

    /// A port that fails is a port without answers.
    fn ask(&mut self, questions: &[Question]) -> Vec<Option<Reply>> {
        self.ask_all(questions).unwrap_or_else(|_| vec![None; questions.len()])
    }
}
