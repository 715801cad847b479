//! A cable of a process. A thread opens it, again and again if it breaks, and receives; another sends.
//!
//! As on a wire, what nobody takes is lost, and a node never waits for its neighbor.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fs::File;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use embedded_io_async::{ErrorType, Read, Write};

use crate::place::Place;

/// Bytes that wait in one direction: several windows of frames.
const MAX_WAITING: usize = 16 * 1_024;
/// Time between two attempts to open a cable.
const RETRY: Duration = Duration::from_millis(100);
/// A socket without a byte for so long is dead: links say hello several times a second.
const DEAD: Duration = Duration::from_secs(5);

/// A cable that is laid, whether anybody is at its other end or not.
pub(crate) struct Cable(Arc<Wire>);

#[derive(Default)]
struct Wire {
    state: Mutex<State>,
    /// There is room for received bytes, or something to send, or the connection has changed.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    received: VecDeque<u8>,
    to_send: VecDeque<u8>,
    /// The task that waits for received bytes.
    waker: Option<Waker>,
    /// Counts connections; odd while there is one.
    connection: u64,
}

impl Wire {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A thread that panics leaves bytes behind, which are bytes.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection begins or ends: what was on the way is lost.
    fn change(&self) -> u64 {
        let mut state = self.lock();
        state.connection += 1;
        state.to_send.clear();
        self.changed.notify_all();
        state.connection
    }

    fn receive(&self, connection: &mut Connection) {
        let mut buffer = [0; 4_096];
        loop {
            match connection.rx.read(&mut buffer) {
                Ok(0) => return,
                Ok(count) => {
                    let mut state = self.lock();
                    while state.received.len() > MAX_WAITING {
                        state = self.wait(state);
                    }
                    state.received.extend(&buffer[..count]);
                    state.waker.take().into_iter().for_each(Waker::wake);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::TimedOut && connection.may_be_silent => {}
                Err(_) => return,
            }
        }
    }

    fn send(&self, number: u64, tx: &mut dyn io::Write) {
        let mut bytes = Vec::new();
        loop {
            let mut state = self.lock();
            while state.connection == number && state.to_send.is_empty() {
                state = self.wait(state);
            }
            if state.connection != number {
                return;
            }
            bytes.clear();
            bytes.extend(state.to_send.drain(..));
            drop(state);
            if tx.write_all(&bytes).is_err() {
                return;
            }
        }
    }
}

impl Cable {
    /// Lays a cable to a place. What can be known at once is: a terminal is made, and a socket to listen at.
    pub(crate) fn lay(place: Option<Place>, name: String, baud: u32, say: fn(&str)) -> io::Result<Self> {
        let wire = Arc::new(Wire::default());
        if let Some(place) = place {
            let mut plug = Plug::new(place, baud, |text| say(&format!("{name}: {text}")))?;
            let wire = wire.clone();
            thread::spawn(move || {
                let mut trouble = String::new();
                loop {
                    match plug.connect() {
                        Ok(mut connection) => {
                            trouble.clear();
                            carry(&wire, &mut connection);
                        }
                        Err(error) if error.to_string() != trouble => {
                            trouble = error.to_string();
                            say(&format!("{name}: {trouble}"));
                        }
                        Err(_) => {}
                    }
                    thread::sleep(RETRY);
                }
            });
        }
        Ok(Cable(wire))
    }

