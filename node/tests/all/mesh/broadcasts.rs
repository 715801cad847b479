//! Broadcasts: every other live node once.

use super::datagrams::{aged, beside, header, with};
use super::harness::Mesh;
use crate::support::*;

/// How often each node got a broadcast of a payload.
fn counts(mesh: &Mesh, payload: &[u8]) -> Vec<usize> {
    let of = |node| {
        let got = mesh.board(node).got.iter();
        got.filter(|got| got.payload == payload && got.kind == MessageKind::Broadcast)
            .count()
    };
    (0..mesh.network.nodes()).map(of).collect()
}

#[test]
fn every_other_node_gets_it_once() {
    for expression in networks("tiny_of_each_family") {
        let mut mesh = Mesh::up(expression);
        let nodes = mesh.network.nodes();
        for source in 0..nodes {
            let number = mesh.broadcast(source, &[source as u8; 9]).unwrap();
            mesh.run(40 * MILLISECOND);
            let expected: Vec<_> = (0..nodes).map(|node| usize::from(node != source)).collect();
            let found = counts(&mesh, &[source as u8; 9]);
            assert_eq!(found, expected, "{expression} from {source}");
            let got = mesh.board((source + 1) % nodes).got.last().unwrap();
            assert_eq!((got.source, got.number), (source, number), "{expression} from {source}");
        }
        // A tree has as many links as there are others.
        let forwarded: u32 = mesh.boards().map(|board| board.router.counters().forwarded).sum();
        assert_eq!(u64::from(forwarded), nodes * (nodes - 1), "{expression}");
        mesh.assert_at_rest();
    }
}

#[test]
fn it_goes_to_the_children_in_the_order_of_the_tree() {
    let mut mesh = Mesh::up("re(ring(4),complete(3),1)");
    for node in 0..mesh.network.nodes() {
        mesh.broadcast(node, b"order").unwrap();
        mesh.run(40 * MILLISECOND);
        let fanout = mesh.network.fanout(node, node).unwrap();
        let mut ports: Vec<_> = fanout.map(|(port, _)| port as u8).collect();
        let sent = mesh.board(node).events.0.iter().filter_map(|event| match event {
            Event::Sent { link, packet, .. } if (packet.kind, packet.source) == (Kind::Broadcast, node) => Some(*link),
            _ => None,
        });
        let mut sent: Vec<_> = sent.collect();
        sent.sort_unstable();
        ports.sort_unstable();
        assert_eq!(sent, ports, "node {node}");
    }
}

/// Behind a cut cable a node is reached by a detour, and its children by it.
#[test]
fn a_cut_cable_keeps_nobody_from_a_broadcast() {
    for expression in ["ring(5)", "torus(3,3)", "hypercube(3)", "rdn(ring(3),1)", "petersen"] {
        let mut mesh = Mesh::up(expression);
        let nodes = mesh.network.nodes();
        for one in [0, nodes / 2] {
            let (other, _) = mesh.beyond(one, 0);
            mesh.cut(one, other);
            mesh.run(SECOND);
            for source in [one, other, nodes - 1] {
                let payload = [one as u8, other as u8, source as u8];
                mesh.broadcast(source, &payload).unwrap();
                mesh.run(100 * MILLISECOND);
                let expected: Vec<_> = (0..nodes).map(|node| usize::from(node != source)).collect();
                let found = counts(&mesh, &payload);
                assert_eq!(found, expected, "{expression}: {one}-{other} cut, from {source}");
                for node in 0..nodes {
                    mesh.board_mut(node).got.clear();
                }
            }
            mesh.restore(one, other);
            mesh.run(SECOND);
        }
        mesh.assert_at_rest();
    }
}

/// The cable dies with the copy on it: it goes round, marked as a copy, and comes once all the same.
#[test]
fn a_cable_that_dies_under_a_broadcast_loses_and_doubles_nothing() {
    for wait in [0, 100, 300, 600, 1_500] {
        let mut mesh = Mesh::up("ring(5)");
        mesh.broadcast(0, &[7; 50]).unwrap();
        mesh.run(wait);
        mesh.cut(0, 1);
        mesh.run(2 * SECOND);
        let found = counts(&mesh, &[7; 50]);
        assert_eq!(found, [0, 1, 1, 1, 1], "cut after {wait} microseconds");
        mesh.assert_at_rest();
    }
}

#[test]
fn a_copy_of_a_broadcast_is_taken_once() {
    let (mut mesh, [one]) = beside("ring(5)", [(0, 1)]);
    let broadcast = header(Kind::Broadcast, 1, 1, 3);
    // Along the tree; as a flood, which is passed on once; as another copy of that.
    for (copied, duplicates) in [(false, 0), (true, 0), (true, 1)] {
        mesh.say(one, &Header { copied, ..broadcast }, b"twin", 50);
        assert_eq!(mesh.board(0).dropped(DropReason::Duplicate), duplicates);
    }
    assert_eq!(counts(&mesh, b"twin"), [1, 0, 1, 1, 1]);
}

