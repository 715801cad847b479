//! One serial port with the computer's end of the link: the ST-LINK's USB port, or a pseudo-terminal of an emulated board.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hopwise_core::authority::MeshKeys;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, QueueSelector, tcflush, tcgetattr, tcsetattr};

use crate::host_port::HostPort;

/// A board that is there says hello within this.
pub const HELLO_WITHIN: Duration = Duration::from_secs(3);
/// How often the link's clock is looked at while nothing comes.
const LOOK: Duration = Duration::from_millis(1);

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
    NotSerial(#[from] Errno),
    /// Another program has it.
    #[error("another program uses this port; end it first, or let both talk through one `hopwise bridge`")]
    Busy,
    /// It has been unplugged.
    #[error("the port is gone")]
    Gone,
    /// Nobody says hello.
    #[error("no board answers at {0} baud; is it flashed, and is that the mesh's baud rate?")]
    Silent(u32),
    /// A board is there, but takes no computer.
    #[error("the board takes no computer here: another one is at it, or this is not its serial port")]
    Refused,
    /// A board is there, and the keys do not fit.
    #[error(
        "the board has another key, or only one of the two has one: give the key of its mesh, by the mesh file or --key-file"
    )]
    Key,
}

/// A serial port that is open. No other program of Hopwise can open it meanwhile.
#[derive(Debug)]
pub struct SerialLine {
    file: File,
    path: PathBuf,
    baud: u32,
    /// The computer's end of the link.
    pub port: HostPort,
    begin: Instant,
    /// Bytes that the terminal had no room for yet.
    unsent: Vec<u8>,
}

impl SerialLine {
    /// Opens a port and locks it. Nobody need be there.
    pub fn open(path: &Path, baud: u32, keys: Option<MeshKeys>) -> Result<Self, BadPort> {
        Self::open_file(path, baud, keys).map_err(|fault| BadPort {
            path: path.to_path_buf(),
            fault,
        })
    }

    fn open_file(path: &Path, baud: u32, keys: Option<MeshKeys>) -> Result<Self, PortFault> {
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(flags.bits() as i32)
            .open(path)?;
        // The system lets go of the lock when this program ends, however it ends.
        flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|error| match error {
            Errno::WOULDBLOCK => PortFault::Busy,
            error => PortFault::NotSerial(error),
        })?;
        configure(&file, baud)?;
        let mut port = HostPort::new(fresh_epoch(), baud, 0);
        if let Some(keys) = keys {
            let mut random = [0; 16];
            File::open("/dev/urandom")?.read_exact(&mut random)?;
            port.lock(keys.mesh, Some(keys.management), random);
        }
        Ok(SerialLine {
            file,
            path: path.to_path_buf(),
            baud,
            port,
            begin: Instant::now(),
            unsent: Vec::new(),
        })
    }

    /// Which port it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The link's time, in microseconds.
    pub fn now(&self) -> u64 {
        self.begin.elapsed().as_micros() as u64
    }

    /// Why the board is not there, once it has had [time](HELLO_WITHIN) to say hello; `None` while it may still come, or is there.
    pub fn missing(&self) -> Option<BadPort> {
        let fault = match () {
            () if self.port.is_up() => return None,
            () if self.port.is_refused() => PortFault::Refused,
            () if self.port.foreign().is_some() => PortFault::Key,
            () if self.begin.elapsed() > HELLO_WITHIN => PortFault::Silent(self.baud),
            () => return None,
        };
        Some(self.bad(fault))
    }

    fn bad(&self, fault: PortFault) -> BadPort {
        BadPort {
            path: self.path.clone(),
            fault,
        }
    }

    /// Carries bytes both ways.
    pub fn exchange(&mut self) -> Result<(), BadPort> {
        self.carry().map_err(|fault| self.bad(fault))
    }

    fn carry(&mut self) -> Result<(), PortFault> {
        let mut buffer = [0; 4096];
        match self.file.read(&mut buffer) {
            Ok(0) => return Err(PortFault::Gone),
            Ok(count) => self.port.receive(&buffer[..count], self.now()),
            Err(error) => failed(error)?,
        }
        if self.unsent.is_empty() {
            self.unsent = self.port.transmit(self.now());
        }
        if !self.unsent.is_empty() {
            match self.file.write(&self.unsent) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(error) => failed(error)?,
            }
        }
        Ok(())
    }
}

impl AsFd for SerialLine {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// What a read or a write that failed means; nothing if there is only nothing to do.
fn failed(error: std::io::Error) -> Result<(), PortFault> {
    let gone = [Errno::IO, Errno::NXIO, Errno::NODEV].map(Errno::raw_os_error);
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::Interrupted => Ok(()),
        _ if error.raw_os_error().is_some_and(|number| gone.contains(&number)) => Err(PortFault::Gone),
        _ => Err(error.into()),
    }
}

/// Waits a moment for bytes at any of some lines.
pub fn wait_for_bytes<'a>(lines: impl IntoIterator<Item = &'a SerialLine>) {
    let lines = lines.into_iter();
    let mut fds: Vec<PollFd<'_>> = lines.map(|line| PollFd::new(line, PollFlags::IN)).collect();
    let wait = Timespec {
        tv_sec: 0,
        tv_nsec: LOOK.as_nanos() as i64,
    };
    // Interrupted or not: what there is, is read next.
    let _ = poll(&mut fds, Some(&wait));
}

/// Raw bytes at the mesh's speed.
fn configure(file: &File, baud: u32) -> Result<(), Errno> {
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
