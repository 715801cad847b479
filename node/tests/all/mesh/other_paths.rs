//! Confirmed packets to which nobody answers: by other paths, and by all of them.

use super::confirmed::confirmation;
use super::datagrams::{beside, header, with};
use super::harness::Mesh;
use super::stranger::Heard;
use crate::support::*;
use hopwise_node::wire::Undeliverable;

/// Board 0 of `ring(5)`, between strangers in place of nodes 1 and 4.
fn between() -> (Mesh, [usize; 2]) {
    beside("ring(5)", [(0, 1), (0, 4)])
}

fn kinds(heard: &[Heard]) -> Vec<Kind> {
    heard.iter().map(|heard| heard.header.kind).collect()
}

fn flooded(kind: Kind, number: u32, body: &[u8]) -> Vec<u8> {
    let inner = Flooded { kind, number, body };
    inner.write::<Body<BODY>>().unwrap().to_vec()
}

/// What came back as a flood.
fn unwrapped(heard: &Heard) -> Option<Confirmation> {
    let inner = Flooded::read(&heard.body).filter(|_| heard.header.kind == Kind::Flooded)?;
    Confirmation::read(inner.body)
}

#[test]
fn what_is_not_answered_goes_by_another_path() {
    let (mut mesh, [one, four]) = between();
    mesh.confirmed(0, 2, b"hello").unwrap();
    mesh.run(50 * MILLISECOND);
    let found = kinds(&mesh.stranger(one).heard);
    assert_eq!(found, [Kind::Confirmed], "first by its route");
    assert_eq!(mesh.stranger(four).heard.len(), 0);
    // Sooner than the first flood.
    mesh.run(SECOND);
    assert!(kinds(&mesh.stranger(four).heard).contains(&Kind::Confirmed));
    assert!(!kinds(&mesh.stranger(four).heard).contains(&Kind::Flooded));
}

#[test]
fn a_packet_that_comes_again_is_confirmed_by_another_path() {
    let (mut mesh, [one, four]) = between();
    // From node 2, whose route leads past node 1.
    let packet = header(Kind::Confirmed, 2, 0, 9);
    mesh.say(one, &packet, b"\0\0payload", 50);
    assert_eq!(kinds(&mesh.stranger(one).heard), [Kind::Confirmation]);
    assert_eq!(mesh.stranger(four).heard.len(), 0);
    for _ in 0..5 {
        mesh.say(one, &with(packet, |header| header.copied = true), b"\0\0payload", 50);
    }
    assert!(kinds(&mesh.stranger(four).heard).contains(&Kind::Confirmation));
    assert_eq!(mesh.board(0).got.len(), 1);
}

#[test]
fn what_comes_as_a_flood_is_answered_by_a_flood() {
    let (mut mesh, [one, four]) = between();
    let flood = with(header(Kind::Flooded, 2, 0, 70), |header| header.copied = true);
    let body = flooded(Kind::Confirmed, 9, b"\x01\0\x14payload");
    mesh.say(one, &flood, &body, 50);
    assert_eq!(mesh.board(0).payloads(), [(2, &b"payload"[..])]);
    for stranger in [one, four] {
        let heard = &mesh.stranger(stranger).heard;
        let responses: Vec<_> = heard.iter().filter_map(unwrapped).collect();
        assert_eq!(responses.len(), 1, "{heard:?}");
        assert_eq!((responses[0].number, responses[0].verdict), (9, Verdict::Delivered));
    }
}

/// What node 0 hears of its packet decides how it goes on: the response came as a flood, or a search did not see all there is.
#[test]
fn a_destination_that_only_floods_reach_is_flooded_at_once() {
    let reach = |said: fn(u32) -> (Header, Vec<u8>)| {
        let (mut mesh, [one, four]) = between();
        let number = mesh.confirmed(0, 2, b"hello").unwrap();
        mesh.run(20 * MILLISECOND);
        let (header, body) = said(number);
        mesh.post(one, &header, &body);
        // By the second attempt.
        mesh.run(500 * MILLISECOND);
        kinds(&mesh.stranger(four).heard).contains(&Kind::Flooded)
    };
    assert!(reach(|number| (
        with(header(Kind::Flooded, 2, 0, 70), |header| header.copied = true),
        flooded(Kind::Confirmation, 50, &response(number, Verdict::Busy)),
    )));
    assert!(!reach(|number| (
        header(Kind::Confirmation, 2, 0, 50),
        response(number, Verdict::Busy)
    )));
    assert!(reach(|number| (
        header(Kind::Undeliverable, 3, 0, 50),
        report(number, DropReason::TrailFull)
    )));
    assert!(!reach(|number| (
        header(Kind::Undeliverable, 3, 0, 50),
        report(number, DropReason::NoRoute)
    )));
}

fn response(number: u32, verdict: Verdict) -> Vec<u8> {
    confirmation(number, verdict, 9 * SECOND)
}

fn report(number: u32, reason: DropReason) -> Vec<u8> {
    let report = Undeliverable {
        number,
        kind: Kind::Confirmed,
        reason,
        dest: 2,
    };
    report.write::<Body<BODY>>().unwrap().to_vec()
}

/// Three reports that there is no path end a packet after a while; as many of searches that were not complete do not.
#[test]
fn only_complete_searches_say_that_there_is_no_path() {
    for (reason, ends) in [(DropReason::NoRoute, true), (DropReason::TrailFull, false)] {
        let (mut mesh, [one, _]) = between();
        let number = mesh.confirmed(0, 2, b"hello").unwrap();
        for place in 0..8 {
            mesh.run(500 * MILLISECOND);
            let header = header(Kind::Undeliverable, 3, 0, 50 + place);
            mesh.post(one, &header, &report(number, reason));
        }
        mesh.run(100 * MILLISECOND);
        let ended = mesh.board(0).outcomes.iter().map(|&(_, outcome)| outcome);
        let expected = ends.then_some(Outcome::Undeliverable { at: 3, reason });
        assert_eq!(Vec::from_iter(ended), Vec::from_iter(expected), "{reason:?}");
    }
}

/// A flood that passes a board with much else to do ends there.
#[test]
fn a_busy_board_does_not_pass_floods_on() {
    for busy in [false, true] {
        let (mut mesh, [one, four]) = between();
        mesh.stranger_mut(four).takes = !busy;
        mesh.board_mut(0).fetches = !busy;
        for number in 0..if busy { 6 } else { 0 } {
            for dest in [0, 3] {
                let datagram = header(Kind::Datagram, 2, dest, 100 * dest as u32 + number);
                mesh.post(one, &datagram, &[0; 100]);
            }
        }
        while busy && mesh.broadcast(0, &[0; 50]).is_ok() {}
        mesh.run(100 * MILLISECOND);
        let used = mesh.board(0).router.counters().buffers_used as usize;
        assert_eq!(used > BUFFERS / 2, busy, "{used}");
        let flood = with(header(Kind::Flooded, 1, 3, 170), |header| header.copied = true);
        mesh.say(one, &flood, &flooded(Kind::Confirmed, 9, b"\0\0payload"), 150);
        assert_eq!(mesh.board(0).dropped(DropReason::Busy) > 0, busy);
        mesh.stranger_mut(four).takes = true;
        mesh.run(100 * MILLISECOND);
        let passed = kinds(&mesh.stranger(four).heard).contains(&Kind::Flooded);
        assert_eq!(passed, !busy);
    }
}
