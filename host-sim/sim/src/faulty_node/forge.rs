//! Unsolicited packets of faulty nodes.

use hopwise_core::{Network, Node};
use hopwise_node::limits::{BODY, MAX_PAYLOAD};
use hopwise_node::wire::{
    Addressed, AppPort, Body, Bytes, Confirmation, Confirmed, Content, DropReason, Flooded, Header, Kind, Packet,
    Query, Request, Response, Undeliverable, Verdict,
};
use rand::{Rng, RngExt};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::FORGED;

/// Maximum number of remembered headers of others.
const OVERHEARD: usize = 64;
/// The number of nodes of a forged trail.
const TRAIL: std::ops::Range<usize> = 0..30;
/// Hops enough for any mesh.
const HOPS: u16 = 1_000;

pub(super) struct Forger {
    nodes: Node,
    here: Node,
    epoch: u16,
    number: u32,
    overheard: Vec<Header>,
}

impl Forger {
    pub(super) fn new(network: &Network, here: Node, epoch: u32) -> Self {
        Forger {
            nodes: network.nodes(),
            here,
            epoch: epoch as u16,
            number: 0,
            overheard: Vec::new(),
        }
    }

    /// Remembers who sends what, to say something that fits.
    pub(super) fn overhear(&mut self, header: &Header) {
        if self.overheard.len() == OVERHEARD {
            self.overheard.remove(0);
        }
        self.overheard.push(*header);
    }

    fn anyone(&self, random: &mut Xoshiro256PlusPlus) -> Node {
        random.random_range(0..self.nodes)
    }

    /// A packet of its own, whose only fault is the rate of such packets.
    pub(super) fn own(&mut self, random: &mut Xoshiro256PlusPlus) -> Packet<BODY> {
        let kinds = [Kind::Datagram, Kind::Broadcast, Kind::Request, Kind::Confirmed];
        let dest = self.anyone(random);
        let kind = kinds[random.random_range(0..kinds.len())];
        self.number = self.number.wrapping_add(1);
        let header = Header {
            hops_left: HOPS,
            epoch: self.epoch,
            number: self.number,
            ..Header::new(kind, self.here, if kind == Kind::Broadcast { self.here } else { dest })
        };
        packet(header, self.number, random)
    }

    /// A lie for a neighbor: what others never sent, or sent otherwise.
    pub(super) fn lie(&mut self, neighbor: Node, random: &mut Xoshiro256PlusPlus) -> Packet<BODY> {
        let kind = Kind::ALL[random.random_range(0..Kind::ALL.len())];
        let model = random.random_range(0..self.overheard.len() + 1);
        let mut header = match self.overheard.get(model) {
            // Close to something that is true.
            Some(model) => Header {
                number: model.number.wrapping_add(random.random_range(0..64)),
                epoch: model.epoch.wrapping_add(random.random_range(0..2) * 64),
                ..*model
            },
            None => Header {
                number: random.random(),
                epoch: random.random(),
                ..Header::new(kind, self.anyone(random), self.anyone(random))
            },
        };
        header.kind = kind;
        match random.random_range(0..4) {
            0 => header.source = neighbor,
            1 => header.dest = neighbor,
            _ => {}
        }
        if kind == Kind::Broadcast && random.random() {
            header.dest = header.source;
        }
        header.age = [0, 23_000, random.random(), u16::MAX][random.random_range(0..4)];
        header.hops_left = [0, 1, HOPS, u16::MAX][random.random_range(0..4)];
        header.copied = random.random();
        header.from_host = random.random_bool(0.1);
        header.to_host = random.random_bool(0.1);
        header.trail = false;
        let number = header.number;
        let mut packet = packet(header, number, random);
        if random.random() {
            self.add_trail(&mut packet, random);
        }
        packet
    }

    /// Nodes that it says it has visited: some that exist, some that do not.
    fn add_trail(&self, packet: &mut Packet<BODY>, random: &mut Xoshiro256PlusPlus) {
        let visits: Vec<u8> = (0..random.random_range(TRAIL))
            .map(|_| random.random::<u8>() & 0x7f)
            .collect();
        let length = [visits.len() as u8];
        if packet.body.len() + visits.len() < BODY {
            // There is room: it was looked for.
            let _ = packet.body.extend_from_slice(&visits);
            let _ = packet.body.extend_from_slice(&length);
            packet.header.trail = true;
        }
    }
}

/// A packet whose content fits its kind.
fn packet(header: Header, number: u32, random: &mut Xoshiro256PlusPlus) -> Packet<BODY> {
    let mut payload = FORGED.to_le_bytes().to_vec();
    payload.resize(random.random_range(payload.len()..=MAX_PAYLOAD / 2), 0);
    random.fill_bytes(&mut payload[4..]);
    let (asked, port, payload) = (0, AppPort::FIRST_FREE, &payload[..]);
    let verdicts = [
        Verdict::Delivered,
        Verdict::Busy,
        Verdict::Restarted,
        Verdict::PortUnreachable,
        Verdict::Full,
    ];
    let content = match header.kind {
        Kind::Datagram => Content::Datagram(Addressed { port, payload }),
        Kind::Broadcast => Content::Broadcast(Addressed { port, payload }),
        Kind::Confirmed => Content::Confirmed(Confirmed {
            known_epoch: if random.random() { 0 } else { random.random() },
            port,
            payload,
        }),
        Kind::Confirmation => Content::Confirmation(Confirmation {
            number,
            epoch: header.epoch,
            verdict: verdicts[random.random_range(0..verdicts.len())],
            uptime: random.random(),
        }),
        Kind::Undeliverable => Content::Undeliverable(Undeliverable {
            number,
            kind: Kind::Confirmed,
            reason: DropReason::NoRoute,
            dest: header.dest,
        }),
        Kind::Request => {
            let query = Query::Ping;
            Content::Request(Request { query, asked, payload })
        }
        Kind::Response => Content::Response(Response {
            query: Query::Ping,
            asked,
            number,
            payload,
        }),
        Kind::Flooded => Content::Flooded(Flooded {
            kind: Kind::Confirmed,
            number,
            body: payload,
        }),
    };
    let body: Body<BODY> = content.write().unwrap_or_default();
    Packet { header, body }
}
