//! The path of a packet through the layers: it comes in, is forwarded or goes up.

use super::Router;
use super::event::{Event, Observer};
use super::forwarding::{Ending, Onward, Origin, Place, Reader};
use super::services::{Admission, ReadBy};
use super::transport::{Completed, Confirms, Due};
use super::{add, rate_limiter};
use crate::capacities::Capacities;
use crate::link::{Down, Micros, Received};
use crate::service;
use crate::wire::{
    Bytes, Confirmed, Content, DropReason, FrameError, Header, Kind, PacketOf, Query, Role, Undeliverable,
};

impl<C: Capacities> Router<C> {
    /// Processes a packet of a link. If there is no room for it, the link is not told that it was taken.
    // Not inlined: the addresses of all that it may need would be computed for every frame.
    #[inline(never)]
    pub(super) fn packet_in(&mut self, link: u8, channel: u8, length: u16, now: Micros, observer: &mut impl Observer) {
        let host = self.forwarding.host == Some(link);
        if !host && self.forwarding.wiring.neighbor_at(link).is_none() {
            return;
        }
        let Some(end) = self.links.get_mut(usize::from(link)) else {
            return;
        };
        let read = end.header(length).filter(|(_, body)| body.len() <= C::Body::CAPACITY);
        let Some((mut header, body)) = read else {
            end.take();
            return self.forwarding.count_malformed();
        };
        let origin = if host {
            header.source = self.forwarding.location.here;
            header.from_host = true;
            header.hops_left = self.transport.hops;
            Origin::Host(link)
        } else {
            Origin::Link { link, channel }
        };
        let body_begin = usize::from(length) - body.len();
        if !host && self.forwarding.is_redundant(&header) {
            self.took(link, &header, observer);
            return self.forwarding.drop_redundant(link, &header, observer);
        }
        if header.dest == self.address() && self.cannot_respond_yet(header.kind) {
            // It waits at the neighbor, so that it need not be retransmitted from its source.
            return;
        }
        let packet = self.links.get(usize::from(link)).map(|end| end.packet(length));
        let body = packet.and_then(|packet| packet.get(body_begin..)).unwrap_or(&[]);
        let Some(place) = self.forwarding.pool.admit(&header, body, origin, now) else {
            return;
        };
        self.sweep_soon(now);
        self.took(link, &header, observer);
        let wanted = self.services.blocks.is_wanted();
        let onward = self.forwarding.enter(place, wanted, now, observer);
        self.follow(place, onward, now, observer);
    }

    /// Whether a packet for this node should come later, because there is no room to answer its sender.
    fn cannot_respond_yet(&mut self, kind: Kind) -> bool {
        match kind {
            Kind::Confirmed => self.transport.destination.is_busy(),
            Kind::Request => self.forwarding.pool.defers_request(),
            _ => false,
        }
    }

    fn took(&mut self, link: u8, header: &Header, observer: &mut impl Observer) {
        if let Some(link) = self.links.get_mut(usize::from(link)) {
            link.take();
        }
        self.forwarding.count_received(link, header, observer);
    }

    pub(super) fn damage_in(&mut self, link: u8, error: FrameError, now: Micros, observer: &mut impl Observer) {
        let limiter = self.damage_told.get_mut(usize::from(link));
        if limiter.is_some_and(|limiter| limiter.take(rate_limiter::SECOND, now)) {
            observer.note(Event::Damaged { link, error });
        }
    }

    /// Routes a packet.
    pub(super) fn go(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let wanted = self.services.blocks.is_wanted();
        let onward = self.forwarding.go(place, wanted, now, observer);
        self.follow(place, onward, now, observer);
    }

    /// Performs what forwarding has left to do.
    fn follow(&mut self, place: Place, onward: Onward, now: Micros, observer: &mut impl Observer) {
        match onward {
            Onward::Done => {}
            Onward::Arrived => self.arrive(place, now, observer),
            Onward::Taken => self.hand_over(place, observer),
            Onward::Lost(reason) => self.give_up(place, reason, now, observer),
        }
    }

