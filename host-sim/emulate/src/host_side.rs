//! What a board's serial port is to another program on the host: a Unix socket or a pseudo-terminal.

use std::path::Path;

use hopwise_emulator::world::BadWire;

#[derive(Debug, thiserror::Error)]
pub enum CannotOpenPort {
    /// There is no such port, or a wire is at it.
    #[error("{0}")]
    Wire(#[from] BadWire),
    #[error("cannot make the socket {path}: {error}")]
    Socket { path: String, error: std::io::Error },
    #[error(
        "this system has neither pseudo-terminals nor Unix sockets: boards' serial ports cannot be opened to other programs"
    )]
    NoSuchThing,
    #[error("cannot make a terminal: {0}")]
    Terminal(std::io::Error),
}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io::{ErrorKind, Read, Write};
    use std::os::unix::fs::OpenOptionsExt;
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::PathBuf;
    use std::time::{Duration, Instant};

    use hopwise_host::terminal::open_terminal;
    use rustix::fs::{OFlags, fcntl_setfl};
    use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

    use super::{CannotOpenPort, Path};

    /// Time between two attempts to open a serial port.
    const RETRY: Duration = Duration::from_millis(100);

    /// Writes to a serial port of this machine, and reads, while it is there.
    type Pass = dyn FnMut(&[u8], &mut [u8]) -> usize + Send;

    pub(crate) enum HostSide {
        Socket {
            listener: UnixListener,
            client: Option<UnixStream>,
            path: PathBuf,
        },
        Terminal(File),
        Serial(Box<Pass>),
    }

    impl HostSide {
        /// Makes the socket, or the pseudo-terminal; and what the other program opens.
        pub(crate) fn open(socket: Option<&Path>) -> Result<(Self, String), CannotOpenPort> {
            let Some(path) = socket else {
                let (terminal, path) = open_terminal().map_err(CannotOpenPort::Terminal)?;
                fcntl_setfl(&terminal, OFlags::NONBLOCK).map_err(|error| CannotOpenPort::Terminal(error.into()))?;
                return Ok((HostSide::Terminal(terminal), path));
            };
            let failed = |error| CannotOpenPort::Socket {
                path: path.display().to_string(),
                error,
            };
            let listener = UnixListener::bind(path).map_err(failed)?;
            listener.set_nonblocking(true).map_err(failed)?;
            let host = HostSide::Socket {
                listener,
                client: None,
                path: path.to_path_buf(),
            };
            Ok((host, path.display().to_string()))
        }

        /// A serial port of this machine, to a real board.
        pub(crate) fn serial(path: &Path, baud: u32, say: fn(&str)) -> Result<Self, CannotOpenPort> {
            let (path, mut file, mut tried) = (path.to_path_buf(), None, Instant::now());
            Ok(HostSide::Serial(Box::new(move |out, room| {
                if file.is_none() && tried.elapsed() >= RETRY {
                    (file, tried) = (open_serial(&path, baud).ok(), Instant::now());
                }
                let Some(port) = &mut file else { return 0 };
                let received = pass(port, out, room);
                if received.is_none() {
                    file = None;
                    say(&format!("{} is gone until it is plugged in again", path.display()));
                }
                received.unwrap_or(0)
            })))
        }

        /// Writes what there is, and reads what there is and has room.
        pub(crate) fn pass(&mut self, out: &[u8], room: &mut [u8]) -> usize {
            match self {
                HostSide::Socket { listener, client, .. } => {
                    if let Ok((stream, _)) = listener.accept()
                        && stream.set_nonblocking(true).is_ok()
                    {
                        *client = Some(stream);
                    }
                    let received = client.as_mut().and_then(|stream| pass(stream, out, room));
                    if received.is_none() {
                        *client = None;
                    }
                    received.unwrap_or(0)
                }
                HostSide::Terminal(terminal) => pass(terminal, out, room).unwrap_or(0),
                HostSide::Serial(pass) => pass(out, room),
            }
        }
    }

    impl Drop for HostSide {
        fn drop(&mut self) {
            if let HostSide::Socket { path, .. } = self {
                // Nothing is lost if it is already gone.
                let _ = std::fs::remove_file(path);
            }
        }
    }

    fn open_serial(path: &Path, baud: u32) -> std::io::Result<File> {
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
        let file = File::options().read(true).write(true).custom_flags(flags).open(path)?;
        let mut settings = tcgetattr(&file)?;
        settings.make_raw();
        settings.set_speed(baud)?;
        tcsetattr(&file, OptionalActions::Now, &settings)?;
        Ok(file)
    }

    /// `None` if the other end has gone.
    fn pass(stream: &mut (impl Read + Write), out: &[u8], room: &mut [u8]) -> Option<usize> {
        match stream.write_all(out) {
            Err(error) if error.kind() != ErrorKind::WouldBlock => return None,
            _ => {}
        }
        if room.is_empty() {
            return Some(0);
        }
        match stream.read(room) {
            Ok(0) => None,
            Ok(received) => Some(received),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Some(0),
            Err(_) => None,
        }
    }
}

#[cfg(unix)]
pub(crate) use unix::HostSide;

/// There is none.
#[cfg(not(unix))]
pub(crate) enum HostSide {}

#[cfg(not(unix))]
impl HostSide {
    pub(crate) fn open(_: Option<&Path>) -> Result<(Self, String), CannotOpenPort> {
        Err(CannotOpenPort::NoSuchThing)
    }

    pub(crate) fn serial(_: &Path, _: u32, _: fn(&str)) -> Result<Self, CannotOpenPort> {
        Err(CannotOpenPort::NoSuchThing)
    }

    pub(crate) fn pass(&mut self, _: &[u8], _: &mut [u8]) -> usize {
        match *self {}
    }
}
