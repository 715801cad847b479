//! The router: takes packets in, delivers, forwards and passes them on, and answers for itself.
//!
//! A [`Router`] does no I/O. It is given the bytes that came on a link ([`receive`](Router::receive)) and the time
//! ([`tick`](Router::tick)), and gives the bytes to send when a link is free ([`transmit`](Router::transmit)). Firmware and
//! simulator are shells around it. `docs/delivery.md` says what it promises, `docs/wire-format.md` what it sends.
//!
//! It is made of machines that know nothing of each other, and of the passage of a packet from one to the next:
//!
//! - `passage`: a packet comes in, and is delivered, passed on, sent on, or ends here;
//! - `wiring`: which neighbour is at which link; `stalls`: which of them takes nothing; `forward`: the next hop, and the search for a
//!   path round dead links;
//! - `broadcast`: to whom copies go, along the tree or as a flood;
//! - `confirm`: confirmed packets at their source and at their destination; `seen`: no other arrives twice;
//! - `pool`: the buffers; `turns` and `served`: who goes first when they are full; `quota`: how often something is said;
//! - `answer`: questions to the node; `application`: what an application can do.
//!
//! # Lanes
//!
//! Finite buffers deadlock when packets wait for each other in a cycle. Here a packet is in a lane, and waits only for room
//! in the same lane of the next node or a higher one: along its route, the lane rises by one wherever the node numbers
//! turn from rising to falling or back. Even lanes rise, odd ones fall. Within a lane a packet therefore waits for one at
//! a node of a higher number (or lower), never in a cycle, whatever the network and whatever the route. Each lane of each
//! node keeps a buffer of its own. A packet that turns more often than there are lanes, as on a long detour, stays in the last
//! one; should packets there wait for each other, they expire and are counted.

mod answer;
mod application;
mod broadcast;
mod confirm;
mod event;
mod forward;
mod passage;
mod pool;
mod quota;
mod seen;
mod served;
mod stalls;
pub mod times;
mod turns;
mod wiring;

use core::fmt;

pub use application::{Message, MessageKind, SendError};
use confirm::{Destination, Mesh, Source};
pub use event::{Event, Observer, Outcome};
use heapless::{Deque, Vec};
use pool::{MAX_LINKS, Place, Pool, Slot};
use quota::Quota;
use seen::Seen;
use served::Share;
use stalls::Stalls;
use wiring::Wiring;

use crate::limits::{self, INBOX, LANES};
use crate::link::{Down, Fate, Link, Micros, Received, Turn};
use crate::service::Subject;
use crate::wire::{
    self, AGE_UNIT, Card, Header, Identity, Kind, LinkReport, MAX_HEADER, NodeReport, OVERHEAD, Offer, Packet,
    PacketId, Role, RouterCounters, encoded_len,
};
use crate::{Network, Node, Port, Rule};

/// What a node must be told.
#[derive(Clone, Debug)]
pub struct Config {
    /// The network it is part of.
    pub network: Network,
    /// Its own address.
    pub address: Node,
    /// Another one at each start, in no order, and not 0: the more random, the better.
    pub epoch: u32,
    /// The speed of its wires, in bits per second.
    pub baud: u32,
    /// How many links the board has, the computer's included.
    pub links: u8,
    /// The links at which a computer is taken for one: bit 0 is link 0.
    pub computers: u32,
    /// Which routing rule to follow.
    pub rule: Rule,
}

/// Why a node cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConfigError {
    /// The address is not in the network.
    NoSuchNode(crate::NoSuchNode),
    /// The node has more neighbours than the board has links.
    TooFewLinks {
        /// Neighbours.
        needed: Port,
        /// Links.
        have: u8,
    },
    /// Epoch 0 means that none is known.
    EpochZero,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::NoSuchNode(error) => error.fmt(f),
            ConfigError::TooFewLinks { needed, have } => {
                write!(f, "the node has {needed} neighbours, the board only {have} links")
            }
            ConfigError::EpochZero => f.write_str("the boot epoch must not be 0"),
        }
    }
}

impl core::error::Error for ConfigError {}

/// The router of a node: its links, its buffers, and all it knows.
///
/// The sizes are parameters, their defaults in [`limits`]: how many links it can have, how many packets it
/// holds, the bytes of a packet's body, the bytes of the [largest frame](wire::WIRE), and of how many other nodes it
/// remembers what came from them.
#[derive(Clone, Debug)]
pub struct Router<
    const PORTS: usize = { limits::PORTS },
    const BUFFERS: usize = { limits::BUFFERS },
    const BODY: usize = { limits::BODY },
    const WIRE: usize = { wire::WIRE },
    const PEERS: usize = { limits::PEERS },
