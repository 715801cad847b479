//! A board that misbehaves: it speaks the wire format well enough to be listened to, and abuses it in one way.
//!
//! It is no router. Each of its wires is an end of [`hopwise_node::link`], so that neighbors take it for one of theirs, and what
//! it sends there is its own. Kinds that are not known by what they withhold send on what passes, so that what is lost
//! with them is lost by others.

mod forge;

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::str::FromStr;

use forge::Forger;
use hopwise_core::network::virtual_channels;
use hopwise_core::{Network, Node, Rule, named};
use hopwise_node::key::Credentials;
use hopwise_node::limits::BODY;
use hopwise_node::link::{FrameResult, Link, Micros, Received, Token, Turn};
use hopwise_node::wire::{self, AGE_UNIT, DELIMITER, Header, Identity, Kind, Packet, PacketId, Role, WIRE};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The first bytes of every forged payload; no packet of a correct board has this number.
pub const FORGED: u32 = u32::MAX;

named! {
    /// The misbehavior of a faulty node.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Misbehavior {
        /// Random bytes at line rate.
        Babble = "babble",
        /// As many packets and broadcasts of its own as the line takes, in all virtual channels, whatever room is offered.
        Flood = "flood",
        /// Refuses every packet, while it offers room.
        Refuse = "refuse",
        /// Says hello and never acknowledges.
        Mute = "mute",
        /// Restarts again and again as soon as a link is up.
        Flap = "flap",
        /// Makes up packets: age, source, epoch, number, hops, trail, broadcasts, confirmations, reports.
        Lie = "lie",
        /// Acknowledges what it should send on, and sends nothing on.
        Hole = "hole",
        /// Sends again, later, what has passed.
        Replay = "replay",
    }
}

/// A faulty node and the kind of its fault, written `5:babble`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultyBoard {
    pub node: Node,
    pub kind: Misbehavior,
}

impl fmt::Display for FaultyBoard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.node, self.kind.name())
    }
}

/// The error for a text that does not name a faulty node.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a faulty node: write NODE:KIND, such as 5:babble, with babble, flood, refuse, mute, flap, lie, hole or replay"
)]
pub struct BadFaultyNode(String);

impl FromStr for FaultyBoard {
    type Err = BadFaultyNode;

    fn from_str(text: &str) -> Result<Self, BadFaultyNode> {
        let read = || {
            let (node, kind) = text.trim().split_once(':')?;
            let kind = Misbehavior::ALL.into_iter().find(|known| known.name() == kind)?;
            Some(FaultyBoard {
                node: node.parse().ok()?,
                kind,
            })
        };
        read().ok_or_else(|| BadFaultyNode(text.trim().chars().take(40).collect()))
    }
}

/// A flapping board is up for so long, drawn anew each time.
const FLAP_AFTER: std::ops::Range<Micros> = 5_000..60_000;
/// A liar sends a lie on each wire so often.
const LIE_EVERY: Micros = 5_000;
const REPLAY_AFTER: std::ops::Range<Micros> = 100_000..8_000_000;
/// Maximum number of packets waiting to be replayed, and of those passing on each wire; more are not taken.
const REMEMBERED: usize = 512;
const WAITING: usize = 16;

/// A packet that a faulty node sends.
#[derive(Clone, Debug)]
struct Parcel {
    packet: Packet<BODY>,
    channel: u8,
    since: Micros,
    /// Someone else's, who counts on it.
    passing: bool,
}

struct End {
    link: Link<WIRE>,
    neighbor: Node,
    /// The frame that is coming in, for those who do not let all of them through.
    frame: Vec<u8>,
    /// The last hello that came, for a mute board.
    hello: Vec<u8>,
    queue: VecDeque<Parcel>,
    on_the_way: HashMap<Token, Parcel>,
    next_token: Token,
    /// When a flapping board restarts, or a liar lies again.
    act_at: Micros,
}

