//! Forwarding: packets in their buffers, and the links that they take.
//!
//! A packet that was received, or originates here, is [routed](Forwarding::go): into the queue of the link of its next hop, into several
//! queues if it is a broadcast, or up to the layers above. Those are not known here: what concerns them is [returned](Onward).
//!
//! - [`wiring`]: the neighbor at each link; [`link_selection`]: the link used for each peer; [`stalled_links`]: links that take nothing;
//! - [`next_hop`]: the next hop, and the search for a path around dead links; [`broadcast`]: copies along the tree or as a flood;
//! - [`pool`]: the buffers; [`fair_queue`] and [`source_share`]: the order of service when they are full; [`duplicate_filter`];
//! - [`queues`]: the next packet of a link.

mod broadcast;
mod duplicate_filter;
mod fair_queue;
mod link_selection;
mod next_hop;
mod pool;
mod queues;
mod source_share;
mod stalled_links;
mod wiring;

use duplicate_filter::{Classification, DuplicateFilter};
use next_hop::{Forwarder, Hop, NextHops};
pub(super) use pool::{Origin, Place, Pool, Reader, Slot};
use stalled_links::StalledLinks;
pub(super) use wiring::Wiring;

use super::add;
use super::event::{Event, Observer};
use super::rate_limiter::{PER_16_MS, RateLimiter};
use super::times::{DRIFT, LIFETIME};
use crate::capacities::Capacities;
use crate::link::Micros;
use crate::wire::{AGE_UNIT, DropReason, Header, Kind, PacketOf, RouterCounters, Trail};
use hopwise_core::network::virtual_channels;
use hopwise_core::{Network, Node, Rule};

#[derive(Clone, Copy, Debug)]
pub(super) struct Location {
    pub(super) network: Network,
    pub(super) here: Node,
    pub(super) rule: Rule,
    pub(super) epoch: u32,
    pub(super) started: Micros,
}

/// The packets that a node holds, and where they go.
#[derive(Clone, Debug)]
pub(super) struct Forwarding<C: Capacities> {
    pub(super) location: Location,
    /// Packets that wait for each link, in the order they came.
    queues: C::PerLink<C::Buffers<Place>>,
    /// Links that have got a packet since the last [call](Self::take_enqueued): bit 0 is link 0.
    enqueued: u32,
    pub(super) wiring: Wiring<C>,
    next_hops: NextHops,
    pub(super) stalled: StalledLinks<C>,
    /// Limits the reports of undeliverable packets of each link.
    reported: C::PerLink<RateLimiter>,
    /// The link to a host.
    pub(super) host: Option<u8>,
    /// The links at which a host is accepted: bit 0 is link 0.
    hosts: u32,
    /// The links with a reported fault beyond being down: bit 0 is link 0.
    noted: u32,
    pub(super) pool: Pool<C>,
    duplicates: DuplicateFilter<C>,
    /// Until when broadcasts of this node are floods.
    flood_until: Micros,
    pub(super) counters: RouterCounters,
}

/// What is left to do with a packet after forwarding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Onward {
    Done,
    /// It is for this node alone.
    Arrived,
    /// It is forwarded, and this node takes it too; then it may be [released](Pool::release_if_unused).
    Taken,
    /// It cannot be forwarded: it is to be [ended](Forwarding::end).
    Lost(DropReason),
}

/// What is left to do with a packet that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Ending {
    Done,
    /// The confirmed packet of this number is kept here, to be retransmitted.
    Kept {
        number: u32,
    },
    /// Its sender is to be notified, in the same buffer.
    Report(Header),
}

impl<C: Capacities> Forwarding<C> {
    /// Nobody is at any link yet.
    // Not inlined: it then makes its value where it stays, and the stack holds no second one.
    #[inline(never)]
    pub(super) fn new(location: Location, wiring: Wiring<C>, hosts: u32) -> Self {
        Forwarding {
            queues: C::PerLink::default(),
            enqueued: 0,
            wiring,
            next_hops: NextHops::new(location.here),
            stalled: StalledLinks::new(),
            reported: C::PerLink::default(),
            host: None,
            hosts,
            noted: 0,
            pool: Pool::new(virtual_channels::count(&location.network, location.rule)),
            duplicates: DuplicateFilter::new(),
            flood_until: location.started,
            counters: RouterCounters::default(),
            location,
        }
    }

    fn here(&self) -> Node {
        self.location.here
    }

