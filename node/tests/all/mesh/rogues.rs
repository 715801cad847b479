//! A neighbor that says what is not true, or says nothing at all at great length.

use super::datagrams::{between, header};
use super::harness::Mesh;
use crate::support::*;

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

/// A neighbor sends packets that lead nowhere as fast as it can: their source is told of some of them, and what others send across the
/// same node is not held up.
#[test]
fn packets_that_lead_nowhere_are_reported_now_and_then() {
    let (mut mesh, one, three) = between();
    let seconds = 3;
    for number in 0..seconds * 500 {
        mesh.post(one, &header(Kind::Datagram, 0, 99, number), b"to nobody");
        mesh.stranger_mut(three)
            .send(1, &header(Kind::Datagram, 4, 0, number), b"to somebody");
        mesh.run(2 * MILLISECOND);
    }
    mesh.run(100 * MILLISECOND);
    let came = |kind: Kind| {
        let heard = mesh.stranger(one).heard.iter();
        heard.filter(move |heard| heard.header.kind == kind)
    };
    let numbers: Vec<u32> = came(Kind::Datagram).map(|heard| heard.header.number).collect();
    assert_eq!(numbers, (0..seconds * 500).collect::<Vec<_>>(), "the innocent flow");
    assert_eq!(mesh.board(2).dropped(DropReason::NoSuchNode), seconds * 500);
    let reports = came(Kind::Undeliverable).count() as u32;
    let expected = seconds * 55..=seconds * 61 + 10;
    assert!(expected.contains(&reports), "{reports} reports in {seconds} s");
    // They do not use up what is said to others.
    mesh.stranger_mut(three)
        .send(1, &header(Kind::Datagram, 4, 99, 9_999), b"to nobody");
    mesh.run(100 * MILLISECOND);
    assert_eq!(mesh.stranger(three).heard.len(), 1);
}

/// A packet that grows too old while it is on a wire is not retransmitted: only its header is, by which it is known to have expired.
// Without time signals on the wire the retransmission comes later than this waits.
#[cfg(feature = "clock")]
#[test]
fn what_expires_on_a_wire_is_not_sent_again() {
    let (mut mesh, one, three) = between();
    // On a wire so slow the other end does not show that it is alive, and is not missed so soon.
    let slow = Identity {
        epoch: 78,
        ..mesh.identity(3, 0)
    };
    mesh.stranger_mut(three).link = Link::welcoming(slow, 80_000, mesh.now);
    mesh.run(SECOND);
    let old = |milliseconds: u64| {
        let age = (milliseconds * 1_000 / AGE_UNIT) as u16;
        Header {
            age,
            ..header(Kind::Datagram, 0, 4, milliseconds as u32)
        }
    };
    for (age, body) in [(5_900, &b""[..]), (5_000, &b"young"[..])] {
        // The first time it does not come through.
        mesh.set_mute(2, 3, true);
        mesh.post(one, &old(age), b"young");
        mesh.run(200 * MILLISECOND);
        mesh.set_mute(2, 3, false);
        mesh.run(100 * MILLISECOND);
        let heard = mesh.stranger(three).heard.last();
        let heard = heard.expect("what was retransmitted");
        assert_eq!((heard.header.number, &heard.body[..]), (age as u32, body));
        let found = u64::from(heard.header.age) * AGE_UNIT > times::LIFETIME;
        assert_eq!(found, body.is_empty());
    }
}
