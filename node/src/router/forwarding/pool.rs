//! The buffers of a node, and their allocation.
//!
//! Every packet in a node has one slot, including a broadcast that goes out through several links. Slots are shared, but some are reserved
//! for each virtual channel, for the inbox, for packets of this node and for its responses: however full the
//! rest is, a packet that arrives in an empty virtual channel finds room. That is what prevents deadlock; see
//! [virtual channels](hopwise_core::network::virtual_channels). Links that were refused are served by a [fair queue](super::fair_queue).

use super::super::backpressure::Backpressure;
use super::fair_queue::{FairQueue, Priority, Waiting};
use super::source_share::{Served, Share};
use crate::capacities::{Capacities, OWN};
use crate::link::Micros;
use crate::wire::{AGE_UNIT, Bytes, Header, Kind, Offer, PacketOf};

pub(in crate::router) type Place = u8;

/// The origin of a packet, a link or the node itself, whose share of the slots it takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::router) enum Origin {
    Link {
        link: u8,
        channel: u8,
    },
    /// The host at this link. Its packets originate here, as the application's do.
    Host(u8),
    Application,
    Service,
    /// Any: only the inbox still holds it, which has its own count.
    Inbox,
    /// There is no packet; the slot holds what was in it.
    #[default]
    None,
}

/// The local reader that a packet waits for, besides links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::router) enum Reader {
    #[default]
    Nobody,
    /// It is in the inbox.
    Application,
    /// It is a [block](super::super::services), and keeps its share until it is written.
    Board,
}

#[derive(Clone, Debug, Default)]
pub(in crate::router) struct Slot<B> {
    pub(in crate::router) packet: PacketOf<B>,
    pub(in crate::router) origin: Origin,
    /// When it arrived: the low half of the time, which wraps after 71 minutes. No packet lives that long.
    pub(in crate::router) arrived: u32,
    /// Links through which it is to go or on which it is: bit 0 is link 0.
    pub(in crate::router) pending: u32,
    /// The rank of its path from here: 0 is its route, 1 the next best.
    pub(in crate::router) other_path: u8,
    /// It arrived as a flood, and is answered by one.
    pub(in crate::router) flooded: bool,
    /// Whether this node has added its record to a traced packet.
    pub(in crate::router) signed: bool,
    pub(in crate::router) reader: Reader,
    /// A confirmed packet of this node, kept until it is completed.
    pub(in crate::router) kept: bool,
}

impl<B> Slot<B> {
    fn unused(&self) -> bool {
        self.pending == 0 && self.reader == Reader::Nobody && !self.kept
    }

    /// Whether it originates here, so that its first hop may rise or fall.
    pub(in crate::router) fn begins_here(&self) -> bool {
        !matches!(self.origin, Origin::Link { .. })
    }

    /// Its virtual channel; any for a packet of this node.
    pub(in crate::router) fn channel(&self) -> u8 {
        match self.origin {
            Origin::Link { channel, .. } => channel,
            Origin::Host(_) | Origin::Application | Origin::Service | Origin::Inbox | Origin::None => 0,
        }
    }

    pub(in crate::router) fn age_in_micros(&self, now: Micros) -> u32 {
        let before = u32::from(self.packet.header.age) * AGE_UNIT as u32;
        before.saturating_add(self.waited(now))
    }

    /// How long the packet has been here.
    pub(in crate::router) fn waited(&self, now: Micros) -> u32 {
        (now as u32).wrapping_sub(self.arrived)
    }

    /// Copies still to be sent, or written.
    pub(in crate::router) fn copies(&self) -> u32 {
        self.pending.count_ones() + u32::from(self.reader == Reader::Board)
    }
}

#[derive(Clone, Debug)]
pub(in crate::router) struct Pool<C: Capacities> {
    slots: C::PerBuffer<Slot<C::Body>>,
    /// The slots in use: bit 0 is slot 0.
    used: u64,
    /// Those that have not been routed yet.
    pub(in crate::router) unrouted: u64,
    pub(in crate::router) used_channels: u8,
    channels: C::PerChannel<u8>,
    /// Packets in all virtual channels, and the number of nonempty virtual channels.
    passing: u8,
    channels_in_use: u8,
    links: C::PerLink<u8>,
    outbox: u8,
    service: u8,
    inbox: u8,
    /// Packets that were refused to links, and their order.
    fair_queue: FairQueue<C>,
    served: Served,
    /// Requests to this node that came while there was no room to answer.
    deferred: Backpressure,
    /// Whether anything has changed since the last query.
    changed: bool,
    /// Whether all links were offered all they could send.
    open: bool,
}

