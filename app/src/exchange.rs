//! The exchange between programs and router, driven by the owner of the router.

use embassy_sync::blocking_mutex::raw::RawMutex;
use hopwise_node::capacities::Capacities;
use hopwise_node::link::Micros;
use hopwise_node::router::{MessageKind, MessageOf, Observer, Router, SendError as RouterError};
use hopwise_node::wire::Query;

use crate::MAX_MESSAGE;
use crate::error::{RequestError, SendError};
use crate::message::{Job, Neighbor, RequestId, SendMode, SendResult, Service};
use crate::request::result_of;
use crate::shared::{Inner, PauseStage, Shared, Stage, UNKNOWN};

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

impl Due {
    /// Not before there is news.
    pub const NEVER: Due = Due {
        is_waiting: false,
        deadline: Micros::MAX,
    };
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
        let has_news = router.has_news();
        while let Some(message) = self.with(|inner| inner.take_messages(router)) {
            others(router, observer, &message);
        }
        self.with(|inner| {
            inner.last_exchange = now;
            inner.mesh_time = *router.mesh_time();
            inner.epoch = router.epoch();
            while let Some((number, outcome)) = router.next_outcome() {
                inner.settle(number, true, SendResult::Completed(outcome), &[]);
            }
            // Mostly messages have come, and that is all.
            if has_news && !inner.had_work && !inner.due.is_waiting && now < inner.due.deadline {
                return inner.due;
            }
            inner.had_work = false;
            inner.open_and_close(router);
            match inner.next_pause() {
                PauseStage::Wanted(units) => router.pause(units),
                PauseStage::Over => router.end_pause(now),
                PauseStage::None | PauseStage::Announced => {}
            }
            inner.send(router, now, observer);
            inner.look_at_links(router.neighbors().map(|(node, link)| Neighbor {
                node,
                is_up: link.is_some(),
            }));
            inner.due = inner.look_at_clock(now);
            inner.due
        })
    }

    /// Tells the router the room that programs have made by reading, and nothing else. To be called before the router is given bytes that may
    /// hold several packets, until it returns that all room is free: programs that read do not call for it while there is some.
    pub fn tell_room<C: Capacities>(&self, router: &mut Router<C>) -> bool {
        self.with(|inner| inner.tell_room(router))
    }
}

impl<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> Inner<SENDS, RECEIVERS, DEPTH> {
    /// Delivers messages to their programs, up to the next one for no program here.
    fn take_messages<C: Capacities>(&mut self, router: &mut Router<C>) -> Option<MessageOf<C::Body>> {
        loop {
            let stranger = router.take_message(|message| match self.take_in(message) {
                true => None,
                false => message.copied(),
            })?;
            if stranger.is_some() {
                return stranger;
            }
        }
    }

    /// Delivers a message to its program; `false` if there is none here.
    fn take_in(&mut self, message: &MessageOf<&[u8]>) -> bool {
        let service = match message.kind {
            MessageKind::Datagram => Service::Datagram,
            MessageKind::Broadcast => Service::Broadcast,
            MessageKind::Confirmed => Service::Confirmed,
            MessageKind::Request => Service::Request,
            MessageKind::Response(Query::Application(_)) => {
                let (result, bytes) = result_of(message.payload);
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
        let open = open.filter(|_| message.payload.len() <= MAX_MESSAGE);
        let Some(open) = open else { return false };
        // Cannot fail: the router was told the room.
        if let Some(incoming) = open.queue.add() {
            let asker = RequestId {
                from_host: message.from_host,
                number: message.number,
                asked: message.asked,
            };
            incoming.put(message.source, service, asker, message.payload);
        }
        open.known_room = open.known_room.saturating_sub(1);
        open.waker.wake();
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
        self.tell_room(router);
    }

    /// Tells the router the room of each port. Returns whether all is free.
    fn tell_room<C: Capacities>(&mut self, router: &mut Router<C>) -> bool {
        let mut is_free = true;
        for open in self.open.iter_mut().flatten() {
            is_free &= open.queue.len() == 0;
            let room = DEPTH.saturating_sub(open.queue.len()).min(usize::from(UNKNOWN - 1)) as u8;
            // The router has room for at least as many ports as can be opened here.
            if open.known_room != room && router.serve(open.port, room).is_ok() {
                open.known_room = room;
            }
        }
        is_free
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

    /// Gives the router the messages that wait for it.
    fn send<C: Capacities>(&mut self, router: &mut Router<C>, now: Micros, observer: &mut impl Observer) {
        let mut is_free = false;
        for sending in &mut self.sends {
            let Stage::Wanted(job) = sending.stage else { continue };
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
            is_free |= matches!(sending.stage, Stage::Free);
        }
        if is_free {
            self.senders.wake();
        }
    }

    /// Wakes the tasks whose timers have expired. Returns when the next exchange is due.
    fn look_at_clock(&mut self, now: Micros) -> Due {
        let mut due = Due::NEVER;
        for place in &mut self.timers {
            if let Some(timer) = place.take_if(|timer| timer.at <= now) {
                timer.waker.wake();
                self.sleepers.wake();
            }
            let next = place.as_ref().map_or(Micros::MAX, |timer| timer.at);
            due.deadline = due.deadline.min(next);
        }
        for sending in &mut self.sends {
            match sending.stage {
                Stage::Wanted(_) => due.is_waiting = true,
                Stage::UnderWay { until, .. } if until <= now => {
                    sending.end(SendResult::Failed(RequestError::TimedOut));
                }
                Stage::UnderWay { until, .. } => due.deadline = due.deadline.min(until),
                Stage::Free | Stage::Done(_) => {}
            }
        }
        due
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
