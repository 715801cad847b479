//! The whole node: a neighbor that is as it should be, strangers at its other links, and an application, all of which do
//! what the input says.

use hopwise_core::Network;
use hopwise_node::limits::{BUFFERS, INBOX, OUTSTANDING, PORTS};
use hopwise_node::link::{Link, Micros, Received};
use hopwise_node::router::{Config, Router, times};
use hopwise_node::wire::{AppPort, Header, Identity, Kind, MAX_HEADER, Query, Role, WIRE};

use hopwise_testing::fuzz::{Input, random_bytes};
use hopwise_testing::networks;

/// The end of a wire that sends whatever it likes, in good frames.
struct Stranger {
    end: Link<WIRE>,
    next_token: u8,
    full: bool,
}

struct World {
    network: Network,
    now: Micros,
    /// The node under test, and a neighbor at its link 0.
    nodes: [Box<Router>; 2],
    /// At the first node's links from 1.
    strangers: Vec<Stranger>,
    epoch: u32,
    baud: u32,
}

impl World {
    fn new(input: &mut Input) -> World {
        let network: Network = input.one_of(&networks("fuzzed")).parse().expect("a network");
        let here = u64::from(input.byte()) % network.nodes();
        let near = network.neighbor(here, 0).expect("a node");
        let near = near.expect("every node has a neighbor");
        let now = if input.byte() == 0 {
            u64::MAX - 10_000_000
        } else {
            input.number() >> 8
        };
        let baud = input.one_of(&[115_200, 1_000_000, 1_000_000, 9_600, 0, u32::MAX]);
        let node =
            |address| Box::new(Router::new(&config(network, address, 1, baud), now).expect("it has links enough"));
        let mut world = World {
            network,
            now,
            nodes: [node(here), node(near)],
            strangers: Vec::new(),
            epoch: 1,
            baud,
        };
        world.strangers = (1..PORTS).map(|link| world.stranger(link, 0, input)).collect();
        world
    }

    /// Someone new at a link: by `guise` the neighbor that belongs there, a host, or anyone.
    fn stranger(&mut self, link: usize, guise: u8, input: &mut Input) -> Stranger {
        let here = self.nodes[0].address();
        let neighbor = self.network.neighbor(here, link as u64).ok().flatten();
        self.epoch += 1;
        let identity = Identity {
            role: if guise == 1 || neighbor.is_none() {
                Role::Host
            } else {
                Role::Node
            },
            network: if guise == 2 {
                input.number() as u32
            } else {
                self.network.id()
            },
            address: if guise == 3 {
                input.number()
            } else {
                neighbor.unwrap_or(0)
            },
            port: link as u8,
            epoch: self.epoch,
            mtu: 255,
        };
        Stranger {
            end: Link::welcoming(identity, 1_000_000, self.now),
            next_token: 0,
            full: false,
        }
    }

    fn wait(&mut self, micros: u64) {
        self.now = self.now.saturating_add(micros);
        for node in &mut self.nodes {
            node.tick(self.now, &mut ());
        }
        for stranger in &mut self.strangers {
            stranger.end.tick(self.now);
            while stranger.end.abandoned().is_some() {}
        }
    }

    /// Sends a frame from one of the two nodes, if it has one; `damage` sees it on the way.
    fn transmit(&mut self, from: usize, link: u8, damage: impl FnOnce(&mut Vec<u8>)) -> bool {
        let mut out = [0; WIRE];
        let length = self.nodes[from].transmit(link, self.now, &mut out, &mut ());
        assert!(length <= WIRE);
        let mut bytes = out[..length].to_vec();
        damage(&mut bytes);
        if link == 0 {
            self.nodes[1 - from].receive(0, &bytes, self.now, &mut ());
        } else if let (0, Some(stranger)) = (from, self.strangers.get_mut(usize::from(link) - 1)) {
            stranger.hear(&bytes, self.now);
        }
        length > 0
    }

    fn stranger_sends(&mut self, link: usize) {
        let mut out = [0; WIRE];
        let stranger = &mut self.strangers[link - 1];
        if let Some(length) = stranger.end.write_control(self.now, &mut out) {
            self.nodes[0].receive(link as u8, &out[..length], self.now, &mut ());
        }
    }