/// Maximum number of consecutive requests deferred because too many responses wait.
const MAX_DEFERRED: u8 = 16;

impl<C: Capacities> Pool<C> {
    /// Buffers for a network that needs so many virtual channels, at most as many as there can be.
    // Not inlined, as the layer's own `new`.
    #[inline(never)]
    pub(in crate::router) fn new(channels: u8) -> Self {
        Pool {
            used_channels: channels.min(C::SIZES.virtual_channels as u8),
            slots: C::PerBuffer::default(),
            used: 0,
            unrouted: 0,
            channels: C::PerChannel::default(),
            passing: 0,
            channels_in_use: 0,
            links: C::PerLink::default(),
            outbox: 0,
            service: 0,
            inbox: 0,
            fair_queue: FairQueue::new(),
            served: Served::new(),
            deferred: Backpressure::new(MAX_DEFERRED),
            changed: true,
            open: false,
        }
    }

    /// The shared slots: those that are not reserved.
    fn common(&self) -> usize {
        C::SIZES.buffers - C::SIZES.inbox - C::SIZES.service - OWN - usize::from(self.used_channels)
    }

    /// The shared slots in use: all packets but the first of each virtual channel, the first of this node, and the first responses.
    fn common_taken(&self) -> usize {
        usize::from(self.passing - self.channels_in_use)
            + usize::from(self.outbox).saturating_sub(OWN)
            + usize::from(self.service).saturating_sub(C::SIZES.service)
    }

    /// Whether [offers](Self::offer) may have changed since the last call.
    pub(in crate::router) fn has_changed(&mut self) -> bool {
        if !core::mem::take(&mut self.changed) {
            return false;
        }
        let room = self.common() > self.common_taken()
            && self.links.iter().all(|&count| usize::from(count) < C::SIZES.link_share);
        let was_open = core::mem::replace(&mut self.open, room && self.fair_queue.is_empty());
        !(self.open && was_open)
    }

    /// Whether anything has changed, or waits for its route.
    pub(in crate::router) fn needs_attention(&self) -> bool {
        self.changed || self.unrouted != 0
    }

    pub(in crate::router) fn used(&self) -> usize {
        self.used.count_ones() as usize
    }

    /// Whether every slot is free, and none counts as taken.
    pub(in crate::router) fn is_at_rest(&self) -> bool {
        let counts = [
            self.passing,
            self.channels_in_use,
            self.outbox,
            self.service,
            self.inbox,
        ];
        let per_place = self.channels.iter().chain(self.links.iter());
        self.used == 0 && counts.iter().chain(per_place).all(|&count| count == 0)
    }

    /// The number of shared slots available to a link with a priority: the free ones, up to its share, minus one for each earlier priority
    /// of another link within that link's share.
    fn common_for(&self, link: u8, priority: Option<Priority>) -> usize {
        let free = self.common().saturating_sub(self.common_taken());
        let ahead = self.fair_queue.ahead_of(link, priority);
        let reserved = ahead.filter(|waiting| self.share_left(waiting.link) > 0).count();
        free.saturating_sub(reserved).min(self.share_left(link))
    }

    /// Whether a link may use a virtual channel's own slot: it is free, and no packet of that virtual channel at another link goes first.
    fn channel_slot_for(&self, channel: u8, link: u8, priority: Option<Priority>) -> bool {
        let free = self.channels.get(usize::from(channel)) == Some(&0);
        free && !self
            .fair_queue
            .ahead_of(link, priority)
            .any(|waiting| waiting.channel == channel)
    }

    /// The number of shared slots left in a link's share.
    fn share_left(&self, link: u8) -> usize {
        let count = self.links.get(usize::from(link));
        count.map_or(0, |&count| C::SIZES.link_share.saturating_sub(usize::from(count)))
    }