pub struct FaultyNode {
    kind: Misbehavior,
    network: Network,
    here: Node,
    epoch: u32,
    baud: u32,
    credentials: Option<Credentials>,
    channels: u8,
    ends: Vec<End>,
    forger: Forger,
    random: Xoshiro256PlusPlus,
    /// Packets to be replayed, and when, in no order.
    replays: Vec<(Micros, Parcel)>,
    swallowed: Vec<PacketId>,
}

impl FaultyNode {
    /// A board of a network that has just been switched on, perhaps with the key of the mesh.
    pub fn new(
        board: FaultyBoard,
        network: &Network,
        epoch: u32,
        baud: u32,
        seed: u64,
        credentials: Option<Credentials>,
        now: Micros,
    ) -> Self {
        let here = board.node;
        let mut faulty = FaultyNode {
            kind: board.kind,
            network: *network,
            here,
            epoch,
            baud,
            credentials,
            channels: virtual_channels::count(network, Rule::Exact),
            ends: Vec::new(),
            forger: Forger::new(network, here, epoch),
            random: Xoshiro256PlusPlus::seed_from_u64(seed ^ here.wrapping_mul(0x726f_6775_6500_0001)),
            replays: Vec::new(),
            swallowed: Vec::new(),
        };
        for (port, neighbor) in network.neighbors(here).into_iter().flatten().enumerate() {
            let link = faulty.new_link(port as u8, now);
            faulty.ends.push(End {
                link,
                neighbor,
                frame: Vec::new(),
                hello: Vec::new(),
                queue: VecDeque::new(),
                on_the_way: HashMap::new(),
                next_token: 0,
                act_at: if board.kind == Misbehavior::Lie {
                    now
                } else {
                    Micros::MAX
                },
            });
        }
        faulty
    }

    fn new_link(&self, port: u8, now: Micros) -> Link<WIRE> {
        let identity = Identity {
            role: Role::Node,
            network: self.network.id(),
            address: self.here,
            port,
            epoch: self.epoch,
            mtu: wire::MAX_PACKET as u16,
        };
        let mut link = Link::welcoming(identity, self.baud, now);
        self.credentials.iter().for_each(|credentials| link.lock(credentials));
        link
    }