    fn talk(&mut self, rounds: usize) {
        for _ in 0..rounds {
            for link in 0..PORTS as u8 {
                self.transmit(0, link, |_| ());
                self.transmit(1, link, |_| ());
                if link > 0 {
                    self.stranger_sends(usize::from(link));
                }
            }
            self.wait(700);
        }
    }

    fn application(&mut self, input: &mut Input) {
        let who = input.below(2);
        let dest = if input.byte() < 240 {
            u64::from(input.byte()) % self.network.nodes()
        } else {
            input.number()
        };
        let length = input.below(210);
        let payload = vec![input.byte(); length];
        let port = AppPort(input.byte() % 4);
        let (node, now) = (&mut self.nodes[who], self.now);
        if input.below(8) == 0 {
            let _ = node.serve(port, input.byte() % 4);
        } else if input.below(16) == 0 {
            node.close(port);
        }
        let _ = match input.below(4) {
            0 => node.send(dest, port, &payload, now, &mut ()),
            1 => node.send_confirmed(dest, port, &payload, now, &mut ()),
            2 => node.broadcast(port, &payload, now, &mut ()),
            _ => {
                let query = Query::from_number(input.byte() % 8).unwrap_or(Query::Application(port));
                node.ask(dest, query, &payload, now, &mut ())
            }
        };
    }

    /// A body, with a trail of some nodes if it is to have one, or with what only looks like one.
    fn strange_body(&self, trail: bool, input: &mut Input) -> Vec<u8> {
        let length = input.below(256);
        let mut body = vec![input.byte(); length];
        let first = input.bytes(6);
        let known = first.len().min(length);
        body[..known].copy_from_slice(&first[..known]);
        if trail && input.byte() < 200 {
            let visits: Vec<u8> = (0..input.below(8)).map(|_| input.byte() & 0x7f).collect();
            body.extend(&visits);
            body.push(visits.len() as u8);
        }
        body
    }

    fn strange_packet(&mut self, input: &mut Input) {
        let link = 1 + input.below(PORTS - 1);
        let channel = input.byte();
        let nodes = self.network.nodes();
        let node = |input: &mut Input| {
            if input.byte() < 250 {
                u64::from(input.byte()) % nodes
            } else {
                input.number()
            }
        };
        let flags = input.byte();
        let header = Header {
            kind: Kind::from_number(input.byte() % 8).unwrap_or(Kind::Datagram),
            copied: flags & 1 != 0,
            trail: flags & 2 != 0,
            traced: flags & 4 != 0,
            to_host: flags & 0x18 == 0x18,
            from_host: flags & 0x60 == 0x60,
            hops_left: input.number() as u16,
            age: (input.number() >> 52) as u16,
            epoch: u16::from(input.byte() % 3),
            number: input.byte().into(),
            source: node(input),
            dest: node(input),
        };
        let mut bytes = [0; MAX_HEADER];
        let length = header.write(&mut bytes).expect("room for any header");
        let length = if flags == 0xff { input.below(length) } else { length };
        let body = self.strange_body(header.trail, input);
        let stranger = &mut self.strangers[link - 1];
        let mut out = [0; WIRE];
        let token = stranger.next_token;
        stranger.next_token = token.wrapping_add(1);
        if let Some(length) = stranger
            .end
            .write_packet(token, channel, [&bytes[..length], &body], self.now, &mut out)
        {
            self.nodes[0].receive(link as u8, &out[..length], self.now, &mut ());
        }
    }

