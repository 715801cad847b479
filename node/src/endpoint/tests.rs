//! A host at a board without a config, and at one that is part of a mesh.

use std::boxed::Box;
use std::vec::Vec;

use super::*;
#[cfg(feature = "cipher")]
use crate::cipher::SEAL_BYTES;
#[cfg(feature = "cipher")]
use crate::key::{Credentials, Key, Secret};
use crate::router::{Config, MessageKind, Router};
use crate::wire::{Addressed, AppPort, Confirmed, Undeliverable, Verdict, read_structure};
use hopwise_core::Network;

const BAUD: u32 = 1_000_000;

type Host = Endpoint<6>;

enum Board {
    Without(Box<Endpoint<1>>),
    /// A node of a network, its host at link 5.
    In(Box<Router>),
}

fn datagram(payload: &[u8]) -> Content<'_> {
    let port = AppPort(20);
    Content::Datagram(Addressed::new(port, payload))
}

struct HostEnd {
    now: Micros,
    host: Host,
    board: Board,
    /// When each direction becomes free: of the host, of the board.
    free_at: [Micros; 2],
    heard: Vec<Heard>,
    /// Number of the board's frames to lose.
    lose: usize,
}

impl HostEnd {
    fn new(board: Board) -> Self {
        HostEnd {
            now: 0,
            host: Endpoint::host(1, BAUD, 0),
            board,
            free_at: [0; 2],
            heard: Vec::new(),
            lose: 0,
        }
    }

    fn without() -> Self {
        HostEnd::new(Board::Without(Box::new(Endpoint::board(5, 6, 9, BAUD, 0))))
    }

    fn part_of(network: &str, address: Node) -> Self {
        let network: Network = network.parse().unwrap();
        let config = Config {
            hosts: 1 << 5,
            ..Config::new(network, address, 3, 6)
        };
        HostEnd::new(Board::In(Box::new(Router::new(&config, 0).unwrap())))
    }

    fn unconfigured(&mut self) -> &mut Endpoint<1> {
        match &mut self.board {
            Board::Without(endpoint) => endpoint,
            Board::In(_) => panic!("it is in a mesh"),
        }
    }

    fn router(&mut self) -> &mut Router {
        match &mut self.board {
            Board::In(router) => router,
            Board::Without(_) => panic!("it has no config"),
        }
    }

    fn step(&mut self) {
        self.now += 100;
        let mut out = [0; WIRE];
        self.host.tick(self.now);
        if self.free_at[0] <= self.now {
            let length = self.host.transmit(self.now, &mut out);
            self.free_at[0] = self.now + self.host.wire_time(length);
            self.board_hears(&out[..length]);
        }
        if self.free_at[1] <= self.now {
            let length = match &mut self.board {
                Board::Without(endpoint) => {
                    endpoint.tick(self.now);
                    endpoint.transmit(self.now, &mut out)
                }
                Board::In(router) => {
                    router.tick(self.now, &mut ());
                    router.transmit(5, self.now, &mut out, &mut ())
                }
            };
            self.free_at[1] = self.now + self.host.wire_time(length);
            if length > 0 && self.lose > 0 {
                self.lose -= 1;
                return;
            }
            let mut bytes = &out[..length];
            while let Some(heard) = self.host.receive(&mut bytes, self.now) {
                self.heard.push(heard);
            }
        }
    }

    fn board_hears(&mut self, mut bytes: &[u8]) {
        match &mut self.board {
            Board::Without(endpoint) => {
                while let Some(heard) = endpoint.receive(&mut bytes, self.now) {
                    if let Heard::Request(request_packet) = heard {
                        assert!(endpoint.reply(&request_packet, b"done"));
                    }
                }
                assert_eq!(endpoint.counters.held(), endpoint.outgoing.len() as u32);
            }
            Board::In(router) => router.receive(5, bytes, self.now, &mut ()),
        }
    }

    fn run(&mut self, micros: Micros) {
        let end = self.now + micros;
        while self.now < end {
            self.step();
        }
    }

    fn ask(&mut self, dest: Node, query: Query, payload: &[u8]) -> u32 {
        let packet = self.host.request(dest, query, payload, self.now).unwrap();
        let number = packet.header.number;
        self.host.send(packet).unwrap();
        number
    }

