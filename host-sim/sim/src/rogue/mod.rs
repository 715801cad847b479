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
use hopwise_core::{Network, Node, Rule};
use hopwise_node::limits::BODY;
use hopwise_node::link::{Fate, Link, Micros, Received, Token, Turn};
use hopwise_node::wire::{self, AGE_UNIT, DELIMITER, Frame, Header, Identity, Kind, Packet, PacketId, Role, WIRE};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The first bytes of every forged payload; no packet of a correct board has this number.
pub const FORGED: u32 = u32::MAX;

/// What a board does that it should not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RogueKind {
    /// Random bytes at line rate.
    Babble,
    /// As many packets and broadcasts of its own as the line takes, in all virtual channels, whatever room is offered.
    Flood,
    /// Refuses every packet, while it offers room.
    Refuse,
    /// Says hello and never acknowledges.
    Mute,
    /// Restarts again and again as soon as a link is up.
    Flap,
    /// Makes up packets: age, source, epoch, number, hops, trail, broadcasts, confirmations, reports.
    Lie,
    /// Acknowledges what it should send on, and sends nothing on.
    Hole,
    /// Sends again, later, what has passed.
    Replay,
}

impl RogueKind {
    /// All of them.
    pub const ALL: [RogueKind; 8] = [
        RogueKind::Babble,
        RogueKind::Flood,
        RogueKind::Refuse,
        RogueKind::Mute,
        RogueKind::Flap,
        RogueKind::Lie,
        RogueKind::Hole,
        RogueKind::Replay,
    ];

    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            RogueKind::Babble => "babble",
            RogueKind::Flood => "flood",
            RogueKind::Refuse => "refuse",
            RogueKind::Mute => "mute",
            RogueKind::Flap => "flap",
            RogueKind::Lie => "lie",
            RogueKind::Hole => "hole",
            RogueKind::Replay => "replay",
        }
    }
}

/// A faulty node and the kind of its fault, written `5:babble`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RogueBoard {
    /// The board.
    pub node: Node,
    /// What it does.
    pub kind: RogueKind,
}

impl fmt::Display for RogueBoard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.node, self.kind.name())
    }
}

/// The error for a text that does not name a faulty node.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a rogue: write NODE:KIND, such as 5:babble, with babble, flood, refuse, mute, flap, lie, hole or replay"
)]
pub struct BadRogue(String);

impl FromStr for RogueBoard {
    type Err = BadRogue;

    fn from_str(text: &str) -> Result<Self, BadRogue> {
        let read = || {
            let (node, kind) = text.trim().split_once(':')?;
            let kind = RogueKind::ALL.into_iter().find(|known| known.name() == kind)?;
            Some(RogueBoard {
                node: node.parse().ok()?,
                kind,
            })
        };
        read().ok_or_else(|| BadRogue(text.trim().chars().take(40).collect()))
    }
}

/// A flapping board is up for so long, drawn anew each time.
const FLAP_AFTER: std::ops::Range<Micros> = 5_000..60_000;
/// A liar sends a lie on each wire so often.
const LIE_EVERY: Micros = 5_000;
/// The random delay after which a packet is replayed.
const REPLAY_AFTER: std::ops::Range<Micros> = 100_000..8_000_000;
/// Maximum number of packets waiting to be replayed, and of those passing on each wire; more are not taken.
const REMEMBERED: usize = 512;
const WAITING: usize = 16;

/// A packet that a faulty node sends.
#[derive(Clone, Debug)]
struct Letter {
    packet: Packet<BODY>,
    lane: u8,
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
    queue: VecDeque<Letter>,
    on_the_way: HashMap<Token, Letter>,
    next_token: Token,
    /// When a flapping board restarts, or a liar lies again.
    act_at: Micros,
}

/// A board that misbehaves.
pub struct Rogue {
    kind: RogueKind,
    network: Network,
    here: Node,
    epoch: u32,
    baud: u32,
    lanes: u8,
    ends: Vec<End>,
    forger: Forger,
    random: Xoshiro256PlusPlus,
    /// Packets to be replayed, and when, in no order.
    replays: Vec<(Micros, Letter)>,
    swallowed: Vec<PacketId>,
}