    /// Whether a received packet is redundant, and is to be [dropped](Self::drop_redundant) without a buffer, so that nothing ever
    /// waits for it to have one: a copy of a completed broadcast, or a retransmitted confirmed packet whose first copy still waits here for a
    /// link.
    pub(super) fn is_redundant(&self, header: &Header) -> bool {
        if header.kind.is_for_all_links() {
            return self.duplicates.has_passed(header);
        }
        let is_first = |&place: &Place| {
            let slot = self.pool.get(place);
            slot.is_some_and(|slot| slot.packet.header.id() == header.id())
        };
        // A packet on a wire may itself be the one that comes back.
        let waits = || self.queues.iter().flat_map(|queue| queue.iter()).any(is_first);
        header.kind == Kind::Confirmed && header.copied && waits()
    }

    pub(super) fn drop_redundant(&mut self, link: u8, header: &Header, observer: &mut impl Observer) {
        self.count_drop(header, DropReason::Duplicate, observer);
        // The sender of a flood has it. The sender of a copy along the tree must still learn that there is a flood.
        if header.kind.is_for_all_links() && header.copied {
            self.recall(link, header, observer);
        }
    }

    /// Counts a packet taken from a link, whatever becomes of it.
    pub(super) fn count_received(&mut self, link: u8, header: &Header, observer: &mut impl Observer) {
        add(&mut self.counters.received, 1);
        observer.note(Event::Received {
            link,
            packet: header.id(),
            dest: header.dest,
        });
    }

    pub(super) fn count_malformed(&mut self) {
        add(&mut self.counters.received, 1);
        self.counters.drop(DropReason::Malformed);
    }

    /// Starts a packet of this node that has a buffer, to be routed soon.
    pub(super) fn begin(&mut self, place: Place, header: &Header, observer: &mut impl Observer) {
        add(&mut self.counters.originated, 1);
        observer.note(Event::Accepted {
            packet: header.id(),
            dest: header.dest,
        });
        self.pool.route_soon(place);
    }

    /// Routes a received packet that has a buffer, unless its header is impossible.
    pub(super) fn enter(
        &mut self,
        place: Place,
        board_wants_blocks: bool,
        now: Micros,
        observer: &mut impl Observer,
    ) -> Onward {
        let Some(slot) = self.pool.get(place) else {
            return Onward::Done;
        };
        let (header, origin) = (slot.packet.header, slot.origin);
        let network = &self.location.network;
        if network.check(header.source).is_err() {
            self.discard(place, DropReason::NoSuchNode, observer);
        } else if network.check(header.dest).is_err() {
            return Onward::Lost(DropReason::NoSuchNode);
        } else if let Origin::Link { link, .. } = origin
            && !self.can_come_from(link, &header)
        {
            self.discard(place, DropReason::Malformed, observer);
        } else {
            return self.go(place, board_wants_blocks, now, observer);
        }
        Onward::Done
    }

    /// Whether a packet can have come on a link, as far as that can be known: its source may be any node behind that
    /// link, but this node only if the packet is on a detour or a copy, and not addressed to this node; and a broadcast comes from the parent
    /// in its tree, unless it is a flood.
    fn can_come_from(&self, link: u8, header: &Header) -> bool {
        let here = self.here();
        if header.source == here {
            // A host has an epoch of its own.
            let alive = header.from_host || header.epoch == self.location.epoch as u16;
            let went_out = header.dest != here || header.kind.is_for_all_links();
            return went_out && (header.trail || header.copied) && alive;
        }
        if header.kind != Kind::Broadcast || header.copied {
            return true;
        }
        let network = self.location.network.unchecked();
        let parent = self.wiring.neighbor_at(link);
        parent.is_some_and(|parent| {
            let port = network.port_to(parent, here);
            port.is_some_and(|port| network.passes_on(parent, port, header.source))
        })
    }

    /// Delivers or forwards a packet, whether it was received or originates here. A broadcast of this node is for its board too if it is a
    /// block and the board wants blocks.
    pub(super) fn go(
        &mut self,
        place: Place,
        board_wants_blocks: bool,
        now: Micros,
        observer: &mut impl Observer,
    ) -> Onward {
        let Some(slot) = self.pool.get(place) else {
            return Onward::Done;
        };
        let header = slot.packet.header;
        if is_too_old(slot, now) {
            Onward::Lost(DropReason::Expired)
        } else if header.kind.is_for_all_links() {
            self.spread(place, board_wants_blocks, now, observer)
        } else if header.dest == self.here() {
            Onward::Arrived
        } else {
            self.send_on(place, observer)
        }
    }