    /// The responses received: number of the request, and payload.
    fn responses(&mut self) -> Vec<(u32, Vec<u8>)> {
        let heard = core::mem::take(&mut self.heard);
        let response = |heard: &Heard| match heard {
            Heard::Packet(packet) => match packet.content()? {
                Content::Response(response) => Some((response.number, response.payload.to_vec())),
                _ => None,
            },
            _ => None,
        };
        heard.iter().filter_map(response).collect()
    }
}

#[test]
fn a_board_without_configuration_answers_all_that_a_router_answers() {
    let mut host_end = HostEnd::without();
    host_end.run(100_000);
    assert!(host_end.host.is_up());
    let ping = host_end.ask(0, Query::Ping, b"hello");
    let identity = host_end.ask(0, Query::Identity, &[]);
    let link = host_end.ask(0, Query::Link, &[5]);
    let board = host_end.ask(0, Query::Board(0), &[]);
    host_end.run(100_000);
    let responses = host_end.responses();
    let numbers: Vec<_> = responses.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [ping, identity, link, board]);
    assert_eq!(responses[0].1, b"hello");
    let report: NodeReport = read_structure(&responses[1].1).unwrap();
    assert_eq!(
        (report.network, report.epoch, report.links, report.neighbors),
        (0, 9, 6, 0)
    );
    let report: Option<LinkReport> = read_structure(&responses[2].1).unwrap();
    assert!(report.is_some_and(|link| link.up && link.host && !link.wired));
    assert_eq!(responses[3].1, b"done");
    assert!(host_end.host.is_idle());
}

#[test]
fn packets_say_who_began_them() {
    let mut host: Host = Endpoint::host(0x1_2345, BAUD, 0);
    let mut board: Endpoint<1> = Endpoint::board(5, 6, 9, BAUD, 0);
    let [first, first_of_board] = [host.next_number, board.next_number];
    for number in [first, first.wrapping_add(1)] {
        let header = host.packet(4, &datagram(b"x")).unwrap().header;
        let expected = Header {
            from_host: true,
            ..Header::new(Kind::Datagram, 0, 4).numbered(0x2345, number)
        };
        assert_eq!(header, expected);
    }
    let header = board.packet(0, &datagram(b"x")).unwrap().header;
    let expected = Header::new(Kind::Datagram, 0, 0).numbered(9, first_of_board);
    assert_eq!(header, expected);
}

/// The request itself is held while the counters are cleared: [`HostEnd::board_hears`] checks the packet account.
#[test]
fn an_account_that_is_cleared_goes_on() {
    let mut host_end = HostEnd::without();
    host_end.run(100_000);
    host_end.ask(0, Query::Ping, b"x");
    host_end.run(50_000);
    let clear = host_end.ask(0, Query::ClearCounters, &[]);
    host_end.run(50_000);
    assert_eq!(host_end.responses().pop().map(|(number, _)| number), Some(clear));
    let counters = host_end.unconfigured().counters();
    assert_eq!(
        (
            counters.received,
            counters.delivered,
            counters.originated,
            counters.forwarded
        ),
        (0, 1, 1, 1)
    );
    assert_eq!(counters.held(), 0);
}

#[test]
fn more_requests_than_there_is_room_for_are_answered_one_after_the_other() {
    let mut host_end = HostEnd::without();
    host_end.run(100_000);
    let numbers: Vec<_> = (0..6)
        .map(|place| host_end.ask(0, Query::Ping, &[place; 100]))
        .collect();
    assert!(!host_end.host.has_room() && !host_end.host.is_idle());
    let packet = host_end.host.request(0, Query::Ping, &[], host_end.now).unwrap();
    assert_eq!(host_end.host.send(packet.clone()), Err(packet));
    host_end.run(1_000_000);
    let mut answered: Vec<_> = host_end.responses().into_iter().map(|(number, _)| number).collect();
    answered.sort_unstable();
    assert_eq!(answered, numbers);
}