    /// Packets of others that it has acknowledged and will not bring on, since this was last asked.
    pub fn swallowed(&mut self) -> impl Iterator<Item = PacketId> + '_ {
        self.swallowed.drain(..)
    }

    /// It is switched off, and what it has of others ends here.
    pub fn stop(&mut self) {
        (0..self.ends.len() as u8).for_each(|link| self.lose(link));
    }

    pub fn receive(&mut self, link: u8, bytes: &[u8], now: Micros) {
        match self.kind {
            Misbehavior::Babble => {}
            Misbehavior::Mute => {
                for hello in self.signs_of_life(link, bytes) {
                    self.listen(link, &hello, now);
                }
            }
            _ => self.listen(link, bytes, now),
        }
    }

    /// For every frame that comes in the last hello: a mute board knows that the other end lives, and nothing else.
    fn signs_of_life(&mut self, link: u8, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut signs = Vec::new();
        let End { frame, hello, .. } = &mut self.ends[usize::from(link)];
        for &byte in bytes {
            frame.push(byte);
            if byte != DELIMITER {
                continue;
            }
            let mut decoded = frame[..frame.len() - 1].to_vec();
            let tag = wire::decode(&mut decoded).ok().and_then(wire::tag_of);
            if tag == Some(0) {
                hello.clone_from(frame);
            }
            if tag.is_some() {
                signs.push(hello.clone());
            }
            frame.clear();
        }
        signs
    }

    fn listen(&mut self, link: u8, mut bytes: &[u8], now: Micros) {
        loop {
            let end = &mut self.ends[usize::from(link)];
            match end.link.receive(&mut bytes, now) {
                None => break,
                Some(Received::Packet { channel, length }) => {
                    let read = end.link.header(length);
                    let packet = read.and_then(|(header, body)| Packet::<BODY>::new(header, body));
                    if self.takes(link) {
                        self.ends[usize::from(link)].link.take();
                        if let Some(packet) = packet {
                            self.pass(packet, channel, now);
                        }
                    }
                }
                Some(Received::Up(_)) if self.kind == Misbehavior::Flap => {
                    end.act_at = now + self.random.random_range(FLAP_AFTER);
                }
                Some(Received::Down(_)) => self.lose(link),
                Some(_) => {}
            }
            self.settle(link);
        }
    }

    fn takes(&self, link: u8) -> bool {
        match self.kind {
            Misbehavior::Refuse | Misbehavior::Flap | Misbehavior::Mute | Misbehavior::Babble => false,
            Misbehavior::Hole => true,
            Misbehavior::Flood | Misbehavior::Lie | Misbehavior::Replay => {
                self.ends[usize::from(link)].queue.len() + self.ends.iter().map(|end| end.queue.len()).sum::<usize>()
                    < WAITING * self.ends.len()
            }
        }
    }

    /// A packet has been taken over.
    fn pass(&mut self, packet: Packet<BODY>, channel: u8, now: Micros) {
        let header = packet.header;
        self.forger.overhear(&header);
        let parcel = Parcel {
            packet,
            channel,
            since: now,
            passing: true,
        };
        if self.kind == Misbehavior::Hole || header.dest == self.here || !self.send_on(parcel.clone()) {
            self.swallowed.push(header.id());
        }
        if self.kind == Misbehavior::Replay && self.replays.len() < REMEMBERED {
            let later = now + self.random.random_range(REPLAY_AFTER);
            let passing = false;
            self.replays.push((later, Parcel { passing, ..parcel }));
        }
    }

    /// Puts a packet into the queues of the links that its route, or the tree of a broadcast, takes from here; `false` if it goes
    /// nowhere.
    fn send_on(&mut self, mut parcel: Parcel) -> bool {
        let Header { kind, source, dest, .. } = parcel.packet.header;
        let next: Vec<Node> = if kind == Kind::Broadcast && (dest == source || dest == self.here) {
            parcel.packet.remove_trail();
            parcel.packet.header.dest = source;
            let children = self.network.fanout(self.here, source).into_iter().flatten();
            children.map(|(_, child)| child).collect()
        } else {
            let next = self.network.next_hop(self.here, dest, Rule::Exact);
            next.into_iter().collect()
        };
        parcel.packet.header.hops_left = parcel.packet.header.hops_left.saturating_sub(1);
        let mut goes = !next.is_empty();
        for next in next {
            let Some(end) = self
                .ends
                .iter_mut()
                .find(|end| end.neighbor == next && end.link.is_open())
            else {
                goes = false;
                continue;
            };
            let channel = virtual_channels::next(parcel.channel, false, next > self.here, self.channels);
            end.queue.push_back(Parcel {
                channel,
                ..parcel.clone()
            });
        }
        goes
    }

    /// Learns what became of packets that were on the way.
    fn settle(&mut self, link: u8) {
        let end = &mut self.ends[usize::from(link)];
        while let Some((token, fate)) = end.link.completed() {
            if let Some(parcel) = end.on_the_way.remove(&token)
                && parcel.passing
                && fate == FrameResult::Refused
            {
                end.queue.push_front(parcel);
            }
        }
    }

    /// A session is over, and what was to go through it ends here.
    fn lose(&mut self, link: u8) {
        let end = &mut self.ends[usize::from(link)];
        while end.link.abandoned().is_some() {}
        let sent = end.on_the_way.drain().map(|(_, parcel)| parcel);
        let lost = sent.chain(end.queue.drain(..));
        let passing = lost.filter(|parcel| parcel.passing);
        self.swallowed.extend(passing.map(|parcel| parcel.packet.header.id()));
        if self.kind == Misbehavior::Flap {
            end.act_at = Micros::MAX;
        }
    }

    pub fn tick(&mut self, now: Micros) {
        for link in 0..self.ends.len() as u8 {
            let news = self.ends[usize::from(link)].link.tick(now);
            if let Some(Received::Down(_)) = news {
                self.lose(link);
            }
            if now < self.ends[usize::from(link)].act_at {
                continue;
            }
            if self.kind == Misbehavior::Lie {
                self.lie(link, now);
            } else {
                self.epoch = self.epoch.wrapping_add(1).max(1);
                self.ends[usize::from(link)].link = self.new_link(link, now);
                self.ends[usize::from(link)].act_at = Micros::MAX;
            }
        }
        let (due, later) = self.replays.drain(..).partition(|&(at, _)| at <= now);
        self.replays = later;
        let due: Vec<(Micros, Parcel)> = due;
        for (_, parcel) in due {
            self.send_on(parcel);
        }
    }

    fn lie(&mut self, link: u8, now: Micros) {
        let channel = self.random.random_range(0..self.channels);
        let end = &mut self.ends[usize::from(link)];
        end.act_at = now + LIE_EVERY;
        if end.link.is_open() && end.queue.len() < WAITING {
            end.queue.push_back(Parcel {
                packet: self.forger.lie(end.neighbor, &mut self.random),
                channel,
                since: now,
                passing: false,
            });
        }
    }

    /// When to [`tick`](Self::tick) at the latest.
    pub fn deadline(&self) -> Micros {
        if self.kind == Misbehavior::Babble {
            return Micros::MAX;
        }
        let links = self.ends.iter().map(|end| end.link.deadline().min(end.act_at));
        let replays = self.replays.iter().map(|&(at, _)| at);
        links.chain(replays).min().unwrap_or(Micros::MAX)
    }

    /// The bytes to send on a link that is free, and their number; 0 if there is nothing to send.
    pub fn transmit(&mut self, link: u8, now: Micros, out: &mut [u8]) -> usize {
        if self.kind == Misbehavior::Babble {
            self.random.fill_bytes(out);
            return out.len();
        }
        let end = &mut self.ends[usize::from(link)];
        let parcel = match end.link.turn(now) {
            // It has not asked for one.
            Turn::Nothing | Turn::Time => return 0,
            Turn::Control => None,
            Turn::Retransmit(token) => end.on_the_way.get(&token).map(|parcel| (token, parcel.clone())),
            Turn::New(_) => {
                let passing = end.queue.pop_front();
                let flooding = self.kind == Misbehavior::Flood && passing.is_none();
                let parcel = passing.or_else(|| {
                    flooding.then(|| Parcel {
                        packet: self.forger.own(&mut self.random),
                        channel: self.random.random_range(0..self.channels),
                        since: now,
                        passing: false,
                    })
                });
                parcel.map(|parcel| {
                    end.next_token = end.next_token.wrapping_add(1);
                    end.on_the_way.insert(end.next_token, parcel.clone());
                    (end.next_token, parcel)
                })
            }
        };
        let sent = match parcel {
            None => end.link.write_control(now, out),
            Some((token, parcel)) => {
                let mut header = parcel.packet.header;
                let waited = (now.saturating_sub(parcel.since) / AGE_UNIT).min(u64::from(u16::MAX)) as u16;
                if parcel.passing {
                    header.age = header.age.saturating_add(waited);
                }
                end.link
                    .write(token, parcel.channel, &header, &parcel.packet.body, now, out)
            }
        };
        sent.unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faulty_nodes_are_written_as_they_are_read() {
        for kind in Misbehavior::ALL {
            let board = FaultyBoard { node: 5, kind };
            assert_eq!(board.to_string().parse(), Ok(board));
        }
        for bad in ["", "5", "5:", ":hole", "5:holes", "x:hole", "5:hole:hole"] {
            let refusal = bad.parse::<FaultyBoard>().unwrap_err().to_string();
            let begin = format!("'{bad}' is not a faulty node: ");
            assert!(refusal.starts_with(&begin), "{refusal}");
        }
    }
}
