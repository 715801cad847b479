//! Which of several cables is used, and what happens on one that is bad: both ends agree, and neither waits for ever.

use super::harness::Mesh;
use crate::support::*;

/// The links of two neighbors that lead to each other.
fn used(mesh: &Mesh, one: Node, other: Node) -> (Option<u8>, Option<u8>) {
    let link = |from: Node, to: Node| {
        let mut neighbors = mesh.board(from).router.neighbors();
        neighbors.find(|&(node, _)| node == to).and_then(|(_, link)| link)
    };
    (link(one, other), link(other, one))
}

/// Every packet that each of two boards sends the other arrives.
fn assert_talk(mesh: &mut Mesh) {
    let before = [0, 1].map(|node| mesh.board(node).got.len());
    for _ in 0..20 {
        mesh.send(0, 1, b"to one").unwrap();
        mesh.send(1, 0, b"to zero").unwrap();
        mesh.run(5 * MILLISECOND);
    }
    mesh.run(50 * MILLISECOND);
    let got = [0, 1].map(|node| mesh.board(node).got.len());
    assert_eq!([got[0] - before[0], got[1] - before[1]], [20, 20]);
    mesh.assert_at_rest();
}

/// Two cables between two boards, in every order of the plugs and of being plugged in: both ends use the same one, and the other
/// takes its place when it is pulled.
#[test]
fn of_two_cables_both_ends_use_the_same() {
    for (first, second) in [
        ((0, 0), (1, 1)),
        ((0, 1), (1, 0)),
        ((1, 0), (0, 1)),
        ((3, 2), (2, 5)),
        ((2, 5), (3, 2)),
    ] {
        for wait in [0, 300, 3_000, 40 * MILLISECOND, SECOND] {
            let mut mesh = Mesh::new("path(2)");
            mesh.unplug(0, 0);
            mesh.lay((0, first.0), (1, first.1));
            mesh.run(wait);
            mesh.lay((0, second.0), (1, second.1));
            mesh.run(SECOND);
            let now_used = used(&mesh, 0, 1);
            let cables = [first, second].map(|(zero, one)| (Some(zero), Some(one)));
            assert!(cables.contains(&now_used), "{cables:?} after {wait}: {now_used:?}");
            if wait == 0 {
                // Of two that come up together, both know which it is: the first of the lower-numbered board's.
                assert_eq!(Some(&now_used), cables.iter().min(), "{cables:?}");
            }
            assert_talk(&mut mesh);
            // The other one stands by.
            mesh.unplug(0, now_used.0.unwrap());
            mesh.run(450 * MILLISECOND);
            let then_used = used(&mesh, 0, 1);
            assert!(then_used != now_used && cables.contains(&then_used), "{then_used:?}");
            assert_talk(&mut mesh);
        }
    }
}

/// Node 1 of a ring has something for node 2, which is a stranger there: what is to go through a bad link goes round it, and the link is tried again at longer and longer intervals.
fn assert_left_alone(mut mesh: Mesh, why: Down, within: Micros) {
    let begun = mesh.now;
    mesh.send(1, 2, &[7; 150]).unwrap();
    let is_down = mesh.run_until(within, |mesh| mesh.board(1).downs(why) == 1);
    assert!(is_down, "{why:?} after {}", mesh.now - begun);
    mesh.run(50 * MILLISECOND);
    assert_eq!(mesh.board(2).payloads(), [(1, &[7; 150][..])], "{why:?}");
    let begun = mesh.now;
    let mut sent = 1;
    for _ in 0..600 {
        sent += usize::from(mesh.send(1, 2, &[8; 150]).is_ok());
        mesh.run(100 * MILLISECOND);
    }
    assert!(sent > 400, "{why:?}: {sent}");
    let times = mesh.board(1).downs(why);
    let took = mesh.now - begun;
    assert!((4..=7).contains(&times), "{why:?} {times} times in {took}");
    assert_eq!(mesh.board(1).dropped(DropReason::Expired), 0, "{why:?}");
    mesh.run(SECOND);
    assert_eq!(mesh.board(2).got.len(), sent, "{why:?}");
}

#[test]
fn a_neighbor_that_takes_nothing_is_left_alone() {
    let bad_neighbor = |mute| {
        let mut mesh = Mesh::new("ring(4)");
        let two = mesh.impersonate(1, 2);
        mesh.stranger_mut(two).mute = mute;
        mesh.come_up();
        (mesh, two)
    };
    assert_left_alone(bad_neighbor(true).0, Down::Stuck, 1_700 * MILLISECOND);
    for offer in [Offer::new(0, 0), Offer::ALL] {
        let (mut mesh, two) = bad_neighbor(false);
        mesh.stranger_mut(two).takes = false;
        mesh.stranger_mut(two).link.offer(offer);
        assert_left_alone(mesh, Down::Stuck, 5_700 * MILLISECOND);
    }
}

/// Hellos come through, packets do not. After the first failure the link is tried with a long hello, so no more packets are risked,
/// whether they come close together or now and then.
#[test]
fn a_cable_that_loses_long_frames_is_tried_with_long_hellos() {
    for interval in [100 * MILLISECOND, 3 * SECOND] {
        let mut mesh = Mesh::up("ring(4)");
        mesh.lose_longer(0, 1, 60);
        let mut late = 0;
        for _ in 0..60 {
            mesh.send(0, 1, &[5; 100]).unwrap();
            let sent = mesh.now;
            mesh.run(interval);
            // Those that were on the cable when it was given up may be uncertain.
            let at = mesh.board(1).got.last().map_or(0, |got| got.at);
            late += usize::from(!(sent..sent + 50 * MILLISECOND).contains(&at));
        }
        assert!(late < 10, "{late} of 60 every {interval} microseconds");
        let given_up = mesh.board(0).downs(Down::Ended) + mesh.board(0).downs(Down::Stuck);
        assert_eq!(given_up, 1, "every {interval} microseconds");
        // Whole again, it is used again.
        mesh.lose_longer(0, 1, usize::MAX);
        mesh.run(40 * SECOND);
        assert_eq!(used(&mesh, 0, 1), (Some(0), Some(1)));
    }
}

/// Packets that are there before the links are up: none is sent before the other end knows that it is accepted, so none is sent twice.
#[test]
fn no_packet_comes_before_the_word_that_it_may() {
    for wait in (0..40).map(|step| step * MILLISECOND) {
        let mut mesh = Mesh::new("path(2)");
        mesh.unplug(0, 0);
        mesh.run(wait);
        mesh.lay((0, 0), (1, 0));
        for _ in 0..600 {
            for node in [0, 1] {
                let _ = mesh.send(node, 1 - node, &[1; 100]);
            }
            mesh.run(MILLISECOND / 4);
        }
        mesh.run(100 * MILLISECOND);
        for node in [0, 1] {
            let counters = *mesh.board(node).router.links()[0].counters();
            assert_eq!((counters.resent, counters.timeouts), (0, 0), "node {node} after {wait}");
            assert!(counters.packets_sent > 10);
        }
    }
}
