//! Confirmed packets, at their source and at their destination.
//!
//! The source keeps the packet and sends it again until the destination confirms it. It names the destination's epoch as it
//! knows it, so that a destination that has restarted says so instead of delivering again what it may have delivered before.

use heapless::{Deque, Vec};

use super::counters::add;
use super::event::{DropReason, Event, Observer, Outcome};
use super::packet::{Body, Header, Kind, Packet};
use super::peers::{SPAN, Standing};
use super::pool::{From, Place};
use super::times::{CONFIRM_WITHIN, DRIFT, LIFETIME, LONGEST_RETRY, SLACK, UNREACHABLE_FOR};
use super::{Node, forward};
use crate::Node as Address;
use crate::limits::OUTSTANDING;
use crate::link::Micros;

/// Confirmations that wait to be sent.
const WAITING: usize = 6;

/// A destination that cannot be reached so many times is given up, if enough time has passed.
const UNREACHABLE_TIMES: u8 = 3;

/// Bytes before the payload of a confirmed packet: the destination's epoch.
pub(super) const PREFIX: usize = 2;

#[derive(Clone, Copy, Debug)]
struct Outstanding {
    number: u32,
    place: Place,
    started: Micros,
    retry_at: Micros,
    patience: u32,
    unreachable: u8,
    given_up: bool,
    /// Who said last that it cannot be delivered.
    report: (Address, DropReason),
    outcome: Option<Ending>,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Delivered,
    Undeliverable,
    Interrupted,
    Unknown,
}

impl Outstanding {
    fn end(&mut self, ending: Ending) -> Outcome {
        self.outcome = Some(ending);
        self.told(ending)
    }

    fn told(&self, ending: Ending) -> Outcome {
        let (at, reason) = self.report;
        match ending {
            Ending::Delivered => Outcome::Delivered,
            Ending::Undeliverable => Outcome::Undeliverable { at, reason },
            Ending::Interrupted => Outcome::Interrupted,
            Ending::Unknown => Outcome::Unknown,
        }
    }
}

/// What the destination makes of a confirmed packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Verdict {
    Delivered,
    Busy,
    Restarted,
}

#[derive(Clone, Copy, Debug)]
struct Confirmation {
    dest: Address,
    to_host: bool,
    epoch: u16,
    number: u32,
    verdict: Verdict,
}

#[derive(Clone, Debug)]
pub(super) struct Confirm {
    outstanding: Vec<Outstanding, OUTSTANDING>,
    waiting: Deque<Confirmation, WAITING>,
    next_number: u32,
    first_patience: u32,
}

impl Confirm {
    pub(super) fn new(longest_route: u16, frame_time: Micros) -> Self {
        // There and back, each hop a frame and some thought; longer routes are patient enough by doubling.
        let hops = u64::from(longest_route.min(32));
        Confirm {
            outstanding: Vec::new(),
            waiting: Deque::new(),
            next_number: 0,
            first_patience: (50_000 + 2 * hops * (frame_time + 1_000)).min(LONGEST_RETRY) as u32,
        }
    }

    pub(super) fn deadline(&self) -> Micros {
        let waiting = self.outstanding.iter().filter(|entry| entry.outcome.is_none());
        waiting.map(|entry| entry.retry_at).min().unwrap_or(Micros::MAX)
    }

    pub(super) fn has_room(&self) -> bool {
        let oldest = self
            .outstanding
            .iter()
            .map(|entry| self.next_number.wrapping_sub(entry.number))
            .max();
        !self.outstanding.is_full() && oldest.is_none_or(|span| span < SPAN)
    }

    /// The number of a new confirmed packet, which is now outstanding.
    pub(super) fn begin(&mut self, place: Place, now: Micros) -> u32 {
        let number = self.next_number;
        self.next_number = number.wrapping_add(1);
        // There is room: it was asked for.
        let _ = self.outstanding.push(Outstanding {
            number,
            place,
            started: now,
            retry_at: now.saturating_add(Micros::from(self.first_patience)),
            patience: self.first_patience,
            unreachable: 0,
            given_up: false,
            report: (0, DropReason::NoRoute),
            outcome: None,
        });
        number
    }

    /// The number the next confirmed packet will have.
    pub(super) fn next_number(&self) -> u32 {
        self.next_number
    }

