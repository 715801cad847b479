//! The state shared by the programs of a node and its router, behind a lock.

use core::cell::RefCell;
use core::task::{Context, Poll, Waker};

use embassy_sync::blocking_mutex::Mutex;
use embassy_sync::blocking_mutex::raw::{NoopRawMutex, RawMutex};
use embassy_sync::waitqueue::{MultiWakerRegistration, WakerRegistration};
use heapless::Vec;
use hopwise_core::{Network, Node};
use hopwise_node::clock::MeshTime;
use hopwise_node::link::Micros;
use hopwise_node::wire::{AppPort, Bytes, NoRoom};

use crate::exchange::Due;
use crate::message::{Job, Neighbors, Payload, SendResult};
use crate::queue::Queue;

/// Maximum number of running timers.
const TIMERS: usize = 8;

/// Maximum number of tasks that wait for one event without waking each other.
const MOST_WAITING: usize = 4;

/// More room than any port has.
pub(crate) const UNKNOWN: u8 = u8::MAX;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage {
    Free,
    /// It waits for the router.
    Wanted(Job),
    /// The router has it, under this number. A request expires at the deadline.
    UnderWay {
        number: u32,
        confirmed: bool,
        until: Micros,
    },
    Done(SendResult),
}

#[derive(Debug)]
pub(crate) struct Sending {
    pub(crate) stage: Stage,
    /// The message, and then the response to it. Apart from the stage, so that only its bytes are copied.
    pub(crate) payload: Payload,
    pub(crate) unattended: bool,
    pub(crate) waker: WakerRegistration,
}

impl Sending {
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), NoRoom> {
        self.payload.truncate(0);
        self.payload.extend_from_slice(bytes)
    }

    pub(crate) fn end(&mut self, result: SendResult) {
        self.stage = match self.unattended {
            true => Stage::Free,
            false => Stage::Done(result),
        };
        self.waker.wake();
    }
}

#[derive(Debug)]
pub(crate) struct Open<const DEPTH: usize> {
    pub(crate) port: AppPort,
    pub(crate) queue: Queue<DEPTH>,
    pub(crate) waker: WakerRegistration,
    /// The room that the router knows of, or [`UNKNOWN`] if it does not know the port.
    pub(crate) known_room: u8,
}

#[derive(Debug)]
pub(crate) struct Timer {
    pub(crate) number: u32,
    pub(crate) at: Micros,
    pub(crate) waker: Waker,
}

/// The stage of a program's [pause](crate::Mesh::pause).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PauseStage {
    None,
    /// The router is to announce it, in its units.
    Wanted(u8),
    Announced,
    /// The router is to end it.
    Over,
}

#[derive(Debug)]
pub(crate) struct Inner<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> {
    pub(crate) sends: [Sending; SENDS],
    /// The tasks that wait for a place among them.
    pub(crate) senders: MultiWakerRegistration<MOST_WAITING>,
    pub(crate) open: [Option<Open<DEPTH>>; RECEIVERS],
    /// Closed ports that the router has not been told of.
    pub(crate) closed: Vec<AppPort, RECEIVERS>,
    pub(crate) timers: [Option<Timer>; TIMERS],
    /// Of the last timer.
    pub(crate) timer_number: u32,
    pub(crate) sleepers: MultiWakerRegistration<MOST_WAITING>,
    pub(crate) neighbors: Neighbors,
    pub(crate) watchers: MultiWakerRegistration<MOST_WAITING>,
    pub(crate) last_exchange: Micros,
    /// The mesh time, and what was last returned of it.
    pub(crate) mesh_time: MeshTime,
    pub(crate) shown: Micros,
    /// The router's boot epoch; 0 before the first exchange.
    pub(crate) epoch: u32,
    /// Number of transfers and streams started here.
    pub(crate) sessions: u32,
    pub(crate) pause: PauseStage,
    /// When the node restarts unless a program prevents it.
    pub(crate) watched_until: Micros,
    /// What a program wants of the board's LED; `None` leaves it to the board.
    pub(crate) led: Option<bool>,
    /// Number of times that the board's button was pressed.
    pub(crate) presses: u32,
    /// The owner of the router, if it waits for work.
    runner: WakerRegistration,
    pub(crate) has_work: bool,
    /// Whether there has been work since the last exchange that looked for some, and what that returned.
    pub(crate) had_work: bool,
    pub(crate) due: Due,
}

