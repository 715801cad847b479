//! The router: receives, delivers and forwards packets, and answers requests to the node.
//!
//! A [`Router`] does no I/O. It is given the bytes received on a link ([`receive`](Router::receive)) and the time
//! ([`tick`](Router::tick)), and provides the bytes to send when a link is free ([`transmit`](Router::transmit)). Firmware and
//! simulator are shells around it. `docs/delivery.md` states its guarantees, `docs/wire-format.md` what it sends.
//!
//! It consists of layers with a state of their own, which share only small values:
//!
//! - [`link`](crate::link): one cable, on which packets arrive in order and once;
//! - `forwarding`: packets in their buffers, the next hop, detours, broadcasts, the queues of links;
//! - `transport`: numbers, confirmed packets at their source and destination, encryption;
//! - `services`: the readers of packets for this node: applications, the board, the clock of the mesh.
//!
//! A [`Router`] combines them. A layer returns what it leaves to another, and `arrival` follows that from layer to layer. `application`
//! is the interface of applications, `time` the time signals of links, `rate_limiter` limits reports.

mod application;
mod arrival;
mod backpressure;
mod event;
mod forwarding;
mod rate_limiter;
mod services;
mod time;
pub mod times;
mod transport;

pub use application::{Message, MessageKind, MessageOf, SendError};
pub use event::{Event, Observer, Outcome};
use forwarding::{Forwarding, Location, Place, Wiring, age, is_too_old};
use rate_limiter::RateLimiter;
pub use services::TooManyPorts;
use services::{Admission, Services};
use transport::{Mesh, Transport};

use crate::capacities::{Board, Capacities, List};
use crate::clock::{ClockTicks, MeshTime};
use crate::key::Credentials;
use crate::link::{LinkOf, Micros, Received, Turn};
use crate::service::Subject;
use crate::wire::{
    AppPort, AppStatus, BoardInfo, DEFAULT_BAUD, Identity, LineFaults, LinkReport, MAX_HEADER, NodeReport,
    ONE_BYTE_HOPS, PacketId, Role, RouterCounters, StepSet,
};
use hopwise_core::network::virtual_channels;
use hopwise_core::{Network, Node, Port, Rule};

/// The parameters of a node.
#[derive(Clone, Debug)]
pub struct Config {
    /// The network it is part of.
    pub network: Network,
    /// Its own address.
    pub address: Node,
    /// Different at each boot, in no order, and not 0: the more random, the better.
    pub epoch: u32,
    /// The speed of its wires, in bits per second; of the slowest, if links have [rates of their own](Router::set_baud).
    pub baud: u32,
    /// The number of links of the board, including the host's.
    pub links: u8,
    /// The links at which a host is accepted: bit 0 is link 0.
    pub hosts: u32,
    /// The routing function.
    pub rule: Rule,
}

impl Config {
    /// A board at wires of the [default rate](DEFAULT_BAUD) that accepts no host.
    pub const fn new(network: Network, address: Node, epoch: u32, links: u8) -> Self {
        Config {
            network,
            address,
            epoch,
            baud: DEFAULT_BAUD,
            links,
            hosts: 0,
            rule: Rule::Exact,
        }
    }
}

/// The reason why a node cannot be created.
#[expect(missing_docs, reason = "the sentences say what they are")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum ConfigError {
    /// The address is not in the network.
    #[error("{0}")]
    NoSuchNode(hopwise_core::NoSuchNode),
    #[error("the node has {needed} neighbors, the board only {have} links")]
    TooFewLinks { needed: Port, have: u8 },
    #[error("the network needs {needed} virtual channels, the node has only {have}")]
    TooFewVirtualChannels { needed: u8, have: u8 },
    /// Epoch 0 is reserved for an unknown one.
    #[error("the boot epoch must not be 0")]
    EpochZero,
}

/// A [`Config`] with which there can be a node.
#[derive(Clone, Debug)]
pub struct CheckedConfig<C: Capacities> {
    config: Config,
    wiring: Wiring<C>,
    ports: u8,
}

