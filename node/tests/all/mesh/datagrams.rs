//! Datagrams: each once, in order, along the route, and what a router writes into their headers on the way.

use super::harness::Mesh;
use crate::support::*;

/// A header as an honest source of a mesh of short routes writes it.
pub(super) fn header(kind: Kind, source: Node, dest: Node, number: u32) -> Header {
    Header {
        hops_left: 100,
        ..Header::new(kind, source, dest).numbered(1, number)
    }
}

/// The same header with something changed.
pub(super) fn with(mut header: Header, change: impl FnOnce(&mut Header)) -> Header {
    change(&mut header);
    header
}

/// A header that has been under way for so long, in units.
pub(super) fn aged(age: u16, header: Header) -> Header {
    Header { age, ..header }
}

/// A mesh in which strangers are in place of neighbors, and has been for a second.
pub(super) fn beside<const N: usize>(expression: &str, places: [(Node, Node); N]) -> (Mesh, [usize; N]) {
    let mut mesh = Mesh::up(expression);
    let strangers = places.map(|(node, neighbor)| mesh.impersonate(node, neighbor));
    mesh.run(SECOND);
    (mesh, strangers)
}

#[test]
fn every_node_reaches_every_other_once_in_order_and_along_the_route() {
    for expression in networks("tiny_of_each_family") {
        let mut mesh = Mesh::up(expression);
        let nodes = mesh.network.nodes();
        for to in 0..nodes {
            let mut hops = 0;
            for from in (0..nodes).filter(|&from| from != to) {
                let mut here = from;
                while here != to {
                    here = mesh.network.next_hop(here, to, Rule::Exact).unwrap();
                    hops += 1;
                }
            }
            for round in 0..2 {
                for from in (0..nodes).filter(|&from| from != to) {
                    mesh.send(from, to, &[from as u8, to as u8, round]).unwrap();
                }
                // Ages are rounded: of packets sent at once any may come first.
                mesh.run(20 * MILLISECOND);
            }
            let board = mesh.board_mut(to);
            for from in (0..nodes).filter(|&from| from != to) {
                let of = |byte: u8| [from as u8, to as u8, byte].to_vec();
                let got: Vec<_> = board.got.iter().filter(|got| got.source == from).collect();
                let payloads: Vec<_> = got.iter().map(|got| got.payload.clone()).collect();
                assert_eq!(payloads, [of(0), of(1)], "{expression}: {from} to {to}");
                assert!(got.iter().all(|got| got.kind == MessageKind::Datagram));
                assert_eq!(got[1].number, got[0].number.wrapping_add(1));
            }
            assert_eq!(board.got.len() as u64, 2 * (nodes - 1), "{expression}: to {to}");
            board.got.clear();
            // A packet counts as forwarded when it is acknowledged, with the next sign of life at the latest.
            mesh.run(20 * MILLISECOND);
            let forwarded: u32 = mesh.boards().map(|board| board.router.counters().forwarded).sum();
            assert_eq!(forwarded, 2 * hops, "{expression}: to {to}");
            (0..nodes).for_each(|node| mesh.board_mut(node).router.clear_counters());
        }
        mesh.assert_at_rest();
    }
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let mut mesh = Mesh::up("ring(3)");
    assert!(matches!(mesh.send(0, 3, b""), Err(SendError::NoSuchNode(error)) if error.node == 3 && error.nodes == 3));
    assert_eq!(mesh.send(0, 1, &[1; MAX_PAYLOAD + 1]), Err(SendError::TooLong));
    assert!(mesh.send(0, 1, &[1; MAX_PAYLOAD]).is_ok());
    assert!(mesh.confirmed(0, 1, &[2; MAX_PAYLOAD]).is_ok());
    assert!(mesh.ask(0, 1, Query::Ping, &[3; MAX_PAYLOAD]).is_ok());
    mesh.run(50 * MILLISECOND);
    let lengths: Vec<_> = mesh.board(1).got.iter().map(|got| got.payload.len()).collect();
    assert_eq!(lengths, [MAX_PAYLOAD; 2]);
    for error in [SendError::TooLong, SendError::Full] {
        assert!(!error.to_string().is_empty());
    }
    assert_eq!(SendError::TooLong.to_string(), "a payload has at most 200 bytes");
    assert_eq!(SendError::Full.to_string(), "the buffers are full");
}

#[test]
fn a_board_takes_so_many_packets_of_its_application_and_no_more() {
    let mut mesh = Mesh::up("ring(3)");
    let taken = (0..100).take_while(|_| mesh.send(0, 1, b"x").is_ok()).count();
    // All but what is kept for others: one of each virtual channel, the inbox, the services, and one of the board's own.
    assert_eq!(taken, BUFFERS - 6 - INBOX - limits::SERVICE - 1);
    assert_eq!(mesh.send(0, 1, b"x"), Err(SendError::Full));
    mesh.run(20 * MILLISECOND);
    assert_eq!(mesh.board(1).got.len(), taken);
    assert!(mesh.send(0, 1, b"x").is_ok());
}

