//! The exchange between programs and router, driven by the owner of the router.

use embassy_sync::blocking_mutex::raw::RawMutex;
use hopwise_node::capacities::Capacities;
use hopwise_node::link::Micros;
use hopwise_node::router::{MessageKind, MessageOf, Observer, Router, SendError as RouterError};
use hopwise_node::wire::{Bytes, Query, body_of};

use crate::error::{RequestError, SendError};
use crate::message::{Incoming, Job, Neighbor, RequestId, SendMode, SendResult, Service};
use crate::request::result_of;
use crate::shared::{Inner, PauseStage, Sending, Shared, Stage};
use crate::wakers::wake;

/// Timeout of a request: longer than packets live, there and back.
const RESPONSE_TIMEOUT: Micros = 15_000_000;

/// When the next [exchange](Shared::exchange) is due, if the router does not change and there is no [work](Shared::take_work).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// A message waits for room in the router: exchange as soon as there may be some.
    pub is_waiting: bool,
    /// At this time at the latest.
    pub deadline: Micros,
}

impl<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize, M: RawMutex> Shared<SENDS, RECEIVERS, DEPTH, M> {
    /// Delivers received messages to the programs, and their messages to the router. Must be called after each change of the router, when
    /// there is [work](Self::take_work), and when it is [`Due`]. Messages for no program here, such as a host's commands to the
    /// board, go to `others`.
    pub fn exchange<C: Capacities, O: Observer>(
        &self,
        router: &mut Router<C>,
        now: Micros,
        observer: &mut O,
        mut others: impl FnMut(&mut Router<C>, &mut O, &MessageOf<C::Body>),
    ) -> Due {
        self.with(|inner| {
            inner.last_exchange = now;
            inner.mesh_time = *router.mesh_time();
            inner.epoch = router.epoch();
        });
        while let Some(message) = router.next_message() {
            if !self.with(|inner| inner.take_in(&message)) {
                others(router, observer, &message);
            }
        }
        while let Some((number, outcome)) = router.next_outcome() {
            self.with(|inner| inner.settle(number, true, SendResult::Completed(outcome), &[]));
        }
        self.with(|inner| inner.open_and_close(router));
        match self.with(Inner::next_pause) {
            PauseStage::Wanted(units) => router.pause(units),
            PauseStage::Over => router.end_pause(now),
            PauseStage::None | PauseStage::Announced => {}
        }
        for place in 0..SENDS {
            self.with(|inner| inner.send(place, router, now, observer));
        }
        self.with(|inner| {
            inner.look_at_clock(now);
            inner.look_at_links(router.neighbors().map(|(node, link)| Neighbor {
                node,
                is_up: link.is_some(),
            }));
            inner.due()
        })
    }
}

impl<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> Inner<SENDS, RECEIVERS, DEPTH> {
    /// Delivers a message to its program; `false` if there is none here.
    fn take_in<B: Bytes>(&mut self, message: &MessageOf<B>) -> bool {
        let service = match message.kind {
            MessageKind::Datagram => Service::Datagram,
            MessageKind::Broadcast => Service::Broadcast,
            MessageKind::Confirmed => Service::Confirmed,
            MessageKind::Request => Service::Request,
            MessageKind::Response(Query::Application(_)) => {
                let (result, bytes) = result_of(&message.payload);
                self.settle(message.number, false, result, bytes);
                return true;
            }
            MessageKind::Undeliverable { number, reason, .. } => {
                let at = message.source;
                let result = SendResult::Failed(RequestError::Undeliverable { at, reason });
                // No program waits for the result of a datagram.
                return self.settle(number, false, result, &[]);
            }
            MessageKind::Response(_) | MessageKind::BoardRequest { .. } => return false,
        };
        let open = self.open.iter_mut().flatten().find(|open| open.port == message.port);
        let Some(open) = open else { return false };
        let Some(payload) = body_of(&[&message.payload]) else {
            return false;
        };
        let incoming = Incoming {
            source: message.source,
            from_host: message.from_host,
            service,
            payload,
            asker: RequestId {
                from_host: message.from_host,
                number: message.number,
                asked: message.asked,
            },
        };
        // Cannot fail: the router was told the room.
        let _ = open.queue.push_back(incoming);
        wake(&mut open.waker);
        true
    }

    /// Completes a message, with the bytes of the response to it. Returns whether a program waits for that.
    fn settle(&mut self, number: u32, confirmed: bool, result: SendResult, response: &[u8]) -> bool {
        let sending = self.sends.iter_mut().find(|sending| match sending.stage {
            Stage::UnderWay {
                number: of,
                confirmed: is_confirmed,
                ..
            } => (of, is_confirmed) == (number, confirmed),
            _ => false,
        });
        let found = sending.is_some();
        if let Some(sending) = sending {
            let fits = sending.put(response).is_ok();
            sending.end(match fits {
                true => result,
                false => SendResult::Failed(RequestError::BadFormat),
            });
        }
        found
    }