impl Config {
    /// Whether there can be such a node.
    pub fn checked<C: Capacities>(self) -> Result<CheckedConfig<C>, ConfigError> {
        if self.epoch == 0 {
            return Err(ConfigError::EpochZero);
        }
        let needed = self.network.degree(self.address).map_err(ConfigError::NoSuchNode)?;
        let ports = self.links.min(C::SIZES.links as u8);
        let wiring = Wiring::of(&self.network, self.address, usize::from(ports))
            .ok_or(ConfigError::TooFewLinks { needed, have: ports })?;
        let needed = virtual_channels::needed(&self.network, self.rule);
        let have = C::SIZES.virtual_channels as u8;
        if needed > have {
            return Err(ConfigError::TooFewVirtualChannels { needed, have });
        }
        Ok(CheckedConfig {
            config: self,
            wiring,
            ports,
        })
    }
}

/// The router of a node: its links, its buffers, and all it knows.
///
/// Its [capacities](mod@crate::capacities) are one type parameter: the number of links, of packets held, and so on.
#[derive(Clone, Debug)]
pub struct Router<C: Capacities = Board> {
    links: C::Links<LinkOf<C::Link>>,
    /// Limits reports of damage on each link; it is counted in any case.
    damage_told: C::PerLink<RateLimiter>,
    forwarding: Forwarding<C>,
    transport: Transport<C>,
    services: Services<C>,
    /// When the buffers are searched next; never if they were empty.
    sweep_at: Micros,
    /// Links that may have something to send, or an earlier deadline, since the shell last [asked](Self::attention): bit 0 is link 0.
    stirred: u32,
    /// Whether the node's own deadline may be earlier since then.
    own_stirred: bool,
}

/// What a shell has to do after it used a [`Router`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attention {
    /// Links on which [`transmit`](Router::transmit) may have something to send: bit 0 is link 0.
    pub due: u32,
    /// The [deadline](Router::deadline), if it may be earlier than before.
    pub deadline: Micros,
    /// Whether the [mesh time](Router::mesh_time) may have changed.
    pub time: bool,
}

impl<C: Capacities> Router<C> {
    /// A node that begins to say hello on all its links.
    pub fn new(config: &Config, now: Micros) -> Result<Self, ConfigError> {
        Ok(Router::from_checked(&config.clone().checked()?, now))
    }

    /// The same of a config that has been [checked](Config::checked).
    // Not inlined: the router is then made where it stays, and the stack holds no second one.
    #[inline(never)]
    pub fn from_checked(checked: &CheckedConfig<C>, now: Micros) -> Self {
        let &CheckedConfig {
            config:
                Config {
                    ref network,
                    address,
                    epoch,
                    baud,
                    hosts,
                    rule,
                    ..
                },
            ref wiring,
            ports,
        } = checked;
        let link = |port: u8| {
            let identity = Identity {
                role: Role::Node,
                network: network.id(),
                address,
                port,
                epoch,
                mtu: C::SIZES.max_packet() as u16,
            };
            // Not at once, so that whatever comes through a link began after this node, as far as clocks can tell.
            LinkOf::new(identity, baud, now.saturating_add(times::DRIFT))
        };
        let longest = network.longest_route(rule).min(u64::from(u16::MAX)) as u16;
        let mesh = Mesh {
            nodes: network.nodes(),
            longest_route: longest,
            frame_time: 10 * 1_000_000 * C::SIZES.wire() as u64 / u64::from(baud.max(1)),
        };
        let nodes = network.nodes();
        let detours = nodes.saturating_mul(2).clamp(DETOUR_HOPS, MAX_DETOUR_HOPS) as u16;
        let mut hops = longest.saturating_mul(2).saturating_add(detours);
        if nodes <= ONE_BYTE_NODES {
            hops = hops.min(ONE_BYTE_HOPS);
        }
        let location = Location {
            network: *network,
            here: address,
            rule,
            epoch,
            started: now,
        };
        let mut links = C::Links::default();
        for port in 0..ports {
            // Cannot fail: the number was checked.
            let _ = links.push(link(port));
        }
        Router {
            links,
            damage_told: C::PerLink::default(),
            forwarding: Forwarding::new(location, wiring.clone(), hosts),
            transport: Transport::new(&location, &mesh, hops),
            services: Services::new(address, baud, now),
            sweep_at: Micros::MAX,
            stirred: u32::MAX,
            own_stirred: true,
        }
    }

