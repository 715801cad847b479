//! Cables: who is at which, and what happens when they are pulled, swapped or lead to the wrong board.

use super::datagrams::header;
use super::harness::Mesh;
use crate::support::*;

#[test]
fn nothing_is_taken_from_someone_who_does_not_belong_there() {
    let expected = |mesh: &Mesh| {
        let events = mesh.board(1).events.0.iter();
        let mut found = events.rev().filter_map(|event| match event {
            Event::Miswired { link, expected, found } => Some((*link, *expected, *found)),
            _ => None,
        });
        found.next()
    };
    let mesh = Mesh::up("path(4)");
    let right = mesh.identity(2, 0);
    let strangers = [
        Identity { address: 3, ..right },
        Identity { address: 1, ..right },
        Identity { network: 5, ..right },
        // It is reached already, by another cable.
        Identity { address: 0, ..right },
    ];
    for identity in strangers {
        let mut mesh = Mesh::up("path(4)");
        let to_two = mesh.network.port_to(1, 2).unwrap().unwrap() as u8;
        let stranger = mesh.plug_in(1, to_two, identity);
        mesh.run(SECOND);
        assert!(mesh.stranger(stranger).link.is_up());
        assert_eq!(expected(&mesh), Some((to_two, Some(2), identity)));
        mesh.post(stranger, &header(Kind::Datagram, 2, 1, 1), b"forged");
        mesh.say(stranger, &header(Kind::Datagram, 2, 0, 2), b"forged", 1_000);
        let nothing = mesh.board(1).got.is_empty() && mesh.board(0).got.is_empty();
        assert!(nothing, "{identity:?}");
        assert_eq!(mesh.board(1).router.counters().received, 0, "{identity:?}");
        let neighbors: Vec<_> = mesh.board(1).router.neighbors().collect();
        assert!(neighbors.contains(&(2, None)), "{neighbors:?}");
        assert!(!mesh.board(1).router.all_links_up());
        // Nothing is sent to it either.
        mesh.send(1, 2, b"x").unwrap();
        mesh.run(SECOND);
        assert!(mesh.stranger(stranger).heard.is_empty(), "{identity:?}");
        let report = mesh.board(1).router.link_report(to_two).unwrap();
        assert_eq!((report.up, report.wired), (true, false));
    }
}

#[test]
fn cables_may_be_in_any_order() {
    let mut mesh = Mesh::new("hypercube(3)");
    mesh.swap(0, 0, 4);
    mesh.swap(0, 1, 2);
    mesh.swap(5, 0, 2);
    mesh.come_up();
    for from in 0..8 {
        mesh.broadcast(from, &[from as u8]).unwrap();
        mesh.send(from, 7 - from, b"x").unwrap();
    }
    mesh.run(100 * MILLISECOND);
    for node in 0..8 {
        assert_eq!(mesh.board(node).got.len(), 8, "node {node}");
    }
    mesh.assert_at_rest();
}

/// Every node of a ring of four sends something to the next, which is the only thing that has come there since.
fn assert_all_send(mesh: &mut Mesh, payload: &[u8]) {
    for from in 0..4 {
        mesh.send(from, (from + 1) % 4, payload).unwrap();
    }
    mesh.run(50 * MILLISECOND);
    for node in 0..4 {
        let got = std::mem::take(&mut mesh.board_mut(node).got);
        let payloads: Vec<_> = got.iter().map(|got| &got.payload[..]).collect();
        assert_eq!(payloads, [payload], "node {node}");
    }
}

/// A cable pulled and put into a free plug, before anyone could notice that or later: all links come up again, and nothing is lost or doubled.
#[test]
fn a_cable_moved_to_another_plug_is_found_there() {
    for wait in [0, SECOND / 2] {
        let mut mesh = Mesh::up("ring(4)");
        for (round, from, to) in [(0, 0, 3), (1, 1, 0), (2, 3, 5)] {
            mesh.move_cable(0, from, to, wait);
            let moved = mesh.now;
            mesh.come_up();
            assert!(mesh.now - moved < SECOND, "{}", mesh.now - moved);
            assert_all_send(&mut mesh, &[round]);
        }
        mesh.swap(0, 5, 0);
        mesh.swap(2, 0, 1);
        mesh.run(SECOND);
        mesh.come_up();
        assert_all_send(&mut mesh, b"x");
    }
}

#[test]
fn a_pulled_cable_is_noticed_and_said() {
    let mut mesh = Mesh::up("ring(3)");
    mesh.cut(0, 1);
    let pulled = mesh.now;
    assert!(mesh.run_until(SECOND, |mesh| !mesh.board(0).router.all_links_up()));
    let took = mesh.now - pulled;
    assert!((10 * MILLISECOND..20 * MILLISECOND).contains(&took), "{took}");
    mesh.run(SECOND);
    for node in [0, 1] {
        let board = mesh.board(node);
        assert_eq!((board.downs(Down::Silent), board.ups()), (1, 2), "node {node}");
    }
    mesh.restore(0, 1);
    mesh.come_up();
    assert_eq!(mesh.board(0).ups(), 3);
}

