//! Broadcasts: along a tree as long as that is intact, otherwise as a flood.
//!
//! A node forwards a broadcast to its children in the tree, so that it crosses each link of the tree once and no other. Where
//! a child is behind a dead link, no node here can know which others are cut off with it. Then the broadcast becomes a flood: the node
//! forwards it through all its links, and so does every node that it reaches, once each. So it reaches every connected live node,
//! whatever is dead; [`duplicate_filter`](super::duplicate_filter) detects copies. A source whose broadcast comes back to it as a flood
//! sends the next ones as floods at once, and tries the tree again after a while.
//!
//! A confirmed packet without a response, and its confirmation, can be [flooded](Kind::Flooded) too.

use super::super::event::Observer;
use super::super::times::FLOOD_FOR;
use super::duplicate_filter::Passing;
use super::{Forwarding, Onward, Origin, Place, add};
use crate::capacities::Capacities;
use crate::link::Micros;
use crate::wire::{Bytes, Content, DropReason, Header, Kind};

/// A set of links: bit 0 is link 0.
type LinkSet = u32;

impl<C: Capacities> Forwarding<C> {
    /// Forwards a packet that is for every node, or passes through every node.
    pub(super) fn spread(
        &mut self,
        place: Place,
        board_wants_blocks: bool,
        now: Micros,
        observer: &mut impl Observer,
    ) -> Onward {
        let Some(slot) = self.pool.get(place) else {
            return Onward::Done;
        };
        let (mut header, origin) = (slot.packet.header, slot.origin);
        let begins_here = header.source == self.here();
        let mut classification = self.duplicates.classify_passing(&header, now);
        if classification == Passing::New && !begins_here && self.began_before_start(&header, now) {
            // It may have been delivered before the restart, but perhaps not forwarded.
            classification = Passing::Known;
            header.copied = true;
        }
        match classification {
            Passing::Duplicate => return self.end_copy(place, DropReason::Duplicate, observer),
            Passing::Uncertain => return self.end_copy(place, DropReason::Uncertain, observer),
            Passing::New | Passing::Known => {}
        }
        if header.kind == Kind::Flooded && header.dest == self.here() {
            return self.unwrap_flooded(place, observer);
        }
        if header.kind == Kind::Flooded && self.pool.used() > C::SIZES.buffers / 2 {
            // The node is overloaded: the flood was sent for want of a response, perhaps because other nodes are overloaded too.
            return self.end_copy(place, DropReason::Busy, observer);
        }
        if begins_here && header.kind == Kind::Broadcast {
            if header.copied {
                self.flood_until = now.saturating_add(FLOOD_FOR);
            }
            header.copied |= now < self.flood_until;
        }
        let links = if header.hops_left == 0 {
            0
        } else {
            self.links_onward(&mut header, origin)
        };
        if header.copied {
            self.duplicates.note_flooded(&header);
        }
        if let Some(slot) = self.pool.get_mut(place) {
            slot.packet.header = header;
        }
        // A copy of a block of this node that comes back as a flood is not for the board.
        let own_block = || board_wants_blocks && self.is_own_block(place);
        let for_node = !begins_here || own_block();
        let taken = classification == Passing::New && for_node && header.kind == Kind::Broadcast;
        let copies = links.count_ones() + u32::from(taken);
        match copies.checked_sub(1) {
            // The first copy is the packet itself.
            Some(more) => add(&mut self.counters.copied, more),
            // In a network of one node every node has it.
            None if self.location.network.nodes() == 1 => {
                self.consume(place, observer);
                return Onward::Done;
            }
            None => self.count_drop(&header, DropReason::NoRoute, observer),
        }
        self.enqueue_all(place, links);
        if taken {
            return Onward::Taken;
        }
        self.pool.release_if_unused(place);
        Onward::Done
    }

    fn end_copy(&mut self, place: Place, reason: DropReason, observer: &mut impl Observer) -> Onward {
        self.discard(place, reason, observer);
        Onward::Done
    }

