//! The handle of a mesh.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use hopwise_core::{Network, NoSuchNode};
use hopwise_node::authority::MeshKeys;
use hopwise_node::limits::MAX_PAYLOAD;
use hopwise_node::wire::{AppPort, AppStatus, BoardConfig, BoardState, Command, DropReason, Query, Status, Verdict};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{NoConnection, RequestError, SendError, SendResult, TooLong, check_length};
use crate::host_port::Incoming;
use crate::serial_line::{BadPort, SerialLine};
use crate::talk::Reply;
use crate::worker::{COMPLETION_TIMEOUT, Common, End, Errand, Interest, Job, News, Outlet, run};

/// Timeout of a request: longer than packets live, there and back.
pub const RESPONSE_TIMEOUT: Duration = Duration::from_secs(15);
/// Time within which the report of an undeliverable datagram arrives, if it does.
const BAD_NEWS_WITHIN: Duration = Duration::from_millis(300);
/// Timeout of a reader that reads nothing.
const WAIT_FOR_READER: Duration = Duration::from_secs(10);
/// Pause between two attempts to send to it, initial and maximum.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// Maximum length of a response: its status takes one byte.
const MAX_RESPONSE: usize = MAX_PAYLOAD - 1;
/// Maximum number of queued calls; further ones block.
const WAITING: usize = 64;
/// Maximum number of unread messages; further ones are lost, and counted.
const UNREAD: usize = 256;

/// What was heard of a failure, if anything was.
type Heard = Result<Option<DropReason>, SendError>;
/// The bytes of a response.
type Response = Result<Vec<u8>, RequestError>;

/// A mesh of boards, through the serial port of one of them. It may be cloned and given to other threads; the port is closed with the last
/// clone.
#[derive(Clone)]
pub struct Mesh {
    inner: Arc<Inner>,
}

struct Inner {
    jobs: SyncSender<Job>,
    common: Arc<Common>,
    board: u64,
    network: Network,
}

impl std::fmt::Debug for Mesh {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mesh({} at node {})", self.inner.network, self.inner.board)
    }
}

impl Mesh {
    /// Opens a serial port, and requests the network from the board there.
    pub fn open(port: impl AsRef<Path>, baud: u32) -> Result<Self, NoConnection> {
        Mesh::open_with(port, baud, None)
    }