#[test]
fn a_host_asks_again_what_was_under_way_when_the_link_broke_and_a_board_forgets_its_response() {
    let mut host_end = HostEnd::without();
    host_end.run(100_000);
    let lost = host_end.ask(0, Query::Ping, b"x");
    host_end.lose = 20;
    host_end.run(3_000_000);
    assert!(host_end.host.is_up());
    let responses = host_end.responses();
    assert!(!responses.is_empty() && responses.iter().all(|response| *response == (lost, b"x".to_vec())));
    let board = host_end.unconfigured();
    assert!(board.is_idle());
    assert_eq!(board.counters.held(), 0);
}

/// A program sleeps until something is received or the deadline passes.
#[test]
fn who_looks_only_at_the_deadline_says_hello_and_notices_silence() {
    let mut host_end = HostEnd::without();
    host_end.run(100_000);
    let HostEnd { mut host, mut now, .. } = host_end;
    assert!(host.is_up());
    let mut out = [0; WIRE];
    let mut look = |now: Micros| {
        let down = host.tick(now);
        (down, host.transmit(now, &mut out) > 0, host.deadline())
    };
    // From now on nothing comes.
    let (_, _, mut deadline) = look(now);
    let mut hellos = 0;
    let down = loop {
        assert!(deadline > now, "there is time to sleep");
        assert_eq!(look(deadline - 1), (None, false, deadline), "too early");
        now = deadline;
        let (down, says_hello, next) = look(now);
        hellos += u32::from(says_hello);
        deadline = next;
        if let Some(down) = down {
            break down;
        }
    };
    assert_eq!((down, hellos >= 3), (Down::Silent, true), "{hellos}");
}

#[test]
fn a_host_reaches_the_mesh_through_its_board() {
    let mut host_end = HostEnd::part_of("ring(3)", 1);
    host_end.run(100_000);
    let identity = host_end.ask(1, Query::Identity, &[]);
    host_end.run(100_000);
    let [(number, response)] = &host_end.responses()[..] else {
        panic!("one response")
    };
    assert_eq!(*number, identity);
    assert_eq!(read_structure::<NodeReport>(response).unwrap().address, 1);

    let content = Content::Confirmed(Confirmed {
        known_epoch: 0,
        port: AppPort(20),
        payload: b"for node 1",
    });
    let to_node_1 = host_end.host.packet(1, &content).unwrap();
    let to_nobody = host_end.host.packet(2, &datagram(b"nobody is there")).unwrap();
    let numbers = [&to_node_1, &to_nobody].map(|packet| packet.header.number);
    host_end.host.send(to_node_1).unwrap();
    host_end.host.send(to_nobody).unwrap();
    host_end.run(100_000);
    let contents: Vec<_> = host_end
        .heard
        .iter()
        .map(|heard| match heard {
            Heard::Packet(packet) => packet.content().unwrap(),
            other => panic!("{other:?}"),
        })
        .collect();
    let confirmed = contents.iter().find_map(|content| match content {
        Content::Confirmation(confirmation) => Some((confirmation.number, confirmation.verdict)),
        _ => None,
    });
    assert_eq!(confirmed, Some((numbers[0], Verdict::Delivered)));
    let lost = contents.iter().find_map(|content| match content {
        Content::Undeliverable(Undeliverable { number, dest, .. }) => Some((*number, *dest)),
        _ => None,
    });
    assert_eq!(lost, Some((numbers[1], 2)));
}

/// A response to an earlier host's request reaches the current host, which must not take it for one to its own.
#[test]
fn hosts_number_their_requests_differently() {
    let numbers = [1, 2, 0x8000_0000].map(|epoch| {
        let mut host: Host = Endpoint::host(epoch, BAUD, 0);
        let request_packet = host.request(0, Query::Ping, &[], 0).unwrap();
        request_packet.header.number
    });
    let close = |a: u32, b: u32| a.wrapping_sub(b).min(b.wrapping_sub(a)) < 10_000;
    for (place, &number) in numbers.iter().enumerate() {
        assert!(
            numbers[place + 1..].iter().all(|&other| !close(number, other)),
            "{numbers:?}"
        );
    }
}