/// Board 2 of `path(5)`, and strangers in place of its neighbors 1 and 3.
pub(super) fn between() -> (Mesh, usize, usize) {
    between_in("path(5)")
}

/// Node 2 with strangers in place of 1 and 3.
pub(super) fn between_in(expression: &str) -> (Mesh, usize, usize) {
    let mut mesh = Mesh::new(expression);
    let (one, three) = (mesh.impersonate(2, 1), mesh.impersonate(2, 3));
    assert!(mesh.run_until(SECOND, |mesh| mesh.board(2).router.all_links_up()));
    mesh.run(100 * MILLISECOND);
    (mesh, one, three)
}

/// What becomes of a packet that goes from one stranger to another.
pub(super) fn pass(
    mesh: &mut Mesh,
    from: usize,
    to: usize,
    channel: u8,
    header: &Header,
    body: &[u8],
) -> (u8, Header, Vec<u8>) {
    let known = mesh.stranger(to).heard.len();
    mesh.stranger_mut(from).send(channel, header, body);
    let came = mesh.run_until(100 * MILLISECOND, |mesh| mesh.stranger(to).heard.len() > known);
    assert!(came, "{header:?} did not come through");
    let heard = mesh.stranger(to).heard[known].clone();
    (heard.channel, heard.header, heard.body)
}

#[test]
fn a_hop_takes_one_from_the_hops_left_and_adds_to_the_age() {
    let (mut mesh, one, three) = between();
    let sent = aged(1_000, header(Kind::Datagram, 0, 4, 9));
    let (_, found, body) = pass(&mut mesh, one, three, 0, &sent, b"body");
    assert_eq!(body, b"body");
    let age = found.age;
    assert_eq!(found, aged(age, Header { hops_left: 99, ..sent }));
    // Less than two milliseconds, and never younger than it is.
    assert!((1_001..1_000 + 8).contains(&age), "{age}");
    mesh.run(10 * MILLISECOND);
    mesh.assert_at_rest();
}

#[test]
fn what_waits_grows_old() {
    let (mut mesh, one, three) = between();
    mesh.stranger_mut(three).takes = false;
    mesh.say(one, &aged(50, header(Kind::Datagram, 0, 3, 9)), b"", 2_000);
    assert!(mesh.stranger(three).heard.is_empty());
    let is_sent = |event: &Event| matches!(event, Event::Sent { retransmit: false, .. });
    assert!(mesh.board(2).count(is_sent) > 10);
    mesh.stranger_mut(three).takes = true;
    mesh.run(100 * MILLISECOND);
    let age = u64::from(mesh.stranger(three).heard[0].header.age) * AGE_UNIT;
    // The link to the stranger comes up a little after it says something.
    let expected = 50 * AGE_UNIT + 2 * SECOND - times::DRIFT;
    assert!((expected..expected + 80 * MILLISECOND).contains(&age), "{age}");
}

#[test]
fn hops_are_used_up() {
    for hops_left in [1, 0] {
        let (mut mesh, one, three) = between();
        let sent = with(header(Kind::Datagram, 0, 4, 9), |sent| sent.hops_left = hops_left);
        mesh.say(one, &sent, b"", 100);
        let (back, on) = (&mesh.stranger(one).heard, &mesh.stranger(three).heard);
        if hops_left == 1 {
            assert_eq!((on.len(), on[0].header.hops_left, back.len()), (1, 0, 0));
        } else {
            assert_eq!(on.len(), 0);
            assert_eq!((back[0].header.kind, back[0].header.dest), (Kind::Undeliverable, 0));
            assert_eq!(mesh.board(2).dropped(DropReason::HopLimit), 1);
        }
    }
}

#[test]
fn what_begins_here_may_go_twice_the_longest_route_and_numbers_begin_elsewhere_after_a_restart() {
    let (mut mesh, _, three) = between();
    mesh.send(2, 4, b"").unwrap();
    mesh.run(10 * MILLISECOND);
    let first = mesh.stranger(three).heard[0].header;
    assert_eq!(first.hops_left, 2 * 4 + 128 - 1);
    assert_eq!((first.source, first.dest, first.epoch), (2, 4, 1));
    assert!(!(first.copied || first.trail || first.traced || first.to_host || first.from_host));
    mesh.send(2, 4, b"").unwrap();
    mesh.run(10 * MILLISECOND);
    let second = mesh.stranger(three).heard[1].header;
    assert_eq!(second.number, first.number.wrapping_add(1));
    mesh.restart(2);
    assert!(mesh.run_until(SECOND, |mesh| mesh.board(2).router.all_links_up()));
    mesh.send(2, 4, b"").unwrap();
    mesh.run(100 * MILLISECOND);
    let third = mesh.stranger(three).heard[2].header;
    assert_eq!((second.epoch, third.epoch), (1, 2));
    assert!(third.number.wrapping_sub(second.number) > 1 << 20);
}