    pub(crate) fn ends(&self) -> (Receiver, Sender) {
        self.0.lock().received.clear();
        (Receiver(self.0.clone()), Sender(self.0.clone()))
    }
}

/// Carries bytes both ways while a connection lasts.
fn carry(wire: &Wire, connection: &mut Connection) {
    let number = wire.change();
    let mut tx = std::mem::replace(&mut connection.tx, Box::new(io::sink()));
    thread::scope(|scope| {
        scope.spawn(|| wire.send(number, &mut *tx));
        wire.receive(connection);
        wire.change();
    });
}

struct Connection {
    rx: Box<dyn io::Read + Send>,
    tx: Box<dyn io::Write + Send>,
    may_be_silent: bool,
}

impl Connection {
    fn new(rx: impl io::Read + Send + 'static, tx: impl io::Write + Send + 'static, may_be_silent: bool) -> Self {
        Connection {
            rx: Box::new(rx),
            tx: Box::new(tx),
            may_be_silent,
        }
    }
}

/// The near end of a cable.
enum Plug {
    #[cfg(unix)]
    Terminal {
        master: File,
        /// Held open, so that the terminal outlives those that open it.
        _other_end: File,
    },
    #[cfg(unix)]
    Socket {
        path: std::path::PathBuf,
        lock: File,
        listener: Option<std::os::unix::net::UnixListener>,
    },
    Tcp(String),
    Listen(TcpListener),
    Serial(std::path::PathBuf, u32),
}

impl Plug {
    fn new(place: Place, baud: u32, say: impl Fn(&str)) -> io::Result<Self> {
        match place {
            #[cfg(unix)]
            Place::Terminal(link) => {
                let (master, path) = hopwise_host::terminal::open_terminal()?;
                if let Some(link) = link {
                    if link.is_symlink() {
                        std::fs::remove_file(&link)?;
                    }
                    std::os::unix::fs::symlink(&path, &link)?;
                }
                say(&path);
                let _other_end = File::options().read(true).write(true).open(path)?;
                Ok(Plug::Terminal { master, _other_end })
            }
            #[cfg(unix)]
            Place::Socket(path) => {
                let mut name = path.clone().into_os_string();
                name.push(".lock");
                let lock = File::options().create(true).append(true).open(name)?;
                Ok(Plug::Socket {
                    path,
                    lock,
                    listener: None,
                })
            }
            #[cfg(not(unix))]
            Place::Terminal(_) | Place::Socket(_) => Err(io::Error::new(
                ErrorKind::Unsupported,
                "this system has neither pseudo-terminals nor Unix sockets",
            )),
            Place::Tcp(address) => Ok(Plug::Tcp(address)),
            Place::Listen(address) => {
                let listener = TcpListener::bind(&address)?;
                say(&format!("listens at {}", listener.local_addr()?));
                Ok(Plug::Listen(listener))
            }
            Place::Serial(path) => Ok(Plug::Serial(path, baud)),
        }
    }

    /// Waits until somebody is there.
    fn connect(&mut self) -> io::Result<Connection> {
        match self {
            #[cfg(unix)]
            Plug::Terminal { master, .. } => Ok(Connection::new(master.try_clone()?, master.try_clone()?, true)),
            #[cfg(unix)]
            Plug::Socket { path, lock, listener } => {
                use std::os::unix::net::{UnixListener, UnixStream};
                // If nobody listens yet, whoever has the lock, which ends with its process, does.
                let met = match listener {
                    Some(_) => None,
                    None => UnixStream::connect(&*path).ok(),
                };
                if met.is_none() && listener.is_none() && lock.try_lock().is_ok() {
                    let _ = std::fs::remove_file(&*path);
                    *listener = Some(UnixListener::bind(&*path)?);
                }
                let stream = match (met, listener) {
                    (Some(stream), _) => stream,
                    (None, Some(listener)) => listener.accept()?.0,
                    (None, None) => UnixStream::connect(path)?,
                };
                stream.set_read_timeout(Some(DEAD))?;
                stream.set_write_timeout(Some(DEAD))?;
                Ok(Connection::new(stream.try_clone()?, stream, false))
            }
            Plug::Tcp(address) => over_tcp(TcpStream::connect(&*address)?),
            Plug::Listen(listener) => over_tcp(listener.accept()?.0),
            Plug::Serial(path, baud) => {
                let port = serialport::new(path.to_string_lossy(), *baud).timeout(RETRY).open()?;
                Ok(Connection::new(port.try_clone()?, port, true))
            }
        }
    }
}

fn over_tcp(stream: TcpStream) -> io::Result<Connection> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(DEAD))?;
    stream.set_write_timeout(Some(DEAD))?;
    Ok(Connection::new(stream.try_clone()?, stream, false))
}

pub(crate) struct Receiver(Arc<Wire>);

pub(crate) struct Sender(Arc<Wire>);

impl ErrorType for Receiver {
    type Error = Infallible;
}

impl ErrorType for Sender {
    type Error = Infallible;
}

impl Read for Receiver {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        poll_fn(|context| {
            let mut state = self.0.lock();
            let count = state.received.len().min(buffer.len());
            if count == 0 {
                state.waker = Some(context.waker().clone());
                return Poll::Pending;
            }
            buffer
                .iter_mut()
                .zip(state.received.drain(..count))
                .for_each(|(place, byte)| *place = byte);
            self.0.changed.notify_all();
            Poll::Ready(Ok(count))
        })
        .await
    }
}

impl Write for Sender {
    /// A whole frame, or nothing of it if nobody takes it.
    async fn write(&mut self, frame: &[u8]) -> Result<usize, Infallible> {
        let mut state = self.0.lock();
        if state.connection % 2 == 1 && state.to_send.len() + frame.len() <= MAX_WAITING {
            state.to_send.extend(frame);
            self.0.changed.notify_all();
        }
        Ok(frame.len())
    }

    async fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
