//! Some boards, the cables between them, and virtual time.
//!
//! A board is a router with an application that notes what it gets; in its place, or beside it, a [`Stranger`] can be plugged in.

use std::collections::VecDeque;

use super::stranger::Stranger;
use crate::support::*;
#[cfg(feature = "keys")]
use hopwise_node::key::{Credentials, Key, Secret};
use hopwise_node::router::{Attention, Message};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Got {
    pub(crate) kind: MessageKind,
    pub(crate) source: Node,
    pub(crate) port: AppPort,
    pub(crate) number: u32,
    pub(crate) asked: u32,
    pub(crate) payload: Vec<u8>,
    pub(crate) from_host: bool,
    pub(crate) at: Micros,
}

impl Got {
    pub(crate) fn of(message: &Message<BODY>, at: Micros) -> Got {
        Got {
            kind: message.kind,
            source: message.source,
            port: message.port,
            number: message.number,
            asked: message.asked,
            payload: message.payload.to_vec(),
            from_host: message.from_host,
            at,
        }
    }
}

#[derive(Default)]
pub(crate) struct Notes(pub(crate) Vec<Event>);

impl Observer for Notes {
    fn note(&mut self, event: Event) {
        self.0.push(event);
    }
}

pub(crate) struct Board {
    pub(crate) router: Box<Router>,
    config: Config,
    pub(crate) got: Vec<Got>,
    pub(crate) outcomes: Vec<(u32, Outcome)>,
    pub(crate) events: Notes,
    pub(crate) fetches: bool,
    /// What a shell knows that goes by [`Router::attention`] alone: links to be asked, and when to tick.
    due: u32,
    alarm: Micros,
}

enum Who {
    Board(Box<Board>),
    Stranger(Box<Stranger>),
}

#[derive(Default)]
struct Plug {
    /// The station and plug at the other end.
    to: Option<(usize, u8)>,
    /// What is sent here does not come through.
    mute: bool,
    /// Nor do frames that are longer than this.
    longest: usize,
    free_at: Micros,
    inbound: VecDeque<(Micros, Vec<u8>)>,
}

struct Station {
    who: Who,
    on: bool,
    plugs: Vec<Plug>,
    next: Micros,
}

pub(crate) struct Mesh {
    pub(crate) now: Micros,
    pub(crate) network: Network,
    baud: u32,
    stations: Vec<Station>,
    noise: Random,
    /// Of so many bits one is flipped, on all cables; 0 for none.
    pub(crate) flip_one_in: u64,
    pub(crate) overheard: Vec<Vec<u8>>,
}

/// The application that sends and gets, unless a test says otherwise.
pub(crate) const APP: AppPort = AppPort(20);

pub(crate) const BAUD: u32 = 1_000_000;

impl Mesh {
    /// All boards of a network, wired as they should be and just switched on.
    pub(crate) fn new(expression: &str) -> Mesh {
        let network = network(expression);
        let mut mesh = Mesh {
            now: START,
            network,
            baud: BAUD,
            stations: Vec::new(),
            noise: Random(1),
            flip_one_in: 0,
            overheard: Vec::new(),
        };
        for address in 0..network.nodes() {
            let config = Config {
                hosts: 1 << (PORTS - 1),
                ..Config::new(network, address, 1, PORTS as u8)
            };
            let board = Board {
                router: Box::new(Router::new(&config, mesh.now).expect("a board with enough links")),
                config,
                got: Vec::new(),
                outcomes: Vec::new(),
                events: Notes::default(),
                fetches: true,
                due: 0,
                alarm: 0,
            };
            mesh.add(Who::Board(Box::new(board)), PORTS);
        }
        for node in 0..network.nodes() {
            for port in 0..network.degree(node).expect("a node") {
                let (to, back) = mesh.beyond(node, port);
                mesh.stations[node as usize].plugs[port as usize].to = Some((to as usize, back as u8));
            }
        }
        mesh
    }

    /// The same, and all links have been up for a while.
    pub(crate) fn up(expression: &str) -> Mesh {
        let mut mesh = Mesh::new(expression);
        mesh.come_up();
        mesh.run(100 * MILLISECOND);
        mesh
    }