    /// Tells the router the served ports, and the room of each.
    fn open_and_close<C: Capacities>(&mut self, router: &mut Router<C>) {
        while let Some(port) = self.closed.pop() {
            router.close(port);
        }
        for open in self.open.iter_mut().flatten() {
            let room = DEPTH.saturating_sub(open.queue.len()).min(u8::MAX.into()) as u8;
            // The router has room for at least as many ports as can be opened here.
            if !open.told && router.serve(open.port, room).is_ok() {
                open.told = true;
            }
        }
    }

    /// What the router is to do about a pause.
    fn next_pause(&mut self) -> PauseStage {
        let stage = self.pause;
        self.pause = match stage {
            PauseStage::Wanted(_) => PauseStage::Announced,
            PauseStage::Over => PauseStage::None,
            unchanged => unchanged,
        };
        stage
    }

    /// Gives the router a message that waits for it, if there is one at a place.
    fn send<C: Capacities>(&mut self, place: usize, router: &mut Router<C>, now: Micros, observer: &mut impl Observer) {
        let Some(sending) = self.sends.get_mut(place) else {
            return;
        };
        let Stage::Wanted(job) = sending.stage else { return };
        let confirmed = job.how == SendMode::Confirmed;
        match (give(job, &sending.payload, router, now, observer), job.how) {
            (Ok(number), SendMode::Confirmed | SendMode::Request | SendMode::RequestToHost) => {
                sending.stage = Stage::UnderWay {
                    number,
                    confirmed,
                    until: if confirmed {
                        Micros::MAX
                    } else {
                        now.saturating_add(RESPONSE_TIMEOUT)
                    },
                };
            }
            (Ok(_), _) => sending.end(SendResult::Sent),
            // It waits until there is room.
            (Err(RouterError::Full), _) => {}
            (Err(RouterError::NoSuchNode(_)), _) => sending.end(SendResult::NotSent(SendError::NoSuchNode)),
            (Err(RouterError::TooLong), _) => sending.end(SendResult::NotSent(SendError::TooLong)),
        }
        if matches!(sending.stage, Stage::Free) {
            self.senders.wake();
        }
    }

    fn due(&self) -> Due {
        let is_wanted = |sending: &Sending| matches!(sending.stage, Stage::Wanted(_));
        let timers = self.timers.iter().flatten().map(|timer| timer.at);
        let requests = self.sends.iter().filter_map(|sending| match sending.stage {
            Stage::UnderWay { until, .. } => Some(until),
            _ => None,
        });
        Due {
            is_waiting: self.sends.iter().any(is_wanted),
            deadline: timers.chain(requests).min().unwrap_or(Micros::MAX),
        }
    }

    /// Wakes the tasks whose timers have expired.
    fn look_at_clock(&mut self, now: Micros) {
        for place in &mut self.timers {
            if let Some(timer) = place.take_if(|timer| timer.at <= now) {
                timer.waker.wake();
                self.sleepers.wake();
            }
        }
        for sending in &mut self.sends {
            if matches!(sending.stage, Stage::UnderWay { until, .. } if until <= now) {
                sending.end(SendResult::Failed(RequestError::TimedOut));
            }
        }
    }

    fn look_at_links(&mut self, neighbors: impl Iterator<Item = Neighbor>) {
        let mut changed = false;
        for (place, neighbor) in neighbors.enumerate() {
            match self.neighbors.get_mut(place) {
                Some(known) if *known == neighbor => {}
                Some(known) => {
                    *known = neighbor;
                    changed = true;
                }
                // Neighbors beyond the capacity are ignored.
                None => changed |= self.neighbors.push(neighbor).is_ok(),
            }
        }
        if changed {
            self.watchers.wake();
        }
    }
}

/// Gives the router a message. Returns its number, if it has one.
fn give<C: Capacities>(
    job: Job,
    payload: &[u8],
    router: &mut Router<C>,
    now: Micros,
    observer: &mut impl Observer,
) -> Result<u32, RouterError> {
    let Job { how, dest, port } = job;
    match how {
        SendMode::Datagram => router.send(dest, port, payload, now, observer),
        SendMode::ToHost => router.send_to_host(dest, port, payload, now, observer),
        SendMode::Confirmed => router.send_confirmed(dest, port, payload, now, observer),
        SendMode::Broadcast => router.broadcast(port, payload, now, observer),
        SendMode::Request => router.ask(dest, Query::Application(port), payload, now, observer),
        SendMode::RequestToHost => router.ask_host(dest, port, payload, now, observer),
        SendMode::Response(asker, status) => {
            let request = MessageOf {
                kind: MessageKind::Request,
                source: dest,
                from_host: asker.from_host,
                port,
                number: asker.number,
                asked: asker.asked,
                payload: (),
            };
            router.respond(&request, status, payload, now, observer).map(|()| 0)
        }
    }
}
