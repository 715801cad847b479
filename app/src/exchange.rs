//! Between programs and router: whoever owns the router moves messages from one side to the other.

use hopwise_node::capacities::Capacities;
use hopwise_node::link::Micros;
use hopwise_node::router::{MessageKind, MessageOf, Observer, Router, SendError as RouterError};
use hopwise_node::wire::{Bytes, Query, body_of};

use crate::error::{RequestError, SendError};
use crate::links::Neighbour;
use crate::receive::{Incoming, Service};
use crate::request::fate_of;
use crate::shared::{Asker, Fate, How, Inner, Job, Shared, Stage};
use crate::wakers::wake;

/// A request that is not answered by then has no answer: longer than packets live, there and back.
const ANSWER_WITHIN: Micros = 15_000_000;

impl<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> Shared<SENDS, RECEIVERS, DEPTH> {
    /// Gives the programs what has come for them, and the router what they want to send. To be called after each change of the router, when
    /// there is [work](Self::take_work), and at the [deadline](Self::deadline). What is for nobody here, such as a computer's commands to the
    /// board, goes to `others`.
    pub fn exchange<C: Capacities, O: Observer>(
        &self,
        router: &mut Router<C>,
        now: Micros,
        observer: &mut O,
        mut others: impl FnMut(&mut Router<C>, &mut O, &MessageOf<C::Body>),
    ) {
        self.set_now(now, *router.mesh_time());
        self.epoch.set(router.epoch());
        let inner = &mut *self.inner.borrow_mut();
        while let Some(message) = router.next_message() {
            if !inner.take_in(&message) {
                others(router, observer, &message);
            }
        }
        while let Some((number, outcome)) = router.next_outcome() {
            inner.settle(number, true, Fate::Settled(outcome));
        }
        inner.open_and_close(router);
        inner.send(router, now, observer);
        inner.look_at_clock(now);
        inner.look_at_links(router.neighbors().map(|(node, link)| Neighbour {
            node,
            is_up: link.is_some(),
        }));
        self.sum_up(inner);
    }
}

impl<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> Inner<SENDS, RECEIVERS, DEPTH> {
    /// Gives a message to whom it is for; `false` if that is nobody here.
    fn take_in<B: Bytes>(&mut self, message: &MessageOf<B>) -> bool {
        let service = match message.kind {
            MessageKind::Datagram => Service::Datagram,
            MessageKind::Broadcast => Service::Broadcast,
            MessageKind::Confirmed => Service::Confirmed,
            MessageKind::Request => Service::Request,
            MessageKind::Answer(Query::Application(_)) => {
                self.settle(message.number, false, fate_of(&message.payload));
                return true;
            }
            MessageKind::Undeliverable { number, reason, .. } => {
                let at = message.source;
                let fate = Fate::Failed(RequestError::Undeliverable { at, reason });
                // Of a datagram nobody waits to hear.
                return self.settle(number, false, fate);
            }
            MessageKind::Answer(_) | MessageKind::Question { .. } => return false,
        };
        let open = self.open.iter_mut().flatten().find(|open| open.port == message.port);
        let Some(open) = open else { return false };
        let Some(payload) = body_of(&[&message.payload]) else {
            return false;
        };
        let incoming = Incoming {
            source: message.source,
            from_computer: message.from_host,
            service,
            payload,
            asker: Asker {
                from_host: message.from_host,
                number: message.number,
                asked: message.asked,
            },
        };
        // There is room: the router was told how much.
        let _ = open.queue.push_back(incoming);
        wake(&mut open.waker);
        true
    }

    /// What became of a message is known. Returns whether anyone waits for that.
    fn settle(&mut self, number: u32, confirmed: bool, fate: Fate) -> bool {
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
            sending.end(fate);
        }
        found
    }

    /// Tells the router which ports are served, and how much room there is for each.
    fn open_and_close<C: Capacities>(&mut self, router: &mut Router<C>) {
        while let Some(port) = self.closed.pop() {
            router.close(port);
        }
        for open in self.open.iter_mut().flatten() {
            let room = DEPTH.saturating_sub(open.queue.len()).min(u8::MAX.into()) as u8;
            // The router lists as many ports as anyone here opens, or more.
            if !open.told && router.serve(open.port, room).is_ok() {
                open.told = true;
            }
        }
    }

    fn send<C: Capacities>(&mut self, router: &mut Router<C>, now: Micros, observer: &mut impl Observer) {
        let mut freed = false;
        for sending in &mut self.sends {
            let Stage::Wanted(job) = &sending.stage else { continue };
            let (how, taken) = (job.how, give(job, router, now, observer));
            match (taken, how) {
                (Ok(number), How::Confirmed | How::Request | How::RequestToComputer) => {
                    let confirmed = how == How::Confirmed;
                    sending.stage = Stage::UnderWay {
                        number,
                        confirmed,
                        until: if confirmed {
                            Micros::MAX
                        } else {
                            now.saturating_add(ANSWER_WITHIN)
                        },
                    };
                }
                (Ok(_), _) => sending.end(Fate::Sent),
                // It waits until there is room.
                (Err(RouterError::Full), _) => {}
                (Err(RouterError::NoSuchNode(_)), _) => sending.end(Fate::NotSent(SendError::NoSuchNode)),
                (Err(RouterError::TooLong), _) => sending.end(Fate::NotSent(SendError::TooLong)),
            }
            freed |= matches!(sending.stage, Stage::Free);
        }
        if freed {
            self.senders.wake();
        }
    }

    /// Wakes whose time has come.
    fn look_at_clock(&mut self, now: Micros) {
        for place in &mut self.timers {
            if let Some(timer) = place.take_if(|timer| timer.at <= now) {
                timer.waker.wake();
                self.sleepers.wake();
            }
        }
        for sending in &mut self.sends {
            if matches!(sending.stage, Stage::UnderWay { until, .. } if until <= now) {
                sending.end(Fate::Failed(RequestError::TimedOut));
            }
        }
    }

    fn look_at_links(&mut self, neighbours: impl Iterator<Item = Neighbour>) {
        let mut changed = false;
        for (place, neighbour) in neighbours.enumerate() {
            match self.neighbours.get_mut(place) {
                Some(known) if *known == neighbour => {}
                Some(known) => {
                    *known = neighbour;
                    changed = true;
                }
                // Of more than there is room for nothing is said.
                None => changed |= self.neighbours.push(neighbour).is_ok(),
            }
        }
        if changed {
            self.watchers.wake();
        }
    }
}

/// Gives the router a message. Returns its number, if it has one.
fn give<C: Capacities>(
    job: &Job,
    router: &mut Router<C>,
    now: Micros,
    observer: &mut impl Observer,
) -> Result<u32, RouterError> {
    let Job {
        how,
        dest,
        port,
        ref payload,
    } = *job;
    match how {
        How::Datagram => router.send(dest, port, payload, now, observer),
        How::ToComputer => router.send_to_computer(dest, port, payload, now, observer),
        How::Confirmed => router.send_confirmed(dest, port, payload, now, observer),
        How::Broadcast => router.broadcast(port, payload, now, observer),
        How::Request => router.ask(dest, Query::Application(port), payload, now, observer),
        How::RequestToComputer => router.ask_computer(dest, port, payload, now, observer),
        How::Response(asker, status) => {
            let request = MessageOf {
                kind: MessageKind::Request,
                source: dest,
                from_host: asker.from_host,
                port,
                number: asker.number,
                asked: asker.asked,
                payload: C::Body::default(),
            };
            router.respond(&request, status, payload, now, observer).map(|()| 0)
        }
    }
}