    #[cfg(feature = "keys")]
    pub(crate) fn keyed(expression: &str, encrypts: bool) -> Mesh {
        let mut mesh = Mesh::new(expression);
        for node in 0..mesh.network.nodes() {
            let credentials = Credentials {
                secret: Secret::new(Key::new([9; 16]), encrypts),
                random: [node as u8; 16],
            };
            mesh.board_mut(node).router.lock(&credentials);
        }
        mesh.come_up();
        mesh.run(100 * MILLISECOND);
        mesh
    }

    /// The neighbor at a port, and its port that leads back.
    pub(crate) fn beyond(&self, node: Node, port: u64) -> (Node, u64) {
        let to = self.network.neighbor(node, port).expect("a node").expect("a port");
        let back = self.network.port_to(to, node).expect("nodes").expect("links lead back");
        (to, back)
    }

    fn add(&mut self, who: Who, plugs: usize) -> usize {
        let plug = || Plug {
            longest: usize::MAX,
            ..Plug::default()
        };
        self.stations.push(Station {
            who,
            on: true,
            plugs: (0..plugs).map(|_| plug()).collect(),
            next: 0,
        });
        self.stations.len() - 1
    }

    /// Waits until every board that is on reaches a neighbor by each of its cables.
    pub(crate) fn come_up(&mut self) {
        let reached = |station: &Station| match &station.who {
            Who::Board(board) if station.on => {
                let up = board.router.neighbors().filter(|(_, link)| link.is_some()).count();
                up == station.plugs.iter().filter(|plug| plug.to.is_some()).count()
            }
            _ => true,
        };
        let up = self.run_until(2 * SECOND, |mesh| mesh.stations.iter().all(reached));
        assert!(up, "{}: not all links came up", self.network);
    }

    pub(crate) fn boards(&self) -> impl Iterator<Item = &Board> {
        self.stations
            .iter()
            .filter(|station| station.on)
            .filter_map(|station| match &station.who {
                Who::Board(board) => Some(&**board),
                Who::Stranger(_) => None,
            })
    }

    pub(crate) fn board(&self, node: Node) -> &Board {
        match &self.stations[node as usize].who {
            Who::Board(board) => board,
            Who::Stranger(_) => panic!("{node} is a stranger"),
        }
    }

    /// A board, to do something with it: it is looked at soon.
    pub(crate) fn board_mut(&mut self, node: Node) -> &mut Board {
        let station = &mut self.stations[node as usize];
        station.next = 0;
        match &mut station.who {
            Who::Board(board) => board,
            Who::Stranger(_) => panic!("{node} is a stranger"),
        }
    }

    pub(crate) fn stranger(&self, at: usize) -> &Stranger {
        match &self.stations[at].who {
            Who::Stranger(stranger) => stranger,
            Who::Board(_) => panic!("{at} is a board"),
        }
    }

    pub(crate) fn stranger_mut(&mut self, at: usize) -> &mut Stranger {
        let station = &mut self.stations[at];
        station.next = 0;
        match &mut station.who {
            Who::Stranger(stranger) => stranger,
            Who::Board(_) => panic!("{at} is a board"),
        }
    }

    /// A stranger is to send a packet in virtual channel 0.
    pub(crate) fn post(&mut self, at: usize, header: &Header, body: &[u8]) {
        self.stranger_mut(at).send(0, header, body);
    }

    /// Plugs a stranger into a link of a board, in place of what was there. Returns its number.
    pub(crate) fn plug_in(&mut self, node: Node, link: u8, identity: Identity) -> usize {
        self.unplug(node, link);
        let stranger = Stranger::new(identity, self.baud, self.now);
        let at = self.add(Who::Stranger(Box::new(stranger)), 1);
        self.join((node as usize, link), (at, 0));
        at
    }

    /// A stranger in place of a neighbor, who says it is that.
    pub(crate) fn impersonate(&mut self, node: Node, neighbor: Node) -> usize {
        let link = self.link_between(node, neighbor);
        let identity = self.identity(neighbor, self.link_between(neighbor, node));
        self.plug_in(node, link, identity)
    }

    pub(crate) fn identity(&self, address: Node, port: u8) -> Identity {
        Identity {
            role: Role::Node,
            network: self.network.id(),
            address,
            port,
            epoch: 77,
            mtu: (BODY + MAX_HEADER) as u16,
        }
    }

