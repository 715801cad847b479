//! The verdict about packets that have not arrived: their exceptions, and the final account.

use hopwise_node::router::Outcome;

use super::record::Record;
use super::{Broken, Exception, Oracle, Service, Tally, Violation};
use crate::wire::Nanos;

impl Oracle {
    pub(super) fn exception(&self, number: u32) -> Option<Exception> {
        let record = &self.records[number as usize];
        if self.is_after_restoration(number) {
            // A liar may have used up its number.
            return (self.liars && record.twin).then_some(Exception::FaultyNode);
        }
        if record.interrupted || record.outcome == Some(Outcome::Interrupted) {
            return Some(Exception::Restarted);
        }
        // Nothing excuses what was confirmed and has never been read.
        if record.outcome == Some(Outcome::Delivered) && !self.liars {
            return None;
        }
        if record.swallowed && record.service != Service::Confirmed {
            return Some(Exception::FaultyNode);
        }
        if record.is_cut_off() {
            return Some(Exception::CutOff);
        }
        let until = record.dropped.unwrap_or(record.sent_at + record.service.longest());
        let exception = self.history.exception(record.sent_at, until);
        let bad_wires = record.parts.has_bad_wires;
        exception
            .or_else(|| self.needs_bad_wire(record).then_some(Exception::Noisy))
            // Behind a bad wire answers pile up, and a node that has too many of them says so.
            .or_else(|| (record.busy && bad_wires).then_some(Exception::Busy))
            .or_else(|| (record.unread && self.read_late > 0).then_some(Exception::Unread))
            .or_else(|| self.may_be_spoilt(number).then_some(Exception::FaultyNode))
    }

    /// Whether a faulty node may have kept a packet from arriving: a confirmed one only by its ID, which a liar guesses.
    fn may_be_spoilt(&self, number: u32) -> bool {
        let record = &self.records[number as usize];
        match record.service {
            Service::Confirmed => self.liars || record.swallowed && self.faulty_boards.contains(&record.dest),
            _ => !self.all_are_honest(number),
        }
    }

    /// Whether a broadcast has reached every node that was connected to its source and has not gone off since.
    pub(super) fn is_full(&self, record: &Record) -> bool {
        self.missed(record).next().is_none()
    }

    /// The nodes that a broadcast should have reached and has not.
    pub(super) fn missed<'a>(&'a self, record: &'a Record) -> impl Iterator<Item = u32> + 'a {
        let gone = |node: u32| self.off_at[node as usize] >= Some(record.sent_at);
        let expected = move |node: u32| node != record.source && record.parts.join(node, record.source) && !gone(node);
        (0..self.nodes).filter(move |&node| expected(node) && !record.has_reached(node))
    }

    /// Whether a packet can arrive only over a wire that damages too much.
    fn needs_bad_wire(&self, record: &Record) -> bool {
        if record.service == Service::Broadcast {
            return self
                .missed(record)
                .all(|node| !record.parts.join_well(record.source, node));
        }
        !record.parts.join_well(record.source, record.dest)
    }

    /// The final account. A packet without an explanation is lost.
    pub fn finish(mut self, at: Nanos) -> (Tally, Vec<u64>, Option<Violation>) {
        self.tally.forged_accepted = self.ledger.forged_accepted;
        for number in 0..self.records.len() as u32 {
            let record = &self.records[number as usize];
            let broadcast = record.service == Service::Broadcast;
            let delivered = if broadcast {
                self.is_full(record)
            } else {
                record.deliveries > 0
            };
            self.tally.broadcasts_full += u64::from(delivered && broadcast);
            let innocent = !self.faulty_boards.contains(&record.dest);
            self.tally.innocent_sent += u64::from(innocent);
            self.tally.innocent_delivered += u64::from(innocent && delivered);
            if delivered {
                self.tally.delivered += 1;
                continue;
            }
            let exception = self.exception(number);
            let (source, dest) = (record.source, record.dest);
            // Detours of a broadcast end in silence when all has changed meanwhile; nothing else does but what a faulty node takes.
            // A host may ask a board that is dead, and nobody else ever has the request.
            let unheard = record.from_host && record.parts.is_alone(source);
            let explained = record.dropped.is_some() || broadcast || unheard;
            match exception {
                Some(why) if record.swallowed || why == Exception::Restarted => self.tally.interrupted += 1,
                Some(_) if explained => {
                    self.tally.undeliverable += 1;
                    self.tally.cut_off += u64::from(exception == Some(Exception::CutOff));
                }
                None if record.dropped.is_some() && record.outcome != Some(Outcome::Delivered) => {
                    self.tally.undeliverable += 1;
                    if broadcast {
                        let what = format!("broadcast {number} of node {source} missed a node in a quiet mesh");
                        self.broken(at, source, Broken::Dropped, what);
                    }
                }
                _ => {
                    self.tally.lost += 1;
                    let to = if broadcast { "all".into() } else { dest.to_string() };
                    let what = format!("packet {number} from node {source} to {to} is lost without a word");
                    self.broken(at, source, Broken::Lost, what);
                    continue;
                }
            }
            if let Some(exception) = exception {
                self.tally.exceptions[exception as usize] += 1;
            }
        }
        self.latencies.sort_unstable();
        (self.tally, self.latencies, self.violation)
    }
}