impl<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> Inner<SENDS, RECEIVERS, DEPTH> {
    /// Wakes the owner of the router.
    pub(crate) fn call_runner(&mut self) {
        self.note_work();
        self.runner.wake();
    }

    /// Notes that there is work, which can wait until the program does.
    pub(crate) fn note_work(&mut self) {
        (self.has_work, self.had_work) = (true, true);
    }

    /// The same if there is work that it was not woken for.
    pub(crate) fn call_runner_for_work(&mut self) {
        if self.has_work {
            self.runner.wake();
        }
    }
}

/// The source of the local time.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// A board's local clock.
    Local {
        /// Microseconds since boot.
        now: fn() -> Micros,
        /// Wakes a task at a time, without the router's owner. Returns whether it will; not every task is known to a board's timer.
        wake_at: fn(Micros, &Waker) -> bool,
    },
    /// The time of the last [exchange](Shared::exchange).
    LastExchange,
}

/// The constant part, which needs no lock.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) address: Node,
    pub(crate) network: Network,
    pub(crate) clock: Clock,
}

/// The state shared by the programs of a node and its router: up to `SENDS` messages to be sent, and up to `DEPTH` received messages for
/// each of `RECEIVERS` open ports.
///
/// `M` is the lock. It is a no-op where both run on one executor, and a real lock where one may interrupt the other or
/// they are different threads. It is held for as long as it takes to copy a
/// message, and by the owner of the router for half an exchange.
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
    /// The state for a node of a network.
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
                    payload: Payload::new(),
                    unattended: false,
                    waker: WakerRegistration::new(),
                }),
                senders: MultiWakerRegistration::new(),
                open: core::array::from_fn(|_| None),
                closed: Vec::new(),
                timers: core::array::from_fn(|_| None),
                timer_number: 0,
                sleepers: MultiWakerRegistration::new(),
                neighbors: Vec::new(),
                watchers: MultiWakerRegistration::new(),
                last_exchange: 0,
                mesh_time: MeshTime::UNKNOWN,
                shown: 0,
                epoch: 0,
                sessions: 0,
                pause: PauseStage::None,
                watched_until: Micros::MAX,
                led: None,
                presses: 0,
                runner: WakerRegistration::new(),
                has_work: true,
                had_work: true,
                due: Due::NEVER,
            })),
        }
    }

    /// Runs a short change under the lock. It wakes tasks but does not run them.
    pub(crate) fn with<R>(&self, change: impl FnOnce(&mut Inner<SENDS, RECEIVERS, DEPTH>) -> R) -> R {
        self.inner.lock(|inner| change(&mut inner.borrow_mut()))
    }

    /// Whether the router's owner should call [`exchange`](Self::exchange) because of a program; resets the flag.
    pub fn take_work(&self) -> bool {
        self.with(|inner| core::mem::take(&mut inner.has_work))
    }

    /// When the node must restart because a program has asked for it and not [postponed](crate::Mesh::watch) it.
    pub fn watched_until(&self) -> Micros {
        self.with(|inner| inner.watched_until)
    }

    /// What a program [wants](crate::Mesh::set_led) of the board's LED.
    pub fn led(&self) -> Option<bool> {
        self.with(|inner| inner.led)
    }

    /// The board's button was pressed.
    pub fn press_button(&self) {
        self.with(|inner| {
            inner.presses = inner.presses.wrapping_add(1);
            inner.watchers.wake();
        });
    }

    /// Like [`take_work`](Self::take_work); if there is none, the task is woken when there is.
    pub fn poll_work(&self, context: &mut Context<'_>) -> Poll<()> {
        self.with(|inner| {
            if core::mem::take(&mut inner.has_work) {
                return Poll::Ready(());
            }
            inner.runner.register(context.waker());
            Poll::Pending
        })
    }
}
