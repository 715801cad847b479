//! The oracle's record of a packet, and its final report.

use std::hash::{DefaultHasher, Hasher};
use std::rc::Rc;

use hopwise_node::router::Outcome;
use hopwise_node::router::times::{CONFIRM_WITHIN, LIFETIME, SLACK};
use hopwise_node::wire::{Kind, PacketId, Query};
use serde::Serialize;

use super::Exception;
use crate::wire::Nanos;

/// Nothing is under way for longer than this.
pub(super) const LIFE: Nanos = (LIFETIME + SLACK) * 1_000;

/// How a packet was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Service {
    /// Each hop reliable.
    Datagram,
    Confirmed,
    Broadcast,
    /// A request whose response is awaited.
    Query(Query),
}

impl Service {
    pub const ALL: [Service; 9] = [
        Service::Datagram,
        Service::Confirmed,
        Service::Broadcast,
        Service::Query(Query::Ping),
        Service::Query(Query::Trace),
        Service::Query(Query::Identity),
        Service::Query(Query::Counters),
        Service::Query(Query::Link),
        Service::Query(Query::ClearCounters),
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Service::Datagram => "datagram",
            Service::Confirmed => "confirmed",
            Service::Broadcast => "broadcast",
            Service::Query(Query::Ping) => "ping",
            Service::Query(Query::Trace) => "trace",
            Service::Query(Query::Identity) => "identity",
            Service::Query(Query::Counters) => "counters",
            Service::Query(Query::Link) => "link",
            Service::Query(Query::ClearCounters) => "clear-counters",
            Service::Query(Query::Application(_)) => "application",
            Service::Query(Query::Relay) => "relay",
            Service::Query(Query::Board(_)) => "board",
        }
    }

    pub fn kind(self) -> Kind {
        match self {
            Service::Datagram => Kind::Datagram,
            Service::Confirmed => Kind::Confirmed,
            Service::Broadcast => Kind::Broadcast,
            Service::Query(_) => Kind::Request,
        }
    }

    /// Whether there is one packet of it, or one and its response, so that all ends where that ends.
    pub(super) fn is_sent_once(self) -> bool {
        matches!(self, Service::Datagram | Service::Query(_))
    }

    /// Nothing arrives later than this after it was sent.
    pub(super) fn longest(self) -> Nanos {
        match self {
            Service::Datagram | Service::Broadcast => LIFE,
            Service::Query(_) => 2 * LIFE,
            Service::Confirmed => CONFIRM_WITHIN * 1_000 + LIFE,
        }
    }

    /// Whether its packets arrive in the order in which they were sent, while the route stays the same.
    pub(super) fn keeps_order(self) -> bool {
        matches!(self, Service::Datagram | Service::Broadcast)
    }
}

/// A sender: a node, or the host at it, in one epoch.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    pub board: u32,
    pub is_host: bool,
    pub epoch: u32,
}

impl Sender {
    pub fn packet(&self, kind: Kind, number: u32) -> PacketId {
        PacketId {
            source: u64::from(self.board),
            from_host: self.is_host,
            epoch: self.epoch as u16,
            kind,
            number,
        }
    }
}

/// Its own length and contents, as they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sealed {
    length: usize,
    hash: u64,
}

impl Sealed {
    pub(super) fn of(payload: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(payload);
        Sealed {
            length: payload.len(),
            hash: hasher.finish(),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) service: Service,
    /// By the host at the source.
    pub(super) from_host: bool,
    pub(super) source: u32,
    pub(super) dest: u32,
    pub(super) sent_at: Nanos,
    pub(super) payload: Sealed,
    /// The payload of a request.
    pub(super) with: Vec<u8>,
    pub(super) deliveries: u32,
    pub(super) reached: Vec<u64>,
    /// The nodes that were reachable when it was sent.
    pub(super) parts: Rc<Parts>,
    pub(super) outcome: Option<Outcome>,
    /// An end restarted, or a board died with it, while it was under way.
    pub(super) interrupted: bool,
    /// Whether a faulty node has taken it and not forwarded it.
    pub(super) swallowed: bool,
    /// Its destination had too much to answer.
    pub(super) busy: bool,
    /// An inbox was full.
    pub(super) unread: bool,
    /// A node took it for one that it has had.
    pub(super) twin: bool,
    /// When some node dropped it, or a copy of it, so that it may not have arrived for that reason.
    pub(super) dropped: Option<Nanos>,
    pub(super) closed: bool,
}

impl Record {
    /// Whether it was sent to where no path leads.
    pub(super) fn is_cut_off(&self) -> bool {
        self.service != Service::Broadcast && !self.parts.join(self.source, self.dest)
    }