/// A flood comes to node 0 from node 4, and waits there behind much else for node 1, which sends a copy of its own meanwhile. Says how
/// often node 1 hears of the flood.
fn floods_heard(is_flood: bool) -> usize {
    let (mut mesh, [one, four]) = beside("ring(5)", [(0, 1), (0, 4)]);
    for _ in 0..10 {
        mesh.send(0, 1, &[0; 200]).unwrap();
    }
    let broadcast = header(Kind::Broadcast, 2, 2, 3);
    mesh.say(four, &with(broadcast, |header| header.copied = true), b"flood", 3);
    mesh.say(one, &with(broadcast, |own| own.copied = is_flood), b"flood", 100);
    assert_eq!(counts(&mesh, b"flood")[0], 1);
    let heard = mesh.stranger(one).heard.iter();
    heard
        .filter(|heard| heard.header.number == 3 && heard.header.copied)
        .count()
}

#[test]
fn who_has_a_flood_is_not_sent_it_again_and_who_sends_along_the_tree_still_learns_of_it() {
    assert_eq!((floods_heard(true), floods_heard(false)), (0, 1));
}

/// A broadcast of this board comes back as a flood: someone on its tree is cut off. The next ones are floods from the start, for a while.
#[test]
fn a_source_whose_tree_is_broken_floods_at_once() {
    let (mut mesh, [one, four]) = beside("ring(5)", [(0, 1), (0, 4)]);
    let send = |mesh: &mut Mesh| {
        mesh.broadcast(0, b"mine").unwrap();
        mesh.run(20 * MILLISECOND);
        [one, four].map(|stranger| mesh.stranger(stranger).heard.last().unwrap().header)
    };
    let headers = send(&mut mesh);
    assert_eq!(headers.map(|header| header.copied), [false, false]);
    mesh.say(one, &with(headers[0], |header| header.copied = true), b"mine", 20);
    assert_eq!(send(&mut mesh).map(|header| header.copied), [true, true]);
    mesh.run(times::FLOOD_FOR);
    assert_eq!(send(&mut mesh).map(|header| header.copied), [false, false]);
}

/// What is older than the board's start may have been delivered before: it goes on, but is not delivered.
#[test]
fn a_broadcast_from_before_the_start_is_passed_on_only() {
    for (old, delivered) in [(false, 1), (true, 0)] {
        let (mut mesh, [one, four]) = beside("ring(5)", [(0, 1), (0, 4)]);
        mesh.restart(0);
        mesh.run(500 * MILLISECOND);
        let age = if old { SECOND / AGE_UNIT } else { 0 };
        let broadcast = aged(age as u16, header(Kind::Broadcast, 1, 1, 3));
        mesh.say(one, &broadcast, b"old", 50);
        assert_eq!(counts(&mesh, b"old")[0], delivered, "{age}");
        let heard = mesh.stranger(four).heard.iter();
        let passed = heard.filter(|heard| heard.header.number == 3);
        assert_eq!(passed.count(), 1, "{age}");
    }
}

#[test]
fn broadcasts_leave_room_for_what_passes() {
    let mut mesh = Mesh::up("ring(3)");
    let taken = (0..100).take_while(|_| mesh.broadcast(0, b"x").is_ok()).count();
    assert_eq!(taken, BUFFERS - 6 - INBOX - limits::SERVICE - 1 - 6);
    assert!(mesh.send(0, 1, b"y").is_ok());
    mesh.run(50 * MILLISECOND);
    assert_eq!(counts(&mesh, b"x"), [0, taken, taken]);
}

/// All send broadcasts as fast as they can: each comes at most once, and whoever was guaranteed one gets it.
#[test]
fn a_storm_of_broadcasts_dies_down() {
    for expression in ["ring(5)", "torus(3,3)"] {
        let mut mesh = Mesh::up(expression);
        let nodes = mesh.network.nodes();
        let mut sent = 0;
        for _ in 0..15 {
            for source in 0..nodes {
                while mesh.broadcast(source, &[source as u8; 30]).is_ok() {
                    sent += 1;
                }
            }
            mesh.run(3 * MILLISECOND);
        }
        let at_rest = mesh.run_until(8 * SECOND, |mesh| mesh.boards().all(|board| board.router.held() == 0));
        assert!(at_rest, "{expression}");
        mesh.assert_at_rest();
        let got: usize = mesh.boards().map(|board| board.got.len()).sum();
        assert_eq!(got as u64, sent * (nodes - 1), "{expression}");
    }
}
