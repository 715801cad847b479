//! Knows every packet that was sent and what became of it, from outside: the judge of what delivery promises.

use std::collections::{HashMap, HashSet};

use hopwise_core::router::{Event, Outcome};

use hopwise_core::wire::{DropReason, Kind, PacketId};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::rogue::FORGED;
use super::wire::Nanos;

/// A payload begins with the number of its record.
const NUMBER: usize = 4;

/// The shortest payload that can be told apart.
pub const LEAST_PAYLOAD: usize = NUMBER;

/// Room is made for so many packets at once.
const MOST_AT_ONCE: u64 = 1 << 20;

/// How a packet was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Each hop reliable.
    Datagram,
    /// Confirmed end to end.
    Confirmed,
    /// To all.
    Broadcast,
    /// A question whose answer is awaited.
    Ping,
}

#[derive(Clone, Debug)]
struct Record {
    service: Service,
    source: u32,
    dest: u32,
    sent_at: Nanos,
    deliveries: u32,
    /// Who has a broadcast.
    reached: Vec<u64>,
    outcome: Option<Outcome>,
    /// An end restarted, or a board died with it, while it was under way.
    interrupted: bool,
    /// Some node has dropped it, or a copy of it, and it may not have arrived for that reason.
    dropped: bool,
    closed: bool,
}

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// When.
    pub at: Nanos,
    /// At which node.
    pub node: u32,
    /// What happened.
    pub what: String,
}

/// How packets fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Sent by applications.
    pub sent: u64,
    /// Arrived where they should; a broadcast, everywhere it should.
    pub delivered: u64,
    /// Gone without a word.
    pub lost: u64,
    /// Arrived again.
    pub duplicated: u64,
    /// Arrived with other bytes than were sent.
    pub corrupted: u64,
    /// Reported as such to their sender, or dropped with a reason.
    pub undeliverable: u64,
    /// Those of them that no path leads to, in a mesh that stays as it is.
    pub cut_off: u64,
    /// Not delivered, and an end restarted, or a board died with them, while they were under way.
    pub interrupted: u64,
    /// Broadcasts' arrivals at nodes.
    pub broadcast_deliveries: u64,
    /// Those sent from an honest board to an honest board, or to all.
    pub innocent_sent: u64,
    /// Those of them that arrived.
    pub innocent_delivered: u64,
    /// Arrivals of what a rogue made up, and confirmations that it made up. Without keys nobody can tell.
    pub forged: u64,
}

/// The judge.
pub struct Oracle {
    records: Vec<Record>,
    first_open: usize,
    open: usize,
    ids: HashMap<(u32, u16, Kind, u32), u32>,
    nodes: u32,
    seed: u64,
    tally: Tally,
    latencies: Vec<u64>,
    violation: Option<Violation>,
    parts: Option<Parts>,
    rogues: HashSet<u32>,
}

/// The connected parts of a mesh in which nothing changes any more.
struct Parts {
    /// The part of each node.
    of: Vec<u32>,
    /// How many nodes each part has.
    sizes: Vec<u32>,
}

impl Oracle {
    /// A judge of a mesh of so many nodes, and about so many packets.
    pub fn new(nodes: u32, seed: u64, packets: u64) -> Self {
        let packets = packets.min(MOST_AT_ONCE) as usize;
        Oracle {
            records: Vec::with_capacity(packets),
            first_open: 0,
            open: 0,
            ids: HashMap::with_capacity(packets),
            nodes,
            seed,
            tally: Tally::default(),
            latencies: Vec::with_capacity(packets),
            violation: None,
            parts: None,
            rogues: HashSet::new(),
        }
    }

    /// These boards misbehave: nobody counts on them.
    pub fn distrust(&mut self, rogues: impl Iterator<Item = u32>) {
        self.rogues.extend(rogues);
    }

    /// A rogue has taken a packet over and does not bring it on.
    pub fn swallowed(&mut self, id: &PacketId) {
        let Some(&number) = self.ids.get(&key(id)) else { return };
        let record = &mut self.records[number as usize];
        record.interrupted = true;
        if matches!(record.service, Service::Datagram | Service::Ping) {
            self.close(number);
        }
    }

    /// Boards and cables stay as they are: nodes reach each other if they are in the same part, and then they must. Parts are
    /// numbers below that of nodes.
    pub fn reach(&mut self, of: Vec<u32>) {
        let mut sizes = vec![0; self.nodes as usize];
        of.iter().for_each(|&part| sizes[part as usize] += 1);
        self.parts = Some(Parts { of, sizes });
    }

    /// How many others a broadcast must reach, if that is known.
    fn audience(&self, source: u32) -> Option<u32> {
        let parts = self.parts.as_ref()?;
        Some(parts.sizes[parts.of[source as usize] as usize] - 1)
    }

