//! One link that asks and answers, at a stranger that sends whatever it likes in good frames.

use hopwise_node::endpoint::{Endpoint, Heard};
use hopwise_node::link::{Link, Received};
use hopwise_node::wire::{Header, Identity, Kind, MAX_HEADER, Query, Role, WIRE};

use hopwise_testing::fuzz::Input;

const SLOTS: u32 = 3;

struct HostEnd {
    now: u64,
    endpoint: Endpoint<{ SLOTS as usize }>,
    stranger: Link<WIRE>,
    next_token: u8,
}

impl HostEnd {
    fn new(host: bool) -> Self {
        let identity = Identity {
            role: Role::Host,
            network: 0,
            address: 0,
            port: 0,
            epoch: 5,
            mtu: 255,
        };
        HostEnd {
            now: 0,
            endpoint: if host {
                Endpoint::host(1, 1_000_000, 0)
            } else {
                Endpoint::board(5, 6, 1, 1_000_000, 0)
            },
            stranger: Link::welcoming(identity, 1_000_000, 0),
            next_token: 0,
        }
    }

    fn hear(&mut self, mut bytes: &[u8]) {
        while let Some(heard) = self.endpoint.receive(&mut bytes, self.now) {
            match heard {
                Heard::Request(request) => {
                    assert_eq!(request.header.kind, Kind::Request);
                    assert!(self.endpoint.reply(&request, b"answer"), "there is room for a response");
                }
                Heard::Packet(packet) => assert!(packet.content().is_some(), "it can be read"),
                Heard::Up(_) | Heard::Down(_) => {}
            }
        }
        assert!(bytes.is_empty(), "all bytes are used");
    }

    fn talk(&mut self, take: bool) {
        let mut out = [0; WIRE];
        for _ in 0..8 {
            self.now += 500;
            self.endpoint.tick(self.now);
            self.stranger.tick(self.now);
            let length = self.endpoint.transmit(self.now, &mut out);
            let mut bytes = &out[..length];
            while let Some(received) = self.stranger.receive(&mut bytes, self.now) {
                if matches!(received, Received::Packet { .. }) && take {
                    self.stranger.take();
                }
                while self.stranger.completed().is_some() {}
                while self.stranger.abandoned().is_some() {}
            }
            if let Some(length) = self.stranger.write_control(self.now, &mut out) {
                self.hear(&out[..length]);
            }
        }
    }

    fn strange_packet(&mut self, input: &mut Input) {
        let kind = Kind::from_number(input.byte() % 8).unwrap_or(Kind::Request);
        let flags = input.byte();
        let header = Header {
            trail: flags & 1 != 0,
            traced: flags & 2 != 0,
            from_host: flags & 4 != 0,
            number: input.byte().into(),
            ..Header::new(kind, input.number(), input.number())
        };
        let mut bytes = [0; MAX_HEADER];
        let length = header.write(&mut bytes).expect("room for any header");
        let body = input.below(256);
        let body = input.bytes(body);
        let mut out = [0; WIRE];
        let token = self.next_token;
        self.next_token = token.wrapping_add(1);
        let parts = [&bytes[..length], body];
        if let Some(length) = self.stranger.write_packet(token, 0, parts, self.now, &mut out) {
            self.hear(&out[..length]);
        }
    }

    /// Its account adds up: what it holds is what it has room for no more.
    fn check(&self) {
        let held = self.endpoint.counters().held();
        assert!(held <= SLOTS, "it holds {held} packets");
        assert_eq!(held == 0, self.endpoint.is_idle());
        assert_eq!(held < SLOTS, self.endpoint.has_room());
    }
}

#[test]
fn an_endpoint_keeps_its_accounts_whatever_comes() {
    hopwise_testing::check!(512, |bytes: &[u8]| {
        let mut input = Input::new(bytes);
        let mut host_end = HostEnd::new(input.byte().is_multiple_of(2));
        host_end.talk(true);
        while !input.is_empty() {
            match input.byte() % 8 {
                0 => {
                    let length = input.below(64);
                    host_end.hear(input.bytes(length));
                }
                1 => host_end.now += u64::from(input.byte()) * 5_000,
                2 => host_end.talk(false),
                3 => {
                    let query = Query::from_number(input.byte() % 8).unwrap_or(Query::Board(3));
                    if let Some(packet) = host_end.endpoint.request(input.number(), query, b"x", host_end.now) {
                        let room = host_end.endpoint.has_room();
                        assert_eq!(host_end.endpoint.send(packet).is_ok(), room);
                    }
                }
                4 => host_end.talk(true),
                _ => host_end.strange_packet(&mut input),
            }
            host_end.check();
        }
    });
}