> {
    network: Network,
    here: Node,
    epoch: u32,
    rule: Rule,
    started: Micros,
    /// A packet that begins here may go so many hops.
    hops: u16,
    links: Vec<Link<WIRE>, PORTS>,
    /// Packets that wait for each link, in the order they came.
    queues: [Vec<Place, BUFFERS, u8>; PORTS],
    wiring: Wiring<PORTS>,
    stalls: Stalls<PORTS>,
    /// How often damage on each link is told; it is counted in any case.
    damage_told: [Quota; PORTS],
    /// The link to a computer.
    host: Option<u8>,
    /// The links at which a computer is taken for one: bit 0 is link 0.
    computers: u32,
    /// The links of which more was said than that they are down: bit 0 is link 0.
    noted: u32,
    pool: Pool<PORTS, BUFFERS, BODY>,
    inbox: Deque<Place, INBOX>,
    seen: Seen<PEERS>,
    source: Source,
    destination: Destination<PEERS>,
    next_number: u32,
    /// Broadcasts that begin here are floods until then.
    flood_until: Micros,
    counters: RouterCounters,
    card: Card,
    sweep_at: Micros,
}

impl<const PORTS: usize, const BUFFERS: usize, const BODY: usize, const WIRE: usize, const PEERS: usize>
    Router<PORTS, BUFFERS, BODY, WIRE, PEERS>
{
    /// A node that begins to say hello on all its links.
    pub fn new(config: &Config, now: Micros) -> Result<Self, ConfigError> {
        const {
            assert!(BODY <= 255, "the length of a body is one byte");
            assert!(PORTS <= MAX_LINKS, "a set of links is one word");
            assert!(WIRE >= encoded_len(OVERHEAD + MAX_HEADER + BODY));
        }
        let &Config {
            ref network,
            address,
            epoch,
            baud,
            links,
            computers,
            rule,
        } = config;
        if epoch == 0 {
            return Err(ConfigError::EpochZero);
        }
        let needed = network.degree(address).map_err(ConfigError::NoSuchNode)?;
        let have = links.min(PORTS as u8);
        let wiring =
            Wiring::of(network, address, usize::from(have)).ok_or(ConfigError::TooFewLinks { needed, have })?;
        let link = |port: u8| {
            let identity = Identity {
                role: Role::Node,
                network: network.id(),
                address,
                port,
                epoch,
                largest: (BODY + MAX_HEADER) as u16,
            };
            // Not at once: what comes through a link has begun after this node, as far as clocks can tell.
            Link::new(identity, baud, now.saturating_add(times::DRIFT))
        };
        let longest = network.longest_route(rule).min(u64::from(u16::MAX)) as u16;
        let mesh = Mesh {
            nodes: network.nodes(),
            longest_route: longest,
            frame_time: 10 * 1_000_000 * WIRE as u64 / u64::from(baud.max(1)),
        };
        // As random as the epoch: numbers differ after a restart, should the epoch's low half be the same.
        let first_number = epoch.wrapping_mul(0x9e37_79b9);
        let detours = network.nodes().saturating_mul(2).clamp(DETOUR_HOPS, MOST_DETOUR_HOPS) as u16;
        Ok(Router {
            network: *network,
            here: address,
            epoch,
            rule,
            started: now,
            hops: longest.saturating_mul(2).saturating_add(detours),
            links: {
                let mut links = Vec::new();
                for port in 0..have {
                    // There is room: there are at most so many.
                    let _ = links.push(link(port));
                }
                links
            },
            queues: [const { Vec::new() }; PORTS],
            wiring,
            stalls: Stalls::new(),
            damage_told: [Quota::new(); PORTS],
            host: None,
            computers,
            noted: 0,
            pool: Pool::new(lanes_for(network, rule)),
            inbox: Deque::new(),
            seen: Seen::new(),
            source: Source::new(&mesh, first_number.rotate_left(16)),
            destination: Destination::new(epoch as u16, now),
            next_number: first_number,
            flood_until: now,
            counters: RouterCounters::default(),
            card: Card::default(),
            sweep_at: now,
        })
    }

    /// Its address.
    pub fn address(&self) -> Node {
        self.here
    }

    /// The network it is part of.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// What it has done.
    pub fn counters(&self) -> &RouterCounters {
        &self.counters
    }

    /// Who this node is.
    pub fn report(&self, now: Micros) -> NodeReport {
        Subject::report(self, now)
    }

    /// The state of a link; `None` if there is none of that number.
    pub fn link_report(&self, link: u8) -> Option<LinkReport> {
        Subject::link_report(self, link)
    }

    /// Copies of packets in its buffers, counted one by one.
    pub fn held(&self) -> u32 {
        let slots = self.pool.places().filter_map(|place| self.pool.get(place));
        slots.map(|slot| slot.copies()).sum::<u32>() + self.pool.unrouted().count_ones()
    }

    /// The packets in its buffers.
    pub fn packets(&self) -> impl Iterator<Item = PacketId> + '_ {
        let slots = self.pool.places().filter_map(|place| self.pool.get(place));
        slots.map(|slot| slot.packet.header.id())
    }

    /// Whether there is a message or an outcome for the application.
    pub fn has_news(&self) -> bool {
        !self.inbox.is_empty() || self.source.has_outcome()
    }

    /// Its links.
    pub fn links(&self) -> &[Link<WIRE>] {
        &self.links
    }

    /// The neighbours in the order of the ports, and the link that leads to each, if it is up.
    pub fn neighbors(&self) -> impl Iterator<Item = (Node, Option<u8>)> + '_ {
        self.wiring.ports()
    }

    /// Whether every neighbour is reached.
    pub fn all_links_up(&self) -> bool {
        self.wiring.ports().all(|(_, link)| link.is_some())
    }

    /// The link to a computer, if there is one.
    pub fn host_link(&self) -> Option<u8> {
        self.host
    }

    /// What the node says about itself when asked; the shell fills it in.
    pub fn card_mut(&mut self) -> &mut Card {
        &mut self.card
    }

    /// Takes in bytes that came on a link.
    pub fn receive(&mut self, link: u8, mut bytes: &[u8], now: Micros, observer: &mut impl Observer) {
        while let Some(end) = self.links.get_mut(usize::from(link)) {
            let Some(received) = end.receive(&mut bytes, now) else {
                break;
            };
            match received {
                Received::Packet { lane, packet } => {
                    let packet = Packet::read(packet);
                    self.packet_in(link, lane, packet, now, observer);
                }
                Received::Frame => {}
                Received::Damaged(error) => {
                    let quota = self.damage_told.get_mut(usize::from(link));
                    if quota.is_some_and(|quota| quota.take(now)) {
                        observer.note(Event::Damaged { link, error });
                    }
                }
                Received::Up(_) | Received::Changed => self.rewire(now, observer),
                Received::Down(reason) => self.link_down(link, reason, now, observer),
            }
            self.settle(link, now, observer);
        }
        self.catch_up(now, observer);
    }

    /// Whether it is worth the while to [`transmit`](Self::transmit) on a link.
    pub fn wants_to_transmit(&self, link: u8, now: Micros) -> bool {
        let queue = self.queues.get(usize::from(link));
        let end = self.links.get(usize::from(link));
        queue.is_some_and(|queue| !queue.is_empty()) || end.is_some_and(|end| end.is_due(now))
    }

    /// The bytes to send on a link that is free, and their number; 0 if there is nothing to send. `out` has room for `WIRE`.
    pub fn transmit(&mut self, link: u8, now: Micros, out: &mut [u8], observer: &mut impl Observer) -> usize {
        if !self.wants_to_transmit(link, now) {
            return 0;
        }
        let Some(end) = self.links.get_mut(usize::from(link)) else {
            return 0;
        };
        let place = match end.turn(now) {
            Turn::Nothing => return 0,
            Turn::Control => None,
            Turn::Again(place) => Some((place, true)),
            Turn::New(room) => self.pick(link, room, now).map(|place| (place, false)),
        };
        let sent = match place {
            Some((place, again)) => self.write_packet(link, place, again, now, out, observer),
            None => {
                let waiting = self
                    .queues
                    .get(usize::from(link))
                    .is_some_and(|queue| !queue.is_empty());
                self.links.get_mut(usize::from(link)).and_then(|end| {
                    if waiting && end.is_open() {
                        end.starves(now);
                    }
                    end.write_control(now, out)
                })
            }
        };
        sent.unwrap_or(0)
    }

    fn write_packet(
        &mut self,
        link: u8,
        place: Place,
        again: bool,
        now: Micros,
        out: &mut [u8],
        observer: &mut impl Observer,
    ) -> Option<usize> {
        let lane = self.lane_on(link, place)?;
        if !again {
            self.sign(place, now);
        }
        let slot = self.pool.get(place)?;
        let end = self.links.get_mut(usize::from(link))?;
        let mut header = slot.packet.header;
        let on_the_wire = end.wire_time(slot.packet.body.len() + MAX_HEADER);
        header.age = age(&header, slot.arrived, now.saturating_add(on_the_wire));
        header.hops_left = header.hops_left.saturating_sub(1);
        let mut bytes = [0; MAX_HEADER];
        let length = header.write(&mut bytes)?;
        let parts = [bytes.get(..length)?, &slot.packet.body];
        let sent = end.write_packet(place, lane, parts, now, out)?;
        observer.note(Event::Sent {
            link,
            packet: header.id(),
            dest: header.dest,
            again,
        });
        Some(sent)
    }

    /// The lane in which a packet waits at the other end of a link.
    fn lane_on(&self, link: u8, place: Place) -> Option<u8> {
        if self.host == Some(link) {
            return Some(0);
        }
        let slot = self.pool.get(place)?;
        let rises = self.wiring.neighbor_at(link)? > self.here;
        Some(next_lane(slot.lane, slot.begins_here(), rises, self.pool.lanes()))
    }

    /// The next packet for a link: of those whose lane has room, the first of a source that has had least and then has the oldest. So
    /// far sources have as much of a busy mesh as near ones, and as those that send all they can; and packets of one source keep
    /// their order: ages are rounded at every hop, so that they do not tell which of two came first.
    fn pick(&mut self, link: u8, room: Offer, now: Micros) -> Option<Place> {
        let queue = self.queues.get(usize::from(link))?;
        let most = self.most_at(link);
        let takes = |place: Place| self.lane_on(link, place).is_some_and(|lane| room.takes(lane));
        let open = |place: Place| takes(place) && self.fits(place, most);
        let mut first: Option<(Share, u32, Node)> = None;
        for &place in queue {
            let Some(slot) = self.pool.get(place).filter(|_| open(place)) else {
                continue;
            };
            let (served, age) = (self.pool.served(slot), slot.age_in_micros(now));
            if first.is_none_or(|(least, most, _)| served < least || served == least && age > most) {
                first = Some((served, age, slot.packet.header.source));
            }
        }
        let (_, _, source) = first?;
        let of_source = |place: Place| {
            self.pool
                .get(place)
                .is_some_and(|slot| slot.packet.header.source == source)
        };
        let place = queue.iter().copied().find(|&place| of_source(place) && open(place))?;
        self.pool.serve(place);
        take_out(self.queues.get_mut(usize::from(link))?, place).then_some(place)
    }

    /// The longest packet that the other end of a link takes.
    pub(super) fn most_at(&self, link: u8) -> usize {
        let peer = self.links.get(usize::from(link)).and_then(Link::peer);
        peer.map_or(0, |peer| peer.largest.into())
    }

    /// Whether a packet is not longer than that.
    pub(super) fn fits(&self, place: Place, most: usize) -> bool {
        let fits = |slot: &Slot<BODY>| slot.packet.length() <= most;
        most >= BODY + MAX_HEADER || self.pool.get(place).is_some_and(fits)
    }

    /// Looks at the clock.
    pub fn tick(&mut self, now: Micros, observer: &mut impl Observer) {
        for link in 0..self.links.len() as u8 {
            let news = self.links.get_mut(usize::from(link)).and_then(|end| end.tick(now));
            match news {
                Some(Received::Down(reason)) => self.link_down(link, reason, now, observer),
                Some(_) => self.rewire(now, observer),
                None => {}
            }
        }
        if now >= self.sweep_at {
            self.sweep_at = now.saturating_add(times::SWEEP);
            self.sweep(now, observer);
            self.go_round_stalls(now, observer);
            self.pool.forget_turns();
        }
        self.retry(now, observer);
        self.catch_up(now, observer);
    }

    /// When to [`tick`](Self::tick) and try to [`transmit`](Self::transmit) at the latest, though nothing comes.
    pub fn deadline(&self) -> Micros {
        let links = self.links.iter().map(Link::deadline).min();
        links.unwrap_or(Micros::MAX).min(self.own_deadline())
    }

    /// The same after no other link than this one was used, if it is earlier than before.
    pub fn deadline_after(&self, link: u8) -> Micros {
        let end = self.links.get(usize::from(link));
        end.map_or(Micros::MAX, Link::deadline).min(self.own_deadline())
    }

    /// The same for the node's own sake, not its links'.
    pub fn own_deadline(&self) -> Micros {
        let sweep = if self.pool.used() > 0 {
            self.sweep_at
        } else {
            Micros::MAX
        };
        sweep.min(self.source.deadline())
    }

    /// Looks again at who is at which link: one link to each neighbour is accepted, and used once it is open.
    ///
    /// Both ends of several cables between the same two nodes see the same cables and choose the same, the one whose number at the
    /// node of the lower address is the lowest. The others are kept in case it fails. A link that is open stays.
    fn rewire(&mut self, now: Micros, observer: &mut impl Observer) {
        for link in 0..self.links.len() as u8 {
            let candidate = self.candidate(link);
            let accepted = candidate.is_some_and(|peer| self.best_link_to(&peer) == Some(link));
            let used = self.is_used(link);
            let Some(end) = self.links.get_mut(usize::from(link)).filter(|_| !used) else {
                continue;
            };
            end.accept(accepted, now);
            let open = end.is_open();
            let Some(peer) = candidate else { continue };
            if open {
                match peer.role {
                    Role::Host => self.host = Some(link),
                    Role::Node => self.wiring.attach(link, peer.address),
                }
                self.noted |= 1 << link;
                observer.note(Event::LinkUp { link, peer });
            } else if !accepted && self.noted >> link & 1 == 0 {
                self.noted |= 1 << link;
                observer.note(Event::Miswired {
                    link,
                    expected: self.wiring.expected(link),
                    found: peer,
                });
            }
        }
    }

    /// Whether packets go through a link.
    fn is_used(&self, link: u8) -> bool {
        self.host == Some(link) || self.wiring.neighbor_at(link).is_some()
    }

    /// Who is at a link that is not used, but could be.
    fn candidate(&self, link: u8) -> Option<Identity> {
        let end = self.links.get(usize::from(link))?;
        end.peer().filter(|_| end.may_accept() && !self.is_used(link))
    }

    /// The link to accept of those that lead to someone; `None` if there is one already, or whoever it is does not belong here.
    fn best_link_to(&self, found: &Identity) -> Option<u8> {
        let wanted = match found.role {
            Role::Host => self.host.is_none(),
            Role::Node => found.network == self.network.id() && self.wiring.misses(found.address),
        };
        if !wanted {
            return None;
        }
        let links = 0..self.links.len() as u8;
        let same = links.filter_map(|link| Some((link, self.candidate(link)?)));
        let same = same.filter(|&(link, peer)| match found.role {
            Role::Host => peer.role == Role::Host && self.computers >> link & 1 == 1,
            Role::Node => (peer.role, peer.address, peer.network) == (Role::Node, found.address, found.network),
        });
        let lower = self.here < found.address;
        same.min_by_key(|&(link, peer)| if lower { (link, peer.port) } else { (peer.port, link) })
            .map(|(link, _)| link)
    }

    /// A link is down, or not what it should be: what was to go through it takes another path.
    fn link_down(&mut self, link: u8, reason: Down, now: Micros, observer: &mut impl Observer) {
        // A board that comes and goes while the link is held down is not worth a word each time.
        let often = matches!(reason, Down::Restarted | Down::Ended | Down::Replaced | Down::Stuck);
        if !often || self.noted >> link & 1 == 1 {
            observer.note(Event::LinkDown { link, reason });
        }
        self.noted &= !(1 << link);
        let port = self.wiring.detach(link);
        self.stalls.moves(link, now);
        if self.host == Some(link) {
            self.host = None;
        }
        if let Some(end) = self.links.get_mut(usize::from(link)) {
            end.accept(false, now);
        }
        while let Some(place) = self.links.get_mut(usize::from(link)).and_then(Link::abandoned) {
            // A broadcast is marked when it becomes a flood.
            let slot = self.pool.get_mut(place);
            if let Some(slot) = slot.filter(|slot| slot.packet.header.kind != Kind::Broadcast) {
                slot.packet.header.copied = true;
            }
            self.turn_round(place, link, port, now, observer);
        }
        let queue = self.queues.get_mut(usize::from(link)).map(core::mem::take);
        for place in queue.unwrap_or_default() {
            self.turn_round(place, link, port, now, observer);
        }
        // Another cable may lead there.
        self.rewire(now, observer);
    }

    /// Learns what became of packets that were on the way.
    fn settle(&mut self, link: u8, now: Micros, observer: &mut impl Observer) {
        while let Some((place, fate)) = self.links.get_mut(usize::from(link)).and_then(Link::settled) {
            if fate == Fate::Refused {
                self.put_back(link, place);
                if self.stalls.avoided() >> link & 1 == 1 {
                    self.go_round_stall(place, link, observer);
                }
                continue;
            }
            if let Some(slot) = self.pool.get_mut(place) {
                slot.pending &= !(1 << link);
                self.stalls.moves(link, now);
                add(&mut self.counters.forwarded, 1);
                observer.note(Event::Forwarded {
                    link,
                    packet: slot.packet.header.id(),
                });
            }
            self.pool.release_if_unused(place);
        }
    }

    /// A packet waits again: before those that came later.
    pub(super) fn put_back(&mut self, link: u8, place: Place) {
        let arrived = |place: Place| self.pool.get(place).map_or(0, |slot| slot.arrived);
        let came = arrived(place);
        let Some(queue) = self.queues.get_mut(usize::from(link)) else {
            return;
        };
        let is_later = |other: Place| arrived(other).wrapping_sub(came) as i32 > 0;
        let before = queue.iter().take_while(|&&other| !is_later(other)).count();
        let mut next = place;
        for waiting in queue.iter_mut().skip(before) {
            core::mem::swap(waiting, &mut next);
        }
        // There is room: a place is in a queue once.
        let _ = queue.push(next);
    }

    /// Does what had to wait for room, and tells the neighbours how much there is.
    fn catch_up(&mut self, now: Micros, observer: &mut impl Observer) {
        // Each turn ends a packet, or gives one that begins here its path: there are only so many.
        let mut round = 0;
        for _ in 0..4 * BUFFERS {
            self.send_confirmations(now, observer);
            if round & self.pool.unrouted() == 0 {
                round = self.pool.unrouted();
            }
            let Some(place) = self.pool.next_unrouted(&mut round) else {
                break;
            };
            self.go(place, now, observer);
        }
        let used = self.pool.used() as u32;
        self.counters.buffers_used = self.counters.buffers_used.max(used);
        if self.pool.has_changed() {
            for (link, end) in self.links.iter_mut().enumerate() {
                end.offer(self.pool.offer(link as u8));
            }
        }
    }
}

