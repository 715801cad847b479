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
use hopwise_core::{Network, Rule};

const BAUD: u32 = 1_000_000;

type Host = Endpoint<6>;

/// The board that the host is connected to.
enum Board {
    Without(Box<Endpoint<1>>),
    /// A node of a network, its host at link 5.
    In(Box<Router>),
}

struct Desk {
    now: Micros,
    host: Host,
    board: Board,
    /// When each direction becomes free: of the host, of the board.
    free_at: [Micros; 2],
    /// What the host heard.
    heard: Vec<Heard>,
    /// Number of the board's frames to lose.
    lose: usize,
}

impl Desk {
    fn new(board: Board) -> Self {
        Desk {
            now: 0,
            host: Endpoint::host(1, BAUD, 0),
            board,
            free_at: [0; 2],
            heard: Vec::new(),
            lose: 0,
        }
    }

    fn without() -> Self {
        Desk::new(Board::Without(Box::new(Endpoint::board(6, 9, BAUD, 0))))
    }

    fn part_of(network: &str, address: Node) -> Self {
        let network: Network = network.parse().unwrap();
        let config = Config {
            network,
            address,
            epoch: 3,
            baud: BAUD,
            links: 6,
            hosts: 1 << 5,
            rule: Rule::Exact,
        };
        Desk::new(Board::In(Box::new(Router::new(&config, 0).unwrap())))
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
                    if let Heard::Question(question) = heard {
                        assert!(endpoint.reply(&question, b"done"));
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
        let packet = self.host.question(dest, query, payload, self.now).unwrap();
        let number = packet.header.number;
        self.host.send(packet).unwrap();
        number
    }

    /// The responses received: number of the request, and payload.
    fn answers(&mut self) -> Vec<(u32, Vec<u8>)> {
        let heard = core::mem::take(&mut self.heard);
        let answer = |heard: &Heard| match heard {
            Heard::Packet(packet) => match packet.content()? {
                Content::Response(response) => Some((response.number, response.payload.to_vec())),
                _ => None,
            },
            _ => None,
        };
        heard.iter().filter_map(answer).collect()
    }
}

#[test]
fn a_board_without_configuration_answers_all_that_a_router_answers() {
    let mut desk = Desk::without();
    desk.run(100_000);
    assert!(desk.host.is_up());
    let ping = desk.ask(0, Query::Ping, b"hello");
    let identity = desk.ask(0, Query::Identity, &[]);
    let link = desk.ask(0, Query::Link, &[5]);
    let board = desk.ask(0, Query::Board(0), &[]);
    desk.run(100_000);
    let answers = desk.answers();
    let numbers: Vec<_> = answers.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [ping, identity, link, board]);
    assert_eq!(answers[0].1, b"hello");
    let report: NodeReport = read_structure(&answers[1].1).unwrap();
    assert_eq!(
        (report.network, report.epoch, report.links, report.neighbors),
        (0, 9, 6, 0)
    );
    let report: Option<LinkReport> = read_structure(&answers[2].1).unwrap();
    assert!(report.is_some_and(|link| link.up && link.host && !link.wired));
    assert_eq!(answers[3].1, b"done");
    assert!(desk.host.is_idle());
}

#[test]
fn packets_say_who_began_them() {
    let mut host: Host = Endpoint::host(0x1_2345, BAUD, 0);
    let mut board: Endpoint<1> = Endpoint::board(6, 9, BAUD, 0);
    let [first, first_of_board] = [host.next_number, board.next_number];
    for number in [first, first.wrapping_add(1)] {
        let header = host
            .packet(
                4,
                &Content::Datagram(Addressed {
                    port: AppPort(20),
                    payload: b"x",
                }),
            )
            .unwrap()
            .header;
        let expected = Header {
            from_host: true,
            epoch: 0x2345,
            number,
            ..Header::new(Kind::Datagram, 0, 4)
        };
        assert_eq!(header, expected);
    }
    let header = board
        .packet(
            0,
            &Content::Datagram(Addressed {
                port: AppPort(20),
                payload: b"x",
            }),
        )
        .unwrap()
        .header;
    let expected = Header {
        epoch: 9,
        number: first_of_board,
        ..Header::new(Kind::Datagram, 0, 0)
    };
    assert_eq!(header, expected);
}