    /// Whether there is room for a packet of a link; if not, the link waits for its turn.
    fn ask(&mut self, link: u8, channel: u8, share: Share, age: u16, now: Micros) -> bool {
        self.fair_queue.forget_presumed(now);
        let priority = Priority::new(share, age, now);
        let room = self.channel_slot_for(channel, link, Some(priority)) || self.common_for(link, Some(priority)) > 0;
        if room {
            self.fair_queue.served(link, channel);
            self.fair_queue.presume(link, share, now);
        } else {
            self.fair_queue.refused(Waiting {
                link,
                channel,
                priority,
            });
        }
        room
    }

    /// Clears the fair queue: packets of a link may have taken another path. A link that still has some is refused and waits again.
    pub(in crate::router) fn forget_turns(&mut self) {
        self.changed |= !self.fair_queue.is_empty();
        self.fair_queue.clear();
    }

    pub(in crate::router) fn offer(&self, link: u8) -> Offer {
        let shared = self.common_for(link, self.fair_queue.first_of(link, None));
        // While no link is refused, packets leave as fast as they come, so those in flight need not be counted.
        if shared > 0 && self.fair_queue.is_empty() {
            return Offer::ALL;
        }
        let channels = (0..self.used_channels).filter(|&channel| {
            let first = self.fair_queue.first_of(link, Some(channel));
            self.channel_slot_for(channel, link, first)
        });
        Offer::new(shared, channels.fold(0, |channels, channel| channels | 1 << channel))
    }

    pub(in crate::router) fn inbox_has_room(&self) -> bool {
        usize::from(self.inbox) < C::SIZES.inbox
    }

    /// Whether a packet of a kind may originate here. Forwarded packets go first: the more of them there are, the fewer may be
    /// added. A broadcast fills all links at once, so fewer suffice, and leave more room for those of others.
    pub(in crate::router) fn outbox_has_room(&self, kind: Kind) -> bool {
        let kept = if kind == Kind::Broadcast { C::SIZES.passing } else { 0 };
        let most = self.common().saturating_sub(kept).min(C::SIZES.outbox);
        self.outbox == 0 || usize::from(self.outbox) + 2 * usize::from(self.passing) < most
    }

    /// Whether the node may send a response. Where many packets could pass there is room for more responses.
    pub(in crate::router) fn service_has_room(&self) -> bool {
        let more = self.common().saturating_sub(self.common_taken()) > C::SIZES.passing;
        usize::from(self.service) < if more { 2 * C::SIZES.service } else { C::SIZES.service }
    }

    /// Whether a request to this node should come later, since there is no room to answer it.
    pub(in crate::router) fn defers_request(&mut self) -> bool {
        let no_room = !self.service_has_room();
        self.deferred.defer(no_room)
    }

    /// Gives a packet a slot, into which it is copied; `None` if there is no room for it. It must be given something to do, or be
    /// [released](Self::release_if_unused).
    pub(in crate::router) fn admit(
        &mut self,
        header: &Header,
        body: &[u8],
        origin: Origin,
        now: Micros,
    ) -> Option<Place> {
        let room = match origin {
            Origin::Link { link, channel } => {
                let share = self.served.by(header.source);
                channel < self.used_channels && self.ask(link, channel, share, header.age, now)
            }
            Origin::Host(_) | Origin::Application => self.outbox_has_room(header.kind),
            Origin::Service => self.service_has_room(),
            Origin::Inbox | Origin::None => false,
        };
        if !room {
            return None;
        }
        let place = self.used.trailing_ones() as usize;
        let Slot {
            packet,
            origin: from,
            arrived,
            pending,
            other_path,
            flooded,
            signed,
            reader,
            kept,
        } = self.slots.get_mut(place)?;
        packet.body.truncate(0);
        packet.body.extend_from_slice(body).ok()?;
        packet.header = *header;
        (*from, *arrived) = (origin, now as u32);
        (*pending, *other_path, *reader) = (0, 0, Reader::Nobody);
        (*flooded, *signed, *kept) = (false, false, false);
        self.used |= 1 << place;
        self.change(origin, 1);
        Some(place as Place)
    }

    /// The recent share of a packet's source at this node.
    pub(in crate::router) fn served(&self, slot: &Slot<C::Body>) -> Share {
        self.served.by(slot.packet.header.source)
    }

