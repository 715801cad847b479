//! One serial port with the host's end of the link: the ST-LINK's USB port, or a pseudo-terminal of an emulated board.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hopwise_node::authority::MeshKeys;
use hopwise_node::key::Credentials;
use serialport::{ClearBuffer, SerialPort};

use crate::host_port::HostPort;
use crate::random::random_bytes;

pub const HELLO_WITHIN: Duration = Duration::from_secs(3);
/// Interval at which the link's deadlines are checked while nothing is received.
const LOOK: Duration = Duration::from_millis(1);

#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", path.display())]
pub struct BadPort {
    pub path: PathBuf,
    pub fault: PortFault,
}

impl BadPort {
    fn new(path: &Path, fault: PortFault) -> Self {
        let path = path.to_path_buf();
        BadPort { path, fault }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum PortFault {
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("no serial port: {0}")]
    NotSerial(serialport::Error),
    #[error("another program uses this port; end it first, or let both talk through one `hopwise bridge`")]
    Busy,
    #[error("the port is gone")]
    Gone,
    #[error("no board answers at {0} baud; is it flashed, and is that the mesh's host-baud?")]
    Silent(u32),
    #[error("the board takes no host here: another one is at it, or this is not its serial port")]
    Refused,
    #[error(
        "the board has another key, or only one of the two has one: give the key of its mesh, by the mesh file or --key-file"
    )]
    Key,
}

/// A serial port that is open. No other program of Hopwise can open it meanwhile.
pub struct SerialLine {
    device: Box<dyn SerialPort>,
    path: PathBuf,
    baud: u32,
    pub port: HostPort,
    begin: Instant,
    /// Bytes that the port had no room for yet.
    unsent: Vec<u8>,
}

impl fmt::Debug for SerialLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SerialLine({}, {} baud)", self.path.display(), self.baud)
    }
}

impl SerialLine {
    /// Opens a port and locks it. A board need not be there.
    pub fn open(path: &Path, baud: u32, keys: Option<MeshKeys>) -> Result<Self, BadPort> {
        let bad = |fault| BadPort::new(path, fault);

        let mut port = HostPort::new(fresh_epoch(), baud, 0);
        if let Some(keys) = keys {
            let credentials = Credentials {
                secret: keys.mesh,
                random: random_bytes().map_err(|error| bad(error.into()))?,
            };
            port.lock(&credentials, Some(keys.management));
        }
        Ok(SerialLine {
            device: open_device(path, baud).map_err(bad)?,
            path: path.to_path_buf(),
            baud,
            port,
            begin: Instant::now(),
            unsent: Vec::new(),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The link's time, in microseconds.
    pub fn now(&self) -> u64 {
        self.begin.elapsed().as_micros() as u64
    }

    /// The reason why the board is missing, once it has had [time](HELLO_WITHIN) to say hello; `None` while it may still come, or is there.
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
        BadPort::new(&self.path, fault)
    }

    /// Transfers bytes both ways, and waits briefly for the first.
    pub fn exchange(&mut self) -> Result<(), BadPort> {
        self.carry(true).map_err(|fault| self.bad(fault))
    }

    fn carry(&mut self, wait: bool) -> Result<(), PortFault> {
        let mut buffer = [0; 4096];
        let there = match wait {
            true => true,
            false => self.device.bytes_to_read().map_err(|error| fault_of(error.into()))? > 0,
        };
        if there {
            match self.device.read(&mut buffer) {
                Ok(0) => return Err(PortFault::Gone),
                Ok(count) => self.port.receive(&buffer[..count], self.now()),
                Err(error) => failed(error)?,
            }
        }
        if self.unsent.is_empty() {
            self.unsent = self.port.transmit(self.now());
        }
        if !self.unsent.is_empty() {
            match self.device.write(&self.unsent) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(error) => failed(error)?,
            }
        }
        Ok(())
    }
}

/// Transfers bytes both ways at several lines, and waits briefly for the first at one of them.
pub fn exchange_all(lines: &mut [SerialLine]) -> Result<(), BadPort> {
    let mut lines = lines.iter_mut().enumerate();
    lines.try_for_each(|(place, line)| line.carry(place == 0).map_err(|fault| line.bad(fault)))
}

/// The fault of a failed read or write; none if there is merely nothing to do.
fn failed(error: io::Error) -> Result<(), PortFault> {
    match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock | ErrorKind::Interrupted => Ok(()),
        _ => Err(fault_of(error)),
    }
}

fn fault_of(error: io::Error) -> PortFault {
    match error.kind() {
        // The errors of an unplugged port. Permission is otherwise not denied on an open port.
        ErrorKind::BrokenPipe | ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::Other => PortFault::Gone,
        _ => PortFault::Io(error),
    }
}

fn open_device(path: &Path, baud: u32) -> Result<Box<dyn SerialPort>, PortFault> {
    let unix = unix::Opened::new(path)?;
    let builder = serialport::new(path.to_string_lossy(), baud).timeout(LOOK);
    let device = builder.open().map_err(|error| match error.kind() {
        serialport::ErrorKind::NoDevice if unix.is_there() => PortFault::Busy,
        serialport::ErrorKind::NoDevice => PortFault::Io(error.into()),
        _ => PortFault::NotSerial(error),
    })?;
    unix.let_others_open()?;
    device.clear(ClearBuffer::All).map_err(PortFault::NotSerial)?;
    Ok(device)
}

#[cfg(unix)]
mod unix {
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::Path;

    use rustix::fs::OFlags;
    use rustix::termios::ioctl_tiocnxcl;

    /// A port, opened besides.
    pub(super) struct Opened(File);

    impl Opened {
        /// Reports faults of the file in the system's words.
        pub(super) fn new(path: &Path) -> io::Result<Self> {
            let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
            let mut options = OpenOptions::new();
            options.read(true).write(true).custom_flags(flags.bits() as i32);
            options.open(path).map(Opened)
        }

        pub(super) fn is_there(&self) -> bool {
            true
        }

        /// The port is locked twice: by `flock`, which ends with the program, and by the terminal's exclusive mode, which stays at the terminal of
        /// an emulated board when the program is ended. That one is cleared.
        pub(super) fn let_others_open(&self) -> io::Result<()> {
            Ok(ioctl_tiocnxcl(&self.0)?)
        }
    }
}

/// For systems where an open port cannot be opened again.
#[cfg(not(unix))]
mod unix {
    use std::io;
    use std::path::Path;

    pub(super) struct Opened {
        there: bool,
    }

    impl Opened {
        pub(super) fn new(path: &Path) -> io::Result<Self> {
            let name = path.to_string_lossy();
            let there =
                serialport::available_ports().is_ok_and(|ports| ports.iter().any(|port| port.port_name == name));
            Ok(Opened { there })
        }

        pub(super) fn is_there(&self) -> bool {
            self.there
        }

        pub(super) fn let_others_open(&self) -> io::Result<()> {
            Ok(())
        }
    }
}

/// Differs from that of the last program that was at this port.
fn fresh_epoch() -> u32 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    ((since.as_millis() as u32) ^ std::process::id().rotate_left(20)).max(1)
}
