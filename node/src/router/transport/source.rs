//! The source of confirmed packets: which are outstanding, when each is retransmitted, and how it ends.

use super::super::event::Outcome;
use super::super::forwarding::Place;
use super::super::times::{CONFIRM_WITHIN, DRIFT, LONGEST_RETRY, UNREACHABLE_FOR};
use super::peers::SPAN;
use crate::capacities::{Capacities, List};
use crate::link::Micros;
use crate::wire::{Confirmation, DropReason, Header, Verdict};
use hopwise_core::Node;

/// Number of failures after which an unreachable destination is given up, if enough time has passed.
const UNREACHABLE_TIMES: u8 = 3;

/// A confirmed packet of this node.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    number: u32,
    dest: Node,
    place: Place,
    started: Micros,
    retry_at: Micros,
    timeout: u32,
    /// How often it was sent since the last response.
    attempts: u8,
    /// Whether responses of its destination arrived only as floods.
    only_by_flood: bool,
    /// Failure reports since its destination was last heard.
    unreachable: Option<Unreachable>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It is retransmitted until it is given up or ends.
    Open,
    /// It ends as unreachable at the next tick, unless its destination is heard before.
    GivenUp,
    /// The application has not fetched the result.
    Ended(Outcome),
}

/// The number of failures, and the node and reason of the last.
#[derive(Clone, Copy, Debug)]
struct Unreachable {
    times: u8,
    at: Node,
    reason: DropReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::router) struct Completed {
    pub(in crate::router) number: u32,
    pub(in crate::router) outcome: Outcome,
    pub(in crate::router) place: Place,
}

/// The effect of a confirmation on its packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::router) enum Confirms {
    /// It continues, kept at a place. If its destination has been up since before it was first sent, it names this epoch of it.
    GoesOn { kept: Place, epoch: Option<u16> },
    /// It has ended.
    Ended(Completed),
}

/// What to do with a packet at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::router) enum Due {
    Nothing,
    /// Retransmit the kept packet, by the path of a rank: 0 is its route.
    Retransmit {
        place: Place,
        rank: u8,
    },
    /// Retransmit it as a flood: no path seems to lead to its destination.
    Flood(Place),
    Ended(Completed),
}

/// The confirmed packets of this node.
#[derive(Clone, Debug)]
pub(in crate::router) struct Source<C: Capacities> {
    outstanding: C::Outstanding<Outstanding>,
    pub(in crate::router) next_number: u32,
    /// The timeout of a packet's first attempt: the minimum, and the current value.
    min_timeout: u32,
    timeout: u32,
    /// Minimum time between two floods, and when the next may be.
    flood_interval: Micros,
    flood_at: Micros,
}

/// The parameters of a source.
#[derive(Clone, Copy, Debug)]
pub(in crate::router) struct Mesh {
    pub(in crate::router) nodes: u64,
    /// In hops.
    pub(in crate::router) longest_route: u16,
    /// The time of the largest frame on a wire.
    pub(in crate::router) frame_time: Micros,
}

/// Number of attempts without a response, over some seconds, after which a packet is not just late, and other paths were tried.
const SILENT_ATTEMPTS: u8 = 5;

/// Maximum timeout of a first attempt: what takes longer may be held by a faulty board.
const MAX_LEARNED: Micros = 500_000;

/// Where responses come sooner than expected, each shortens the timeout by the difference divided by this.
const TIMEOUT_LOST: u32 = 4;

/// The divisor of flood traffic: if all nodes flood at this interval, it takes one part in this many of the wires.
const FLOOD_SHARE: u64 = 10;

/// Number of floods allowed in a burst: a destination that does not know this node first sends it a request.
const FLOODS_AT_ONCE: u64 = 3;

/// Maximum interval, so that in large meshes a packet is flooded at least twice before it is given up.
const LONGEST_FLOOD_INTERVAL: Micros = 4_000_000;