    pub(super) fn has_reached(&self, node: u32) -> bool {
        self.reached[node as usize / 64] >> (node % 64) & 1 == 1
    }

    /// A broadcast has reached a node; `false` if it had before.
    pub(super) fn reach(&mut self, node: u32) -> bool {
        let (word, bit) = (&mut self.reached[node as usize / 64], 1 << (node % 64));
        let anew = *word & bit == 0;
        *word |= bit;
        anew
    }

    /// How many must get a broadcast, if all goes on.
    pub(super) fn audience(&self) -> u32 {
        self.parts.size_of(self.source) - 1
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub at: Nanos,
    pub node: u32,
    pub kind: Broken,
    pub what: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Broken {
    /// Something arrived that was not sent, or not to there.
    Corrupted,
    Twice,
    /// Something sent later arrived earlier.
    Order,
    Late,
    /// A packet was dropped, or given up, in a mesh that is connected and quiet.
    Dropped,
    /// A packet is gone without a word.
    Lost,
    /// A sender was told what is not so.
    Outcome,
    /// The account of a node does not add up.
    Account,
    /// Nothing moves any more, or a sender is refused for what it may do.
    Halt,
    /// Long after everything was restored something does not work.
    NoRecovery,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Sent by applications and hosts.
    pub sent: u64,
    /// The same by service, in the order of [`Service::ALL`].
    #[serde(skip)]
    pub services: [u64; Service::ALL.len()],
    /// Those of them that hosts sent.
    pub by_hosts: u64,
    /// Arrived where they should; a broadcast, everywhere it should.
    pub delivered: u64,
    /// Gone without a word.
    pub lost: u64,
    pub duplicated: u64,
    pub corrupted: u64,
    /// Reported as such to their sender, or dropped with a reason.
    pub undeliverable: u64,
    /// Those of them that no path led to when they were sent.
    pub cut_off: u64,
    /// Not delivered, and an end restarted, or a board died with them, while they were under way.
    pub interrupted: u64,
    /// Broadcasts' arrivals at nodes.
    pub broadcast_deliveries: u64,
    /// Broadcasts that reached every live, connected board.
    pub broadcasts_full: u64,
    /// Those sent from an honest board to an honest board, or to all.
    pub innocent_sent: u64,
    /// Those of them that arrived.
    pub innocent_delivered: u64,
    /// Arrivals of forged packets, of replays to a board that has restarted since, and of forged confirmations.
    /// Without keys they cannot be detected.
    pub forged: u64,
    /// Packets that correct boards took from faulty nodes, or from an attacker on a cable. With a key there are none.
    pub forged_accepted: u64,
    /// Packets that were not delivered, by exception, in the order of [`Exception::ALL`].
    #[serde(skip)]
    pub exceptions: [u64; Exception::ALL.len()],
}

/// The connected parts of a mesh.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    /// The part of each node.
    of: Vec<u32>,
    /// The same without wires that damage more than every other of the longest frames.
    good: Vec<u32>,
    /// How many nodes each part has.
    sizes: Vec<u32>,
    pub(super) has_bad_wires: bool,
}

impl Parts {
    pub(super) fn new(of: Vec<u32>, good: Vec<u32>, has_bad_wires: bool) -> Rc<Self> {
        let mut sizes = vec![0; of.len()];
        of.iter().for_each(|&part| sizes[part as usize] += 1);
        Rc::new(Parts {
            of,
            good,
            sizes,
            has_bad_wires,
        })
    }

    /// Whether a path leads from a node to another.
    pub(super) fn join(&self, a: u32, b: u32) -> bool {
        self.of[a as usize] == self.of[b as usize]
    }

    /// The same over good wires alone.
    pub(super) fn join_well(&self, a: u32, b: u32) -> bool {
        self.good[a as usize] == self.good[b as usize]
    }

    /// Whether a node is connected to no other, like one that is off.
    pub(super) fn is_alone(&self, node: u32) -> bool {
        self.size_of(node) == 1
    }

    fn size_of(&self, node: u32) -> u32 {
        self.sizes[self.of[node as usize] as usize]
    }
}