    /// Like [`open`](Self::open), at a board of a mesh that has keys.
    pub fn open_with(port: impl AsRef<Path>, baud: u32, keys: Option<MeshKeys>) -> Result<Self, NoConnection> {
        let path = port.as_ref();
        let mut line = SerialLine::open(path, baud, keys)?;
        while !line.port.is_up() {
            if let Some(missing) = line.missing() {
                return Err(missing.into());
            }
            line.exchange()?;
        }
        let board = line.port.board().map_or(0, |board| board.address);
        let (jobs, queue) = sync_channel(WAITING);
        let common = Arc::new(Common::default());
        let shared = common.clone();
        std::thread::spawn(move || run(line, &queue, &shared));
        let port = path.display().to_string();
        let ask = |command: Command<'_>| {
            let bytes = command.payload().to_vec();
            let errand = Errand::Ask(command.query());
            match carry(&jobs, &common, errand, board, bytes, COMPLETION_TIMEOUT) {
                End::Reply(Reply::Response(bytes)) => bytes,
                _ => Vec::new(),
            }
        };
        match postcard::from_bytes::<Status>(&ask(Command::Status)).map(|status| status.state) {
            Ok(BoardState::Configured) => {}
            Ok(BoardState::NotInImage) => return Err(NoConnection::NotInImage(port)),
            Ok(state) => return Err(NoConnection::NoMesh { port, state }),
            Err(_) => return Err(NoConnection::NoResponse(port)),
        }
        // The network is in the board's config.
        let config = ask(Command::ReadConfig);
        let config = config.as_slice().try_into().ok();
        let config = config.and_then(|bytes| BoardConfig::read(bytes).ok());
        let network = config.and_then(|config| config.network().ok());
        let network = network.ok_or(NoConnection::NoNetwork(port))?;
        let inner = Inner {
            jobs,
            common,
            board,
            network,
        };
        Ok(Mesh { inner: Arc::new(inner) })
    }

    /// The node at the serial port.
    pub fn board(&self) -> u64 {
        self.inner.board
    }

    /// The network in that board's config.
    pub fn network(&self) -> &Network {
        &self.inner.network
    }

    /// Returns a node if it exists.
    pub fn check(&self, node: u64) -> Result<u64, NoSuchNode> {
        self.inner.network.check(node)
    }

    /// The fault of the serial port, if it no longer works.
    pub fn fault(&self) -> Option<Arc<BadPort>> {
        self.inner.common.fault.get().cloned()
    }

    /// Sends a message to an application of a node; returns when the board at the port has taken it. It is lost if a board dies with it.
    pub fn send(&self, node: u64, port: AppPort, message: &[u8]) -> Result<(), SendError> {
        self.take(Errand::Datagram(port), node, message)
    }

    /// Like [`send`](Self::send), to the host at a node.
    pub fn send_to_host(&self, at: u64, port: AppPort, message: &[u8]) -> Result<(), SendError> {
        self.take(Errand::ToHost(port), at, message)
    }

    /// Sends a message to an application of a node, or to the host there, and waits briefly for a failure report.
    pub fn send_and_hear(&self, node: u64, to_host: bool, port: AppPort, message: &[u8]) -> Heard {
        let errand = if to_host { Errand::ToHost } else { Errand::Datagram };
        self.sent(errand(port), node, message, BAD_NEWS_WITHIN)
    }

    /// Sends a message to an application of every node; returns when the board at the port has taken it.
    pub fn broadcast(&self, port: AppPort, message: &[u8]) -> Result<(), SendError> {
        self.take(Errand::Broadcast(port), self.inner.board, message)
    }

    /// Sends a message to an application of a node, and waits until delivery succeeds or fails. While the application does not read its
    /// messages, this waits, for up to ten seconds.
    pub fn send_confirmed(&self, node: u64, port: AppPort, message: &[u8]) -> Result<SendResult, SendError> {
        insist(
            || self.try_send_confirmed(node, port, message),
            |result| matches!(result, Ok(SendResult::Undeliverable(DropReason::InboxFull))),
        )
    }

    /// Like [`send_confirmed`](Self::send_confirmed), but if the application has no room, that is the result.
    pub fn try_send_confirmed(&self, node: u64, port: AppPort, message: &[u8]) -> Result<SendResult, SendError> {
        let reply = self.carry(Errand::Confirmed(port), node, message, COMPLETION_TIMEOUT)?;
        Ok(result_of(reply.as_ref()))
    }

    /// Sends a request to an application of a node, in postcard format, and waits for the response. It is sent at most once; the caller may
    /// retry. While the application has no room for requests, this waits, for up to ten seconds.
    pub fn request<T: Serialize, U: DeserializeOwned>(
        &self,
        node: u64,
        port: AppPort,
        request: &T,
    ) -> Result<U, RequestError> {
        in_postcard(request, |bytes| self.request_bytes(node, port, bytes, RESPONSE_TIMEOUT))
    }

    /// Like [`request`](Self::request), to the host at a node.
    pub fn request_host<T: Serialize, U: DeserializeOwned>(
        &self,
        at: u64,
        port: AppPort,
        request: &T,
    ) -> Result<U, RequestError> {
        in_postcard(request, |bytes| {
            self.request_host_bytes(at, port, bytes, RESPONSE_TIMEOUT)
        })
    }

    pub fn request_bytes(&self, node: u64, port: AppPort, request: &[u8], within: Duration) -> Response {
        self.ask_application(|| Errand::Ask(Query::Application(port)), node, request, within)
    }

    /// Like [`request_bytes`](Self::request_bytes), to the host at a node.
    pub fn request_host_bytes(&self, at: u64, port: AppPort, request: &[u8], within: Duration) -> Response {
        self.ask_application(|| Errand::AskHost(port), at, request, within)
    }

    fn ask_application(&self, errand: impl Fn() -> Errand, node: u64, request: &[u8], within: Duration) -> Response {
        insist(
            || response_of(self.carry(errand(), node, request, within)?.as_ref()),
            |response| matches!(response, Err(RequestError::Busy)),
        )
    }

    /// Answers the requests to a port of this host, one after the other, until the serial port fails. Other messages to it are ignored.
    pub fn serve<T: DeserializeOwned, U: Serialize>(&self, port: AppPort, mut response: impl FnMut(T) -> U) -> Ended {
        let mut receiver = self.receiver_of(move |message| message.port == port && message.pending.is_some());
        loop {
            let request = match receiver.recv(RESPONSE_TIMEOUT) {
                Ok(Some(request)) => request,
                Ok(None) => continue,
                Err(ended) => return ended,
            };
            let mut bytes = [0; MAX_RESPONSE];
            let value = postcard::from_bytes(&request.bytes).ok();
            let response = value.and_then(|value| postcard::to_slice(&response(value), &mut bytes).ok());
            // The requesting node may be gone, and so may the port, which the next iteration notices.
            let _ = match response {
                Some(bytes) => self.respond(&request, bytes),
                None => self.refuse(&request),
            };
        }
    }

    /// Answers a request, with bytes. Other messages need no response.
    pub fn respond(&self, request: &Incoming, response: &[u8]) -> Result<(), SendError> {
        if response.len() > MAX_RESPONSE {
            return Err(TooLong(response.len()).into());
        }
        self.respond_with(request, AppStatus::Ok, response)
    }

    /// Rejects a request as malformed.
    pub fn refuse(&self, request: &Incoming) -> Result<(), SendError> {
        self.respond_with(request, AppStatus::Refused, &[])
    }

    fn respond_with(&self, request: &Incoming, status: AppStatus, response: &[u8]) -> Result<(), SendError> {
        let Some(pending) = request.pending.clone() else {
            return Ok(());
        };
        self.take(Errand::Respond(pending, status), request.source, response)
    }

    /// The messages for a port of this host, from now on, including requests, which are to be [answered](Self::respond).
    pub fn receiver(&self, port: AppPort) -> Receiver {
        self.receiver_of(move |message| message.port == port)
    }

    /// All messages for this host, from now on. Requests are left to their servers.
    pub fn listen(&self) -> Receiver {
        self.receiver_of(|message| message.pending.is_none())
    }

    fn receiver_of(&self, wanted: impl Fn(&Incoming) -> bool + Send + 'static) -> Receiver {
        let (sender, messages) = sync_channel(UNREAD);
        let missed = Arc::new(AtomicU64::new(0));
        let counter = missed.clone();
        self.subscribe(Box::new(move |news| {
            let News::Message(message) = news else {
                return Interest::Over;
            };
            if !wanted(message) {
                return Interest::Left;
            }
            match sender.try_send(message.clone()) {
                Ok(()) => Interest::Took,
                Err(TrySendError::Full(_)) => {
                    counter.fetch_add(1, Ordering::Relaxed);
                    Interest::Full
                }
                Err(TrySendError::Disconnected(_)) => Interest::Over,
            }
        }));
        Receiver { messages, missed }
    }

    /// Gives every message from now on to an outlet.
    pub(crate) fn subscribe(&self, mut outlet: Outlet) {
        let common = &self.inner.common;
        let mut outlets = common.outlets.lock().unwrap_or_else(PoisonError::into_inner);
        match common.fault.get() {
            None => outlets.push(outlet),
            Some(fault) => {
                outlet(News::Gone(fault));
            }
        }
    }

    /// Sends something and waits for its reply; `None` if none comes in time.
    fn carry(&self, errand: Errand, dest: u64, bytes: &[u8], timeout: Duration) -> Result<Option<Reply>, SendError> {
        check_length(bytes)?;
        self.check(dest)?;
        let Inner { jobs, common, .. } = &*self.inner;
        match carry(jobs, common, errand, dest, bytes.to_vec(), timeout) {
            End::Reply(reply) => Ok(Some(reply)),
            End::Silence => Ok(None),
            End::NotTaken => Err(SendError::NoRoom),
            End::NoBoard => Err(SendError::NoBoard),
            End::Gone(fault) => Err(SendError::Gone(fault)),
        }
    }

    /// Sends something, until the board at the port has taken it.
    fn take(&self, errand: Errand, dest: u64, bytes: &[u8]) -> Result<(), SendError> {
        self.sent(errand, dest, bytes, Duration::ZERO).map(drop)
    }

    fn sent(&self, errand: Errand, dest: u64, bytes: &[u8], timeout: Duration) -> Heard {
        match self.carry(errand, dest, bytes, timeout)? {
            Some(Reply::Undeliverable(reason)) => Ok(Some(reason)),
            _ => Ok(None),
        }
    }

    /// Sends a request to a node itself, not to an application of it.
    pub(crate) fn ask(&self, node: u64, query: Query, bytes: &[u8], within: Duration) -> Option<Reply> {
        self.carry(Errand::Ask(query), node, bytes, within).ok().flatten()
    }
}

