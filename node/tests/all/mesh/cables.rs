//! Which of several cables is used, and what happens on one that is bad: both ends agree, and neither waits for ever.

use super::datagrams::header;
use super::harness::{Got, Mesh};
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

/// A neighbor that hears us and says so, but does not accept us: nothing is sent, and the link is left alone for longer and longer.
#[test]
fn nothing_is_sent_to_one_who_does_not_accept_us() {
    let mut mesh = Mesh::new("path(3)");
    let two = mesh.impersonate(1, 2);
    let now = mesh.now;
    mesh.stranger_mut(two).link.accept(false, now);
    mesh.run(10 * SECOND);
    assert!(mesh.stranger(two).link.is_up());
    assert!(!mesh.board(1).router.all_links_up());
    mesh.send(1, 2, b"x").unwrap();
    mesh.run(SECOND);
    assert!(mesh.stranger(two).heard.is_empty());
    assert_eq!(mesh.board(1).dropped(DropReason::NoRoute), 1);
    let refused = mesh.board(1).downs(Down::Refused);
    assert!((3..=5).contains(&refused), "{refused}");
    let now = mesh.now;
    mesh.stranger_mut(two).link.accept(true, now);
    mesh.come_up();
    mesh.send(1, 2, b"x").unwrap();
    mesh.run(50 * MILLISECOND);
    assert_eq!(mesh.stranger(two).heard.len(), 1);
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

/// A packet that is longer than the neighbor takes is not sent to it, and its sender is told; shorter ones are.
#[test]
fn what_is_too_long_for_a_neighbor_is_not_sent_to_it() {
    let mut mesh = Mesh::new("path(3)");
    let link = mesh.network.port_to(1, 2).unwrap().unwrap() as u8;
    let short = Identity {
        mtu: 100,
        ..mesh.identity(2, 0)
    };
    let two = mesh.plug_in(1, link, short);
    mesh.come_up();
    // A header of 12 bytes, and a port.
    mesh.send(1, 2, &[1; 88]).unwrap();
    mesh.send(1, 2, &[2; 87]).unwrap();
    mesh.send(0, 2, &[3; 200]).unwrap();
    mesh.run(SECOND);
    let bodies: Vec<_> = mesh.stranger(two).heard.iter().map(|heard| heard.body.len()).collect();
    assert_eq!(bodies, [87]);
    assert_eq!(mesh.board(1).dropped(DropReason::NoRoute), 2);
    for node in [0, 1] {
        let told = matches!(
            mesh.board(node).got[..],
            [Got {
                kind: MessageKind::Undeliverable { .. },
                ..
            }]
        );
        assert!(told, "{:?}", mesh.board(node).got);
    }
    assert_eq!(mesh.board(1).downs(Down::Stuck), 0);
    mesh.assert_at_rest();
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

/// A neighbor that restarts every 60 milliseconds, and says hello for the last 40 of them: the links come up a few times, then they
/// are held down; and soon after it has stopped they are up.
#[test]
fn a_neighbor_that_comes_and_goes_is_held_down() {
    let mut mesh = Mesh::up("ring(3)");
    let before = mesh.board(0).ups();
    for _ in 0..170 {
        mesh.restart(1);
        mesh.run(60 * MILLISECOND);
    }
    let times = mesh.board(0).ups() - before;
    assert!((3..=12).contains(&times), "{times} times in 10 seconds");
    let events = mesh.board(0).events.0.len();
    assert!(events < 60, "{events} events");
    mesh.run(17 * SECOND);
    assert!(mesh.boards().all(|board| board.router.all_links_up()));
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

/// A host is one only at the link that is for it, and there is one at a time: a second one is told so, and has its turn when the
/// first has left.
#[test]
fn there_is_one_host_and_where_it_belongs() {
    let mut mesh = Mesh::up("ring(3)");
    let stray = mesh.plug_in(0, 3, mesh.host_identity());
    mesh.run(3 * SECOND);
    assert_eq!(mesh.board(0).router.host_link(), None);
    assert_eq!(mesh.stranger(stray).downs, [Down::Refused]);
    mesh.post(stray, &header(Kind::Datagram, 0, 1, 1), b"x");
    let first = mesh.host(0);
    mesh.run(2 * SECOND);
    assert_eq!(mesh.board(0).router.host_link(), Some(PORTS as u8 - 1));
    mesh.say(first, &header(Kind::Datagram, 0, 1, 2), b"y", 100);
    assert_eq!(mesh.board(1).payloads(), [(0, &b"y"[..])], "only the first is heard");
    let miswired = |event: &Event| matches!(event, Event::Miswired { link: 3, .. });
    assert_eq!(mesh.board(0).count(miswired), 1);
}

#[test]
fn where_several_links_are_for_hosts_the_first_to_come_stays() {
    let mut mesh = Mesh::new("ring(3)");
    let now = mesh.now;
    mesh.board_mut(0).allow_hosts(u32::MAX, now);
    mesh.come_up();
    let first = mesh.host(0);
    let second = mesh.plug_in(0, 3, mesh.host_identity());
    mesh.run(3 * SECOND);
    assert_eq!(mesh.stranger(second).downs, [Down::Refused]);
    for (host, number) in [(first, 1), (second, 2)] {
        let header = header(Kind::Datagram, 0, 1, number);
        mesh.post(host, &header, &[number as u8]);
    }
    mesh.run(SECOND);
    assert_eq!(mesh.board(1).payloads(), [(0, &[1][..])]);
    mesh.unplug(0, PORTS as u8 - 1);
    mesh.run(SECOND);
    assert_eq!(mesh.board(0).router.host_link(), Some(3));
    assert_eq!(mesh.board(1).payloads(), [(0, &[1][..]), (0, &[2][..])]);
}