    /// Puts a packet for another node into the queue of a link.
    fn send_on(&mut self, place: Place, observer: &mut impl Observer) -> Onward {
        let choice = self.choose(place, |forwarder, slot| match core::mem::take(&mut slot.other_path) {
            0 => forwarder.choose(&mut slot.packet),
            rank => forwarder.choose_other(&mut slot.packet, rank),
        });
        match choice {
            Ok(hop) => {
                self.take(place, hop, observer);
                Onward::Done
            }
            Err(reason) => Onward::Lost(reason),
        }
    }

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
            Origin::Host(_) | Origin::Application | Origin::Service | Origin::Inbox | Origin::None => None,
        };
        let Location {
            network, here, rule, ..
        } = &self.location;
        let forwarder = Forwarder {
            network,
            here: *here,
            rule: *rule,
            next: self.next_hops.find(network, *here, slot.packet.header.dest, *rule),
            wiring: &self.wiring,
            avoided: self.stalled.avoided,
            came_from,
        };
        choice(forwarder, slot)
    }

    fn take(&mut self, place: Place, Hop { link, detour }: Hop, observer: &mut impl Observer) {
        if let (Some(by), Some(slot)) = (detour, self.pool.get(place)) {
            let packet = slot.packet.header.id();
            add(&mut self.counters.detoured, 1);
            observer.note(Event::Detoured { packet, by });
        }
        self.enqueue(place, link);
    }

    /// Passes a packet for this node to its host, if there is one.
    pub(super) fn pass_to_host(&mut self, place: Place, now: Micros, observer: &mut impl Observer) -> Onward {
        let Some(link) = self.host else {
            return Onward::Lost(DropReason::NoHost);
        };
        let Some(slot) = self.pool.get_mut(place) else {
            return Onward::Done;
        };
        match self.duplicates.classify(&slot.packet.header, now) {
            Classification::New => {
                slot.packet.remove_trail();
                self.enqueue(place, link);
            }
            Classification::Duplicate => self.discard(place, DropReason::Duplicate, observer),
            Classification::Uncertain => self.discard(place, DropReason::Uncertain, observer),
        }
        Onward::Done
    }

    /// Whether a packet for this node alone is new, or why it is dropped: this node may have had it before it restarted.
    pub(super) fn is_new(&mut self, header: &Header, now: Micros) -> Result<(), DropReason> {
        if header.source != self.here() && self.began_before_start(header, now) {
            return Err(DropReason::Uncertain);
        }
        match self.duplicates.classify(header, now) {
            Classification::New => Ok(()),
            Classification::Duplicate => Err(DropReason::Duplicate),
            Classification::Uncertain => Err(DropReason::Uncertain),
        }
    }

    /// Reroutes a packet whose link is dead. It led to the neighbor at a port, or to the host.
    pub(super) fn turn_round(
        &mut self,
        place: Place,
        link: u8,
        port: Option<u8>,
        now: Micros,
        observer: &mut impl Observer,
    ) -> Onward {
        let Some(slot) = self.pool.get_mut(place) else {
            return Onward::Done;
        };
        slot.pending &= !(1 << link);
        let header = slot.packet.header;
        match port {
            None => Onward::Lost(DropReason::NoHost),
            Some(_) if header.kind.is_for_all_links() => {
                self.flood_round(place, observer);
                Onward::Done
            }
            // It is not a broadcast, so it does not matter whether the board wants blocks.
            Some(_) => self.go(place, false, now, observer),
        }
    }

    /// Ends a packet that cannot go on. Returns what is left to do.
    pub(super) fn end(
        &mut self,
        place: Place,
        reason: DropReason,
        now: Micros,
        observer: &mut impl Observer,
    ) -> Ending {
        let Some(slot) = self.pool.get_mut(place) else {
            return Ending::Done;
        };
        let header = slot.packet.header;
        if slot.kept {
            // It originates here and is retransmitted from here.
            slot.packet.remove_trail();
            self.count_drop(&header, reason, observer);
            return Ending::Kept { number: header.number };
        }
        let sender_asks = matches!(header.kind, Kind::Datagram | Kind::Confirmed | Kind::Request);
        let only_copy = slot.pending == 0 && slot.reader == Reader::Nobody;
        let origin = slot.origin;
        if sender_asks && only_copy && self.may_report(origin, now) && self.pool.make_service(place, now) {
            self.count_drop(&header, reason, observer);
            Ending::Report(header)
        } else {
            self.discard(place, reason, observer);
            Ending::Done
        }
    }

    /// Whether an undeliverable packet may be reported. Each link has its own limit.
    fn may_report(&mut self, origin: Origin, now: Micros) -> bool {
        let Origin::Link { link, .. } = origin else {
            return true;
        };
        let limiter = self.reported.get_mut(usize::from(link));
        limiter.is_some_and(|limiter| limiter.take(PER_16_MS, now))
    }

    /// Replaces a packet that has ended by one of this node, to be routed soon.
    pub(super) fn replace(&mut self, place: Place, packet: Option<PacketOf<C::Body>>) {
        add(&mut self.counters.originated, 1);
        if let (Some(slot), Some(packet)) = (self.pool.get_mut(place), packet) {
            slot.packet = packet;
        }
        self.pool.route_soon(place);
    }

    /// Ends a packet, or one copy of it, without notification.
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

    pub(super) fn count_delivered(&mut self, header: &Header, observer: &mut impl Observer) {
        add(&mut self.counters.delivered, 1);
        observer.note(Event::Delivered { packet: header.id() });
    }

    /// Completes a packet that the node itself has processed.
    pub(super) fn consume(&mut self, place: Place, observer: &mut impl Observer) {
        if let Some(slot) = self.pool.get(place) {
            let header = slot.packet.header;
            self.count_delivered(&header, observer);
        }
        self.pool.release_if_unused(place);
    }

    /// Removes a packet from the queue of a link if it has expired, or is too long for the other end.
    /// Then it is to be [ended](Self::end).
    pub(super) fn give_up_waiting(&mut self, place: Place, link: u8, mtu: usize, now: Micros) -> Option<DropReason> {
        let reason = if is_too_old(self.pool.get(place)?, now) {
            DropReason::Expired
        } else if !self.fits(place, mtu) {
            DropReason::NoRoute
        } else {
            return None;
        };
        self.unqueue(place, link).then_some(reason)
    }

    /// Reroutes what waits for the neighbor at a link, if that is stalled. A pause is no stall.
    pub(super) fn go_round_if_stalled(&mut self, link: u8, paused: bool, now: Micros, observer: &mut impl Observer) {
        if self.wiring.neighbor_at(link).is_none() {
            return;
        }
        if paused {
            return self.stalled.moves(link, now);
        }
        let slots = self.pool.places().filter_map(|place| self.pool.get(place));
        let waiting = slots.filter(|slot| slot.pending >> link & 1 == 1);
        let waited = waiting.map(|slot| slot.waited(now)).max().unwrap_or(0);
        if self.stalled.look(link, waited, now) {
            for place in self.pool.places() {
                self.go_round_stall(place, link, observer);
            }
        }
    }

    /// Reroutes a packet in the queue of a stalled link, except broadcasts and packets for that neighbor.
    /// A copy of a [flood](Kind::Flooded) ends, since others go around.
    fn go_round_stall(&mut self, place: Place, link: u8, observer: &mut impl Observer) {
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
        // A search that backtracks has no other path.
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

    /// Whether a packet began before this node booted. Packets never claim to be younger than they are, except for rounding.
    fn began_before_start(&self, header: &Header, now: Micros) -> bool {
        let age = u64::from(header.age) * AGE_UNIT;
        now.saturating_sub(age + DRIFT) < self.location.started
    }

    /// The number of packet copies in the buffers.
    pub(super) fn held(&self) -> u32 {
        let slots = self.pool.places().filter_map(|place| self.pool.get(place));
        slots.map(|slot| slot.copies()).sum::<u32>() + self.pool.unrouted.count_ones()
    }
}

/// The age of a packet that came at `arrived`, rounded up.
pub(super) fn age(header: &Header, arrived: u32, now: Micros) -> u16 {
    // Of 32 bits: a Cortex-M divides them in one instruction, and calls a routine for 64.
    let more = (now as u32).wrapping_sub(arrived).div_ceil(AGE_UNIT as u32);
    u32::from(header.age).saturating_add(more).min(u16::MAX.into()) as u16
}

pub(super) fn is_too_old<B>(slot: &Slot<B>, now: Micros) -> bool {
    u64::from(age(&slot.packet.header, slot.arrived, now)) * AGE_UNIT > LIFETIME
}

#[cfg(test)]
mod tests;
