//! The operations of a program's handle on the state shared with the router. Each holds the lock briefly, whatever the lock and the
//! capacities are: so a handle has no type parameters, and a program is the same on every node.

use core::task::{Poll, Waker};

use embassy_sync::blocking_mutex::raw::RawMutex;
use embassy_sync::waitqueue::WakerRegistration;
use hopwise_node::link::Micros;
use hopwise_node::wire::AppPort;

use crate::error::OpenError;
use crate::message::{Incoming, Job, Neighbor, Neighbors, Payload, SendResult};
use crate::queue::Queue;
use crate::shared::{Clock, Identity, Open, PauseStage, Shared, Stage, Timer, UNKNOWN};

pub(crate) trait Mailbox {
    fn identity(&self) -> &Identity;

    /// Microseconds of the local clock.
    fn uptime(&self) -> Micros;

    /// The mesh time, if known. It is monotonic.
    fn mesh_now(&self) -> Option<Micros>;

    /// The router's boot epoch, and a number not yet used in it; `None` before the first exchange.
    fn session(&self) -> Option<(u32, u32)>;

    /// Takes a message, which is not too long, if there is a place for it, or else wakes the task when there is.
    fn start(&self, job: Job, message: &[u8], unattended: bool, waker: &Waker) -> Option<usize>;

    fn poll_result(&self, place: usize, waker: &Waker) -> Poll<SendResult>;

    fn response(&self, place: usize) -> Payload;

    /// Gives a message up: if it has not left, it is not sent.
    fn give_up(&self, place: usize);

    fn open(&self, port: AppPort) -> Result<usize, OpenError>;

    fn close(&self, place: usize);

    /// Whether a message has come to a port; if none has, a task is woken when one does.
    fn has_message(&self, place: usize, waker: Option<&Waker>) -> bool;

    /// Takes the next message of a port, if there is one.
    fn take(&self, place: usize, into: &mut Incoming);

    /// The same without removing it.
    fn peek(&self, place: usize, waker: &Waker) -> Option<Incoming>;

    /// Sets a timer that wakes the task: the one with the given number, or a new one.
    fn set_timer(&self, timer: &mut Option<u32>, at: Micros, waker: &Waker);

    fn end_timer(&self, number: u32);

    /// Has the node announce a pause of this many units; `false` if there is one already.
    fn pause(&self, units: u8) -> bool;

    fn end_pause(&self);

    fn set_led(&self, on: Option<bool>);

    /// Ready once the button was pressed after the first poll, at which `presses` is `None`.
    fn poll_button(&self, presses: &mut Option<u32>, waker: &Waker) -> Poll<()>;

    /// Has the node restart at a time.
    fn watch(&self, until: Micros);

    fn neighbors(&self) -> Neighbors;

    fn poll_all_links_up(&self, waker: &Waker) -> Poll<()>;

    /// A neighbor whose state differs from the known one.
    fn poll_link_change(&self, known: &Neighbors, waker: &Waker) -> Poll<Neighbor>;
}