    /// Someone could not bring a packet on.
    pub(super) fn undeliverable(&mut self, number: u32, at: Address, reason: DropReason, now: Micros) {
        let Some(entry) = self.open(number) else { return };
        entry.unreachable = entry.unreachable.saturating_add(1);
        entry.report = (at, reason);
        if entry.unreachable >= UNREACHABLE_TIMES && now.saturating_sub(entry.started) >= UNREACHABLE_FOR {
            entry.given_up = true;
            entry.retry_at = now;
        }
    }

    fn open(&mut self, number: u32) -> Option<&mut Outstanding> {
        let mut open = self.outstanding.iter_mut().filter(|entry| entry.outcome.is_none());
        open.find(|entry| entry.number == number)
    }

    pub(super) fn has_outcome(&self) -> bool {
        self.outstanding.iter().any(|entry| entry.outcome.is_some())
    }

    /// An outcome that nobody has fetched yet, with the number of its packet.
    pub(super) fn next_outcome(&mut self) -> Option<(u32, Outcome)> {
        let index = self.outstanding.iter().position(|entry| entry.outcome.is_some())?;
        let entry = self.outstanding.remove(index);
        Some((entry.number, entry.told(entry.outcome?)))
    }
}

impl<const PORTS: usize, const BUFFERS: usize, const BODY: usize, const WIRE: usize, const PEERS: usize>
    Node<PORTS, BUFFERS, BODY, WIRE, PEERS>
{
    /// A confirmed packet for this node.
    pub(super) fn confirmed_here(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let Some(slot) = self.pool.get_mut(place) else { return };
        forward::remove_trail(&mut slot.packet);
        let (header, age) = (slot.packet.header, slot.age_in_micros(now));
        let Some(known) = slot.packet.body.first_chunk::<PREFIX>().copied() else {
            return self.discard(place, DropReason::Malformed, observer);
        };
        let known = u16::from_le_bytes(known);
        if self.confirm.waiting.is_full() {
            return self.discard(place, DropReason::Busy, observer);
        }
        if known != 0 && known != self.epoch as u16 {
            self.confirm(&header, Verdict::Restarted);
            return self.discard(place, DropReason::Stale, observer);
        }
        match self.peers.standing(&header, now) {
            Standing::New if known == 0 && self.may_have_had(&header, age, now) => {
                self.confirm(&header, Verdict::Restarted);
                self.discard(place, DropReason::Stale, observer);
            }
            Standing::New if self.pool.inbox_has_room() => {
                self.peers.record(&header);
                self.confirm(&header, Verdict::Delivered);
                self.hand_over(place, observer);
                self.pool.release_if_unused(place);
            }
            Standing::New => {
                self.confirm(&header, Verdict::Busy);
                self.discard(place, DropReason::InboxFull, observer);
            }
            Standing::Delivered => {
                self.confirm(&header, Verdict::Delivered);
                self.discard(place, DropReason::Duplicate, observer);
            }
            Standing::NoRoom => {
                self.confirm(&header, Verdict::Busy);
                self.discard(place, DropReason::Busy, observer);
            }
            Standing::Stale => self.discard(place, DropReason::Stale, observer),
        }
    }

    /// Whether this node may have delivered a packet before its last start: one whose sender does not know in which life
    /// of this node it began. The sender is told for how long this node is up, and knows.
    fn may_have_had(&self, header: &Header, age: u32, now: Micros) -> bool {
        let oldest = if header.copied {
            CONFIRM_WITHIN + LIFETIME + SLACK
        } else {
            Micros::from(age) + DRIFT
        };
        now.saturating_sub(self.started) <= oldest
    }

    fn confirm(&mut self, header: &Header, verdict: Verdict) {
        // There is room: it was looked for.
        let _ = self.confirm.waiting.push_back(Confirmation {
            dest: header.source,
            to_host: header.from_host,
            epoch: header.epoch,
            number: header.number,
            verdict,
        });
    }

    /// Sends confirmations for which there is room.
    pub(super) fn send_confirmations(&mut self, now: Micros, observer: &mut impl Observer) {
        while self.pool.service_has_room() {
            let Some(confirmation) = self.confirm.waiting.pop_front() else {
                return;
            };
            let header = self.header(Kind::Confirmation, confirmation.dest, confirmation.to_host);
            let mut body = Body::new();
            let _ = body.extend_from_slice(&confirmation.number.to_le_bytes());
            let _ = body.extend_from_slice(&confirmation.epoch.to_le_bytes());
            let _ = body.push(confirmation.verdict as u8);
            let uptime = now.saturating_sub(self.started).min(u64::from(u32::MAX)) as u32;
            let _ = body.extend_from_slice(&uptime.to_le_bytes());
            self.originate(Packet { header, body }, From::Service, now, observer);
        }
    }

    /// The destination of a confirmed packet of this node has answered.
    pub(super) fn confirmation_here(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let Some(slot) = self.pool.get(place) else { return };
        let header = slot.packet.header;
        let under_way = Micros::from(slot.age_in_micros(now));
        let &[n0, n1, n2, n3, e0, e1, verdict, u0, u1, u2, u3, ..] = slot.packet.body.as_slice() else {
            return self.discard(place, DropReason::Malformed, observer);
        };
        let uptime = Micros::from(u32::from_le_bytes([u0, u1, u2, u3]));
        let number = u32::from_le_bytes([n0, n1, n2, n3]);
        if u16::from_le_bytes([e0, e1]) != self.epoch as u16 {
            return self.discard(place, DropReason::Stale, observer);
        }
        self.peers.note_epoch(header.source, header.epoch, now);
        let Some(entry) = self.confirm.open(number) else {
            return self.discard(place, DropReason::Unasked, observer);
        };
        // It is reached: what was said before is out of date.
        entry.unreachable = 0;
        entry.given_up = false;
        // It started before the packet was first sent, so it has not had it in an earlier life.
        let old = now.saturating_sub(entry.started).saturating_sub(under_way);
        let in_this_life = old.saturating_add(DRIFT) < uptime;
        let ending = match verdict {
            _ if verdict == Verdict::Delivered as u8 => Ending::Delivered,
            _ if verdict == Verdict::Restarted as u8 && !in_this_life => Ending::Interrupted,
            _ => {
                if verdict == Verdict::Restarted as u8 {
                    entry.retry_at = now;
                }
                let kept = entry.place;
                if in_this_life {
                    self.name_epoch(kept, header.epoch);
                }
                return self.consume(place, observer);
            }
        };
        let outcome = entry.end(ending);
        let kept = entry.place;
        self.consume(place, observer);
        self.settle_confirmed(number, outcome, kept, observer);
    }

    /// Writes the destination's epoch into a packet.
    fn name_epoch(&mut self, kept: Place, epoch: u16) {
        let slot = self.pool.get_mut(kept).filter(|slot| slot.kept);
        if let Some(prefix) = slot.and_then(|slot| slot.packet.body.first_chunk_mut::<PREFIX>()) {
            *prefix = epoch.to_le_bytes();
        }
    }

    fn settle_confirmed(&mut self, number: u32, outcome: Outcome, kept: Place, observer: &mut impl Observer) {
        observer.note(Event::Settled { number, outcome });
        if let Some(slot) = self.pool.get_mut(kept) {
            slot.kept = false;
        }
        self.pool.release_if_unused(kept);
    }

    /// Sends again what has not been confirmed in time, and ends what has not for too long.
    pub(super) fn retry(&mut self, now: Micros, observer: &mut impl Observer) {
        for index in 0..OUTSTANDING {
            let Some(entry) = self.confirm.outstanding.get_mut(index) else {
                return;
            };
            if now < entry.retry_at {
                continue;
            }
            let (number, place) = (entry.number, entry.place);
            if entry.outcome.is_some() {
                continue;
            }
            if entry.given_up || now.saturating_sub(entry.started) >= CONFIRM_WITHIN {
                let ending = if entry.unreachable > 0 {
                    Ending::Undeliverable
                } else {
                    Ending::Unknown
                };
                let outcome = entry.end(ending);
                self.settle_confirmed(number, outcome, place, observer);
                continue;
            }
            entry.patience = (entry.patience * 2).min(LONGEST_RETRY as u32);
            entry.retry_at = now.saturating_add(Micros::from(entry.patience));
            self.send_again(place, now, observer);
        }
    }

    fn send_again(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let hops_left = self.hops;
        let fresh = self.pool.is_fresh(place);
        let Some(slot) = self
            .pool
            .get_mut(place)
            .filter(|slot| slot.kept && slot.pending == 0 && !fresh)
        else {
            // It has not even left.
            return;
        };
        forward::remove_trail(&mut slot.packet);
        slot.packet.header.hops_left = hops_left;
        slot.packet.header.copied = true;
        slot.arrived = now as u32;
        add(&mut self.counters.retried, 1);
        add(&mut self.counters.originated, 1);
        self.go(place, now, observer);
    }
}
