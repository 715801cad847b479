//! What the programs of a node and its router share.

use core::cell::{Cell, RefCell};
use core::task::Waker;

use heapless::{Deque, Vec};
use hopwise_core::{Network, Node};
use hopwise_node::clock::MeshTime;
use hopwise_node::link::Micros;
use hopwise_node::router::Outcome;
use hopwise_node::wire::{AppPort, AppStatus};

use crate::MAX_MESSAGE;
use crate::error::{RequestError, SendError};
use crate::links::Neighbour;
use crate::receive::Incoming;
use crate::wakers::{Wakers, keep, wake};

/// Timers that run at once.
const TIMERS: usize = 8;
/// Neighbours of a node.
pub(crate) const NEIGHBOURS: usize = 16;

/// A message's bytes.
pub(crate) type Bytes = Vec<u8, MAX_MESSAGE, u8>;

/// What is to be done with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Datagram,
    ToComputer,
    Confirmed,
    Broadcast,
    Request,
    RequestToComputer,
    /// The answer to a request that came.
    Response(Asker, AppStatus),
}

/// Who has asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asker {
    pub(crate) from_host: bool,
    pub(crate) number: u32,
    pub(crate) asked: u32,
}

/// A message to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) how: How,
    pub(crate) dest: Node,
    pub(crate) port: AppPort,
    pub(crate) payload: Bytes,
}

/// What became of a message.
#[derive(Clone, Debug)]
pub(crate) enum Fate {
    /// The router has it. That is all there is to know of most.
    Sent,
    Settled(Outcome),
    Answered(Bytes),
    Failed(RequestError),
    NotSent(SendError),
}

/// Where a message is.
#[derive(Clone, Debug)]
pub(crate) enum Stage {
    Free,
    /// It waits for the router.
    Wanted(Job),
    /// The router has it, under that number. A request that is not answered by then has no answer.
    UnderWay {
        number: u32,
        confirmed: bool,
        until: Micros,
    },
    Done(Fate),
}

#[derive(Debug)]
pub(crate) struct Sending {
    pub(crate) stage: Stage,
    /// Nobody waits to hear what becomes of it.
    pub(crate) unattended: bool,
    pub(crate) waker: Option<Waker>,
}

impl Sending {
    /// What became of it is known.
    pub(crate) fn end(&mut self, fate: Fate) {
        self.stage = match self.unattended {
            true => Stage::Free,
            false => Stage::Done(fate),
        };
        wake(&mut self.waker);
    }
}

/// A port that is served.
#[derive(Debug)]
pub(crate) struct Open<const DEPTH: usize> {
    pub(crate) port: AppPort,
    pub(crate) queue: Deque<Incoming, DEPTH>,
    pub(crate) waker: Option<Waker>,
    /// The router has been told how much room there is.
    pub(crate) told: bool,
}

#[derive(Debug)]
pub(crate) struct Timer {
    /// Whose it is.
    pub(crate) number: u32,
    pub(crate) at: Micros,
    pub(crate) waker: Waker,
}

#[derive(Debug)]
pub(crate) struct Inner<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> {
    pub(crate) sends: [Sending; SENDS],
    /// Who waits for a place among them.
    pub(crate) senders: Wakers,
    pub(crate) open: [Option<Open<DEPTH>>; RECEIVERS],
    /// Ports that were closed, and of which the router has not been told.
    pub(crate) closed: Vec<AppPort, RECEIVERS>,
    pub(crate) timers: [Option<Timer>; TIMERS],
    /// Of the last timer.
    pub(crate) timer_number: u32,
    pub(crate) sleepers: Wakers,
    pub(crate) neighbours: Vec<Neighbour, NEIGHBOURS>,
    pub(crate) watchers: Wakers,
    /// Whoever owns the router, if it waits for work.
    runner: Option<Waker>,
    has_work: bool,
}

impl<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> Inner<SENDS, RECEIVERS, DEPTH> {
    /// There is something for the owner of the router to do.
    pub(crate) fn call_runner(&mut self) {
        self.has_work = true;
        wake(&mut self.runner);
    }
}

/// What time it is.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// A board's own clock, in microseconds since its start.
    Function(fn() -> Micros),
    /// It is whatever time the last [exchange](Shared::exchange) said.
    LastExchange,
}

