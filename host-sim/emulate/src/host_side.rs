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
    #[error("cannot open {path}: {error}")]
    Serial { path: String, error: std::io::Error },
}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io::{ErrorKind, Read, Write};
    use std::os::unix::fs::OpenOptionsExt;
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::PathBuf;

    use hopwise_host::terminal::open_terminal;
    use rustix::fs::{OFlags, fcntl_setfl};
    use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

    use super::{CannotOpenPort, Path};

    pub(crate) enum HostSide {
        Socket {
            listener: UnixListener,
            client: Option<UnixStream>,
            path: PathBuf,
        },
        Terminal(File),
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

        /// Opens a serial port of this machine, to a real board.
        pub(crate) fn serial(path: &Path, baud: u32) -> Result<Self, CannotOpenPort> {
            let failed = |error| CannotOpenPort::Serial {
                path: path.display().to_string(),
                error,
            };
            let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
            let file = File::options()
                .read(true)
                .write(true)
                .custom_flags(flags.bits() as i32)
                .open(path);
            let file = file.map_err(failed)?;
            let raw = || {
                let mut settings = tcgetattr(&file)?;
                settings.make_raw();
                settings.set_speed(baud)?;
                tcsetattr(&file, OptionalActions::Now, &settings)
            };
            raw().map_err(|error| failed(error.into()))?;
            Ok(HostSide::Terminal(file))
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

    pub(crate) fn serial(_: &Path, _: u32) -> Result<Self, CannotOpenPort> {
        Err(CannotOpenPort::NoSuchThing)
    }

    pub(crate) fn pass(&mut self, _: &[u8], _: &mut [u8]) -> usize {
        match *self {}
    }
}