#[test]
fn a_datagram_from_before_the_start_is_not_delivered() {
    for (age, delivered) in [(0, 1), (SECOND / AGE_UNIT, 0)] {
        let (mut mesh, [one]) = beside("ring(5)", [(0, 1)]);
        mesh.restart(0);
        mesh.run(500 * MILLISECOND);
        let datagram = aged(age as u16, header(Kind::Datagram, 1, 0, 3));
        mesh.say(one, &datagram, b"old", 50);
        assert_eq!(mesh.board(0).got.len(), delivered, "{age}");
        let found = mesh.board(0).dropped(DropReason::Uncertain);
        assert_eq!(found, 1 - delivered as u32, "{age}");
    }
}

#[test]
fn old_packets_are_dropped_and_their_source_is_told() {
    let (mut mesh, one, three) = between();
    let limit = (times::LIFETIME / AGE_UNIT) as u16;
    for (number, age, passes) in [(1, limit - 1, true), (2, limit + 1, false), (3, u16::MAX, false)] {
        let (before, back) = (mesh.stranger(three).heard.len(), mesh.stranger(one).heard.len());
        mesh.say(one, &aged(age, header(Kind::Datagram, 0, 4, number)), b"", 50);
        assert_eq!(mesh.stranger(three).heard.len() - before, usize::from(passes), "{age}");
        assert_eq!(mesh.stranger(one).heard.len() - back, usize::from(!passes), "{age}");
    }
    let report = &mesh.stranger(one).heard[0];
    assert_eq!(report.header.kind, Kind::Undeliverable);
    let found = (report.header.source, report.header.dest, report.header.age < 8);
    assert_eq!(found, (2, 0, true));
    // The number, the kind and the reason, and where it was to go.
    let expected = [2, 0, 0, 0, Kind::Datagram as u8, DropReason::Expired as u8, 4];
    assert_eq!(report.body, expected);
    assert_eq!(mesh.board(2).dropped(DropReason::Expired), 2);
}

#[test]
fn what_waits_too_long_expires_in_the_queue() {
    let (mut mesh, one, three) = between();
    mesh.stranger_mut(three).takes = false;
    mesh.stranger_mut(three).link.offer(Offer::new(0, 0));
    // It has waited before: for all its life a link would not be kept up.
    let waited = times::LIFETIME - 2 * SECOND;
    let old = aged((waited / AGE_UNIT) as u16, header(Kind::Datagram, 0, 4, 5));
    mesh.say(one, &old, b"", 1_800);
    assert_eq!(mesh.board(2).dropped(DropReason::Expired), 0);
    mesh.run(600 * MILLISECOND);
    assert_eq!(mesh.board(2).dropped(DropReason::Expired), 1);
    let kinds: Vec<_> = mesh.stranger(one).heard.iter().map(|heard| heard.header.kind).collect();
    assert_eq!(kinds, [Kind::Undeliverable]);
    mesh.assert_at_rest();
}

/// In which order packets leave board 2 that came, with their source and their age, while there was no room for them.
fn order_of(waiting: &[(u32, Node, u16)]) -> Vec<u32> {
    let (mut mesh, one, three) = between();
    mesh.stranger_mut(three).link.offer(Offer::new(0, 0));
    mesh.stranger_mut(three).takes = false;
    mesh.run(200 * MILLISECOND);
    for &(number, source, age) in waiting {
        let header = aged(age, header(Kind::Datagram, source, 4, number));
        mesh.say(one, &header, b"", 5);
    }
    mesh.run(100 * MILLISECOND);
    mesh.stranger_mut(three).takes = true;
    mesh.stranger_mut(three).link.offer(Offer::ALL);
    mesh.run(200 * MILLISECOND);
    let heard = &mesh.stranger(three).heard;
    heard.iter().map(|heard| heard.header.number).collect()
}

/// Ages are rounded up at every hop, so that the second of two may seem the older one.
#[test]
fn packets_of_one_source_keep_their_order_whatever_their_ages() {
    let waiting = [(1, 0, 3), (2, 0, 200), (3, 0, 2), (4, 0, 1_000), (5, 0, 900)];
    assert_eq!(order_of(&waiting), [1, 2, 3, 4, 5]);
    let order = order_of(&[
        (1, 0, 100),
        (2, 1, 5_000),
        (3, 1, 0),
        (4, 0, 9_000),
        (5, 0, 2_000),
        (6, 1, 7),
    ]);
    for numbers in [[1, 4, 5], [2, 3, 6]] {
        let of_source = order.iter().copied().filter(|number| numbers.contains(number));
        let of_source: Vec<u32> = of_source.collect();
        assert_eq!(of_source, numbers, "{order:?}");
    }
}