fn carry(jobs: &SyncSender<Job>, common: &Common, errand: Errand, dest: u64, bytes: Vec<u8>, timeout: Duration) -> End {
    let (told, heard) = sync_channel(1);
    let job = Job {
        errand,
        dest,
        bytes,
        timeout,
        done: told,
    };
    // A worker that takes no calls, or drops one, has ended.
    let end = jobs.send(job).ok().and_then(|()| heard.recv().ok());
    match (end, common.fault.get()) {
        (Some(end), _) => end,
        (None, Some(fault)) => End::Gone(fault.clone()),
        (None, None) => End::NotTaken,
    }
}

/// Retries while there is no room, for up to ten seconds.
fn insist<T>(mut attempt: impl FnMut() -> T, is_full: impl Fn(&T) -> bool) -> T {
    let (end, mut pause) = (Instant::now() + WAIT_FOR_READER, FIRST_PAUSE);
    loop {
        let result = attempt();
        if !is_full(&result) || Instant::now() >= end {
            return result;
        }
        std::thread::sleep(pause);
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

fn in_postcard<T: Serialize, U: DeserializeOwned>(
    request: &T,
    ask: impl FnOnce(&[u8]) -> Response,
) -> Result<U, RequestError> {
    let mut bytes = [0; MAX_PAYLOAD];
    let bytes = postcard::to_slice(request, &mut bytes).map_err(|_| RequestError::BadFormat)?;
    let response = ask(bytes)?;
    postcard::from_bytes(&response).map_err(|_| RequestError::BadFormat)
}

fn result_of(reply: Option<&Reply>) -> SendResult {
    match reply {
        Some(Reply::Confirmed(Verdict::Delivered)) => SendResult::Delivered,
        Some(Reply::Confirmed(Verdict::Busy)) => SendResult::Busy,
        Some(Reply::Confirmed(Verdict::Restarted)) => SendResult::Interrupted,
        Some(Reply::Confirmed(Verdict::Full)) => SendResult::Undeliverable(DropReason::InboxFull),
        Some(Reply::Confirmed(Verdict::PortUnreachable)) => SendResult::Undeliverable(DropReason::PortUnreachable),
        Some(Reply::Undeliverable(reason)) => SendResult::Undeliverable(*reason),
        Some(Reply::Response(_)) | None => SendResult::Unknown,
    }
}

fn response_of(reply: Option<&Reply>) -> Response {
    Err(match reply {
        Some(Reply::Response(bytes)) => match AppStatus::read(bytes) {
            Some((AppStatus::Ok, response)) => return Ok(response.to_vec()),
            Some((AppStatus::PortUnreachable, _)) => RequestError::PortUnreachable,
            Some((AppStatus::Busy, _)) => RequestError::Busy,
            Some((AppStatus::Refused, _)) => RequestError::Refused,
            None => RequestError::BadFormat,
        },
        Some(Reply::Undeliverable(reason)) => RequestError::Undeliverable(*reason),
        Some(Reply::Confirmed(_)) => RequestError::BadFormat,
        None => RequestError::TimedOut,
    })
}

#[derive(Debug)]
pub struct Receiver {
    messages: mpsc::Receiver<Incoming>,
    missed: Arc<AtomicU64>,
}

/// The error that no message will come, since the serial port has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the serial port has failed")]
pub struct Ended;

impl Receiver {
    /// The next message; `None` if none comes in time.
    pub fn recv(&mut self, within: Duration) -> Result<Option<Incoming>, Ended> {
        match self.messages.recv_timeout(within) {
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Ended),
        }
    }

    pub fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }
}
