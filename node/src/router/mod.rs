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
//! - `send`: what a link takes next; [`lanes`]: why full buffers never wait for each other in a cycle; `attach`: which link is used to whom;
//! - `time`: the clock of the mesh;
//! - `answer`: questions to the node; `application`: what an application can do; `doors`: which applications there are; `blocks`: those of a new
//!   image for the board.

mod answer;
mod application;
mod attach;
mod blocks;
mod broadcast;
mod confirm;
mod deferral;
mod doors;
mod event;
mod forward;
mod passage;
mod pool;
mod quota;
mod seen;
mod send;
mod served;
mod stalls;
mod time;
pub mod times;
mod turns;
mod wiring;

use core::fmt;

pub use application::{Message, MessageKind, MessageOf, SendError};
use blocks::Blocks;
use confirm::{Destination, Mesh, Source};
use doors::Doors;
pub use doors::TooManyPorts;
pub use event::{Event, Observer, Outcome};
use pool::{Place, Pool};
use quota::Quota;
use seen::Seen;
use stalls::Stalls;
use wiring::Wiring;

use crate::capacities::{Board, Capacities, List, Queue};
use crate::cipher::Cipher;
use crate::clock::{Grains, MeshClock, MeshTime};
use crate::key::Credentials;
use crate::link::{LinkOf, Micros, Received};
use crate::service::Subject;
use crate::wire::{
    AGE_UNIT, Card, Header, Identity, LineFaults, LinkReport, NodeReport, PacketId, PacketOf, Role, RouterCounters,
};
use hopwise_core::network::lanes;
use hopwise_core::{Network, Node, Port, Rule};

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
    NoSuchNode(hopwise_core::NoSuchNode),
    /// The node has more neighbours than the board has links.
    TooFewLinks {
        /// Neighbours.
        needed: Port,
        /// Links.
        have: u8,
    },
    /// Routes of the network need more virtual channels than the node has.
    TooFewVirtualChannels {
        /// Of the network.
        needed: u8,
        /// Of the node.
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
            ConfigError::TooFewVirtualChannels { needed, have } => {
                write!(
                    f,
                    "the network needs {needed} virtual channels, the node has only {have}"
                )
            }
            ConfigError::EpochZero => f.write_str("the boot epoch must not be 0"),
        }
    }
}

impl core::error::Error for ConfigError {}

/// The router of a node: its links, its buffers, and all it knows.
///
/// Its sizes are one [parameter](crate::capacities): how many links it can have, how many packets it holds, and so on.
#[derive(Clone, Debug)]
pub struct Router<C: Capacities = Board> {
    network: Network,
    here: Node,
    epoch: u32,
    rule: Rule,
    started: Micros,
    /// A packet that begins here may go so many hops.
    hops: u16,
    links: C::Links<LinkOf<C::Link>>,
    /// Packets that wait for each link, in the order they came.
    queues: C::PerLink<C::Buffers<Place>>,
    wiring: Wiring<C>,
    stalls: Stalls<C>,
    /// How often damage on each link is told; it is counted in any case.
    damage_told: C::PerLink<Quota>,
    /// How often it is reported that a packet of each link cannot go on.
    reported: C::PerLink<Quota>,
    /// The link to a computer.
    host: Option<u8>,
    /// The links at which a computer is taken for one: bit 0 is link 0.
    computers: u32,
    /// The links of which more was said than that they are down: bit 0 is link 0.
    noted: u32,
    pool: Pool<C>,
    inbox: C::Inbox<Place>,
    doors: Doors<C>,
    blocks: Blocks,
    seen: Seen<C>,
    source: Source<C>,
    destination: Destination<C>,
    next_number: u32,
    /// Broadcasts that begin here are floods until then.
    flood_until: Micros,
    counters: RouterCounters,
    card: Card,
    sweep_at: Micros,
    /// Where payloads are encrypted.
    cipher: Option<Cipher>,
    clock: MeshClock<C>,
}

