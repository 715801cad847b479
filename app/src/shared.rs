//! What the programs of a node and its router share, behind a lock.

use core::cell::RefCell;
use core::task::{Context, Poll, Waker};

use embassy_sync::blocking_mutex::Mutex;
use embassy_sync::blocking_mutex::raw::{NoopRawMutex, RawMutex};
use heapless::{Deque, Vec};
use hopwise_core::{Network, Node};
use hopwise_node::clock::MeshTime;
use hopwise_node::link::Micros;
use hopwise_node::wire::AppPort;

use crate::message::{Fate, Incoming, Job, Neighbors};
use crate::wakers::{Wakers, keep, wake};

/// Timers that run at once.
const TIMERS: usize = 8;

/// Where a message is.
#[derive(Clone, Debug)]
pub(crate) enum Stage {
    Free,
    /// It waits for the router.
    Wanted(Job),
    /// The owner of the router hands it over just now.
    Leaving,
    /// And nobody wants to know any more.
    GivenUp,
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
    pub(crate) neighbors: Neighbors,
    pub(crate) watchers: Wakers,
    /// When the last exchange was.
    pub(crate) last_exchange: Micros,
    /// What time it is in the mesh, and what was shown of it last.
    pub(crate) mesh_time: MeshTime,
    pub(crate) shown: Micros,
    /// The router's boot epoch; 0 before the first exchange.
    pub(crate) epoch: u32,
    /// Transfers and streams that have begun here.
    pub(crate) sessions: u32,
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

/// What never changes, and needs no lock.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) address: Node,
    pub(crate) network: Network,
    pub(crate) clock: Clock,
}

/// What the programs of a node and its router share: messages to be sent, up to `SENDS` of them; for each of `RECEIVERS` open ports up
/// to `DEPTH` messages that have come.
///
/// `M` keeps the two apart. It is nothing where they run on one executor, and excludes the other where one may interrupt the other or
/// they are different threads. It is held for as long as it takes to copy one message.
#[derive(Debug)]
pub struct Shared<
    const SENDS: usize = 4,
    const RECEIVERS: usize = 6,
    const DEPTH: usize = 2,
    M: RawMutex = NoopRawMutex,
> {
    pub(crate) identity: Identity,
    inner: Mutex<M, RefCell<Inner<SENDS, RECEIVERS, DEPTH>>>,
}

impl<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize, M: RawMutex> Shared<SENDS, RECEIVERS, DEPTH, M> {
    /// For a node of a network.
    pub fn new(network: Network, address: Node, clock: Clock) -> Self {
        Shared {
            identity: Identity {
                address,
                network,
                clock,
            },
            inner: Mutex::new(RefCell::new(Inner {
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
                neighbors: Vec::new(),
                watchers: Wakers::new(),
                last_exchange: 0,
                mesh_time: MeshTime::UNKNOWN,
                shown: 0,
                epoch: 0,
                sessions: 0,
                runner: None,
                has_work: true,
            })),
        }
    }

    /// Does something that nobody else sees half done. It is short, and wakes tasks but does not run them.
    pub(crate) fn with<R>(&self, change: impl FnOnce(&mut Inner<SENDS, RECEIVERS, DEPTH>) -> R) -> R {
        self.inner.lock(|inner| change(&mut inner.borrow_mut()))
    }

    /// Whether the router's owner should call [`exchange`](Self::exchange), since a program wants something. Asking makes it `false`.
    pub fn take_work(&self) -> bool {
        self.with(|inner| core::mem::take(&mut inner.has_work))
    }

    /// The same; if there is nothing to do, the task is woken when there is.
    pub fn poll_work(&self, context: &mut Context<'_>) -> Poll<()> {
        self.with(|inner| {
            if core::mem::take(&mut inner.has_work) {
                return Poll::Ready(());
            }
            keep(&mut inner.runner, context.waker());
            Poll::Pending
        })
    }
}