#[test]
fn a_board_that_restarts_is_known_again_at_once() {
    let mut mesh = Mesh::up("ring(3)");
    mesh.restart(1);
    let restarted = mesh.now;
    let retransmit = mesh.run_until(SECOND, |mesh| mesh.board(0).ups() == 3);
    let took = mesh.now - restarted;
    assert!(retransmit && took < 50 * MILLISECOND, "{took}");
    let downs = mesh.board(0).count(|event| matches!(event, Event::LinkDown { .. }));
    assert_eq!(downs, 1);
    mesh.come_up();
    // As long as a packet's age is rounded up: what may have been sent before the restart is not delivered.
    mesh.run(20 * MILLISECOND);
    mesh.send(0, 1, b"again").unwrap();
    mesh.run(20 * MILLISECOND);
    assert_eq!(mesh.board(1).payloads(), [(0, &b"again"[..])]);
}

#[test]
fn where_there_was_no_room_it_is_tried_again() {
    let mut mesh = Mesh::new("path(3)");
    let two = mesh.impersonate(1, 2);
    mesh.come_up();
    mesh.stranger_mut(two).link.offer(Offer::new(0, 0));
    mesh.stranger_mut(two).takes = false;
    mesh.send(1, 2, b"x").unwrap();
    mesh.run(400 * MILLISECOND);
    let attempts = mesh
        .board(1)
        .count(|event| matches!(event, Event::Sent { retransmit: false, .. }));
    // Every 20 milliseconds, not more often.
    assert!((10..=24).contains(&attempts), "{attempts}");
    assert!(mesh.stranger(two).heard.is_empty());
    // There is room now, and nobody says so.
    mesh.stranger_mut(two).takes = true;
    mesh.run(50 * MILLISECOND);
    assert_eq!(mesh.stranger(two).heard.len(), 1);
    mesh.run(SECOND);
    mesh.assert_at_rest();
}

/// A board that has no room says so before it is asked, and says when it has some.
#[test]
fn a_full_board_says_when_it_has_room_again() {
    let mut mesh = Mesh::new("path(4)");
    let (zero, three) = (mesh.impersonate(1, 0), mesh.impersonate(2, 3));
    mesh.come_up();
    mesh.stranger_mut(three).takes = false;
    for number in 0..60 {
        mesh.post(zero, &header(Kind::Datagram, 0, 3, number), &[1; 100]);
    }
    mesh.run(SECOND);
    let stuck = mesh.stranger(zero).unsettled();
    // Its share of each of the two boards.
    assert_eq!(60 - stuck, 2 * limits::LINK_SHARE);
    let refused = mesh.stranger(zero).refused();
    let why = "they are not sent before there is room";
    assert!(refused < 60, "{refused} were refused in a second: {why}");
    mesh.stranger_mut(three).takes = true;
    mesh.run(SECOND);
    assert_eq!(mesh.stranger(zero).unsettled(), 0);
    let heard = mesh.stranger(three).heard.iter();
    let mut numbers: Vec<_> = heard.map(|heard| heard.header.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..60).collect::<Vec<_>>());
    mesh.assert_at_rest();
}

/// The deadlines a board names are kept by a shell that does nothing else: it neither sleeps through nor spins.
#[cfg(feature = "clock")]
#[test]
fn deadlines_are_soon_enough_and_not_too_soon() {
    let mut mesh = Mesh::up("ring(3)");
    let board = mesh.board(0);
    let links = board.router.links().iter().map(|link| link.deadline()).min();
    // Besides, all links want a time signal now and then.
    let signals = board.router.own_deadline();
    let soon = mesh.now + 1..=mesh.now + 150 * MILLISECOND;
    assert!(soon.contains(&signals), "{signals}");
    assert_eq!(Some(board.router.deadline()), links.map(|links| links.min(signals)));
    for link in 0..PORTS as u8 {
        let due = board.router.links()[usize::from(link)].is_due(mesh.now);
        assert!(!due && !board.router.wants_to_transmit(link, mesh.now), "link {link}");
    }
    mesh.confirmed(0, 1, b"x").unwrap();
    let own = mesh.board(0).router.own_deadline();
    assert!(own <= mesh.now + times::SWEEP, "{own}");
    assert!(mesh.board(0).router.deadline() <= own);
    mesh.run(SECOND);
    assert!(mesh.board(0).router.own_deadline() > mesh.now);
}