    pub(crate) fn host_identity(&self) -> Identity {
        Identity {
            role: Role::Host,
            ..self.identity(0, 0)
        }
    }

    /// A host at the last link of a board.
    pub(crate) fn host(&mut self, node: Node) -> usize {
        let at = self.plug_in(node, PORTS as u8 - 1, self.host_identity());
        assert!(self.run_until(SECOND, |mesh| mesh.board(node).router.host_link().is_some()));
        at
    }

    fn plug(&mut self, (station, plug): (usize, u8)) -> &mut Plug {
        self.stations[station].next = 0;
        &mut self.stations[station].plugs[usize::from(plug)]
    }

    pub(crate) fn lay(&mut self, one: (Node, u8), other: (Node, u8)) {
        self.join((one.0 as usize, one.1), (other.0 as usize, other.1));
    }

    fn join(&mut self, one: (usize, u8), other: (usize, u8)) {
        self.plug(one).to = Some(other);
        self.plug(other).to = Some(one);
    }

    /// Pulls a cable out. What is on it is lost.
    pub(crate) fn unplug(&mut self, node: Node, link: u8) {
        let here = (node as usize, link);
        self.plug(here).inbound.clear();
        if let Some(there) = self.plug(here).to.take() {
            self.plug(there).to = None;
            self.plug(there).inbound.clear();
        }
    }

    fn link_between(&self, one: Node, other: Node) -> u8 {
        let port = self.network.port_to(one, other).expect("nodes");
        port.expect("the nodes are linked") as u8
    }

    /// Cuts the cable between two neighbors, in both directions.
    pub(crate) fn cut(&mut self, one: Node, other: Node) {
        self.set_mute(one, other, true);
        self.set_mute(other, one, true);
    }

    pub(crate) fn restore(&mut self, one: Node, other: Node) {
        self.set_mute(one, other, false);
        self.set_mute(other, one, false);
    }

    /// Nothing comes through from one neighbor to another, not even what is on its way, or it does again.
    pub(crate) fn set_mute(&mut self, from: Node, to: Node, mute: bool) {
        let link = self.link_between(from, to);
        let plug = self.plug((from as usize, link));
        plug.mute = mute;
        if let Some(there) = plug.to.filter(|_| mute) {
            self.plug(there).inbound.clear();
        }
    }

    /// Frames longer than so many bytes are lost on the cable between two neighbors.
    pub(crate) fn lose_longer(&mut self, one: Node, other: Node, bytes: usize) {
        for (from, to) in [(one, other), (other, one)] {
            let link = self.link_between(from, to);
            self.plug((from as usize, link)).longest = bytes;
        }
    }

    pub(crate) fn swap(&mut self, node: Node, one: u8, other: u8) {
        let ends = [one, other].map(|link| self.plug((node as usize, link)).to);
        self.unplug(node, one);
        self.unplug(node, other);
        for (link, end) in [one, other].into_iter().zip([ends[1], ends[0]]) {
            if let Some(end) = end {
                self.join((node as usize, link), end);
            }
        }
    }

    /// Pulls the cable out of a link of a board, waits, and puts it into another.
    pub(crate) fn move_cable(&mut self, node: Node, from: u8, to: u8, wait: Micros) {
        let end = self.plug((node as usize, from)).to.expect("a cable");
        self.unplug(node, from);
        self.run(wait);
        self.unplug(node, to);
        self.join((node as usize, to), end);
    }

    pub(crate) fn switch_off(&mut self, node: Node) {
        self.stations[node as usize].on = false;
        for plug in &mut self.stations[node as usize].plugs {
            plug.inbound.clear();
        }
    }

    /// Starts a board again, with the next epoch. Its application has forgotten nothing.
    pub(crate) fn restart(&mut self, node: Node) {
        let epoch = self.board(node).config.epoch + 1;
        self.restart_as(node, epoch);
    }

    pub(crate) fn restart_as(&mut self, node: Node, epoch: u32) {
        self.switch_off(node);
        self.stations[node as usize].on = true;
        let now = self.now;
        let board = self.board_mut(node);
        board.config.epoch = epoch;
        *board.router = Router::new(&board.config, now).expect("it was there before");
    }

