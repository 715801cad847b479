//! Cables: who is at which, and what happens when they are pulled, swapped or lead to the wrong board.

use super::harness::Mesh;
use crate::support::*;

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