    fn act(&mut self, input: &mut Input) {
        let act = input.byte() % 16;
        // What takes links down is rare, or nothing would ever be said on them.
        if matches!(act, 2 | 11 | 12) && input.byte() >= 48 {
            return self.talk(6);
        }
        match act {
            0 => self.wait(u64::from(input.byte())),
            1 => self.wait(u64::from(input.byte()) * 1_000),
            2 => self.wait(input.number() >> 16),
            3 => {
                let (from, link) = (input.below(2), input.byte() % 8);
                self.transmit(from, link, |bytes| {
                    let damage = [input.byte(), input.byte()];
                    match input.byte() % 4 {
                        0 => bytes.clear(),
                        1 => bytes.truncate(usize::from(damage[0])),
                        2 => bytes.extend_from_within(bytes.len().saturating_sub(usize::from(damage[0]))..),
                        _ => {
                            let length = bytes.len().max(1);
                            if let Some(byte) = bytes.get_mut(usize::from(damage[0]) % length) {
                                *byte ^= damage[1];
                            }
                        }
                    }
                });
            }
            4 => {
                let (to, link, length) = (input.below(2), input.byte() % 8, input.below(64));
                self.nodes[to].receive(link, input.bytes(length), self.now, &mut ());
            }
            5..=7 => self.application(input),
            8 => {
                let who = input.below(2);
                for _ in 0..=INBOX {
                    self.nodes[who].next_message();
                    self.nodes[who].next_outcome();
                }
            }
            9 => self.nodes[input.below(2)].clear_counters(),
            10 => self.strangers[input.below(PORTS - 1)].full ^= true,
            11 => {
                let link = 1 + input.below(PORTS - 1);
                let guise = input.byte() % 4;
                self.strangers[link - 1] = self.stranger(link, guise, input);
            }
            12 => {
                self.epoch += 1;
                let config = config(self.network, self.nodes[1].address(), self.epoch, self.baud);
                *self.nodes[1] = Router::new(&config, self.now).expect("it was there before");
            }
            13 | 14 => self.strange_packet(input),
            _ => self.talk(input.below(24)),
        }
    }

    fn check(&self) {
        for node in &self.nodes {
            let counters = node.counters();
            assert_eq!(counters.held(), node.held(), "at node {}: {counters:?}", node.address());
            assert!(node.packets().count() <= BUFFERS);
            assert!(counters.buffers_used <= BUFFERS as u32);
        }
    }

    /// A shell that sends what there is to send and looks at the clock when told to does not spin.
    fn does_not_spin(&mut self) {
        // At the end of time it is always time.
        if self.now == Micros::MAX {
            return;
        }
        for _ in 0..4 {
            for link in 0..PORTS as u8 {
                let frames = (0..1_000).take_while(|_| self.transmit(0, link, Vec::clear)).count();
                assert!(frames < 1_000, "link {link} has no end of frames to send");
            }
            self.nodes[0].tick(self.now, &mut ());
        }
        let deadline = self.nodes[0].deadline();
        let now = self.now;
        assert!(deadline > now || now == Micros::MAX, "deadline {deadline} at {now}");
    }

    /// All cables are pulled: in time every packet is gone, and every confirmed one has had its outcome.
    fn ends_empty(&mut self) {
        let end = self.now.saturating_add(4 * (times::CONFIRM_WITHIN + times::LIFETIME));
        let mut outcomes = 0;
        while self.now < end {
            self.wait(50_000);
            for node in &mut self.nodes {
                while node.next_message().is_some() {}
                while node.next_outcome().is_some() {
                    outcomes += 1;
                }
            }
            self.check();
        }
        assert!(outcomes <= 2 * OUTSTANDING);
        // At the slowest speeds silence is noticed after hours.
        if end < Micros::MAX && self.baud >= 9_600 {
            for node in &self.nodes {
                let left: Vec<_> = node.packets().collect();
                assert!(left.is_empty(), "node {} still has {left:?}", node.address());
                assert_eq!(node.held(), 0);
            }
        }
    }
}

impl Stranger {
    fn hear(&mut self, mut bytes: &[u8], now: Micros) {
        while let Some(received) = self.end.receive(&mut bytes, now) {
            if matches!(received, Received::Packet { .. }) && !self.full {
                self.end.take();
            }
            while self.end.completed().is_some() {}
            while self.end.abandoned().is_some() {}
        }
    }
}

fn config(network: Network, address: u64, epoch: u32, baud: u32) -> Config {
    Config {
        baud,
        hosts: u32::MAX,
        ..Config::new(network, address, epoch, PORTS as u8)
    }
}

/// Lives through what the input says, and looks at the accounts after every step.
fn live(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut world = World::new(&mut input);
    world.talk(8);
    while !input.is_empty() {
        world.act(&mut input);
        world.check();
    }
    world.does_not_spin();
    world.ends_empty();
}

#[test]
fn a_node_keeps_its_accounts_whatever_happens() {
    hopwise_testing::check!(1_024, live);
}

/// The same for longer, by chance: what fuzzers make up by themselves is short.
#[test]
fn a_node_keeps_its_accounts_in_a_long_life() {
    (0..100).for_each(|seed| live(&random_bytes(seed, 3_000)));
    bolero::check!()
        .with_type::<u64>()
        .for_each(|&seed| live(&random_bytes(seed, 3_000)));
}
