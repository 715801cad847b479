//! The passage of a packet through this node: it comes in, is delivered, passed on or sent on, and leaves or ends here.

use super::event::{Event, Observer};
use super::forward::{Forwarder, Hop};
use super::pool::{Origin, Place, Reader, Slot};
use super::times::LIFETIME;
use super::{Router, add, age, quota};
use crate::capacities::{Capacities, List};
use crate::link::{LinkOf, Micros};
use crate::wire::{AGE_UNIT, Bytes, Content, DropReason, Header, Kind, PacketOf, Trail, Undeliverable};
use hopwise_core::Node;

impl<C: Capacities> Router<C> {
    /// A packet came on a link. If there is no room for it, the link is not told that it was taken.
    pub(super) fn packet_in(
        &mut self,
        link: u8,
        lane: u8,
        packet: Option<PacketOf<C::Body>>,
        now: Micros,
        observer: &mut impl Observer,
    ) {
        let host = self.host == Some(link);
        if !host && self.wiring.neighbor_at(link).is_none() {
            return;
        }
        let Some(mut packet) = packet else {
            self.links.get_mut(usize::from(link)).map(LinkOf::take);
            add(&mut self.counters.received, 1);
            self.counters.drop(DropReason::Malformed);
            return;
        };
        let origin = if host {
            packet.header.source = self.here;
            packet.header.from_host = true;
            packet.header.hops_left = self.hops;
            Origin::Host(link)
        } else {
            Origin::Link { link, lane }
        };
        let header = packet.header;
        if !host && (self.drop_known(link, &header, observer) || self.drop_retry(link, &header, observer)) {
            return;
        }
        if header.dest == self.here && self.cannot_answer_yet(header.kind) {
            // It waits at the neighbour, so that it need not be sent again from its source.
            return;
        }
        let Some(place) = self.pool.admit(packet, origin, now) else {
            return;
        };
        self.took(link, &header, observer);
        if self.network.check(header.source).is_err() {
            self.discard(place, DropReason::NoSuchNode, observer);
        } else if self.network.check(header.dest).is_err() {
            self.give_up(place, DropReason::NoSuchNode, now, observer);
        } else if !host && !self.can_come_from(link, &header) {
            self.discard(place, DropReason::Malformed, observer);
        } else {
            self.go(place, now, observer);
        }
    }

    /// A confirmed packet that was sent again has come where its first copy still waits for a link. It brings nothing, and would take a
    /// turn of its source. `false` if it is no such packet.
    fn drop_retry(&mut self, link: u8, header: &Header, observer: &mut impl Observer) -> bool {
        let is_first = |&place: &Place| {
            let slot = self.pool.get(place);
            slot.is_some_and(|slot| slot.packet.header.id() == header.id())
        };
        // What is on a wire may itself be what comes back.
        let waits = || self.queues.iter().flat_map(|queue| queue.iter()).any(is_first);
        if header.kind != Kind::Confirmed || !header.copied || !waits() {
            return false;
        }
        self.took(link, header, observer);
        self.count_drop(header, DropReason::Duplicate, observer);
        true
    }

    /// Whether a packet for this node had better come later, because there is no room for what its sender is to be told.
    fn cannot_answer_yet(&mut self, kind: Kind) -> bool {
        match kind {
            Kind::Confirmed => self.destination.is_busy(),
            Kind::Request => self.pool.defers_request(),
            _ => false,
        }
    }

    /// A packet of a link is taken, whatever becomes of it.
    pub(super) fn took(&mut self, link: u8, header: &Header, observer: &mut impl Observer) {
        self.links.get_mut(usize::from(link)).map(LinkOf::take);
        add(&mut self.counters.received, 1);
        observer.note(Event::Received {
            link,
            packet: header.id(),
            dest: header.dest,
        });
    }

    /// Whether a packet can have come on a link as it says, as far as that can be known: its source may be anyone behind that
    /// link, but this node only if the packet is on a detour or a copy, and not on the way to this node itself; and a broadcast comes from the parent in its tree, unless it
    /// is a flood.
    fn can_come_from(&self, link: u8, header: &Header) -> bool {
        if header.source == self.here {
            // A computer has an epoch of its own.
            let alive = header.from_host || header.epoch == self.epoch as u16;
            let went_out = header.dest != self.here || header.kind.is_for_all_links();
            return went_out && (header.trail || header.copied) && alive;
        }
        if header.kind != Kind::Broadcast || header.copied {
            return true;
        }
        let network = self.network.unchecked();
        let parent = self.wiring.neighbor_at(link);
        parent.is_some_and(|parent| {
            let port = network.port_to(parent, self.here);
            port.is_some_and(|port| network.passes_on(parent, port, header.source))
        })
    }