impl<C: Capacities> Source<C> {
    pub(in crate::router) fn new(mesh: &Mesh, first_number: u32) -> Self {
        // There and back, each hop a frame and some processing; for longer routes the timeout doubles.
        let hops = u64::from(mesh.longest_route.min(32));
        let timeout = mesh.frame_time.saturating_add(1_000).saturating_mul(2 * hops);
        let interval = mesh.nodes.saturating_mul(mesh.frame_time).saturating_mul(FLOOD_SHARE);
        let min_timeout = timeout.saturating_add(50_000).min(LONGEST_RETRY) as u32;
        Source {
            outstanding: C::Outstanding::default(),
            next_number: first_number,
            min_timeout,
            timeout: min_timeout,
            flood_interval: interval.min(LONGEST_FLOOD_INTERVAL),
            flood_at: 0,
        }
    }

    pub(in crate::router) fn deadline(&self) -> Micros {
        let open = self.outstanding.iter().filter(|entry| !entry.has_ended());
        open.map(|entry| entry.retry_at).min().unwrap_or(Micros::MAX)
    }

    /// Whether another packet for a destination may be sent. A slow one holds back only others for the same destination, which
    /// distinguishes them by their numbers.
    pub(in crate::router) fn has_room(&self, dest: Node) -> bool {
        let same = self.outstanding.iter().filter(|entry| entry.dest == dest);
        let widest = same.map(|entry| self.next_number.wrapping_sub(entry.number)).max();
        !self.outstanding.is_full() && widest.is_none_or(|span| span < SPAN)
    }

    /// Registers the next packet, kept at a place.
    pub(in crate::router) fn begin(&mut self, dest: Node, place: Place, now: Micros) {
        let number = self.next_number;
        self.next_number = number.wrapping_add(1);
        // Cannot fail: the room was checked.
        let _ = self.outstanding.push(Outstanding {
            number,
            dest,
            place,
            started: now,
            retry_at: now.saturating_add(Micros::from(self.timeout)),
            timeout: self.timeout,
            attempts: 1,
            only_by_flood: false,
            unreachable: None,
            stage: Stage::Open,
        });
    }

    /// Processes a failure report of a packet.
    pub(in crate::router) fn undeliverable(&mut self, number: u32, at: Node, reason: DropReason, now: Micros) {
        let Some(entry) = self.find(number) else { return };
        // An incomplete search says nothing about the destination.
        let complete = u8::from(!is_lost_on_the_way(reason));
        let times = entry
            .unreachable
            .map_or(0, |before| before.times)
            .saturating_add(complete);
        entry.unreachable = Some(Unreachable { times, at, reason });
        if times >= UNREACHABLE_TIMES && now.saturating_sub(entry.started) >= UNREACHABLE_FOR {
            entry.stage = Stage::GivenUp;
            entry.retry_at = now;
        }
    }

    /// Processes a confirmation, which was in flight for this long and may have arrived as a flood.
    pub(in crate::router) fn answered(
        &mut self,
        header: &Header,
        confirmation: &Confirmation,
        under_way: Micros,
        flooded: bool,
        now: Micros,
    ) -> Result<Confirms, DropReason> {
        let Header { source, epoch, .. } = *header;
        let answered = self.find(confirmation.number).filter(|entry| entry.dest == source);
        let sent = *answered.ok_or(DropReason::Unsolicited)?;
        self.learn(&sent, now);
        let entry = self.find(sent.number).ok_or(DropReason::Unsolicited)?;
        // It is reachable: earlier failures are out of date.
        entry.unreachable = None;
        entry.attempts = 0;
        entry.only_by_flood = flooded;
        entry.stage = Stage::Open;
        // If it booted before the packet was first sent, it has not had it in an earlier epoch.
        let age = now.saturating_sub(entry.started).saturating_sub(under_way);
        let same_life = age.saturating_add(DRIFT) < Micros::from(confirmation.uptime);
        match confirmation.verdict {
            Verdict::Delivered => return Ok(Confirms::Ended(entry.end(Outcome::Delivered))),
            Verdict::Restarted if !same_life => return Ok(Confirms::Ended(entry.end(Outcome::Interrupted))),
            Verdict::Restarted => entry.retry_at = now,
            Verdict::PortUnreachable | Verdict::Full => {
                let reason = match confirmation.verdict {
                    Verdict::PortUnreachable => DropReason::PortUnreachable,
                    _ => DropReason::InboxFull,
                };
                let outcome = Outcome::Undeliverable { at: source, reason };
                return Ok(Confirms::Ended(entry.end(outcome)));
            }
            Verdict::Busy => {}
        }
        Ok(Confirms::GoesOn {
            kept: entry.place,
            epoch: same_life.then_some(epoch),
        })
    }

