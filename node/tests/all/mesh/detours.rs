//! Round dead links: where a packet goes, what its trail says, and when it gives up.

use super::datagrams::{between_in, header, with};
use super::harness::Mesh;
use crate::support::*;

#[test]
fn a_cut_cable_is_gone_round_and_back_when_it_is_restored() {
    let mut mesh = Mesh::up("ring(6)");
    mesh.cut(1, 2);
    mesh.run(SECOND);
    mesh.send(0, 2, b"round").unwrap();
    mesh.run(50 * MILLISECOND);
    assert_eq!(mesh.board(2).payloads(), [(0, &b"round"[..])]);
    // 0, 1, back to 0, 5, 4, 3, 2.
    let detours: Vec<_> = (0..6).map(|node| mesh.board(node).router.counters().detoured).collect();
    let found = detours.iter().sum::<u32>();
    assert_eq!(found, detours[1] + detours[0] + detours[5] + detours[4] + detours[3]);
    assert_eq!((detours[1], detours[0]), (1, 1), "{detours:?}");
    let is_detour = |event: &Event| matches!(event, Event::Detoured { by: 0, .. });
    assert_eq!(mesh.board(1).count(is_detour), 1);
    mesh.restore(1, 2);
    mesh.run(SECOND);
    mesh.send(0, 2, b"straight").unwrap();
    mesh.run(50 * MILLISECOND);
    assert_eq!(mesh.board(2).got.len(), 2);
    assert_eq!(mesh.board(0).router.counters().detoured, 1);
    mesh.assert_at_rest();
}

#[test]
fn an_unreachable_destination_is_reported_to_the_application() {
    let mut mesh = Mesh::up("path(4)");
    mesh.cut(2, 3);
    mesh.run(SECOND);
    let number = mesh.send(0, 3, b"lost").unwrap();
    let request = mesh.ask(0, 3, Query::Ping, b"").unwrap();
    mesh.run(50 * MILLISECOND);
    let found = mesh.board(0).got.iter();
    let found: Vec<_> = found.map(|got| (got.kind, got.source, got.payload.len())).collect();
    let report = |number| {
        let (dest, reason) = (3, DropReason::NoRoute);
        (MessageKind::Undeliverable { number, dest, reason }, 2, 0)
    };
    assert_eq!(found, [report(number), report(request)]);
    assert_eq!(mesh.board(2).dropped(DropReason::NoRoute), 2);
    mesh.assert_at_rest();
}

/// What was on the cable when it died goes another way, as a copy; what came for certain does not.
#[test]
fn packets_on_a_dying_cable_come_once() {
    for wait in [0, 300, 800, 1_200, 2_000, 5_000] {
        let mut mesh = Mesh::up("ring(4)");
        for number in 0..8 {
            mesh.send(0, 1, &[number; 20]).unwrap();
        }
        mesh.run(wait);
        mesh.cut(0, 1);
        mesh.run(2 * SECOND);
        let mut numbers: Vec<_> = mesh.board(1).got.iter().map(|got| got.payload[0]).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7], "cut after {wait}");
        mesh.assert_at_rest();
    }
}

#[test]
fn the_trail_names_who_was_visited() {
    let (mut mesh, one, _) = between_in("ring(8)");
    mesh.unplug(2, mesh.network.port_to(2, 3).unwrap().unwrap() as u8);
    mesh.run(SECOND);
    mesh.say(one, &header(Kind::Datagram, 1, 4, 5), b"payload", 50);
    let back = &mesh.stranger(one).heard[0];
    assert!(back.header.trail && !back.header.copied);
    // Numbers times two, and how many bytes: here nobody else was to be asked, so 2 is a dead end, or the start to come back to.
    assert_eq!(back.body[..7], *b"payload");
    assert_eq!(back.body[7..], [2 << 1, 1]);
}

#[test]
fn a_trail_ends_where_the_destination_is_nearer() {
    let (mut mesh, one, three) = between_in("ring(8)");
    let on_trail = with(header(Kind::Datagram, 1, 4, 5), |header| header.trail = true);
    // It began at 7, which is three hops from 4; here it is two.
    mesh.say(one, &on_trail, &[b'x', 7 << 1, 0 << 1, 1 << 1, 3], 20);
    let on = &mesh.stranger(three).heard[0];
    assert_eq!((on.header.trail, &on.body[..]), (false, &b"x"[..]));
    // It began at 3, which is nearer than this: the trail goes on, and this node is on it.
    mesh.say(one, &Header { number: 6, ..on_trail }, &[b'y', 3 << 1, 1 << 1, 2], 20);
    let back = &mesh.stranger(one).heard[0];
    assert!(back.header.trail);
    let expected = [b'y', 3 << 1, 1 << 1, 2 << 1 | 1, 3];
    assert_eq!(back.body, expected, "3 and 1 were visited: back to where it came from");
}

#[test]
fn a_trail_that_is_none_is_malformed() {
    let (mut mesh, one, three) = between_in("ring(8)");
    for (number, body) in [(1, &[9][..]), (2, &[]), (3, &[0])] {
        let header = with(header(Kind::Datagram, 1, 4, number), |header| header.trail = true);
        mesh.post(one, &header, body);
    }
    mesh.run(50 * MILLISECOND);
    assert!(mesh.stranger(three).heard.is_empty());
    assert_eq!(mesh.board(2).dropped(DropReason::Malformed), 3);
}

#[test]
fn a_trail_that_does_not_fit_is_the_end() {
    let (mut mesh, one, _) = between_in("ring(8)");
    mesh.unplug(2, mesh.network.port_to(2, 3).unwrap().unwrap() as u8);
    mesh.run(SECOND);
    for (length, fits) in [(BODY - 3, true), (BODY - 2, false), (BODY - 1, false)] {
        let known = mesh.stranger(one).heard.len();
        mesh.say(one, &header(Kind::Datagram, 1, 4, length as u32), &vec![3; length], 50);
        let kind = mesh.stranger(one).heard[known].header.kind;
        let expected = if fits { Kind::Datagram } else { Kind::Undeliverable };
        assert_eq!(kind, expected, "{length}");
    }
    assert_eq!(mesh.board(2).dropped(DropReason::TrailFull), 2);
}

/// A packet that was refused on its way back is delivered with its trail taken off.
#[test]
fn the_trail_does_not_reach_the_application() {
    let (mut mesh, one, _) = between_in("ring(8)");
    for (kind, number) in [(Kind::Datagram, 1), (Kind::Broadcast, 2)] {
        let header = with(header(kind, 1, 2, number), |header| header.trail = true);
        mesh.post(one, &header, &[b'a', b'b', 1 << 1, 1]);
    }
    mesh.run(20 * MILLISECOND);
    assert_eq!(mesh.board(2).payloads(), [(1, &b"ab"[..]), (1, &b"ab"[..])]);
}