    /// A packet cannot go on: those concerned are notified.
    pub(super) fn give_up(&mut self, place: Place, reason: DropReason, now: Micros, observer: &mut impl Observer) {
        match self.forwarding.end(place, reason, now, observer) {
            Ending::Done => {}
            Ending::Kept { number } => {
                self.own_stirred = true;
                let here = self.address();
                self.transport.source.undeliverable(number, here, reason, now);
            }
            Ending::Report(lost) => {
                let report = self.transport.report(&lost, reason);
                self.forwarding.replace(place, report);
            }
        }
    }

    fn arrive(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        // It may be about a confirmed packet, which then has another deadline.
        self.own_stirred = true;
        let Some(slot) = self.forwarding.pool.get(place) else {
            return;
        };
        let header = slot.packet.header;
        if header.to_host {
            let onward = self.forwarding.pass_to_host(place, now, observer);
            return self.follow_lost(place, onward, now, observer);
        }
        match header.kind {
            Kind::Confirmed => return self.confirmed_here(place, now, observer),
            Kind::Confirmation => return self.confirmation_here(place, now, observer),
            _ => {}
        }
        if let Err(reason) = self.forwarding.is_new(&header, now) {
            return self.forwarding.discard(place, reason, observer);
        }
        let Some(slot) = self.forwarding.pool.get_mut(place) else {
            return;
        };
        slot.packet.remove_trail();
        match header.kind {
            Kind::Request => self.respond_to(place, now, observer),
            Kind::Undeliverable => self.report_here(place, now, observer),
            _ if slot.packet.content().is_none() => self.forwarding.discard(place, DropReason::Malformed, observer),
            _ => self.hand_over(place, observer),
        }
    }

    /// The same for a packet to the host here, which does not come back to this node.
    fn follow_lost(&mut self, place: Place, onward: Onward, now: Micros, observer: &mut impl Observer) {
        if let Onward::Lost(reason) = onward {
            self.give_up(place, reason, now, observer);
        }
    }

    /// Gives a packet to the application or the board, and frees its buffer if none takes it.
    fn hand_over(&mut self, place: Place, observer: &mut impl Observer) {
        let pool = &mut self.forwarding.pool;
        let room = pool.inbox_has_room();
        let Some(slot) = pool.get_mut(place) else { return };
        let header = slot.packet.header;
        match self.services.deliver(place, &slot.packet, room) {
            Ok(ReadBy::Board) => slot.reader = Reader::Board,
            Ok(ReadBy::Application) => {
                pool.deliver(place);
                self.forwarding.count_delivered(&header, observer);
            }
            Err(reason) => self.forwarding.count_drop(&header, reason, observer),
        }
        self.forwarding.pool.release_if_unused(place);
    }

    fn confirmed_here(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let room = self.forwarding.pool.inbox_has_room();
        let Some(slot) = self.forwarding.pool.get_mut(place) else {
            return;
        };
        slot.packet.remove_trail();
        let (header, age, flooded) = (slot.packet.header, slot.age_in_micros(now), slot.flooded);
        let Some(Content::Confirmed(Confirmed { known_epoch, port, .. })) = slot.packet.content() else {
            return self.forwarding.discard(place, DropReason::Malformed, observer);
        };
        let admission = self.services.admission(port, room);
        match self
            .transport
            .destination
            .classify(&header, known_epoch, age, flooded, admission, now)
        {
            Ok(()) => self.hand_over(place, observer),
            Err(reason) => self.forwarding.discard(place, reason, observer),
        }
    }

    /// Sends confirmations as far as there is room.
    pub(super) fn send_confirmations(&mut self, now: Micros, observer: &mut impl Observer) {
        while self.transport.destination.owes() && self.forwarding.pool.service_has_room() {
            let Some((packet, rank)) = self.transport.next_confirmation(now) else {
                return;
            };
            let Some(packet) = packet else { continue };
            let place = self.originate(packet, Origin::Service, now, observer);
            if let Some(slot) = place.and_then(|place| self.forwarding.pool.get_mut(place)) {
                slot.other_path = rank;
            }
        }
    }