    /// Adapts the timeout: twice the time of a response. If the packet was sent more than once, it is unknown which
    /// attempt was answered; then the timeout of the last attempt is used.
    fn learn(&mut self, entry: &Outstanding, now: Micros) {
        let enough = match entry.attempts {
            1 => now.saturating_sub(entry.started).saturating_mul(2),
            _ => entry.timeout.into(),
        };
        let enough = enough.min(MAX_LEARNED) as u32;
        let less = self.timeout.saturating_sub(enough) / TIMEOUT_LOST;
        self.timeout = (self.timeout - less).max(enough).max(self.min_timeout);
    }

    /// What to do now with the packet of an index; [`Sizes`](crate::capacities::Sizes) has their number.
    pub(in crate::router) fn due(&mut self, index: usize, now: Micros) -> Due {
        let Some(entry) = self.outstanding.get_mut(index) else {
            return Due::Nothing;
        };
        if entry.has_ended() || now < entry.retry_at {
            return Due::Nothing;
        }
        if entry.stage == Stage::GivenUp || now.saturating_sub(entry.started) >= CONFIRM_WITHIN {
            let outcome = match entry.unreachable {
                Some(Unreachable { at, reason, .. }) => Outcome::Undeliverable { at, reason },
                None => Outcome::Unknown,
            };
            return Due::Ended(entry.end(outcome));
        }
        let may_flood = now >= self.flood_at;
        let flood = match entry.unreachable {
            // It is not known that its path fails: the destination may just be busy.
            None => may_flood && (entry.only_by_flood || entry.attempts >= SILENT_ATTEMPTS),
            Some(said) => is_lost_on_the_way(said.reason),
        };
        if flood && !may_flood {
            entry.retry_at = self.flood_at;
            return Due::Nothing;
        }
        entry.attempts = entry.attempts.saturating_add(1);
        entry.timeout = (entry.timeout * 2).min(LONGEST_RETRY as u32);
        entry.retry_at = now.saturating_add(Micros::from(entry.timeout));
        if flood {
            let earliest = now.saturating_sub(self.flood_interval * (FLOODS_AT_ONCE - 1));
            self.flood_at = self.flood_at.max(earliest).saturating_add(self.flood_interval);
            Due::Flood(entry.place)
        } else {
            // Any response, positive or negative, shows that the path works.
            let rank = match entry.unreachable {
                None => entry.attempts.saturating_sub(1),
                Some(_) => 0,
            };
            Due::Retransmit {
                place: entry.place,
                rank,
            }
        }
    }

    fn find(&mut self, number: u32) -> Option<&mut Outstanding> {
        let mut open = self.outstanding.iter_mut().filter(|entry| !entry.has_ended());
        open.find(|entry| entry.number == number)
    }

    pub(in crate::router) fn has_outcome(&self) -> bool {
        self.outstanding.iter().any(Outstanding::has_ended)
    }

    /// A result that has not been fetched yet, with the number of its packet.
    pub(in crate::router) fn next_outcome(&mut self) -> Option<(u32, Outcome)> {
        let index = self.outstanding.iter().position(Outstanding::has_ended)?;
        let entry = self.outstanding.remove(index)?;
        match entry.stage {
            Stage::Ended(outcome) => Some((entry.number, outcome)),
            Stage::Open | Stage::GivenUp => None,
        }
    }
}

impl Outstanding {
    fn has_ended(&self) -> bool {
        matches!(self.stage, Stage::Ended(_))
    }

    fn end(&mut self, outcome: Outcome) -> Completed {
        self.stage = Stage::Ended(outcome);
        Completed {
            number: self.number,
            outcome,
            place: self.place,
        }
    }
}