    fn is_own_block(&self, place: Place) -> bool {
        let slot = self.pool.get(place);
        slot.is_some_and(|slot| slot.begins_here() && slot.packet.is_block())
    }

    /// The links through which a packet is forwarded: to its children in the tree or, where one of them is cut off, to all. Then it
    /// is marked as a copy. A flood does not go back.
    fn links_onward(&self, header: &mut Header, origin: Origin) -> LinkSet {
        let came_as_flood = header.copied;
        let mut to_children = 0;
        let network = self.location.network.unchecked();
        if self.location.network.check(header.source).is_err() {
            return 0;
        }
        // Which they are is enough: they are served as their links are free, not in the order of a fan-out.
        for port in 0..network.degree(self.here()) {
            if !network.passes_on(self.here(), port, header.source) {
                continue;
            }
            let child = network.neighbor(self.here(), port);
            match child.and_then(|child| self.wiring.link_to(child)) {
                Some(link) => to_children |= 1 << link,
                None => header.copied = true,
            }
        }
        match (header.copied, came_as_flood) {
            (false, _) => to_children,
            // There must be a flood at its origin too: others may be cut off beside this node.
            (true, false) => self.live_links(),
            (true, true) => self.live_links() & !only(origin),
        }
    }

    fn live_links(&self) -> LinkSet {
        self.wiring.live().fold(0, |links, (_, link)| links | 1 << link)
    }

    fn enqueue_all(&mut self, place: Place, links: LinkSet) {
        for link in (0..C::SIZES.links as u8).filter(|&link| links >> link & 1 == 1) {
            self.enqueue(place, link);
        }
    }

    /// A link has died that a broadcast was to take, or was taking: it continues as a flood. A copy of a flood just ends; there are others.
    pub(super) fn flood_round(&mut self, place: Place, observer: &mut impl Observer) {
        let live = self.live_links();
        let Some(slot) = self.pool.get_mut(place) else { return };
        let before = slot.packet.header;
        if !before.copied {
            slot.packet.header.copied = true;
            let links = live & !slot.pending;
            add(&mut self.counters.copied, links.count_ones());
            self.duplicates.note_flooded(&before);
            self.enqueue_all(place, links);
        }
        self.count_drop(&before, DropReason::NoRoute, observer);
        self.pool.release_if_unused(place);
    }

    /// Withdraws a copy that waits for a link.
    pub(super) fn recall(&mut self, link: u8, header: &Header, observer: &mut impl Observer) {
        let is_copy = |place: &Place| {
            let slot = self.pool.get(*place);
            slot.is_some_and(|slot| slot.packet.header.id() == header.id())
        };
        let queue = self.queues.get(usize::from(link));
        let copy = queue.and_then(|queue| queue.iter().copied().find(is_copy));
        if let Some(place) = copy.filter(|&place| self.unqueue(place, link)) {
            self.discard(place, DropReason::Duplicate, observer);
        }
    }

    /// Processes a confirmed packet or a confirmation that arrived as a flood.
    fn unwrap_flooded(&mut self, place: Place, observer: &mut impl Observer) -> Onward {
        let Some(slot) = self.pool.get_mut(place) else {
            return Onward::Done;
        };
        let Some(Content::Flooded(inner)) = slot.packet.content() else {
            return self.end_copy(place, DropReason::Malformed, observer);
        };
        let (kind, number) = (inner.kind, inner.number);
        let Ok(body) = C::Body::from_slice(inner.body) else {
            return self.end_copy(place, DropReason::Malformed, observer);
        };
        slot.packet.body = body;
        slot.packet.header.kind = kind;
        slot.packet.header.number = number;
        slot.flooded = true;
        Onward::Arrived
    }
}

fn only(origin: Origin) -> LinkSet {
    match origin {
        Origin::Link { link, .. } => 1 << link,
        Origin::Host(_) | Origin::Application | Origin::Service | Origin::Inbox | Origin::None => 0,
    }
}
