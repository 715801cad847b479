//! The destination of confirmed packets: which are delivered, and the confirmations to their senders.

use heapless::Deque;

use super::super::backpressure::Backpressure;
use super::super::services::Admission;
use super::super::times::{CONFIRM_WITHIN, DRIFT, LIFETIME, SLACK};
use super::peers::{Peers, Standing};
use crate::capacities::Capacities;
use crate::link::Micros;
use crate::wire::{Confirmation, DropReason, Header, Verdict};
use hopwise_core::Node;

/// Confirmations that wait to be sent.
const WAITING: usize = 6;

/// Maximum number of consecutive packets deferred because too many confirmations wait.
const MAX_DEFERRED: u8 = 8;

/// A confirmation that has not been sent.
#[derive(Clone, Copy, Debug)]
struct Owed {
    dest: Node,
    to_host: bool,
    flooded: bool,
    retransmit: bool,
    epoch: u16,
    number: u32,
    verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::router) struct Reply {
    pub(in crate::router) dest: Node,
    pub(in crate::router) to_host: bool,
    /// The packet arrived as a flood, and so must this.
    pub(in crate::router) flooded: bool,
    /// The packet was retransmitted: perhaps a confirmation was lost.
    pub(in crate::router) retransmit: bool,
    pub(in crate::router) confirmation: Confirmation,
}

#[derive(Clone, Debug)]
pub(in crate::router) struct Destination<C: Capacities> {
    pub(in crate::router) peers: Peers<C>,
    owed: Deque<Owed, WAITING>,
    /// Packets that came while too many confirmations waited.
    deferred: Backpressure,
    /// The low half of this node's epoch.
    epoch: u16,
    started: Micros,
}

impl<C: Capacities> Destination<C> {
    pub(in crate::router) fn new(epoch: u16, started: Micros) -> Self {
        Destination {
            peers: Peers::new(),
            owed: Deque::new(),
            deferred: Backpressure::new(MAX_DEFERRED),
            epoch,
            started,
        }
    }

    /// Whether a packet should come later, since too many confirmations wait to be sent.
    pub(in crate::router) fn is_busy(&mut self) -> bool {
        self.deferred.defer(self.owed.is_full())
    }

    /// Whether a received packet is to be delivered now, or why not. Its sender will be notified if there is anything to
    /// report. `known_epoch` is the packet's claim about this node, `age` how long it has been in flight, `flooded`
    /// whether it arrived as a flood.
    pub(in crate::router) fn classify(
        &mut self,
        header: &Header,
        known_epoch: u16,
        age: u32,
        flooded: bool,
        admission: Admission,
        now: Micros,
    ) -> Result<(), DropReason> {
        if self.owed.is_full() {
            return Err(DropReason::Busy);
        }
        let (verdict, classification) = if known_epoch != 0 && known_epoch != self.epoch {
            (Verdict::Restarted, Err(DropReason::Stale))
        } else {
            match self.peers.standing(header, age, now) {
                Standing::New if known_epoch == 0 && self.may_have_had(header, age, now) => {
                    (Verdict::Restarted, Err(DropReason::Stale))
                }
                Standing::New => {
                    if admission != Admission::Busy {
                        self.peers.record(header, admission == Admission::Open, age, now);
                    }
                    match admission {
                        Admission::Open => (Verdict::Delivered, Ok(())),
                        Admission::Busy => (Verdict::Busy, Err(DropReason::InboxFull)),
                        Admission::Full => (Verdict::Full, Err(DropReason::InboxFull)),
                        Admission::PortUnreachable => (Verdict::PortUnreachable, Err(DropReason::PortUnreachable)),
                    }
                }
                Standing::Delivered => (Verdict::Delivered, Err(DropReason::Duplicate)),
                Standing::Refused if admission == Admission::PortUnreachable => {
                    (Verdict::PortUnreachable, Err(DropReason::Duplicate))
                }
                Standing::Refused => (Verdict::Full, Err(DropReason::Duplicate)),
                Standing::NoRoom | Standing::Unclear => (Verdict::Busy, Err(DropReason::Busy)),
                // The sender has restarted, so there is nothing to notify.
                Standing::Stale => return Err(DropReason::Stale),
            }
        };
        // Cannot fail: the room was checked.
        let _ = self.owed.push_back(Owed {
            dest: header.source,
            to_host: header.from_host,
            flooded,
            retransmit: header.copied,
            epoch: header.epoch,
            number: header.number,
            verdict,
        });
        classification
    }

    /// Whether this node may have delivered a packet before its last boot: one whose sender does not know in which epoch
    /// of this node it began. The sender is told the uptime of this node, and can decide.
    fn may_have_had(&self, header: &Header, age: u32, now: Micros) -> bool {
        let oldest = if header.copied {
            CONFIRM_WITHIN + LIFETIME + SLACK
        } else {
            Micros::from(age) + DRIFT
        };
        now.saturating_sub(self.started) <= oldest
    }

    pub(in crate::router) fn owes(&self) -> bool {
        !self.owed.is_empty()
    }