/// The request itself is held while the counters are cleared: [`Desk::board_hears`] checks the packet account.
#[test]
fn an_account_that_is_cleared_goes_on() {
    let mut desk = Desk::without();
    desk.run(100_000);
    desk.ask(0, Query::Ping, b"x");
    desk.run(50_000);
    let clear = desk.ask(0, Query::ClearCounters, &[]);
    desk.run(50_000);
    assert_eq!(desk.answers().pop().map(|(number, _)| number), Some(clear));
    let Board::Without(board) = &desk.board else { panic!() };
    let counters = board.counters();
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
fn more_questions_than_there_is_room_for_are_answered_one_after_the_other() {
    let mut desk = Desk::without();
    desk.run(100_000);
    let numbers: Vec<_> = (0..6).map(|place| desk.ask(0, Query::Ping, &[place; 100])).collect();
    assert!(!desk.host.has_room() && !desk.host.is_idle());
    let packet = desk.host.question(0, Query::Ping, &[], desk.now).unwrap();
    assert_eq!(desk.host.send(packet.clone()), Err(packet));
    desk.run(1_000_000);
    let mut answered: Vec<_> = desk.answers().into_iter().map(|(number, _)| number).collect();
    answered.sort_unstable();
    assert_eq!(answered, numbers);
}

#[test]
fn a_host_asks_again_what_was_under_way_when_the_link_broke_and_a_board_forgets_its_answer() {
    let mut desk = Desk::without();
    desk.run(100_000);
    let lost = desk.ask(0, Query::Ping, b"x");
    desk.lose = 20;
    desk.run(3_000_000);
    assert!(desk.host.is_up());
    let answers = desk.answers();
    assert!(!answers.is_empty() && answers.iter().all(|answer| *answer == (lost, b"x".to_vec())));
    let Board::Without(board) = &desk.board else { panic!() };
    assert!(board.is_idle());
    assert_eq!(board.counters.held(), 0);
}

/// A program sleeps until something is received or the deadline passes.
#[test]
fn who_looks_only_at_the_deadline_says_hello_and_notices_silence() {
    let mut desk = Desk::without();
    desk.run(100_000);
    let Desk { mut host, mut now, .. } = desk;
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
    let mut desk = Desk::part_of("ring(3)", 1);
    desk.run(100_000);
    let identity = desk.ask(1, Query::Identity, &[]);
    desk.run(100_000);
    let [(number, answer)] = &desk.answers()[..] else {
        panic!("one answer")
    };
    assert_eq!(*number, identity);
    assert_eq!(read_structure::<NodeReport>(answer).unwrap().address, 1);

    let content = Content::Confirmed(Confirmed {
        known_epoch: 0,
        port: AppPort(20),
        payload: b"for node 1",
    });
    let to_node_1 = desk.host.packet(1, &content).unwrap();
    let to_nobody = desk
        .host
        .packet(
            2,
            &Content::Datagram(Addressed {
                port: AppPort(20),
                payload: b"nobody is there",
            }),
        )
        .unwrap();
    let numbers = [&to_node_1, &to_nobody].map(|packet| packet.header.number);
    desk.host.send(to_node_1).unwrap();
    desk.host.send(to_nobody).unwrap();
    desk.run(100_000);
    let contents: Vec<_> = desk
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
fn hosts_number_their_questions_differently() {
    let numbers = [1, 2, 0x8000_0000].map(|epoch| {
        let mut host: Host = Endpoint::host(epoch, BAUD, 0);
        let question = host.question(0, Query::Ping, &[], 0).unwrap();
        question.header.number
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
    assert!(host.question(0, Query::Ping, &[0; BODY - 4], 0).is_none());
    let question = host.question(0, Query::Board(1), &[0; BODY - 5], 0).unwrap();
    assert!(!host.reply(&question, &[0; BODY]));
    assert!(host.is_idle());
}

/// No packets longer than a board takes are sent to it.
#[test]
fn what_is_too_long_for_the_board_is_dropped() {
    let mut desk = Desk::without();
    if let Board::Without(endpoint) = &mut desk.board {
        let identity = Identity {
            largest: 60,
            ..endpoint.identity
        };
        endpoint.link = Link::welcoming(identity, BAUD, 0);
    }
    desk.run(100_000);
    desk.ask(0, Query::Ping, &[1; 100]);
    let short = desk.ask(0, Query::Ping, &[2; 20]);
    desk.run(2_000_000);
    assert_eq!(desk.answers(), [(short, [2; 20].to_vec())]);
    assert_eq!(desk.host.counters().dropped_in_all(), 1);
    assert!(desk.host.is_up() && desk.host.is_idle());
}

#[test]
fn a_node_asks_the_host_which_answers_in_its_own_time() {
    let mut desk = Desk::part_of("ring(3)", 0);
    desk.run(500_000);
    let now = desk.now;
    let Board::In(router) = &mut desk.board else {
        unreachable!("it is in a mesh")
    };
    let number = router.ask_host(0, AppPort(20), b"how many?", now, &mut ()).unwrap();
    desk.run(100_000);
    let question = desk.heard.iter().find_map(|heard| match heard {
        Heard::Question(packet) => Some(packet.clone()),
        _ => None,
    });
    let question = question.expect("a question");
    let Some(Content::Request(request)) = question.content() else {
        panic!("not a request: {question:?}")
    };
    assert_eq!(
        (request.query, request.payload),
        (Query::Application(AppPort(20)), &b"how many?"[..])
    );
    desk.run(1_000_000);
    assert!(desk.host.reply(&question, b"many"));
    desk.run(100_000);
    let Board::In(router) = &mut desk.board else {
        unreachable!("it is in a mesh")
    };
    let answer = router.next_message().expect("an answer");
    let kind = MessageKind::Answer(Query::Application(AppPort(20)));
    assert_eq!(
        (answer.kind, answer.number, &answer.payload[..]),
        (kind, number, &b"many"[..])
    );
}

#[cfg(feature = "cipher")]
fn encrypting(random: u8) -> Credentials {
    Credentials {
        secret: Secret {
            key: Key::new([5; 16]),
            encrypts: true,
        },
        random: [random; 16],
    }
}

/// A packet that is too long once encrypted must not occupy a slot forever.
#[cfg(feature = "cipher")]
#[test]
fn what_grows_too_long_by_encryption_is_refused_at_once() {
    let mut desk = Desk::part_of("path(2)", 0);
    desk.host.lock(&encrypting(1));
    if let Board::In(router) = &mut desk.board {
        router.lock(&encrypting(2));
    }
    desk.run(200_000);
    assert!(desk.host.is_up());
    let port = AppPort(20);
    let datagram = |length: usize| {
        Content::Datagram(Addressed {
            port,
            payload: &[7; BODY][..length],
        })
    };
    let longest = (0..BODY)
        .rev()
        .find(|length| desk.host.packet(0, &datagram(*length)).is_some());
    assert_eq!(longest, Some(BODY - 1 - SEAL_BYTES));
    let asked = Content::Request(Request {
        query: Query::Application(port),
        asked: 1,
        payload: b"?",
    });
    let question = desk.host.packet(0, &asked).unwrap();
    assert!(!desk.host.reply(&question, &[7; BODY - 10]));
    assert!(desk.host.is_idle());
    assert!(desk.host.reply(&question, &[7; 100]));
    desk.run(100_000);
    assert!(desk.host.is_idle());
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