#[test]
fn a_copy_is_told_from_its_twin_by_source_epoch_number_and_sender() {
    let (mut mesh, one, _) = between();
    let first = header(Kind::Datagram, 0, 2, 5);
    let copy = |header| with(header, |header| header.copied = true);
    let plan = [
        (first, true),
        (copy(first), false),
        (copy(Header { epoch: 2, ..first }), true),
        (copy(Header { source: 1, ..first }), true),
        (copy(with(first, |header| header.from_host = true)), true),
        (copy(Header { number: 6, ..first }), true),
        (copy(Header { number: 6, ..first }), false),
        (Header { number: 6, ..first }, false),
        (Header { number: 7, ..first }, true),
        (copy(Header { number: 4, ..first }), true),
    ];
    for (at, (header, new)) in plan.into_iter().enumerate() {
        let (known, dropped) = (mesh.board(2).got.len(), mesh.board(2).dropped(DropReason::Duplicate));
        mesh.say(one, &header, b"", 10);
        assert_eq!(mesh.board(2).got.len() - known, usize::from(new), "packet {at}");
        let dropped = mesh.board(2).dropped(DropReason::Duplicate) - dropped;
        assert_eq!(dropped, u32::from(!new), "packet {at}");
    }
    let numbers: Vec<_> = mesh.board(2).got.iter().map(|got| got.number).collect();
    assert_eq!(numbers, [5, 5, 5, 5, 6, 7, 4]);
}

#[test]
fn what_is_no_packet_or_of_no_node_is_dropped() {
    let (mut mesh, one, three) = between();
    mesh.stranger_mut(one).send_bytes(0, b"short");
    mesh.post(one, &header(Kind::Datagram, 5, 4, 1), b"");
    mesh.say(one, &header(Kind::Datagram, 0, 5, 2), b"", 50);
    let board = mesh.board(2);
    assert_eq!(board.dropped(DropReason::Malformed), 1);
    assert_eq!(board.dropped(DropReason::NoSuchNode), 2);
    assert_eq!(board.router.counters().received, 3);
    assert!(mesh.stranger(three).heard.is_empty());
    let back: Vec<_> = mesh.stranger(one).heard.iter().map(|heard| &heard.body[..]).collect();
    assert_eq!(back, [&[2, 0, 0, 0, 0, DropReason::NoSuchNode as u8, 5][..]]);
    assert_eq!(mesh.stranger(one).unsettled(), 0);
    mesh.assert_at_rest();
}

#[test]
fn the_inbox_is_full_if_nobody_fetches() {
    let mut mesh = Mesh::up("path(3)");
    mesh.board_mut(2).fetches = false;
    for number in 0..6 {
        mesh.send(0, 2, &[number]).unwrap();
    }
    mesh.run(50 * MILLISECOND);
    assert_eq!(mesh.board(2).dropped(DropReason::InboxFull), 6 - INBOX as u32);
    assert!(mesh.board(2).router.has_news());
    mesh.board_mut(2).fetches = true;
    mesh.run(100 * MILLISECOND);
    let payloads: Vec<_> = mesh.board(2).got.iter().map(|got| got.payload[0]).collect();
    assert_eq!(payloads, [0, 1, 2, 3]);
    assert!(!mesh.board(2).router.has_news());
    assert!(mesh.board(0).got.is_empty(), "an inbox is no reason for a report");
    mesh.assert_at_rest();
}

/// What a stranger can say of itself must fit what it is.
#[test]
fn a_board_needs_an_address_links_and_an_epoch() {
    let config = Config::new(network("star(5)"), 0, 1, 4);
    let new = |config: &Config| Router::<Board>::new(config, 0).map(|_| ());
    assert_eq!(new(&config), Ok(()));
    for (config, error, message) in [
        (
            Config {
                links: 3,
                ..config.clone()
            },
            ConfigError::TooFewLinks { needed: 4, have: 3 },
            "the node has 4 neighbors, the board only 3 links",
        ),
        (
            Config {
                epoch: 0,
                ..config.clone()
            },
            ConfigError::EpochZero,
            "the boot epoch must not be 0",
        ),
    ] {
        assert_eq!(new(&config), Err(error));
        assert_eq!(error.to_string(), message);
    }
    let nowhere = new(&Config { address: 5, ..config }).unwrap_err();
    assert_eq!(nowhere.to_string(), "there is no node 5: the network has nodes 0 to 4");
}
