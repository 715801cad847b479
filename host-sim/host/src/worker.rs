//! The thread that owns the serial line: it executes calls for all handles of the mesh, several at once.

use std::sync::mpsc::{Receiver, SyncSender, TryRecvError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use hopwise_node::wire::{AppPort, AppStatus, Kind, Query};

use crate::host_port::{Incoming, PendingRequest};
use crate::serial_line::{BadPort, SerialLine};
use crate::talk::Reply;

/// Maximum number of calls in flight. More would only wait in the board at the port.
const AT_ONCE: usize = 8;
/// Timeout of a board that does not take a packet, and of a confirmed packet: packets live for six seconds.
pub(crate) const COMPLETION_TIMEOUT: Duration = Duration::from_secs(7);

pub(crate) enum Errand {
    Ask(Query),
    /// A request to the host at a node.
    AskHost(AppPort),
    /// The response to a request.
    Respond(PendingRequest, AppStatus),
    /// A message to an application of a node.
    Datagram(AppPort),
    /// A message to the host at a node.
    ToHost(AppPort),
    /// A message that its destination confirms.
    Confirmed(AppPort),
    Broadcast(AppPort),
}

pub(crate) struct Job {
    pub(crate) errand: Errand,
    pub(crate) dest: u64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) timeout: Duration,
    /// It has room for one.
    pub(crate) done: SyncSender<End>,
}

pub(crate) enum End {
    Reply(Reply),
    /// The board has it, and no reply came in time.
    Silence,
    /// The board has not taken it.
    NotTaken,
    NoBoard,
    Gone(Arc<BadPort>),
}

pub(crate) enum News<'a> {
    Message(&'a Incoming),
    /// The port has failed: nothing comes any more.
    Gone(&'a BadPort),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interest {
    /// Took it: if it was a request, it is answered there.
    Took,
    /// Wanted it, and has no room.
    Full,
    /// Left it to others.
    Left,
    /// Wants no more.
    Over,
}

/// A listener, which is given all events and must not block.
pub(crate) type Outlet = Box<dyn FnMut(News<'_>) -> Interest + Send>;

/// State shared between the thread and the handles of the mesh.
#[derive(Default)]
pub(crate) struct Common {
    pub(crate) outlets: Mutex<Vec<Outlet>>,
    /// The reason why the thread has ended, if it has.
    pub(crate) fault: OnceLock<Arc<BadPort>>,
}

struct Open {
    kind: Kind,
    number: u32,
    /// For how long to wait once the board has it; `None` from then on.
    timeout: Option<Duration>,
    until: Instant,
    done: SyncSender<End>,
}

impl Open {
    fn end(self, end: End) {
        // The caller may be gone.
        let _ = self.done.try_send(end);
    }
}

/// Carries bytes and runs errands until nobody holds the mesh any more, or the port fails.
pub(crate) fn run(mut line: SerialLine, jobs: &Receiver<Job>, common: &Common) {
    let mut open: Vec<Open> = Vec::new();
    line.port.take_requests();
    let fault = loop {
        while open.len() < AT_ONCE {
            match jobs.try_recv() {
                Ok(job) => open.push(begin(&mut line, job)),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) if open.is_empty() => return,
                Err(TryRecvError::Disconnected) => break,
            }
        }
        if let Err(fault) = line.exchange() {
            break Arc::new(fault);
        }
        for (number, reply) in line.port.replies() {
            if let Some(place) = open.iter().position(|open| open.number == number) {
                open.remove(place).end(End::Reply(reply));
            }
        }
        look_at_clock(&mut line, &mut open);
        for message in line.port.messages() {
            if let Some((pending, status)) = pass_on(common, &message) {
                line.port.respond_with(pending, status, &[]);
            }
        }
    };
    let fault = common.fault.get_or_init(|| fault);
    if let Ok(mut outlets) = common.outlets.lock() {
        for mut outlet in outlets.drain(..) {
            outlet(News::Gone(fault));
        }
    }
    open.into_iter().for_each(|open| open.end(End::Gone(fault.clone())));
}

/// Gives a message to everyone who wants it, a request to the first. Returns what to say to a request that nobody has taken.
fn pass_on<'a>(common: &Common, message: &'a Incoming) -> Option<(&'a PendingRequest, AppStatus)> {
    let mut outlets = common.outlets.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut taken, mut refusal) = (false, AppStatus::PortUnreachable);
    outlets.retain_mut(|outlet| {
        if taken && message.pending.is_some() {
            return true;
        }
        let interest = outlet(News::Message(message));
        taken |= interest == Interest::Took;
        if interest == Interest::Full {
            refusal = AppStatus::Busy;
        }
        interest != Interest::Over
    });
    let pending = message.pending.as_ref().filter(|_| !taken)?;
    Some((pending, refusal))
}

fn begin(line: &mut SerialLine, job: Job) -> Open {
    let Job {
        errand,
        dest,
        bytes,
        timeout,
        done,
    } = job;
    let now = line.now();
    let port = &mut line.port;
    let (kind, number) = match errand {
        Errand::Ask(query) => (Kind::Request, port.ask(dest, query, &bytes, now)),
        Errand::AskHost(app) => (Kind::Request, port.ask_host(dest, app, &bytes, now)),
        Errand::Respond(pending, status) => (Kind::Response, port.respond_with(&pending, status, &bytes)),
        Errand::Datagram(app) => (Kind::Datagram, port.datagram(dest, app, &bytes)),
        Errand::ToHost(app) => (Kind::Datagram, port.datagram_to_host(dest, app, &bytes)),
        Errand::Confirmed(app) => (Kind::Confirmed, port.confirmed(dest, app, &bytes)),
        Errand::Broadcast(app) => {
            let number = port.broadcast(app, &bytes);
            // The board at the port passes a broadcast on, and does not take it itself.
            port.datagram(dest, app, &bytes);
            (Kind::Broadcast, number)
        }
    };
    Open {
        kind,
        number,
        timeout: Some(timeout),
        until: Instant::now() + COMPLETION_TIMEOUT,
        done,
    }
}

/// Ends the errands whose time is over.
fn look_at_clock(line: &mut SerialLine, open: &mut Vec<Open>) {
    let now = Instant::now();
    for errand in open.iter_mut() {
        if errand.timeout.is_some() && !line.port.holds(errand.kind, errand.number) {
            errand.until = now + errand.timeout.take().unwrap_or_default();
        }
    }
    for over in open.extract_if(.., |errand| errand.until <= now) {
        let taken = over.timeout.is_none();
        line.port.give_up(over.kind, over.number);
        over.end(match taken {
            true => End::Silence,
            false if line.port.is_up() => End::NotTaken,
            false => End::NoBoard,
        });
    }
}