    /// Counts a packet that is sent on a link.
    pub(in crate::router) fn serve(&mut self, place: Place) {
        if let Some(source) = self.get(place).map(|slot| slot.packet.header.source) {
            self.served.count(source);
        }
    }

    pub(in crate::router) fn get(&self, place: Place) -> Option<&Slot<C::Body>> {
        self.slots
            .get(usize::from(place))
            .filter(|slot| slot.origin != Origin::None)
    }

    pub(in crate::router) fn get_mut(&mut self, place: Place) -> Option<&mut Slot<C::Body>> {
        self.slots
            .get_mut(usize::from(place))
            .filter(|slot| slot.origin != Origin::None)
    }

    pub(in crate::router) fn route_soon(&mut self, place: Place) {
        self.unrouted |= 1 << place;
    }

    pub(in crate::router) fn is_unrouted(&self, place: Place) -> bool {
        self.unrouted >> place & 1 == 1
    }

    /// Removes the first unrouted packet from a set, to be routed now.
    pub(in crate::router) fn next_unrouted(&mut self, round: &mut u64) -> Option<Place> {
        let waiting = *round & self.unrouted;
        let first = waiting & waiting.wrapping_neg();
        *round &= !first;
        self.unrouted &= !first;
        (waiting != 0).then_some(waiting.trailing_zeros() as Place)
    }

    /// All slots in use.
    pub(in crate::router) fn places(&self) -> impl Iterator<Item = Place> + use<C> {
        let mut used = self.used;
        core::iter::from_fn(move || {
            let place = used.trailing_zeros();
            used = used.checked_sub(1)? & used;
            Some(place as Place)
        })
    }

    /// Puts a packet into the inbox, which has room for it.
    pub(in crate::router) fn deliver(&mut self, place: Place) {
        if let Some(slot) = self.get_mut(place) {
            slot.reader = Reader::Application;
            self.inbox += 1;
        }
    }

    pub(in crate::router) fn take_from_inbox(&mut self, place: Place) {
        let Some(slot) = self.get_mut(place) else {
            return;
        };
        if slot.reader == Reader::Application {
            slot.reader = Reader::Nobody;
            self.inbox -= 1;
        }
    }

    /// Makes the packet in a slot a response of this node; `false` if there is no room for that.
    pub(in crate::router) fn make_service(&mut self, place: Place, now: Micros) -> bool {
        if !self.service_has_room() {
            return false;
        }
        let Some(slot) = self.get_mut(place) else {
            return false;
        };
        let before = core::mem::replace(&mut slot.origin, Origin::Service);
        slot.arrived = now as u32;
        self.change(before, -1);
        self.change(Origin::Service, 1);
        true
    }

    /// Frees a slot that has nothing left to do, or returns its share once only the inbox holds it.
    pub(in crate::router) fn release_if_unused(&mut self, place: Place) {
        if self.is_unrouted(place) {
            return;
        }
        let Some(slot) = self.get_mut(place) else { return };
        let before = slot.origin;
        if slot.unused() {
            slot.origin = Origin::None;
            self.used &= !(1 << place);
        } else if slot.pending == 0 && slot.reader == Reader::Application && !slot.kept {
            slot.origin = Origin::Inbox;
        } else {
            return;
        }
        self.change(before, -1);
    }

    /// Counts a packet more or less where it came from.
    fn change(&mut self, origin: Origin, by: i8) {
        self.changed = true;
        let counter = match origin {
            Origin::Link { link, channel } => {
                if let Some(count) = self.links.get_mut(usize::from(link)) {
                    *count = count.saturating_add_signed(by);
                }
                let Some(count) = self.channels.get_mut(usize::from(channel)) else {
                    return;
                };
                let before = *count;
                *count = count.saturating_add_signed(by);
                self.passing = self.passing.saturating_add_signed(by);
                let emptied = i8::from(before > 0 && *count == 0);
                let begun = i8::from(before == 0 && *count > 0);
                self.channels_in_use = self.channels_in_use.saturating_add_signed(begun - emptied);
                return;
            }
            Origin::Host(_) | Origin::Application => &mut self.outbox,
            Origin::Service => {
                if by < 0 {
                    self.deferred.room_was_made();
                }
                &mut self.service
            }
            Origin::Inbox | Origin::None => return,
        };
        *counter = counter.saturating_add_signed(by);
    }
}

#[cfg(test)]
mod tests;