impl Rogue {
    /// A board of a network that has just been switched on.
    pub fn new(board: RogueBoard, network: &Network, epoch: u32, baud: u32, seed: u64, now: Micros) -> Self {
        let here = board.node;
        let mut rogue = Rogue {
            kind: board.kind,
            network: *network,
            here,
            epoch,
            baud,
            lanes: virtual_channels::count(network, Rule::Exact),
            ends: Vec::new(),
            forger: Forger::new(network, here, epoch),
            random: Xoshiro256PlusPlus::seed_from_u64(seed ^ here.wrapping_mul(0x726f_6775_6500_0001)),
            replays: Vec::new(),
            swallowed: Vec::new(),
        };
        for (port, neighbor) in network.neighbors(here).into_iter().flatten().enumerate() {
            let link = rogue.new_link(port as u8, now);
            rogue.ends.push(End {
                link,
                neighbor,
                frame: Vec::new(),
                hello: Vec::new(),
                queue: VecDeque::new(),
                on_the_way: HashMap::new(),
                next_token: 0,
                act_at: if board.kind == RogueKind::Lie { now } else { Micros::MAX },
            });
        }
        rogue
    }

    fn new_link(&self, port: u8, now: Micros) -> Link<WIRE> {
        let identity = Identity {
            role: Role::Node,
            network: self.network.id(),
            address: self.here,
            port,
            epoch: self.epoch,
            largest: wire::MAX_PACKET as u16,
        };
        Link::welcoming(identity, self.baud, now)
    }