    /// Sets the speed of one wire. Must be called before [`lock`](Self::lock), and before anything is sent.
    pub fn set_baud(&mut self, link: u8, baud: u32) {
        if let Some(link) = self.links.get_mut(usize::from(link)) {
            link.set_baud(baud);
        }
    }

    /// Allows both ends of a wire to change its rate: the serial port here has these steps. To be called as [`set_baud`](Self::set_baud) is.
    pub fn allow_steps(&mut self, link: u8, steps: StepSet) {
        if let Some(link) = self.links.get_mut(usize::from(link)) {
            link.allow_steps(steps);
        }
    }

    /// This node may stand still for several tenths of a second, as a process on a busy machine does: its links say so, and stay up. To be called as
    /// [`set_baud`](Self::set_baud) is.
    pub fn expect_stalls(&mut self) {
        self.links.iter_mut().for_each(|link| link.expect_stalls());
    }

    /// The rate that a serial port must have before anything else is written, if it is another than before. To be asked whenever nothing
    /// is being sent.
    pub fn take_baud(&mut self, link: u8) -> Option<u32> {
        self.links.get_mut(usize::from(link))?.take_baud()
    }

    /// Restricts the links to ends with the same key. Must be called before anything is sent.
    pub fn lock(&mut self, credentials: &Credentials) {
        self.links.iter_mut().for_each(|link| link.lock(credentials));
        self.transport.lock(&credentials.secret);
    }

    /// Its address.
    pub fn address(&self) -> Node {
        self.forwarding.location.here
    }

    /// Its boot epoch, as it was [configured](Config::epoch).
    pub fn epoch(&self) -> u32 {
        self.forwarding.location.epoch
    }

    /// The network it is part of.
    pub fn network(&self) -> &Network {
        &self.forwarding.location.network
    }

    /// The packet counters.
    pub fn counters(&self) -> &RouterCounters {
        &self.forwarding.counters
    }

    /// Counts line faults that the serial port of a link has detected.
    pub fn note_line_faults(&mut self, link: u8, faults: LineFaults) {
        if let Some(link) = self.links.get_mut(usize::from(link)) {
            link.note_line_faults(faults);
        }
    }

    /// The identity and state of this node.
    pub fn report(&self, now: Micros) -> NodeReport {
        Subject::report(self, now)
    }

    /// The state of a link; `None` if it does not exist.
    pub fn link_report(&self, link: u8) -> Option<LinkReport> {
        Subject::link_report(self, link)
    }

    /// The number of packet copies in its buffers.
    pub fn held(&self) -> u32 {
        self.forwarding.held()
    }

    /// Whether it holds nothing: no packet, no buffer.
    pub fn is_at_rest(&self) -> bool {
        self.forwarding.pool.is_at_rest()
    }

