//! A neighbour that says what is not true, or says nothing at all at great length.

use super::datagrams::header;
use super::harness::Mesh;
use crate::support::*;

/// Node 2 of a path between two strangers.
fn between() -> (Mesh, usize, usize) {
    let mut mesh = Mesh::new("path(5)");
    let (one, three) = (mesh.impersonate(2, 1), mesh.impersonate(2, 3));
    assert!(mesh.run_until(SECOND, |mesh| mesh.board(2).router.all_links_up()));
    mesh.run(100 * MILLISECOND);
    (mesh, one, three)
}

#[test]
fn what_says_it_is_from_here_and_is_not_goes_no_further() {
    let (mut mesh, one, three) = between();
    mesh.stranger_mut(one)
        .send(0, &header(Kind::Datagram, 2, 4, 9), b"not mine");
    mesh.run(100 * MILLISECOND);
    assert_eq!(mesh.stranger(three).heard.len(), 0);
    assert_eq!(mesh.board(2).dropped(DropReason::Malformed), 1);
    // A detour may bring a packet back: 2 has tried 3, and the trail says so.
    let back = Header {
        trail: true,
        ..header(Kind::Datagram, 2, 4, 10)
    };
    mesh.stranger_mut(one).send(0, &back, &[b'm', 2 << 1, 1 << 1 | 1, 2]);
    mesh.run(100 * MILLISECOND);
    assert_eq!(mesh.stranger(three).heard.len(), 1);
    // Not one of an earlier life, or of none.
    let forged = Header { epoch: 77, ..back };
    mesh.stranger_mut(one).send(0, &forged, &[b'm', 2 << 1, 1 << 1 | 1, 2]);
    mesh.run(100 * MILLISECOND);
    assert_eq!(mesh.stranger(three).heard.len(), 1);
    assert_eq!(mesh.board(2).dropped(DropReason::Malformed), 2);
    mesh.assert_at_rest();
}

#[test]
fn a_broadcast_comes_from_the_parent_in_its_tree() {
    let (mut mesh, one, three) = between();
    let broadcast = |source, number| header(Kind::Broadcast, source, source, number);
    mesh.stranger_mut(three).send(0, &broadcast(0, 9), b"forged");
    mesh.run(100 * MILLISECOND);
    assert!(mesh.board(2).got.is_empty() && mesh.stranger(one).heard.is_empty());
    assert_eq!(mesh.board(2).dropped(DropReason::Malformed), 1);
    mesh.stranger_mut(one).send(0, &broadcast(0, 9), b"true");
    mesh.stranger_mut(three).send(0, &broadcast(4, 9), b"true");
    mesh.run(100 * MILLISECOND);
    assert_eq!(mesh.board(2).got.len(), 2);
    assert_eq!(
        (mesh.stranger(one).heard.len(), mesh.stranger(three).heard.len()),
        (1, 1)
    );
}

#[test]
fn noise_is_counted_and_told_now_and_then() {
    let mut mesh = Mesh::up("path(5)");
    let known = mesh.board(2).count(|event| matches!(event, Event::Damaged { .. }));
    let mut now = mesh.now;
    for _ in 0..10_000 {
        now += 1_000;
        mesh.board_mut(2)
            .act(|router, notes| router.receive(0, &[7, 7, 0], now, notes));
    }
    let told = mesh.board(2).count(|event| matches!(event, Event::Damaged { .. })) - known;
    assert!((8..=15).contains(&told), "{told} times in 10 s");
    let report = mesh.board(2).router.link_report(0);
    assert!(report.is_some_and(|report| report.counters.damaged >= 10_000));
}