/// Whether a packet that ended for this reason was looking for a path that may exist.
fn is_lost_on_the_way(reason: DropReason) -> bool {
    matches!(
        reason,
        DropReason::TrailFull | DropReason::HopLimit | DropReason::Expired
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacities::Board;
    use crate::wire::Kind;

    const START: Micros = 1_000_000;
    const SECOND: Micros = 1_000_000;

    fn source() -> Source<Board> {
        let mesh = Mesh {
            nodes: 10,
            longest_route: 4,
            frame_time: 2_000,
        };
        let mut source = Source::new(&mesh, 0);
        source.begin(7, 9, START);
        source
    }

    /// The header of what node 7 says.
    const FROM_7: Header = Header::new(Kind::Confirmation, 7, 0).numbered(5, 0);

    fn says(verdict: Verdict, uptime: u32) -> Confirmation {
        Confirmation {
            number: 0,
            epoch: 1,
            verdict,
            uptime,
        }
    }

    fn ended(outcome: Outcome) -> Completed {
        Completed {
            number: 0,
            outcome,
            place: 9,
        }
    }

    #[test]
    fn a_packet_is_retransmitted_after_ever_longer_timeouts_and_ends_unknown() {
        let mut source = source();
        let mut waits = std::vec::Vec::new();
        let mut now = START;
        loop {
            let next = source.deadline();
            assert_eq!(source.due(0, next - 1), Due::Nothing);
            waits.push(next - now);
            now = next;
            match source.due(0, now) {
                Due::Retransmit { place: 9, .. } | Due::Flood(9) => {}
                other => break assert_eq!(other, Due::Ended(ended(Outcome::Unknown))),
            }
        }
        assert_eq!(&waits[..4], &[74_000, 148_000, 296_000, 592_000]);
        assert!(now - START >= CONFIRM_WITHIN && now - START < CONFIRM_WITHIN + LONGEST_RETRY);
        assert!(waits.iter().all(|&wait| wait <= LONGEST_RETRY));
        assert_eq!(source.deadline(), Micros::MAX);
        assert_eq!(source.next_outcome(), Some((0, Outcome::Unknown)));
        assert_eq!(source.next_outcome(), None);
    }

    #[test]
    fn who_is_answered_late_waits_longer_the_next_times() {
        let mut source = source();
        let least = source.deadline() - START;
        let mut now = START;
        let mut number = 0;
        // The timeout of the next packet, after one that took this long.
        let mut wait_after = |took: Micros| {
            now += took;
            let delivered = Confirmation {
                number,
                ..says(Verdict::Delivered, 0)
            };
            let confirms = source.answered(&FROM_7, &delivered, 0, false, now);
            assert!(matches!(confirms, Ok(Confirms::Ended(_))));
            source.next_outcome();
            number += 1;
            source.begin(7, 9, now);
            source.deadline() - now
        };
        assert_eq!(wait_after(70_000), 140_000);
        assert_eq!(wait_after(100_000), 200_000);
        assert_eq!(wait_after(20_000), 200_000 - (200_000 - 40_000) / 4);
        assert_eq!((0..40).map(|_| wait_after(1_000)).last(), Some(least));
        assert_eq!(wait_after(9_000_000), MAX_LEARNED);
    }

    #[test]
    fn what_the_destination_says_ends_it_or_not() {
        let now = START + 500_000;
        let answered = |verdict, uptime| source().answered(&FROM_7, &says(verdict, uptime), 1_000, false, now);
        let goes_on = |epoch| Ok(Confirms::GoesOn { kept: 9, epoch });
        let ends = |outcome| Ok(Confirms::Ended(ended(outcome)));
        for uptime in [10, 5_000_000] {
            assert_eq!(answered(Verdict::Delivered, uptime), ends(Outcome::Delivered));
        }
        let interrupted = ends(Outcome::Interrupted);
        assert_eq!(answered(Verdict::Restarted, 400_000), interrupted);
        assert_eq!(answered(Verdict::Restarted, 499_000 + DRIFT as u32), interrupted);
        assert_eq!(answered(Verdict::Restarted, 499_001 + DRIFT as u32), goes_on(Some(5)));
        assert_eq!(answered(Verdict::Busy, 400_000), goes_on(None));
        assert_eq!(answered(Verdict::Busy, 600_000), goes_on(Some(5)));
        for (verdict, reason) in [
            (Verdict::PortUnreachable, DropReason::PortUnreachable),
            (Verdict::Full, DropReason::InboxFull),
        ] {
            let outcome = Outcome::Undeliverable { at: 7, reason };
            assert_eq!(answered(verdict, 600_000), ends(outcome));
        }
        let other = Confirmation {
            number: 1,
            ..says(Verdict::Delivered, 0)
        };
        let from_8 = Header { source: 8, ..FROM_7 };
        for (header, confirmation) in [(FROM_7, other), (from_8, says(Verdict::Delivered, 0))] {
            let found = source().answered(&header, &confirmation, 0, false, now);
            assert_eq!(found, Err(DropReason::Unsolicited));
        }
    }

    #[test]
    fn a_packet_sent_in_the_same_life_is_retransmitted_at_once() {
        let mut source = source();
        let now = START + 10_000;
        assert_eq!(source.due(0, now), Due::Nothing);
        source
            .answered(&FROM_7, &says(Verdict::Restarted, 900_000), 0, false, now)
            .unwrap();
        assert_eq!(source.due(0, now), Due::Retransmit { place: 9, rank: 0 });
    }

    #[test]
    fn three_reports_over_three_seconds_end_it_unless_the_destination_is_heard_of() {
        let report = |source: &mut Source<Board>, now| source.undeliverable(0, 4, DropReason::NoRoute, now);
        let late = START + UNREACHABLE_FOR;
        let given_up = |reports: &[Micros]| {
            let mut source = source();
            reports.iter().for_each(|&now| report(&mut source, now));
            matches!(source.due(0, late), Due::Ended(_))
        };
        assert!(given_up(&[START, START, late]));
        assert!(!given_up(&[START, late]));
        assert!(!given_up(&[START, START, late - 1]));

        let mut source = source();
        (0..3).for_each(|_| report(&mut source, late));
        source
            .answered(&FROM_7, &says(Verdict::Busy, 10), 0, false, late)
            .unwrap();
        assert_eq!(source.due(0, late), Due::Retransmit { place: 9, rank: 0 });
        (0..3).for_each(|_| report(&mut source, late));
        let (at, reason) = (4, DropReason::NoRoute);
        let end = Outcome::Undeliverable { at, reason };
        assert_eq!(source.due(0, late), Due::Ended(ended(end)));
        assert_eq!(source.next_outcome(), Some((0, end)));
    }

    #[test]
    fn floods_are_a_few_at_once_and_then_one_an_interval() {
        let mut source = source();
        for dest in 1..6 {
            source.begin(dest, 1, START);
        }
        let interval = source.flood_interval;
        (0..6).for_each(|number| source.undeliverable(number, 4, DropReason::HopLimit, START));
        let floods = |source: &mut Source<Board>, now| {
            let due = (0..6).map(|index| source.due(index, now));
            due.filter(|due| matches!(due, Due::Flood(_))).count()
        };
        let mut now = START + SECOND;
        assert_eq!(floods(&mut source, now), FLOODS_AT_ONCE as usize);
        for _ in 0..3 {
            assert_eq!(floods(&mut source, now + interval - 1), 0);
            now += interval;
            assert_eq!(floods(&mut source, now), 1);
        }
    }

    #[test]
    fn numbers_under_way_to_one_destination_lie_close_together() {
        let mut source = source();
        for number in 1..SPAN {
            assert!(source.has_room(7));
            source.begin(7, 1, START);
            let done = Confirmation {
                number,
                ..says(Verdict::Delivered, 0)
            };
            source.answered(&FROM_7, &done, 0, false, START).unwrap();
            assert_eq!(source.next_outcome(), Some((number, Outcome::Delivered)));
        }
        assert!(!source.has_room(7), "the first is still under way");
        assert!(source.has_room(8), "to someone else");
        source
            .answered(&FROM_7, &says(Verdict::Delivered, 0), 0, false, START)
            .unwrap();
        assert!(!source.has_room(7), "its outcome has not been fetched");
        source.next_outcome();
        assert!(source.has_room(7));
    }
}