    /// The packets in its buffers.
    pub fn packets(&self) -> impl Iterator<Item = PacketId> + '_ {
        let pool = &self.forwarding.pool;
        let slots = pool.places().filter_map(|place| pool.get(place));
        slots.map(|slot| slot.packet.header.id())
    }

    /// Whether there is a message or a result for the application.
    pub fn has_news(&self) -> bool {
        !self.services.inbox.is_empty() || self.transport.source.has_outcome()
    }

    /// Its links.
    pub fn links(&self) -> &[LinkOf<C::Link>] {
        &self.links
    }

    /// The neighbors in port order, each with its link if that is up.
    pub fn neighbors(&self) -> impl Iterator<Item = (Node, Option<u8>)> + '_ {
        self.forwarding.wiring.ports()
    }

    /// Whether every neighbor is connected.
    pub fn all_links_up(&self) -> bool {
        self.forwarding.wiring.ports().all(|(_, link)| link.is_some())
    }

    /// The link to a host, if there is one.
    pub fn host_link(&self) -> Option<u8> {
        self.forwarding.host
    }

    /// The board information in reports, filled in by the shell.
    pub fn card_mut(&mut self) -> &mut BoardInfo {
        &mut self.services.card
    }

    /// Processes bytes received on a link.
    pub fn receive(&mut self, link: u8, bytes: &[u8], now: Micros, observer: &mut impl Observer) {
        self.receive_timed(link, bytes, None, now, observer);
    }

    /// Like [`receive`](Self::receive); `ended` is when the last bit of the last byte arrived, if the shell knows that exactly.
    pub fn receive_timed(
        &mut self,
        link: u8,
        mut bytes: &[u8],
        ended: Option<ClockTicks>,
        now: Micros,
        observer: &mut impl Observer,
    ) {
        while !bytes.is_empty()
            && let Some(end) = self.links.get_mut(usize::from(link))
            && let Some(received) = end.receive(&mut bytes, now)
        {
            self.stirred |= 1 << link;
            match received {
                Received::Packet { channel, length } => self.packet_in(link, channel, length, now, observer),
                Received::Frame => {}
                Received::Time(signal) => {
                    let ended = ended.filter(|_| bytes.is_empty());
                    self.hear_time(link, &signal, ended, now);
                }
                Received::Damaged(error) => self.damage_in(link, error, now, observer),
                Received::Up(_) | Received::Changed => self.rewire(now, observer),
                Received::Down(reason) => self.link_down(link, reason, now, observer),
            }
            self.settle(link, now, observer);
        }
        self.catch_up(now, observer);
    }

    /// Processes timeouts.
    pub fn tick(&mut self, now: Micros, observer: &mut impl Observer) {
        self.stir_all();
        for link in 0..self.links.len() as u8 {
            let news = self.links.get_mut(usize::from(link)).and_then(|end| end.tick(now));
            if let Some(news) = news {
                self.link_news(link, news, now, observer);
            }
        }
        if now >= self.sweep_at {
            self.sweep_at = Micros::MAX;
            self.sweep(now, observer);
            if self.forwarding.pool.used() > 0 {
                self.sweep_soon(now);
            }
        }
        self.retry(now, observer);
        self.keep_time(now, observer);
        self.catch_up(now, observer);
    }

    /// Announces a pause of up to this many [`PAUSE_UNIT`](crate::wire::PAUSE_UNIT)s, in which this node neither sends nor receives, with
    /// the next frames that [`transmit`](Self::transmit) writes.
    pub fn pause(&mut self, units: u8) {
        self.stir_all();
        self.links.iter_mut().for_each(|end| end.pause(units));
    }

    /// Ends a [`pause`](Self::pause). Must be called before anything else.
    pub fn end_pause(&mut self, now: Micros) {
        self.stir_all();
        for (link, end) in (0..).zip(self.links.iter_mut()) {
            end.end_pause(now);
            self.forwarding.stalled.moves(link, now);
        }
    }

    /// The latest time to [`tick`](Self::tick) and [`transmit`](Self::transmit) if nothing is received.
    pub fn deadline(&self) -> Micros {
        let links = self.links.iter().map(|link| link.deadline()).min();
        links.unwrap_or(Micros::MAX).min(self.own_deadline())
    }

    /// What has changed since the last call that a shell must know: it asks after everything else that it does with the router.
    pub fn attention(&mut self, now: Micros) -> Attention {
        let (mut due, mut deadline) = (0, Micros::MAX);
        let mut stirred = core::mem::take(&mut self.stirred) | self.forwarding.take_enqueued();
        while stirred != 0 {
            let link = stirred.trailing_zeros();
            stirred &= stirred - 1;
            let Some(end) = self.links.get_mut(link as usize) else {
                break;
            };
            if end.take_sooner() {
                deadline = deadline.min(end.deadline());
            }
            if self.forwarding.waiting(link as u8) > 0 || end.is_due(now) {
                due |= 1 << link;
            }
        }
        let time = core::mem::take(&mut self.own_stirred);
        if time {
            deadline = deadline.min(self.own_deadline());
        }
        Attention { due, deadline, time }
    }

    fn stir_all(&mut self) {
        (self.stirred, self.own_stirred) = (u32::MAX, true);
    }

    /// The buffers are no longer empty.
    fn sweep_soon(&mut self, now: Micros) {
        if self.sweep_at == Micros::MAX {
            self.sweep_at = now.saturating_add(times::SWEEP);
            self.own_stirred = true;
        }
    }

    /// The deadline of the node itself, without its links.
    pub fn own_deadline(&self) -> Micros {
        let others = self.transport.source.deadline().min(self.services.clock.deadline());
        self.sweep_at.min(others)
    }

    /// Whether [`transmit`](Self::transmit) on a link may have something to send.
    pub fn wants_to_transmit(&self, link: u8, now: Micros) -> bool {
        let end = self.links.get(usize::from(link));
        self.forwarding.waiting(link) > 0 || end.is_some_and(|end| end.is_due(now))
    }

    /// Writes the next bytes to send on a free link, and returns their number; 0 if there are none. `out` has room for the
    /// [longest frame](crate::capacities::Sizes::wire).
    pub fn transmit(&mut self, link: u8, now: Micros, out: &mut [u8], observer: &mut impl Observer) -> usize {
        let waits = self.forwarding.waiting(link) > 0;
        let Some(end) = self.links.get_mut(usize::from(link)) else {
            return 0;
        };
        self.stirred |= 1 << link;
        let place = match end.turn(now) {
            Turn::Nothing => return 0,
            Turn::Time => return self.write_time(link, now, out).unwrap_or(0),
            Turn::Control => None,
            Turn::Retransmit(place) => Some((place, self.forwarding.channel_on(link, place), true)),
            Turn::New(_) if !waits => None,
            Turn::New(room) => self
                .forwarding
                .pick(link, room, self.mtu(link), now)
                .map(|(place, channel)| (place, Some(channel), false)),
        };
        let sent = match place {
            Some((place, channel, retransmit)) => {
                channel.and_then(|channel| self.write_packet(link, place, channel, retransmit, now, out, observer))
            }
            None => self.write_control(link, now, out),
        };
        sent.unwrap_or(0)
    }

    fn write_control(&mut self, link: u8, now: Micros, out: &mut [u8]) -> Option<usize> {
        let waiting = self.forwarding.waiting(link) > 0;
        let end = self.links.get_mut(usize::from(link))?;
        if waiting && end.is_open() {
            end.starves(now);
        }
        end.write_control(now, out)
    }

    #[allow(clippy::too_many_arguments, reason = "one caller, and no two that are one thing")]
    fn write_packet(
        &mut self,
        link: u8,
        place: Place,
        channel: u8,
        retransmit: bool,
        now: Micros,
        out: &mut [u8],
        observer: &mut impl Observer,
    ) -> Option<usize> {
        if !retransmit {
            self.forwarding.sign(place, now);
        }
        let slot = self.forwarding.pool.get(place)?;
        let end = self.links.get_mut(usize::from(link))?;
        let mut header = slot.packet.header;
        let on_the_wire = end.wire_time(slot.packet.body.len() + MAX_HEADER);
        header.age = age(&header, slot.arrived, now.saturating_add(on_the_wire));
        header.hops_left = header.hops_left.saturating_sub(1);
        // An expired packet has to be retransmitted, so that sequence numbers have no gap, but without its body: the neighbor drops it.
        let expired = retransmit && self.forwarding.host != Some(link) && is_too_old(slot, now);
        let body = if expired { &[] } else { &slot.packet.body[..] };
        let sent = end.write(place, channel, &header, body, now, out)?;
        observer.note(Event::Sent {
            link,
            packet: header.id(),
            dest: header.dest,
            retransmit,
        });
        Some(sent)
    }

    fn mtu(&self, link: u8) -> usize {
        let peer = self.links.get(usize::from(link)).and_then(|link| link.peer());
        peer.map_or(0, |peer| peer.mtu.into())
    }

    /// Completes packets that were in flight.
    fn settle(&mut self, link: u8, now: Micros, observer: &mut impl Observer) {
        while let Some((place, result)) = self.links.get_mut(usize::from(link)).and_then(|link| link.completed()) {
            self.forwarding.completed(link, place, result, now, observer);
        }
    }

    /// Resets the counters. Packets in the buffers are carried over, so that the account still balances.
    pub fn clear_counters(&mut self) {
        let counters = &mut self.forwarding.counters;
        *counters = RouterCounters {
            carried_over: counters.held(),
            ..RouterCounters::default()
        };
        for link in self.links.iter_mut() {
            link.clear_counters();
        }
    }

    /// Does what had to wait for room, and offers the room to the neighbors.
    fn catch_up(&mut self, now: Micros, observer: &mut impl Observer) {
        if !self.forwarding.pool.needs_attention() && !self.transport.destination.owes() {
            return;
        }
        // Bounded: each iteration ends a packet, or routes one of this node.
        let mut round = 0;
        for _ in 0..4 * C::SIZES.buffers {
            self.send_confirmations(now, observer);
            let pool = &mut self.forwarding.pool;
            if round & pool.unrouted == 0 {
                round = pool.unrouted;
            }
            let Some(place) = pool.next_unrouted(&mut round) else {
                break;
            };
            self.go(place, now, observer);
        }
        let Forwarding { pool, counters, .. } = &mut self.forwarding;
        counters.buffers_used = counters.buffers_used.max(pool.used() as u32);
        if pool.has_changed() {
            for (link, end) in self.links.iter_mut().enumerate() {
                if end.offer(pool.offer(link as u8)) {
                    self.stirred |= 1 << link;
                }
            }
        }
    }
}