    fn confirmation_here(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let Some(slot) = self.forwarding.pool.get(place) else {
            return;
        };
        let header = slot.packet.header;
        let (under_way, flooded) = (Micros::from(slot.age_in_micros(now)), slot.flooded);
        let Some(Content::Confirmation(confirmation)) = slot.packet.content() else {
            return self.forwarding.discard(place, DropReason::Malformed, observer);
        };
        match self
            .transport
            .confirmation(&header, &confirmation, under_way, flooded, now)
        {
            Err(reason) => self.forwarding.discard(place, reason, observer),
            Ok(Confirms::GoesOn { kept, epoch }) => {
                let slot = self.forwarding.pool.get_mut(kept).filter(|slot| slot.kept);
                if let (Some(slot), Some(epoch)) = (slot, epoch) {
                    Confirmed::set_known_epoch(&mut slot.packet.body, epoch);
                }
                self.forwarding.consume(place, observer);
            }
            Ok(Confirms::Ended(completed)) => {
                self.forwarding.consume(place, observer);
                self.complete_confirmed(completed, observer);
            }
        }
    }

    fn complete_confirmed(&mut self, completed: Completed, observer: &mut impl Observer) {
        let Completed { number, outcome, place } = completed;
        observer.note(Event::Completed { number, outcome });
        if let Some(slot) = self.forwarding.pool.get_mut(place) {
            slot.kept = false;
        }
        self.forwarding.pool.release_if_unused(place);
    }

    /// Retransmits what has not been confirmed in time, and ends what has not for too long.
    pub(super) fn retry(&mut self, now: Micros, observer: &mut impl Observer) {
        for index in 0..C::SIZES.outstanding {
            match self.transport.source.due(index, now) {
                Due::Nothing => {}
                Due::Retransmit { place, rank } => self.retransmit_confirmed(place, rank, now, observer),
                Due::Flood(place) => self.send_as_flood(place, now, observer),
                Due::Ended(completed) => self.complete_confirmed(completed, observer),
            }
        }
    }

    /// Sends a kept packet as a flood as well; normally if there is no room for that.
    fn send_as_flood(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let kept = self.forwarding.pool.get(place).filter(|slot| slot.kept);
        // A packet that has not left yet is not flooded either.
        let gone = kept.filter(|slot| slot.pending == 0);
        let Some(mut packet) = gone.map(|slot| slot.packet.clone()) else {
            return;
        };
        packet.remove_trail();
        let flood = self.transport.flooded(&packet);
        match flood.filter(|_| self.forwarding.pool.service_has_room()) {
            Some(flood) => {
                add(&mut self.forwarding.counters.retried, 1);
                self.originate(flood, Origin::Service, now, observer);
            }
            None => self.retransmit_confirmed(place, 0, now, observer),
        }
    }

    fn retransmit_confirmed(&mut self, place: Place, rank: u8, now: Micros, observer: &mut impl Observer) {
        let unrouted = self.forwarding.pool.is_unrouted(place);
        let Some(slot) = self.forwarding.pool.get_mut(place).filter(|slot| slot.kept) else {
            return;
        };
        if slot.pending != 0 || unrouted {
            // It has not left yet.
            return;
        }
        slot.packet.remove_trail();
        slot.packet.header.hops_left = self.transport.hops;
        slot.packet.header.copied = true;
        slot.other_path = rank;
        slot.arrived = now as u32;
        let counters = &mut self.forwarding.counters;
        add(&mut counters.retried, 1);
        add(&mut counters.originated, 1);
        self.go(place, now, observer);
    }

    /// A packet of this node could not be delivered.
    fn report_here(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let Some(slot) = self.forwarding.pool.get(place) else {
            return;
        };
        let at = slot.packet.header.source;
        match slot.packet.content() {
            Some(Content::Undeliverable(Undeliverable {
                kind: Kind::Confirmed,
                number,
                reason,
                ..
            })) => {
                self.transport.source.undeliverable(number, at, reason, now);
                self.forwarding.consume(place, observer);
            }
            Some(_) => self.hand_over(place, observer),
            None => self.forwarding.discard(place, DropReason::Malformed, observer),
        }
    }

