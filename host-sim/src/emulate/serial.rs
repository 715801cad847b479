//! A board's serial port on the host: a Unix socket or a pseudo-terminal that other programs open.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use hopwise_emulator::world::{Port, World, parse_port};

/// Where a serial port goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SerialPort {
    /// Which port of which board.
    pub port: Port,
    /// The path of the socket; `None` makes a pseudo-terminal.
    pub socket: Option<PathBuf>,
}

impl SerialPort {
    /// Reads `PORT=pty` or `PORT=unix:PATH`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (port, place) = text
            .split_once('=')
            .ok_or_else(|| format!("'{text}' is not PORT=pty or PORT=unix:PATH"))?;
        let port = parse_port(port)?;
        match place.split_once(':') {
            Some(("unix", path)) if !path.is_empty() => Ok(SerialPort {
                port,
                socket: Some(path.into()),
            }),
            None if place == "pty" => Ok(SerialPort { port, socket: None }),
            _ => Err(format!("'{place}' is neither pty nor unix:PATH")),
        }
    }
}

/// The host's end of a port.
enum End {
    Socket {
        listener: UnixListener,
        client: Option<UnixStream>,
        path: PathBuf,
    },
    Terminal(std::fs::File),
}

/// A port that is open to other programs.
pub struct OpenPort {
    port: Port,
    end: End,
    /// What the other program opens.
    pub path: String,
}

impl OpenPort {
    /// Makes the socket or the pseudo-terminal.
    pub fn open(wanted: &SerialPort) -> Result<Self, String> {
        match &wanted.socket {
            Some(path) => {
                let failed = |error| format!("cannot make the socket {}: {error}", path.display());
                let listener = UnixListener::bind(path).map_err(failed)?;
                listener.set_nonblocking(true).map_err(failed)?;
                let end = End::Socket {
                    listener,
                    client: None,
                    path: path.clone(),
                };
                Ok(OpenPort {
                    port: wanted.port,
                    end,
                    path: path.display().to_string(),
                })
            }
            None => {
                let (terminal, path) = open_terminal().map_err(|error| format!("cannot make a terminal: {error}"))?;
                Ok(OpenPort {
                    port: wanted.port,
                    end: End::Terminal(terminal),
                    path,
                })
            }
        }
    }

    /// Carries bytes both ways. Nobody at the other end is no error: what the board sends is then lost, as on a cable.
    pub fn exchange(&mut self, world: &mut World) {
        let board = &mut world.boards_mut()[self.port.board];
        let from_board = board.take_bytes(self.port.uart);
        let mut buffer = [0; 1024];
        let received = match &mut self.end {
            End::Socket { listener, client, .. } => {
                if let Ok((stream, _)) = listener.accept()
                    && stream.set_nonblocking(true).is_ok()
                {
                    *client = Some(stream);
                }
                let Some(stream) = client else { return };
                match pass(stream, &from_board, &mut buffer) {
                    Some(received) => received,
                    None => {
                        *client = None;
                        0
                    }
                }
            }
            End::Terminal(terminal) => pass(terminal, &from_board, &mut buffer).unwrap_or(0),
        };
        board.feed(self.port.uart, &buffer[..received]);
    }
}

impl Drop for OpenPort {
    fn drop(&mut self) {
        if let End::Socket { path, .. } = &self.end {
            // Nothing is lost if it is already gone.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Writes what there is and reads what there is; `None` if the other end has gone.
fn pass(stream: &mut (impl Read + Write), out: &[u8], buffer: &mut [u8]) -> Option<usize> {
    match stream.write_all(out) {
        Err(error) if error.kind() != ErrorKind::WouldBlock => return None,
        _ => {}
    }
    match stream.read(buffer) {
        Ok(0) => None,
        Ok(received) => Some(received),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Some(0),
        Err(_) => None,
    }
}

/// A pseudo-terminal in raw mode, and the path of its other end.
fn open_terminal() -> Result<(std::fs::File, String), std::io::Error> {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let path = ptsname(&master, Vec::new())?.to_string_lossy().into_owned();
    let mut modes = rustix::termios::tcgetattr(&master)?;
    modes.make_raw();
    rustix::termios::tcsetattr(&master, rustix::termios::OptionalActions::Now, &modes)?;
    rustix::fs::fcntl_setfl(&master, rustix::fs::OFlags::NONBLOCK)?;
    Ok((std::fs::File::from(master), path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read() {
        let port = Port { board: 3, uart: 1 };
        assert_eq!(SerialPort::parse("3.USART2=pty"), Ok(SerialPort { port, socket: None }));
        let socket = Some(PathBuf::from("/tmp/x"));
        assert_eq!(
            SerialPort::parse("3.usart2=unix:/tmp/x"),
            Ok(SerialPort { port, socket })
        );
        for wrong in [
            "3.USART2",
            "3.USART2=",
            "3.USART2=unix:",
            "3.USART9=pty",
            "USART2=pty",
            "3.USART2=tty",
        ] {
            assert!(SerialPort::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_terminal_can_be_opened_by_its_path() {
        let wanted = SerialPort {
            port: Port { board: 0, uart: 1 },
            socket: None,
        };
        let port = OpenPort::open(&wanted).expect("a terminal");
        assert!(
            std::fs::OpenOptions::new()
                .read(true)
                .write(true)
                .open(&port.path)
                .is_ok(),
            "{}",
            port.path
        );
    }
}