impl<C: Capacities> Subject for Router<C> {
    fn address(&self) -> Node {
        self.address()
    }

    fn report(&self, now: Micros) -> NodeReport {
        let Forwarding { location, wiring, .. } = &self.forwarding;
        let up = wiring.ports().filter(|(_, link)| link.is_some()).count();
        NodeReport {
            network: location.network.id(),
            address: location.here,
            epoch: location.epoch,
            uptime_ms: now.saturating_sub(location.started) / 1_000,
            links: self.links.len() as u8,
            neighbors: wiring.ports().count() as u8,
            neighbors_up: up as u8,
            card: self.services.card.clone(),
        }
    }

    fn counters(&self) -> &RouterCounters {
        self.counters()
    }

    fn refusal(&self, port: AppPort) -> AppStatus {
        match self.services.admission(port, self.forwarding.pool.inbox_has_room()) {
            Admission::PortUnreachable => AppStatus::PortUnreachable,
            _ => AppStatus::Busy,
        }
    }

    fn link_report(&self, link: u8) -> Option<LinkReport> {
        let end = self.links.get(usize::from(link))?;
        let wired = self.forwarding.wiring.neighbor_at(link).is_some();
        Some(end.report(wired, self.forwarding.waiting(link)))
    }
}

/// Additional hops for detours, beyond twice the longest route: twice the number of nodes leads past all of
/// them and back, within this minimum and maximum.
const DETOUR_HOPS: u64 = 128;
const MAX_DETOUR_HOPS: u64 = 2_048;
/// With so many nodes an address has one byte, and so has the hop limit: it still leads past all of them and back.
const ONE_BYTE_NODES: u64 = 128;

/// Counters wrap rather than saturate.
fn add(counter: &mut u32, count: u32) {
    *counter = counter.wrapping_add(count);
}