    /// Packets whose fate is not known yet.
    pub fn open(&self) -> usize {
        self.open
    }

    /// The first promise that was broken.
    pub fn violation(&self) -> Option<&Violation> {
        self.violation.as_ref()
    }

    /// Times from sending to arrival, in nanoseconds.
    pub fn latencies(&self) -> &[u64] {
        &self.latencies
    }

    /// The payload of the next packet, which is as long as asked, but long enough to be known.
    pub fn payload(&self, length: usize) -> Vec<u8> {
        self.payload_of(self.records.len() as u32, length.max(LEAST_PAYLOAD))
    }

    fn payload_of(&self, number: u32, length: usize) -> Vec<u8> {
        let mut payload = number.to_le_bytes().to_vec();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ u64::from(number));
        payload.resize(length.max(NUMBER), 0);
        random.fill_bytes(&mut payload[NUMBER..]);
        payload
    }

    /// A packet with the last [payload](Self::payload) was sent.
    pub fn sent(&mut self, service: Service, at: Nanos, id: PacketId, dest: u32) {
        let number = self.records.len() as u32;
        let words = if service == Service::Broadcast {
            (self.nodes as usize).div_ceil(64)
        } else {
            0
        };
        self.records.push(Record {
            service,
            source: id.source as u32,
            dest,
            sent_at: at,
            deliveries: 0,
            reached: vec![0; words],
            outcome: None,
            interrupted: false,
            dropped: false,
            closed: false,
        });
        self.open += 1;
        self.tally.sent += 1;
        self.ids.insert(key(&id), number);
        if service == Service::Broadcast && self.audience(id.source as u32) == Some(0) {
            self.close(number);
        }
        if self.rogues.contains(&dest) {
            self.records[number as usize].interrupted = true;
            self.close(number);
        }
    }

    /// A packet has come to an application.
    pub fn delivered(&mut self, at: Nanos, node: u32, source: u32, payload: &[u8]) {
        let number = payload.first_chunk().map(|number| u32::from_le_bytes(*number));
        if number == Some(FORGED) && !self.rogues.is_empty() {
            self.tally.forged += 1;
            return;
        }
        let expected = number
            .filter(|&number| (number as usize) < self.records.len())
            .map(|number| self.payload_of(number, payload.len()));
        let Some((number, expected)) = number.zip(expected) else {
            return self.corrupted(at, node, source);
        };
        let audience = self.audience(self.records[number as usize].source);
        let everyone = self.nodes - 1 - self.rogues.len() as u32;
        let record = &mut self.records[number as usize];
        let goes_here = match record.service {
            Service::Broadcast => record.source != node,
            Service::Ping => record.source == node,
            _ => record.dest == node,
        };
        let from = if record.service == Service::Ping {
            record.dest
        } else {
            record.source
        };
        if expected != payload || !goes_here || from != source {
            return self.corrupted(at, node, source);
        }
        let again = if record.service == Service::Broadcast {
            let (word, bit) = (&mut record.reached[node as usize / 64], 1 << (node % 64));
            let again = *word & bit != 0;
            *word |= bit;
            self.tally.broadcast_deliveries += u64::from(!again);
            again
        } else {
            record.deliveries > 0
        };
        if again {
            // A restarted end cannot know.
            if !record.interrupted {
                self.tally.duplicated += 1;
                self.broken(at, node, format!("packet {number} of node {source} arrived twice"));
            }
            return;
        }
        record.deliveries += 1;
        self.latencies.push(at - record.sent_at);
        let complete = match record.service {
            Service::Broadcast => record.deliveries == audience.unwrap_or(everyone),
            Service::Confirmed => false,
            Service::Datagram | Service::Ping => true,
        };
        if complete {
            self.close(number);
        }
    }

    fn corrupted(&mut self, at: Nanos, node: u32, source: u32) {
        self.tally.corrupted += 1;
        self.broken(
            at,
            node,
            format!("a packet said to be from node {source} is not what was sent"),
        );
    }

    /// A sender was told what became of a confirmed packet.
    pub fn settled(&mut self, at: Nanos, node: u32, epoch: u32, confirmed: u32, outcome: Outcome) {
        let Some(&number) = self.ids.get(&(node, epoch as u16, Kind::Confirmed, confirmed)) else {
            return;
        };
        let record = &mut self.records[number as usize];
        record.outcome = Some(outcome);
        if outcome == Outcome::Delivered && record.deliveries == 0 && !self.rogues.is_empty() {
            record.interrupted = true;
            self.tally.forged += 1;
        } else if outcome == Outcome::Delivered && record.deliveries == 0 {
            self.broken(at, node, format!("packet {number} is confirmed but was not delivered"));
        }
        self.close(number);
    }

    /// A node could not deliver a datagram or a question, and says so to its sender.
    pub fn reported(&mut self, node: u32, epoch: u32, packet: u32) {
        for kind in [Kind::Datagram, Kind::Request] {
            if let Some(&number) = self.ids.get(&(node, epoch as u16, kind, packet)) {
                self.explain(number);
            }
        }
    }

    /// Takes note of what a node drops.
    pub fn note(&mut self, event: &Event) {
        let Event::Dropped { packet, reason, .. } = event else {
            return;
        };
        // Nodes that a broadcast cannot reach are passed over; that is no excuse for missing those behind them.
        let searching = matches!(
            reason,
            DropReason::NoRoute | DropReason::TrailFull | DropReason::HopsUsedUp
        );
        if *reason == DropReason::Duplicate || packet.kind == Kind::Broadcast && searching {
            return;
        }
        if let Some(&number) = self.ids.get(&key(packet)) {
            self.explain(number);
        }
    }

    /// A copy of a packet was dropped with a reason. A datagram is not waited for then, though another copy may still come.
    fn explain(&mut self, number: u32) {
        let record = &mut self.records[number as usize];
        record.dropped = true;
        if matches!(record.service, Service::Datagram | Service::Ping) {
            self.close(number);
        }
    }

    /// A board goes off with what it holds.
    pub fn restarted(&mut self, node: u32, held: impl Iterator<Item = PacketId>) {
        let first = self.first_open;
        for record in self.records[first..].iter_mut().filter(|record| !record.closed) {
            let concerned = record.source == node || record.dest == node;
            record.interrupted |= concerned || record.service == Service::Broadcast;
            let untold = record.source == node || record.dest == node && record.service != Service::Confirmed;
            if untold && record.service != Service::Broadcast {
                // Nobody is left who could be told, or could answer.
                record.closed = true;
                self.open -= 1;
            }
        }
        for id in held {
            if let Some(&number) = self.ids.get(&key(&id)) {
                let record = &mut self.records[number as usize];
                record.interrupted = true;
                if matches!(record.service, Service::Datagram | Service::Ping) {
                    self.close(number);
                }
            }
        }
    }

    /// A board comes on: packets for it that were sent while it was off were under way over its restart.
    pub fn started(&mut self, node: u32) {
        let first = self.first_open;
        for record in self.records[first..]
            .iter_mut()
            .filter(|record| !record.closed && record.dest == node)
        {
            record.interrupted = true;
        }
    }

    fn close(&mut self, number: u32) {
        let record = &mut self.records[number as usize];
        if !record.closed {
            record.closed = true;
            self.open -= 1;
        }
        while self.records.get(self.first_open).is_some_and(|record| record.closed) {
            self.first_open += 1;
        }
    }

    /// Something that must not happen has happened. The first is kept.
    pub fn broken(&mut self, at: Nanos, node: u32, what: String) {
        self.violation.get_or_insert(Violation { at, node, what });
    }

    /// The final account. A packet that nobody can explain is lost.
    pub fn finish(mut self, at: Nanos) -> (Tally, Vec<u64>, Option<Violation>) {
        let mut unexplained = None;
        for (number, record) in self.records.iter().enumerate() {
            let audience = self
                .audience(record.source)
                .filter(|_| record.service == Service::Broadcast);
            let delivered = audience.map_or(record.deliveries > 0, |audience| record.deliveries == audience);
            let innocent = !self.rogues.contains(&record.dest);
            self.tally.innocent_sent += u64::from(innocent);
            self.tally.innocent_delivered += u64::from(innocent && delivered);
            if delivered {
                self.tally.delivered += 1;
            } else if record.interrupted || record.outcome == Some(Outcome::Interrupted) {
                self.tally.interrupted += 1;
            } else if matches!(record.outcome, Some(Outcome::Undeliverable { .. })) || record.dropped {
                self.tally.undeliverable += 1;
                let parts = self.parts.as_ref();
                let apart =
                    parts.is_some_and(|parts| parts.of[record.source as usize] != parts.of[record.dest as usize]);
                self.tally.cut_off += u64::from(apart);
            } else {
                self.tally.lost += 1;
                unexplained.get_or_insert((number, record.source, record.dest));
            }
        }
        if let Some((number, source, dest)) = unexplained {
            self.broken(
                at,
                source,
                format!("packet {number} from node {source} to {dest} is lost without a word"),
            );
        }
        self.latencies.sort_unstable();
        (self.tally, self.latencies, self.violation)
    }
}

fn key(id: &PacketId) -> (u32, u16, Kind, u32) {
    (id.source as u32, id.epoch, id.kind, id.number)
}