    pub(crate) fn noise(&mut self, seed: u64, flip_one_in: u64) {
        self.noise = Random(seed);
        self.flip_one_in = flip_one_in;
    }

    pub(crate) fn run(&mut self, micros: Micros) {
        self.run_until(micros, |_| false);
    }

    /// Goes on until `done`, or for so long; says whether it was done.
    pub(crate) fn run_until(&mut self, micros: Micros, done: impl Fn(&Mesh) -> bool) -> bool {
        let end = self.now + micros;
        loop {
            for at in 0..self.stations.len() {
                if self.stations[at].on && self.stations[at].next <= self.now {
                    self.serve(at);
                }
            }
            if done(self) {
                return true;
            }
            let on = self.stations.iter().filter(|station| station.on);
            let next = on.map(|station| station.next).min().unwrap_or(end);
            if next > end {
                self.now = end;
                return done(self);
            }
            self.now = next.max(self.now + 1);
        }
    }

    /// Lets a station do what there is to do now.
    fn serve(&mut self, at: usize) {
        let (now, baud) = (self.now, self.baud);
        let station = &mut self.stations[at];
        for link in 0..station.plugs.len() as u8 {
            let plug = &mut station.plugs[usize::from(link)];
            while plug.inbound.front().is_some_and(|(when, _)| *when <= now) {
                let bytes = plug.inbound.pop_front().map(|(_, bytes)| bytes).unwrap_or_default();
                station.who.receive(link, &bytes, now);
            }
        }
        station.who.tick(now);
        let mut sent = Vec::new();
        for (link, plug) in station.plugs.iter_mut().enumerate() {
            // A cable that leads nowhere is silent, so that it costs nothing.
            if plug.free_at > now {
                continue;
            }
            let mut out = [0; WIRE];
            let length = station.who.transmit(link as u8, now, &mut out);
            if length > 0 {
                plug.free_at = now + (length as u64 * 10 * SECOND).div_ceil(baud.into());
                if let Some(to) = plug.to.filter(|_| !plug.mute && length <= plug.longest) {
                    sent.push((to, plug.free_at, out[..length].to_vec()));
                }
            }
        }
        let free = station.plugs.iter().map(|plug| plug.free_at).filter(|&free| free > now);
        let arrivals = station.plugs.iter().filter_map(|plug| plug.inbound.front());
        let moments = free.chain(arrivals.map(|&(when, _)| when));
        station.next = moments.fold(station.who.deadline(), Micros::min).max(now + 1);
        for ((to, plug), when, mut bytes) in sent {
            self.overheard.push(bytes.clone());
            self.disturb(&mut bytes);
            let there = &mut self.stations[to];
            if there.on {
                there.plugs[usize::from(plug)].inbound.push_back((when, bytes));
                there.next = there.next.min(when);
            }
        }
    }

    fn disturb(&mut self, bytes: &mut [u8]) {
        if self.flip_one_in == 0 {
            return;
        }
        for byte in bytes {
            for bit in 0..8 {
                if self.noise.below(self.flip_one_in) == 0 {
                    *byte ^= 1 << bit;
                }
            }
        }
    }

    /// Does something with the router of a board now, and notes what it reports.
    pub(crate) fn act<T>(&mut self, node: Node, act: impl FnOnce(&mut Router, Micros, &mut Notes) -> T) -> T {
        let now = self.now;
        self.board_mut(node).act(|router, note| act(router, now, note))
    }

    pub(crate) fn send(&mut self, from: Node, to: Node, payload: &[u8]) -> Result<u32, SendError> {
        self.act(from, |router, now, note| router.send(to, APP, payload, now, note))
    }

    pub(crate) fn confirmed(&mut self, from: Node, to: Node, payload: &[u8]) -> Result<u32, SendError> {
        self.act(from, |router, now, note| {
            router.send_confirmed(to, APP, payload, now, note)
        })
    }

    pub(crate) fn broadcast(&mut self, from: Node, payload: &[u8]) -> Result<u32, SendError> {
        self.act(from, |router, now, note| router.broadcast(APP, payload, now, note))
    }

    pub(crate) fn ask(&mut self, from: Node, to: Node, query: Query, more: &[u8]) -> Result<u32, SendError> {
        self.act(from, |router, now, note| router.ask(to, query, more, now, note))
    }