/// Takes a packet out of a queue; `false` if it is not there.
fn take_out<const N: usize>(queue: &mut Vec<Place, N, u8>, place: Place) -> bool {
    let mut waiting = queue.iter_mut();
    let Some(mut hole) = waiting.find(|waiting| **waiting == place) else {
        return false;
    };
    for next in waiting {
        *hole = *next;
        hole = next;
    }
    queue.pop();
    true
}

/// On top of twice the longest route a packet may take so many hops, for detours: twice as many as there are nodes lead past all of
/// them and back, but at least and at most these.
const DETOUR_HOPS: u64 = 128;
const MOST_DETOUR_HOPS: u64 = 2_048;

/// Lanes for the turns of detours, where there are as many.
const DETOUR_LANES: u64 = 4;

/// So many lanes are used in a network: a route turns at most at every node on it, and a detour more often.
pub fn lanes_for(network: &Network, rule: Rule) -> u8 {
    let turns = network.longest_route(rule).saturating_add(DETOUR_LANES);
    turns.saturating_add(1).clamp(2, LANES as u64) as u8
}

/// The lane after a hop, of so many; see the [module](self).
pub const fn next_lane(lane: u8, begins: bool, rises: bool, lanes: u8) -> u8 {
    if begins {
        return if rises { 0 } else { 1 };
    }
    let rising_lane = lane.is_multiple_of(2);
    let next = if rising_lane == rises { lane } else { lane + 1 };
    if next < lanes { next } else { lanes - 1 }
}

/// The age of a packet that came at `arrived`, rounded up.
fn age(header: &Header, arrived: u32, now: Micros) -> u16 {
    let more = u64::from((now as u32).wrapping_sub(arrived)).div_ceil(AGE_UNIT);
    u64::from(header.age).saturating_add(more).min(u64::from(u16::MAX)) as u16
}

/// Counters go round rather than stop.
fn add(counter: &mut u32, count: u32) {
    *counter = counter.wrapping_add(count);
}