/// What the programs of a node and its router share: messages to be sent, up to `SENDS` of them; for each of `RECEIVERS` open ports up
/// to `DEPTH` messages that have come.
#[derive(Debug)]
pub struct Shared<const SENDS: usize = 4, const RECEIVERS: usize = 6, const DEPTH: usize = 2> {
    pub(crate) address: Node,
    pub(crate) network: Network,
    clock: Clock,
    last_exchange: Cell<Micros>,
    /// What time it is in the mesh, and what was shown of it last.
    mesh_time: Cell<MeshTime>,
    shown: Cell<Micros>,
    /// The router's boot epoch; 0 before the first exchange.
    pub(crate) epoch: Cell<u32>,
    /// Transfers and streams that have begun here.
    pub(crate) sessions: Cell<u32>,
    waiting: Cell<bool>,
    deadline: Cell<Micros>,
    pub(crate) inner: RefCell<Inner<SENDS, RECEIVERS, DEPTH>>,
}

impl<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> Shared<SENDS, RECEIVERS, DEPTH> {
    /// For a node of a network.
    pub fn new(network: Network, address: Node, clock: Clock) -> Self {
        Shared {
            address,
            network,
            clock,
            last_exchange: Cell::new(0),
            mesh_time: Cell::new(MeshTime::UNKNOWN),
            shown: Cell::new(0),
            epoch: Cell::new(0),
            sessions: Cell::new(0),
            waiting: Cell::new(false),
            deadline: Cell::new(Micros::MAX),
            inner: RefCell::new(Inner {
                sends: core::array::from_fn(|_| Sending {
                    stage: Stage::Free,
                    unattended: false,
                    waker: None,
                }),
                senders: Wakers::new(),
                open: core::array::from_fn(|_| None),
                closed: Vec::new(),
                timers: core::array::from_fn(|_| None),
                timer_number: 0,
                sleepers: Wakers::new(),
                neighbours: Vec::new(),
                watchers: Wakers::new(),
                runner: None,
                has_work: true,
            }),
        }
    }

    pub(crate) fn now(&self) -> Micros {
        match self.clock {
            Clock::Function(now) => now(),
            Clock::LastExchange => self.last_exchange.get(),
        }
    }

    pub(crate) fn mesh_now(&self) -> Option<Micros> {
        let time = self.mesh_time.get().at(self.now())?;
        // What was learned since the last exchange may differ by a little.
        self.shown.set(time.max(self.shown.get()));
        Some(self.shown.get())
    }

    pub(crate) fn set_now(&self, now: Micros, mesh_time: MeshTime) {
        self.last_exchange.set(now);
        self.mesh_time.set(mesh_time);
    }

    /// Whether the router's owner should call [`exchange`](Self::exchange), since a program wants something. Asking makes it `false`.
    pub fn take_work(&self) -> bool {
        core::mem::take(&mut self.inner.borrow_mut().has_work)
    }

    /// Waits until there is [work](Self::take_work).
    pub async fn work(&self) {
        core::future::poll_fn(|context| {
            let mut inner = self.inner.borrow_mut();
            if core::mem::take(&mut inner.has_work) {
                return core::task::Poll::Ready(());
            }
            keep(&mut inner.runner, context.waker());
            core::task::Poll::Pending
        })
        .await;
    }

    /// Whether a message waits for room in the router, as of the last [exchange](Self::exchange).
    pub fn is_waiting(&self) -> bool {
        self.waiting.get()
    }

    /// When the next [exchange](Self::exchange) is due if nothing else happens, as of the last one. A program that wants it earlier makes
    /// [work](Self::take_work).
    pub fn deadline(&self) -> Micros {
        self.deadline.get()
    }

    /// Sums up, at the end of an exchange, what is asked often.
    pub(crate) fn sum_up(&self, inner: &Inner<SENDS, RECEIVERS, DEPTH>) {
        let is_wanted = |sending: &Sending| matches!(sending.stage, Stage::Wanted(_));
        self.waiting.set(inner.sends.iter().any(is_wanted));
        let timers = inner.timers.iter().flatten().map(|timer| timer.at);
        let requests = inner.sends.iter().filter_map(|sending| match sending.stage {
            Stage::UnderWay { until, .. } => Some(until),
            _ => None,
        });
        self.deadline.set(timers.chain(requests).min().unwrap_or(Micros::MAX));
    }
}