impl<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize, M: RawMutex> Mailbox
    for Shared<SENDS, RECEIVERS, DEPTH, M>
{
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn uptime(&self) -> Micros {
        match self.identity.clock {
            Clock::Local { now, .. } => now(),
            Clock::LastExchange => self.with(|inner| inner.last_exchange),
        }
    }

    fn mesh_now(&self) -> Option<Micros> {
        self.with(|inner| {
            let now = match self.identity.clock {
                Clock::Local { now, .. } => now(),
                Clock::LastExchange => inner.last_exchange,
            };
            let time = inner.mesh_time.at(now)?;
            // The estimate may have changed a little since the last exchange.
            inner.shown = inner.shown.max(time);
            Some(inner.shown)
        })
    }

    fn session(&self) -> Option<(u32, u32)> {
        self.with(|inner| {
            if inner.epoch == 0 {
                return None;
            }
            inner.sessions = inner.sessions.wrapping_add(1);
            Some((inner.epoch, inner.sessions))
        })
    }

    fn start(&self, job: Job, message: &[u8], unattended: bool, waker: &Waker) -> Option<usize> {
        self.with(|inner| {
            let free = |stage: &Stage| matches!(stage, Stage::Free);
            let mut places = inner.sends.iter_mut().enumerate();
            let place = places.find(|(_, sending)| free(&sending.stage));
            let Some((place, sending)) = place else {
                inner.senders.register(waker);
                return None;
            };
            sending.put(message).ok()?;
            sending.stage = Stage::Wanted(job);
            sending.unattended = unattended;
            inner.call_runner();
            Some(place)
        })
    }

    fn poll_result(&self, place: usize, waker: &Waker) -> Poll<SendResult> {
        self.with(|inner| {
            let Some(sending) = inner.sends.get_mut(place) else {
                return Poll::Pending;
            };
            // Its place is still taken, until it is given up.
            if let Stage::Done(result) = sending.stage {
                return Poll::Ready(result);
            }
            sending.waker.register(waker);
            inner.call_runner_for_work();
            Poll::Pending
        })
    }

    fn response(&self, place: usize) -> Payload {
        self.with(|inner| inner.sends.get(place).map(|sending| sending.payload.clone()))
            .unwrap_or_default()
    }

    fn give_up(&self, place: usize) {
        self.with(|inner| {
            if let Some(sending) = inner.sends.get_mut(place) {
                sending.waker = WakerRegistration::new();
                sending.stage = Stage::Free;
            }
            inner.senders.wake();
        });
    }

    fn open(&self, port: AppPort) -> Result<usize, OpenError> {
        self.with(|inner| {
            if inner.open.iter().flatten().any(|open| open.port == port) {
                return Err(OpenError::Taken);
            }
            // A place is free again once the router knows that its last port is closed.
            let busy = inner.open.iter().flatten().count() + inner.closed.len();
            let mut places = inner.open.iter_mut().enumerate();
            let place = places.find(|(_, open)| open.is_none()).filter(|_| busy < RECEIVERS);
            let (place, open) = place.ok_or(OpenError::NoRoom)?;
            *open = Some(Open {
                port,
                queue: Queue::new(),
                waker: WakerRegistration::new(),
                known_room: UNKNOWN,
            });
            inner.closed.retain(|closed| *closed != port);
            inner.call_runner();
            Ok(place)
        })
    }

    fn close(&self, place: usize) {
        self.with(|inner| {
            if let Some(open) = inner.open.get_mut(place).and_then(Option::take) {
                // Cannot fail: a port is opened only if there is room to close it.
                let _ = inner.closed.push(open.port);
            }
            inner.call_runner();
        });
    }

    fn has_message(&self, place: usize, waker: Option<&Waker>) -> bool {
        self.with(|inner| {
            let Some(Some(open)) = inner.open.get_mut(place) else {
                return false;
            };
            let has_message = open.queue.len() > 0;
            if let Some(waker) = waker.filter(|_| !has_message) {
                open.waker.register(waker);
                inner.call_runner_for_work();
            }
            has_message
        })
    }

    fn take(&self, place: usize, into: &mut Incoming) {
        self.with(|inner| {
            let Some(Some(open)) = inner.open.get_mut(place) else {
                return;
            };
            let Some(first) = open.queue.first() else { return };
            into.put(first.source, first.service, first.asker, first.bytes());
            open.queue.remove();
            // The router learns of the room when the program waits: until then it would only hold the program up. While it knows of some, there
            // is no hurry.
            if open.known_room == 0 {
                inner.note_work();
            }
        });
    }

    fn peek(&self, place: usize, waker: &Waker) -> Option<Incoming> {
        self.with(|inner| {
            let open = inner.open.get_mut(place)?.as_mut()?;
            if open.queue.len() == 0 {
                open.waker.register(waker);
            }
            open.queue.first().cloned()
        })
    }

    fn set_timer(&self, timer: &mut Option<u32>, at: Micros, waker: &Waker) {
        if let Clock::Local { wake_at, .. } = self.identity.clock
            && wake_at(at, waker)
        {
            return;
        }
        self.with(|inner| {
            let mut timers = inner.timers.iter_mut().flatten();
            if let Some(own) = timers.find(|own| Some(own.number) == *timer) {
                return own.waker.clone_from(waker);
            }
            let Some(place) = inner.timers.iter_mut().find(|place| place.is_none()) else {
                // The task retries when a timer is free.
                return inner.sleepers.register(waker);
            };
            let number = inner.timer_number.wrapping_add(1);
            *place = Some(Timer {
                number,
                at,
                waker: waker.clone(),
            });
            (inner.timer_number, *timer) = (number, Some(number));
            inner.call_runner();
        });
    }

    fn end_timer(&self, number: u32) {
        self.with(|inner| {
            for place in &mut inner.timers {
                if place.take_if(|timer| timer.number == number).is_some() {
                    inner.sleepers.wake();
                }
            }
        });
    }

    fn pause(&self, units: u8) -> bool {
        self.with(|inner| {
            let is_free = inner.pause == PauseStage::None;
            if is_free {
                inner.pause = PauseStage::Wanted(units);
                inner.call_runner();
            }
            is_free
        })
    }

    fn end_pause(&self) {
        self.with(|inner| {
            inner.pause = match inner.pause {
                PauseStage::Announced => PauseStage::Over,
                _ => PauseStage::None,
            };
            inner.call_runner();
        });
    }

    fn set_led(&self, on: Option<bool>) {
        self.with(|inner| inner.led = on);
    }

    fn poll_button(&self, presses: &mut Option<u32>, waker: &Waker) -> Poll<()> {
        self.with(|inner| {
            if presses
                .replace(inner.presses)
                .is_some_and(|known| known != inner.presses)
            {
                return Poll::Ready(());
            }
            inner.watchers.register(waker);
            Poll::Pending
        })
    }

    fn watch(&self, until: Micros) {
        self.with(|inner| inner.watched_until = until);
    }

    fn neighbors(&self) -> Neighbors {
        self.with(|inner| inner.neighbors.clone())
    }

    fn poll_all_links_up(&self, waker: &Waker) -> Poll<()> {
        self.with(|inner| {
            let known = !inner.neighbors.is_empty();
            if known && inner.neighbors.iter().all(|neighbor| neighbor.is_up) {
                return Poll::Ready(());
            }
            inner.watchers.register(waker);
            Poll::Pending
        })
    }

    fn poll_link_change(&self, known: &Neighbors, waker: &Waker) -> Poll<Neighbor> {
        self.with(|inner| match inner.neighbors.iter().find(|now| !known.contains(now)) {
            Some(changed) => Poll::Ready(*changed),
            None => {
                inner.watchers.register(waker);
                Poll::Pending
            }
        })
    }
}