    pub(in crate::router) fn next_reply(&mut self, now: Micros) -> Option<Reply> {
        let owed = self.owed.pop_front()?;
        self.deferred.room_was_made();
        Some(Reply {
            dest: owed.dest,
            to_host: owed.to_host,
            flooded: owed.flooded,
            retransmit: owed.retransmit,
            confirmation: Confirmation {
                number: owed.number,
                epoch: owed.epoch,
                verdict: owed.verdict,
                uptime: now.saturating_sub(self.started).min(u64::from(u32::MAX)) as u32,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacities::tests::FourPeers;
    use crate::wire::Kind;

    const NOW: Micros = 60_000_000;

    fn packet(number: u32) -> Header {
        Header::new(Kind::Confirmed, 2, 7).numbered(3, number)
    }

    fn destination() -> Destination<FourPeers> {
        Destination::new(5, 0)
    }

    /// The decision about a packet, and its confirmation.
    fn classified(
        destination: &mut Destination<FourPeers>,
        header: &Header,
        known_epoch: u16,
        admission: Admission,
        now: Micros,
    ) -> (Result<(), DropReason>, Option<Verdict>) {
        let classification = destination.classify(header, known_epoch, 1_000, false, admission, now);
        let reply = destination.next_reply(now);
        if let Some(reply) = reply {
            assert_eq!((reply.dest, reply.to_host), (header.source, header.from_host));
            let Confirmation {
                number, epoch, uptime, ..
            } = reply.confirmation;
            assert_eq!((number, epoch, u64::from(uptime)), (header.number, header.epoch, now));
        }
        (classification, reply.map(|reply| reply.confirmation.verdict))
    }

    const DELIVERED: (Result<(), DropReason>, Option<Verdict>) = (Ok(()), Some(Verdict::Delivered));

    /// A packet, perhaps a second one or the same again, and what is said of it.
    #[test]
    fn each_is_delivered_or_refused_once_and_confirmed_each_time() {
        use Admission::{Busy, Full, Open, PortUnreachable};
        let again = |verdict| (Err(DropReason::Duplicate), Some(verdict));
        let busy = (Err(DropReason::InboxFull), Some(Verdict::Busy));
        let full = (Err(DropReason::InboxFull), Some(Verdict::Full));
        let unserved = (Err(DropReason::PortUnreachable), Some(Verdict::PortUnreachable));
        let refused_for_good = |admission, refused: (_, Option<Verdict>)| {
            [
                (0, admission, refused),
                (0, admission, (Err(DropReason::Duplicate), refused.1)),
                (0, Open, again(Verdict::Full)),
                (1, Open, DELIVERED),
                (0, Busy, again(Verdict::Full)),
            ]
        };
        let comes_again = [
            (0, Busy, busy),
            (0, Open, DELIVERED),
            (0, Open, again(Verdict::Delivered)),
            (0, PortUnreachable, again(Verdict::Delivered)),
        ];
        let cases = [
            &comes_again[..],
            &refused_for_good(Full, full),
            &refused_for_good(PortUnreachable, unserved),
        ];
        for case in cases {
            let mut here = destination();
            for (place, &(number, admission, expected)) in case.iter().enumerate() {
                let found = classified(&mut here, &packet(number), 5, admission, NOW);
                assert_eq!(found, expected, "step {place} of {case:?}");
            }
        }
    }

    #[test]
    fn what_may_have_come_before_a_restart_is_not_delivered() {
        let restarted = (Err(DropReason::Stale), Some(Verdict::Restarted));
        let first = packet(0);
        let copy = Header { copied: true, ..first };
        for (header, known_epoch, now, expected) in [
            (first, 4, NOW, restarted),
            // The sender does not know the epoch: by its age the packet began after the boot, or it may have begun before.
            (first, 0, 1_001 + DRIFT, DELIVERED),
            (first, 0, 1_000 + DRIFT, restarted),
            (copy, 0, 18_500_000, restarted),
            (copy, 0, 18_500_001, DELIVERED),
        ] {
            let found = classified(&mut destination(), &header, known_epoch, Admission::Open, now);
            assert_eq!(found, expected, "{header:?} at {now}");
        }
    }

    #[test]
    fn a_sender_that_has_restarted_is_not_told_of_its_earlier_life() {
        let mut here = destination();
        assert_eq!(classified(&mut here, &packet(0), 5, Admission::Open, NOW).0, Ok(()));
        let earlier = Header { epoch: 2, ..packet(9) };
        let classification = here.classify(&earlier, 5, 600_000, false, Admission::Open, NOW);
        assert_eq!((classification, here.next_reply(NOW)), (Err(DropReason::Stale), None));
        // It began at about the same time: perhaps it is the later one.
        let told = classified(&mut here, &earlier, 5, Admission::Open, NOW);
        assert_eq!(told, (Err(DropReason::Busy), Some(Verdict::Busy)));
    }

    fn take(here: &mut Destination<FourPeers>, number: u32) -> Result<(), DropReason> {
        here.classify(&packet(number), 5, 0, false, Admission::Open, NOW)
    }

    #[test]
    fn packets_come_later_while_confirmations_wait_unless_those_are_stuck() {
        let mut here = destination();
        assert!(!here.is_busy());
        (0..WAITING as u32).for_each(|number| take(&mut here, number).unwrap());
        assert!(here.is_busy());
        here.next_reply(NOW).unwrap();
        assert!(!here.is_busy());
        take(&mut here, WAITING as u32).unwrap();
        assert_eq!((0..99).filter(|_| here.is_busy()).count(), usize::from(MAX_DEFERRED));
    }

    #[test]
    fn nothing_is_delivered_that_cannot_be_confirmed() {
        let mut here = destination();
        (0..WAITING as u32).for_each(|number| take(&mut here, number).unwrap());
        assert_eq!(take(&mut here, WAITING as u32), Err(DropReason::Busy));
        here.next_reply(NOW).unwrap();
        assert_eq!(take(&mut here, WAITING as u32), Ok(()));
    }
}