    /// Packets of others that it has acknowledged and will not bring on, since this was last asked.
    pub fn swallowed(&mut self) -> impl Iterator<Item = PacketId> + '_ {
        self.swallowed.drain(..)
    }

    /// It is switched off, and what it has of others ends here.
    pub fn stop(&mut self) {
        (0..self.ends.len() as u8).for_each(|link| self.lose(link));
    }

    /// Takes in bytes that came on a link.
    pub fn receive(&mut self, link: u8, bytes: &[u8], now: Micros) {
        match self.kind {
            RogueKind::Babble => {}
            RogueKind::Mute => {
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
            let read = wire::decode(&mut decoded).and_then(Frame::read);
            if matches!(read, Ok(Frame::Hello(_))) {
                hello.clone_from(frame);
            }
            if read.is_ok() {
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
                Some(Received::Packet { lane, length }) => {
                    let packet = Packet::<BODY>::read(end.link.packet(length));
                    if self.takes(link) {
                        self.ends[usize::from(link)].link.take();
                        if let Some(packet) = packet {
                            self.pass(packet, lane, now);
                        }
                    }
                }
                Some(Received::Up(_)) if self.kind == RogueKind::Flap => {
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
            RogueKind::Refuse | RogueKind::Flap | RogueKind::Mute | RogueKind::Babble => false,
            RogueKind::Hole => true,
            RogueKind::Flood | RogueKind::Lie | RogueKind::Replay => {
                self.ends[usize::from(link)].queue.len() + self.ends.iter().map(|end| end.queue.len()).sum::<usize>()
                    < WAITING * self.ends.len()
            }
        }
    }

    /// A packet has been taken over.
    fn pass(&mut self, packet: Packet<BODY>, lane: u8, now: Micros) {
        let header = packet.header;
        self.forger.overhear(&header);
        let letter = Letter {
            packet,
            lane,
            since: now,
            passing: true,
        };
        if self.kind == RogueKind::Hole || header.dest == self.here || !self.send_on(letter.clone()) {
            self.swallowed.push(header.id());
        }
        if self.kind == RogueKind::Replay && self.replays.len() < REMEMBERED {
            let later = now + self.random.random_range(REPLAY_AFTER);
            let passing = false;
            self.replays.push((later, Letter { passing, ..letter }));
        }
    }

    /// Puts a packet into the queues of the links that its route, or the tree of a broadcast, takes from here; `false` if it goes
    /// nowhere.
    fn send_on(&mut self, mut letter: Letter) -> bool {
        let Header { kind, source, dest, .. } = letter.packet.header;
        let next: Vec<Node> = if kind == Kind::Broadcast && (dest == source || dest == self.here) {
            letter.packet.remove_trail();
            letter.packet.header.dest = source;
            let children = self.network.fanout(self.here, source).into_iter().flatten();
            children.map(|(_, child)| child).collect()
        } else {
            self.network
                .next_hop(self.here, dest, Rule::Exact)
                .into_iter()
                .collect()
        };
        letter.packet.header.hops_left = letter.packet.header.hops_left.saturating_sub(1);
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
            let lane = virtual_channels::next(letter.lane, false, next > self.here, self.lanes);
            end.queue.push_back(Letter { lane, ..letter.clone() });
        }
        goes
    }

    /// Learns what became of packets that were on the way.
    fn settle(&mut self, link: u8) {
        let end = &mut self.ends[usize::from(link)];
        while let Some((token, fate)) = end.link.settled() {
            if let Some(letter) = end.on_the_way.remove(&token)
                && letter.passing
                && fate == Fate::Refused
            {
                end.queue.push_front(letter);
            }
        }
    }

    /// A session is over, and what was to go through it ends here.
    fn lose(&mut self, link: u8) {
        let end = &mut self.ends[usize::from(link)];
        while end.link.abandoned().is_some() {}
        let lost = end
            .on_the_way
            .drain()
            .map(|(_, letter)| letter)
            .chain(end.queue.drain(..));
        let passing = lost.filter(|letter| letter.passing);
        self.swallowed.extend(passing.map(|letter| letter.packet.header.id()));
        if self.kind == RogueKind::Flap {
            end.act_at = Micros::MAX;
        }
    }

    /// Looks at the clock.
    pub fn tick(&mut self, now: Micros) {
        for link in 0..self.ends.len() as u8 {
            let news = self.ends[usize::from(link)].link.tick(now);
            if let Some(Received::Down(_)) = news {
                self.lose(link);
            }
            if now < self.ends[usize::from(link)].act_at {
                continue;
            }
            if self.kind == RogueKind::Lie {
                self.lie(link, now);
            } else {
                self.epoch = self.epoch.wrapping_add(1).max(1);
                self.ends[usize::from(link)].link = self.new_link(link, now);
                self.ends[usize::from(link)].act_at = Micros::MAX;
            }
        }
        let (due, later) = self.replays.drain(..).partition(|&(at, _)| at <= now);
        self.replays = later;
        let due: Vec<(Micros, Letter)> = due;
        for (_, letter) in due {
            self.send_on(letter);
        }
    }

    fn lie(&mut self, link: u8, now: Micros) {
        let lane = self.random.random_range(0..self.lanes);
        let end = &mut self.ends[usize::from(link)];
        end.act_at = now + LIE_EVERY;
        if end.link.is_open() && end.queue.len() < WAITING {
            end.queue.push_back(Letter {
                packet: self.forger.lie(end.neighbor, &mut self.random),
                lane,
                since: now,
                passing: false,
            });
        }
    }

    /// When to [`tick`](Self::tick) at the latest.
    pub fn deadline(&self) -> Micros {
        if self.kind == RogueKind::Babble {
            return Micros::MAX;
        }
        let links = self.ends.iter().map(|end| end.link.deadline().min(end.act_at));
        let replays = self.replays.iter().map(|&(at, _)| at);
        links.chain(replays).min().unwrap_or(Micros::MAX)
    }

    /// The bytes to send on a link that is free, and their number; 0 if there is nothing to send.
    pub fn transmit(&mut self, link: u8, now: Micros, out: &mut [u8]) -> usize {
        if self.kind == RogueKind::Babble {
            self.random.fill_bytes(out);
            return out.len();
        }
        let end = &mut self.ends[usize::from(link)];
        let letter = match end.link.turn(now) {
            // It has not asked for one.
            Turn::Nothing | Turn::Time => return 0,
            Turn::Control => None,
            Turn::Again(token) => end.on_the_way.get(&token).map(|letter| (token, letter.clone())),
            Turn::New(_) => {
                let passing = end.queue.pop_front();
                let flooding = self.kind == RogueKind::Flood && passing.is_none();
                let letter = passing.or_else(|| {
                    flooding.then(|| Letter {
                        packet: self.forger.own(&mut self.random),
                        lane: self.random.random_range(0..self.lanes),
                        since: now,
                        passing: false,
                    })
                });
                letter.map(|letter| {
                    end.next_token = end.next_token.wrapping_add(1);
                    end.on_the_way.insert(end.next_token, letter.clone());
                    (end.next_token, letter)
                })
            }
        };
        let sent = match letter {
            None => end.link.write_control(now, out),
            Some((token, letter)) => {
                let mut header = letter.packet.header;
                let waited = (now.saturating_sub(letter.since) / AGE_UNIT).min(u64::from(u16::MAX)) as u16;
                if letter.passing {
                    header.age = header.age.saturating_add(waited);
                }
                let mut bytes = [0; wire::MAX_HEADER];
                header.write(&mut bytes).and_then(|length| {
                    let parts = [&bytes[..length], &letter.packet.body[..]];
                    end.link.write_packet(token, letter.lane, parts, now, out)
                })
            }
        };
        sent.unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rogues_are_written_as_they_are_read() {
        for kind in RogueKind::ALL {
            let board = RogueBoard { node: 5, kind };
            assert_eq!(board.to_string().parse(), Ok(board));
        }
        for bad in ["", "5", "5:", ":hole", "5:holes", "x:hole", "5:hole:hole"] {
            let refusal = bad.parse::<RogueBoard>().unwrap_err().to_string();
            assert!(refusal.starts_with(&format!("'{bad}' is not a rogue: ")), "{refusal}");
        }
    }
}