impl<C: Capacities> Router<C> {
    /// A node that begins to say hello on all its links.
    pub fn new(config: &Config, now: Micros) -> Result<Self, ConfigError> {
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
        let ports = links.min(C::SIZES.links as u8);
        let wiring =
            Wiring::of(network, address, usize::from(ports)).ok_or(ConfigError::TooFewLinks { needed, have: ports })?;
        let link = |port: u8| {
            let identity = Identity {
                role: Role::Node,
                network: network.id(),
                address,
                port,
                epoch,
                largest: C::SIZES.max_packet() as u16,
            };
            // Not at once: what comes through a link has begun after this node, as far as clocks can tell.
            LinkOf::new(identity, baud, now.saturating_add(times::DRIFT))
        };
        let (needed, have) = (lanes::needed(network, rule), C::SIZES.virtual_channels as u8);
        if needed > have {
            return Err(ConfigError::TooFewVirtualChannels { needed, have });
        }
        let longest = network.longest_route(rule).min(u64::from(u16::MAX)) as u16;
        let mesh = Mesh {
            nodes: network.nodes(),
            longest_route: longest,
            frame_time: 10 * 1_000_000 * C::SIZES.wire() as u64 / u64::from(baud.max(1)),
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
                let mut links = C::Links::default();
                for port in 0..ports {
                    // There is room: there are at most so many.
                    let _ = links.push(link(port));
                }
                links
            },
            queues: C::PerLink::default(),
            wiring,
            stalls: Stalls::new(),
            damage_told: C::PerLink::default(),
            reported: C::PerLink::default(),
            host: None,
            computers,
            noted: 0,
            pool: Pool::new(lanes::count(network, rule)),
            inbox: C::Inbox::default(),
            doors: Doors::All,
            blocks: Blocks::Unwanted,
            seen: Seen::new(),
            source: Source::new(&mesh, first_number.rotate_left(16)),
            destination: Destination::new(epoch as u16, now),
            next_number: first_number,
            flood_until: now,
            counters: RouterCounters::default(),
            card: Card::default(),
            sweep_at: now,
            clock: MeshClock::new(address, baud, now),
            cipher: None,
        })
    }

    /// From now on its links talk only to ends with the same key. To be called before anything is sent.
    pub fn lock(&mut self, credentials: &Credentials) {
        self.links.iter_mut().for_each(|link| link.lock(credentials));
        self.cipher = Cipher::of(&credentials.secret);
    }

    /// Its address.
    pub fn address(&self) -> Node {
        self.here
    }

    /// Its boot epoch, as it was [configured](Config::epoch).
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The network it is part of.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// What it has done.
    pub fn counters(&self) -> &RouterCounters {
        &self.counters
    }

    /// Counts what the serial port of a link has found wrong with bytes that came.
    pub fn note_line_faults(&mut self, link: u8, faults: LineFaults) {
        if let Some(link) = self.links.get_mut(usize::from(link)) {
            link.note_line_faults(faults);
        }
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
    pub fn links(&self) -> &[LinkOf<C::Link>] {
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
    pub fn receive(&mut self, link: u8, bytes: &[u8], now: Micros, observer: &mut impl Observer) {
        self.receive_timed(link, bytes, None, now, observer);
    }

    /// The same; `ended` is when the last bit of the last byte came, if the shell knows that exactly.
    pub fn receive_timed(
        &mut self,
        link: u8,
        mut bytes: &[u8],
        ended: Option<Grains>,
        now: Micros,
        observer: &mut impl Observer,
    ) {
        while let Some(end) = self.links.get_mut(usize::from(link)) {
            let Some(received) = end.receive(&mut bytes, now) else {
                break;
            };
            match received {
                Received::Packet { lane, packet } => {
                    let packet = PacketOf::read(packet);
                    self.packet_in(link, lane, packet, now, observer);
                }
                Received::Frame => {}
                Received::Time(signal) => {
                    let ended = ended.filter(|_| bytes.is_empty());
                    self.hear_time(link, &signal, ended, now);
                }
                Received::Damaged(error) => {
                    let quota = self.damage_told.get_mut(usize::from(link));
                    if quota.is_some_and(|quota| quota.take(quota::SECOND, now)) {
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
        self.keep_time(now, observer);
        self.catch_up(now, observer);
    }

    /// Will hear and say nothing for up to so many times [`PAUSE_UNIT`](crate::wire::PAUSE_UNIT). What [`transmit`](Self::transmit) writes next tells the
    /// neighbours.
    pub fn pause(&mut self, units: u8) {
        self.links.iter_mut().for_each(|end| end.pause(units));
    }

    /// Is here again. To be called before anything else after a [`pause`](Self::pause).
    pub fn end_pause(&mut self, now: Micros) {
        for (link, end) in (0..).zip(self.links.iter_mut()) {
            end.end_pause(now);
            self.stalls.moves(link, now);
        }
    }

    /// When to [`tick`](Self::tick) and try to [`transmit`](Self::transmit) at the latest, though nothing comes.
    pub fn deadline(&self) -> Micros {
        let links = self.links.iter().map(LinkOf::deadline).min();
        links.unwrap_or(Micros::MAX).min(self.own_deadline())
    }

    /// The same after no other link than this one was used, if it is earlier than before.
    pub fn deadline_after(&self, link: u8) -> Micros {
        let end = self.links.get(usize::from(link));
        end.map_or(Micros::MAX, LinkOf::deadline).min(self.own_deadline())
    }

    /// The same for the node's own sake, not its links'.
    pub fn own_deadline(&self) -> Micros {
        let sweep = if self.pool.used() > 0 {
            self.sweep_at
        } else {
            Micros::MAX
        };
        sweep.min(self.source.deadline()).min(self.clock.deadline())
    }

    /// Does what had to wait for room, and tells the neighbours how much there is.
    fn catch_up(&mut self, now: Micros, observer: &mut impl Observer) {
        // Each turn ends a packet, or gives one that begins here its path: there are only so many.
        let mut round = 0;
        for _ in 0..4 * C::SIZES.buffers {
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

/// On top of twice the longest route a packet may take so many hops, for detours: twice as many as there are nodes lead past all of
/// them and back, but at least and at most these.
const DETOUR_HOPS: u64 = 128;
const MOST_DETOUR_HOPS: u64 = 2_048;

/// The age of a packet that came at `arrived`, rounded up.
fn age(header: &Header, arrived: u32, now: Micros) -> u16 {
    let more = u64::from((now as u32).wrapping_sub(arrived)).div_ceil(AGE_UNIT);
    u64::from(header.age).saturating_add(more).min(u64::from(u16::MAX)) as u16
}

/// Counters go round rather than stop.
fn add(counter: &mut u32, count: u32) {
    *counter = counter.wrapping_add(count);
}