    /// Every board's account adds up, and nothing is left in its buffers.
    pub(crate) fn assert_at_rest(&self) {
        for board in self.boards() {
            let (router, counters) = (&board.router, board.router.counters());
            assert_eq!(router.held(), 0, "node {} still holds packets", router.address());
            assert_eq!(counters.held(), 0, "node {}: {counters:?}", router.address());
            assert_eq!(router.packets().count(), 0, "node {}", router.address());
        }
    }
}

impl Board {
    /// Does something with the router and notes what it reports.
    pub(crate) fn act<T>(&mut self, act: impl FnOnce(&mut Router, &mut Notes) -> T) -> T {
        act(&mut self.router, &mut self.events)
    }

    /// Nothing escapes a shell that goes by [`Router::attention`] alone.
    fn attend(&mut self, now: Micros) {
        let Attention { due, deadline, .. } = self.router.attention(now);
        self.due |= due;
        self.alarm = self.alarm.min(deadline);
        let (alarm, true_deadline) = (self.alarm, self.router.deadline());
        assert!(alarm <= true_deadline, "a tick at {alarm} is too late: {true_deadline}");
        for link in 0..self.router.links().len() as u8 {
            let is_known = self.due >> link & 1 == 1 || alarm <= now;
            let is_silent = !self.router.wants_to_transmit(link, now);
            assert!(is_known || is_silent, "link {link} is forgotten");
        }
    }

    /// Starts again, and takes hosts for such at these links.
    pub(crate) fn allow_hosts(&mut self, links: u32, now: Micros) {
        self.config.hosts = links;
        *self.router = Router::new(&self.config, now).expect("it was there before");
    }

    pub(crate) fn payloads(&self) -> Vec<(Node, &[u8])> {
        self.got.iter().map(|got| (got.source, &got.payload[..])).collect()
    }

    pub(crate) fn dropped(&self, reason: DropReason) -> u32 {
        self.router.counters().dropped[reason as usize]
    }

    pub(crate) fn count(&self, what: impl Fn(&Event) -> bool) -> usize {
        self.events.0.iter().filter(|event| what(event)).count()
    }

    pub(crate) fn ups(&self) -> usize {
        self.count(|event| matches!(event, Event::LinkUp { .. }))
    }

    pub(crate) fn downs(&self, why: Down) -> usize {
        self.count(|event| matches!(event, Event::LinkDown { reason, .. } if *reason == why))
    }
}

impl Who {
    fn receive(&mut self, link: u8, bytes: &[u8], now: Micros) {
        match self {
            Who::Board(board) => {
                board.attend(now);
                board.act(|router, note| router.receive(link, bytes, now, note));
                board.attend(now);
            }
            Who::Stranger(stranger) => stranger.receive(bytes, now),
        }
    }

    fn tick(&mut self, now: Micros) {
        match self {
            Who::Board(board) => {
                board.attend(now);
                board.act(|router, note| router.tick(now, note));
                board.alarm = board.router.deadline();
                if board.fetches {
                    board.fetch(now);
                }
            }
            Who::Stranger(stranger) => {
                if let Some(Received::Down(reason)) = stranger.link.tick(now) {
                    stranger.downs.push(reason);
                }
                stranger.settle();
            }
        }
    }

    fn transmit(&mut self, link: u8, now: Micros, out: &mut [u8]) -> usize {
        match self {
            Who::Board(board) => {
                board.attend(now);
                board.due &= !(1 << link);
                let length = board.act(|router, note| router.transmit(link, now, out, note));
                if length > 0 {
                    board.attend(now);
                }
                length
            }
            Who::Stranger(stranger) => stranger.transmit(now, out).unwrap_or(0),
        }
    }

    fn deadline(&self) -> Micros {
        match self {
            Who::Board(board) => board.router.deadline(),
            Who::Stranger(stranger) => stranger.link.deadline(),
        }
    }
}

impl Board {
    pub(crate) fn fetch(&mut self, now: Micros) {
        while let Some(message) = self.router.next_message() {
            self.got.push(Got::of(&message, now));
        }
        while let Some(outcome) = self.router.next_outcome() {
            self.outcomes.push(outcome);
        }
    }
}