    /// A packet is here, whether it came or begins here: it is delivered, passed on, or sent on.
    pub(super) fn go(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let Some(slot) = self.pool.get(place) else { return };
        let header = slot.packet.header;
        if is_too_old(slot, now) {
            self.give_up(place, DropReason::Expired, now, observer);
        } else if header.kind.is_for_all_links() {
            self.spread(place, now, observer);
        } else if header.dest == self.here {
            self.arrive(place, now, observer);
        } else {
            self.send_on(place, now, observer);
        }
    }

    /// Puts a packet for another node into the queue of a link, or gives it up.
    fn send_on(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let choice = self.choose(place, |forwarder, slot| match core::mem::take(&mut slot.other_path) {
            0 => forwarder.choose(&mut slot.packet),
            rank => forwarder.choose_other(&mut slot.packet, rank),
        });
        match choice {
            Ok(hop) => self.take(place, hop, observer),
            Err(reason) => self.give_up(place, reason, now, observer),
        }
    }

    /// Lets the forwarder choose a link for a packet.
    fn choose(
        &mut self,
        place: Place,
        choice: impl FnOnce(Forwarder<'_, C>, &mut Slot<C::Body>) -> Result<Hop, DropReason>,
    ) -> Result<Hop, DropReason> {
        let Some(slot) = self.pool.get_mut(place) else {
            return Err(DropReason::NoRoute);
        };
        let came_from = match slot.origin {
            Origin::Link { link, .. } => self.wiring.neighbor_at(link),
            Origin::Host(_) | Origin::Application | Origin::Service | Origin::Inbox => None,
        };
        let forwarder = Forwarder {
            network: &self.network,
            here: self.here,
            rule: self.rule,
            wiring: &self.wiring,
            avoided: self.stalls.avoided(),
            came_from,
        };
        choice(forwarder, slot)
    }

    /// Puts a packet into the queue of the link that was chosen.
    fn take(&mut self, place: Place, Hop { link, detour }: Hop, observer: &mut impl Observer) {
        if let (Some(by), Some(slot)) = (detour, self.pool.get(place)) {
            let packet = slot.packet.header.id();
            add(&mut self.counters.detoured, 1);
            observer.note(Event::Detoured { packet, by });
        }
        self.enqueue(place, link);
    }

    /// Puts a packet into the queue of a link.
    pub(super) fn enqueue(&mut self, place: Place, link: u8) {
        if let (Some(slot), Some(queue)) = (self.pool.get_mut(place), self.queues.get_mut(usize::from(link))) {
            slot.pending |= 1 << link;
            // There is room: a place is in a queue once.
            let _ = queue.push(place);
        }
    }

    /// A link that a packet was to take is dead. It led to the neighbour at a port, or to the computer.
    pub(super) fn turn_round(
        &mut self,
        place: Place,
        link: u8,
        port: Option<u8>,
        now: Micros,
        observer: &mut impl Observer,
    ) {
        let Some(slot) = self.pool.get_mut(place) else { return };
        slot.pending &= !(1 << link);
        let header = slot.packet.header;
        match port {
            None => self.give_up(place, DropReason::NoHost, now, observer),
            Some(_) if header.kind.is_for_all_links() => self.flood_round(place, observer),
            Some(_) => self.go(place, now, observer),
        }
    }

    /// A packet cannot go on: whoever is concerned is told.
    pub(super) fn give_up(&mut self, place: Place, reason: DropReason, now: Micros, observer: &mut impl Observer) {
        let Some(slot) = self.pool.get_mut(place) else { return };
        let header = slot.packet.header;
        if slot.kept {
            // It began here and is sent again from here.
            slot.packet.remove_trail();
            self.count_drop(&header, reason, observer);
            return self.source.undeliverable(header.number, self.here, reason, now);
        }
        let sender_asks = matches!(header.kind, Kind::Datagram | Kind::Confirmed | Kind::Request);
        let only_copy = slot.pending == 0 && slot.reader == Reader::Nobody;
        let origin = slot.origin;
        if sender_asks && only_copy && self.may_report(origin, now) && self.pool.make_service(place, now) {
            self.count_drop(&header, reason, observer);
            self.tell_sender(place, &header, reason);
        } else {
            self.discard(place, reason, observer);
        }
    }

    /// Whether it may be reported that a packet cannot go on. What came by one link does not use up the reports of others.
    fn may_report(&mut self, origin: Origin, now: Micros) -> bool {
        let Origin::Link { link, .. } = origin else {
            return true;
        };
        let quota = self.reported.get_mut(usize::from(link));
        quota.is_some_and(|quota| quota.take(quota::SIXTIETH, now))
    }

    /// Turns a packet that cannot go on into a report of that, in the same slot, to its sender.
    fn tell_sender(&mut self, place: Place, lost: &Header, reason: DropReason) {
        add(&mut self.counters.originated, 1);
        let report = Content::Undeliverable(Undeliverable {
            number: lost.number,
            kind: lost.kind,
            reason,
            dest: lost.dest,
        });
        let packet = self.packet(&report, lost.source, lost.from_host);
        if let (Some(slot), Some(packet)) = (self.pool.get_mut(place), packet) {
            slot.packet = packet;
        }
        self.pool.route_soon(place);
    }

    /// Ends a packet, or one copy of it, with nobody to tell.
    pub(super) fn discard(&mut self, place: Place, reason: DropReason, observer: &mut impl Observer) {
        if let Some(slot) = self.pool.get(place) {
            let header = slot.packet.header;
            self.count_drop(&header, reason, observer);
        }
        self.pool.release_if_unused(place);
    }

    pub(super) fn count_drop(&mut self, header: &Header, reason: DropReason, observer: &mut impl Observer) {
        self.counters.drop(reason);
        observer.note(Event::Dropped {
            packet: header.id(),
            dest: header.dest,
            reason,
        });
    }

    /// Drops packets that have waited too long, and those that the other end of their link does not take because of their length.
    pub(super) fn sweep(&mut self, now: Micros, observer: &mut impl Observer) {
        for place in self.pool.places() {
            let Some(slot) = self.pool.get(place) else { continue };
            let expired = is_too_old(slot, now);
            for link in 0..self.links.len() as u8 {
                let reason = if expired {
                    DropReason::Expired
                } else if !self.fits(place, self.most_at(link)) {
                    DropReason::NoRoute
                } else {
                    continue;
                };
                if self.unqueue(place, link) {
                    self.give_up(place, reason, now, observer);
                }
            }
        }
    }

    /// Lets what waits for neighbours that take nothing take another path.
    pub(super) fn go_round_stalls(&mut self, now: Micros, observer: &mut impl Observer) {
        for link in 0..self.links.len() as u8 {
            if self.wiring.neighbor_at(link).is_none() {
                continue;
            }
            if self.links.get(usize::from(link)).is_some_and(|end| end.is_paused(now)) {
                self.stalls.moves(link, now);
                continue;
            }
            let slots = self.pool.places().filter_map(|place| self.pool.get(place));
            let waiting = slots.filter(|slot| slot.pending >> link & 1 == 1);
            let waited = waiting.map(|slot| slot.waited(now)).max().unwrap_or(0);
            if !self.stalls.look(link, waited, now) {
                continue;
            }
            for place in self.pool.places() {
                self.go_round_stall(place, link, observer);
            }
        }
    }

    /// Lets a packet in the queue of a link that is avoided take another path, but for broadcasts and what is for the neighbour there.
    /// A copy of a [flood](Kind::Flooded) ends: others go round.
    pub(super) fn go_round_stall(&mut self, place: Place, link: u8, observer: &mut impl Observer) {
        let (Some(slot), Some(neighbor)) = (self.pool.get_mut(place), self.wiring.neighbor_at(link)) else {
            return;
        };
        let header = slot.packet.header;
        if header.kind == Kind::Flooded {
            if self.unqueue(place, link) {
                self.discard(place, DropReason::NoRoute, observer);
            }
            return;
        }
        // A search that goes back has no other path.
        let goes_back = header.trail && Trail::of(&mut slot.packet.body).is_some_and(|trail| trail.has(neighbor));
        let stays = goes_back || header.kind == Kind::Broadcast || header.dest == neighbor;
        if stays || !self.unqueue(place, link) {
            return;
        }
        let choice = self.choose(place, |forwarder, slot| {
            forwarder.choose_round(&mut slot.packet).ok_or(DropReason::NoRoute)
        });
        match choice {
            Ok(hop) => self.take(place, hop, observer),
            // There is no other path from here: it waits.
            Err(_) => self.put_back(link, place),
        }
    }

    /// A packet that begins here; `None` if its content is too long.
    pub(super) fn packet(&mut self, content: &Content<'_>, dest: Node, to_host: bool) -> Option<PacketOf<C::Body>> {
        let body = content.write()?;
        let header = self.header(content.kind(), dest, to_host);
        Some(PacketOf { header, body })
    }

    /// The header of a packet that begins here.
    pub(super) fn header(&mut self, kind: Kind, dest: Node, to_host: bool) -> Header {
        let number = self.next_number;
        self.next_number = number.wrapping_add(1);
        Header {
            to_host,
            hops_left: self.hops,
            epoch: self.epoch as u16,
            number,
            ..Header::new(kind, self.here, dest)
        }
    }
}

/// Whether a packet has been under way for too long.
pub(super) fn is_too_old<B: Bytes>(slot: &Slot<B>, now: Micros) -> bool {
    u64::from(age(&slot.packet.header, slot.arrived, now)) * AGE_UNIT > LIFETIME
}