#[test]
fn what_is_too_long_is_not_sent() {
    let mut host: Host = Endpoint::host(1, BAUD, 0);
    assert!(host.request(0, Query::Ping, &[0; BODY - 4], 0).is_none());
    let request_packet = host.request(0, Query::Board(1), &[0; BODY - 5], 0).unwrap();
    assert!(!host.reply(&request_packet, &[0; BODY]));
    assert!(host.is_idle());
}

#[test]
fn what_is_too_long_for_the_board_is_dropped() {
    let mut host_end = HostEnd::without();
    let board = host_end.unconfigured();
    let identity = Identity {
        mtu: 60,
        ..board.identity
    };
    board.link = Link::welcoming(identity, BAUD, 0);
    host_end.run(100_000);
    host_end.ask(0, Query::Ping, &[1; 100]);
    let short = host_end.ask(0, Query::Ping, &[2; 20]);
    host_end.run(2_000_000);
    assert_eq!(host_end.responses(), [(short, [2; 20].to_vec())]);
    assert_eq!(host_end.host.counters().dropped_in_all(), 1);
    assert!(host_end.host.is_up() && host_end.host.is_idle());
}

#[test]
fn a_node_asks_the_host_which_answers_in_its_own_time() {
    let mut host_end = HostEnd::part_of("ring(3)", 0);
    host_end.run(500_000);
    let now = host_end.now;
    let number = host_end
        .router()
        .ask_host(0, AppPort(20), b"how many?", now, &mut ())
        .unwrap();
    host_end.run(100_000);
    let request_packet = host_end.heard.iter().find_map(|heard| match heard {
        Heard::Request(packet) => Some(packet.clone()),
        _ => None,
    });
    let request_packet = request_packet.expect("a request");
    let Some(Content::Request(request)) = request_packet.content() else {
        panic!("not a request: {request_packet:?}")
    };
    assert_eq!(
        (request.query, request.payload),
        (Query::Application(AppPort(20)), &b"how many?"[..])
    );
    host_end.run(1_000_000);
    assert!(host_end.host.reply(&request_packet, b"many"));
    host_end.run(100_000);
    let response = host_end.router().next_message().expect("a response");
    let kind = MessageKind::Response(Query::Application(AppPort(20)));
    assert_eq!(
        (response.kind, response.number, &response.payload[..]),
        (kind, number, &b"many"[..])
    );
}

#[cfg(feature = "cipher")]
fn encrypting(random: u8) -> Credentials {
    Credentials {
        secret: Secret::new(Key::new([5; 16]), true),
        random: [random; 16],
    }
}

/// A packet that is too long once encrypted must not occupy a slot forever.
#[cfg(feature = "cipher")]
#[test]
fn what_grows_too_long_by_encryption_is_refused_at_once() {
    let mut host_end = HostEnd::part_of("path(2)", 0);
    host_end.host.lock(&encrypting(1));
    host_end.router().lock(&encrypting(2));
    host_end.run(200_000);
    assert!(host_end.host.is_up());
    let longest = (0..BODY)
        .rev()
        .find(|length| host_end.host.packet(0, &datagram(&[7; BODY][..*length])).is_some());
    assert_eq!(longest, Some(BODY - 1 - SEAL_BYTES));
    let asked = Content::Request(Request::new(Query::Application(AppPort(20)), 1, b"?"));
    let request_packet = host_end.host.packet(0, &asked).unwrap();
    assert!(!host_end.host.reply(&request_packet, &[7; BODY - 10]));
    assert!(host_end.host.is_idle());
    assert!(host_end.host.reply(&request_packet, &[7; 100]));
    host_end.run(100_000);
    assert!(host_end.host.is_idle());
}

/// The epoch of a host is only its clock: two programs may have the same.
#[cfg(feature = "cipher")]
#[test]
fn no_nonce_comes_twice_though_the_epoch_does() {
    let first = |random: u8, kind: Kind| {
        let mut host: Host = Endpoint::host(7, BAUD, 0);
        host.lock(&encrypting(random));
        host.packet_of(kind, 0, Body::new()).header.number
    };
    for kind in [Kind::Datagram, Kind::Confirmed] {
        assert_ne!(first(1, kind), first(2, kind));
    }
}