    /// Answers a received request, or leaves it to the board or an application.
    fn respond_to(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let Some(slot) = self.forwarding.pool.get(place) else {
            return;
        };
        let asked = slot.packet.header;
        let Some(Content::Request(request)) = slot.packet.content() else {
            return self.forwarding.discard(place, DropReason::Malformed, observer);
        };
        let query = request.query;
        let for_others = match query {
            Query::Board(_) => true,
            Query::Application(port) => {
                let room = self.forwarding.pool.inbox_has_room();
                self.services.admission(port, room) == Admission::Open
            }
            _ => false,
        };
        if for_others {
            return self.hand_over(place, observer);
        }
        let Some(body) = service::respond(&request, asked.number, self, now) else {
            return self.forwarding.discard(place, DropReason::Malformed, observer);
        };
        if !self.forwarding.pool.make_service(place, now) {
            return self.forwarding.discard(place, DropReason::Busy, observer);
        }
        if query == Query::ClearCounters {
            self.clear_counters();
        }
        self.forwarding.count_delivered(&asked, observer);
        let header = self.transport.header(Kind::Response, asked.source, asked.from_host);
        let packet = self.transport.sealed(PacketOf { header, body });
        self.forwarding.replace(place, packet);
        observer.note(Event::Accepted {
            packet: header.id(),
            dest: header.dest,
        });
    }

    /// Updates the wiring: one link to each neighbor is accepted, and used once it is open.
    pub(super) fn rewire(&mut self, now: Micros, observer: &mut impl Observer) {
        self.stir_all();
        for link in 0..self.links.len() as u8 {
            let Some(choice) = self.forwarding.select(&self.links, link) else {
                continue;
            };
            let Some(end) = self.links.get_mut(usize::from(link)) else {
                continue;
            };
            end.accept(choice.accepted, now);
            let open = end.is_open();
            let Some(peer) = choice.candidate else { continue };
            if open {
                self.forwarding.link_up(link, peer, observer);
                if peer.role == Role::Node {
                    self.services.clock.link_up(link, now);
                }
            } else if !choice.accepted {
                self.forwarding.note_miswired(link, peer, observer);
            }
        }
        self.speak_time();
    }

    /// A link is down or miswired: its packets take another path.
    pub(super) fn link_down(&mut self, link: u8, reason: Down, now: Micros, observer: &mut impl Observer) {
        self.services.clock.link_down(link);
        let port = self.forwarding.link_down(link, reason, now, observer);
        if let Some(end) = self.links.get_mut(usize::from(link)) {
            end.accept(false, now);
        }
        while let Some(place) = self.links.get_mut(usize::from(link)).and_then(|link| link.abandoned()) {
            // A broadcast is marked when it becomes a flood.
            let slot = self.forwarding.pool.get_mut(place);
            if let Some(slot) = slot.filter(|slot| slot.packet.header.kind != Kind::Broadcast) {
                slot.packet.header.copied = true;
            }
            self.turn_round(place, link, port, now, observer);
        }
        let queue = self.forwarding.take_queue(link);
        for &place in queue.iter() {
            self.turn_round(place, link, port, now, observer);
        }
        // Another cable may lead to the same neighbor.
        self.rewire(now, observer);
    }

    fn turn_round(&mut self, place: Place, link: u8, port: Option<u8>, now: Micros, observer: &mut impl Observer) {
        let onward = self.forwarding.turn_round(place, link, port, now, observer);
        self.follow(place, onward, now, observer);
    }

    /// Processes the event of a link's timeout.
    pub(super) fn link_news(&mut self, link: u8, news: Received, now: Micros, observer: &mut impl Observer) {
        match news {
            Received::Down(reason) => self.link_down(link, reason, now, observer),
            _ => self.rewire(now, observer),
        }
    }

    /// Drops packets that have expired, and those too long for the other end of their link; reroutes packets that wait for stalled neighbors.
    pub(super) fn sweep(&mut self, now: Micros, observer: &mut impl Observer) {
        for place in self.forwarding.pool.places() {
            for link in 0..self.links.len() as u8 {
                let mtu = self.mtu(link);
                if let Some(reason) = self.forwarding.give_up_waiting(place, link, mtu, now) {
                    self.give_up(place, reason, now, observer);
                }
            }
        }
        for (link, end) in (0..).zip(self.links.iter()) {
            self.forwarding
                .go_round_if_stalled(link, end.is_paused(now), now, observer);
        }
        self.forwarding.pool.forget_turns();
    }
}
