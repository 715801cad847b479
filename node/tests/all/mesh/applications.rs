//! Ports: whom a packet is for, and what becomes of it if nobody is there or has room.

use super::harness::{APP, Mesh};
use crate::support::*;

/// Says at a board which ports are served, and for how many packets there is room.
fn serve(mesh: &mut Mesh, node: Node, port: AppPort, room: u8) {
    mesh.board_mut(node).act(|router, _| router.serve(port, room)).unwrap();
}

fn request(mesh: &mut Mesh, from: Node, to: Node, port: AppPort) -> (AppStatus, Vec<u8>) {
    let known = mesh.board(from).got.len();
    mesh.ask(from, to, Query::Application(port), b"how much?").unwrap();
    assert!(mesh.run_until(SECOND, |mesh| mesh.board(from).got.len() > known));
    let got = &mesh.board(from).got[known];
    let found = (got.kind, got.port);
    assert_eq!(found, (MessageKind::Response(Query::Application(port)), port));
    let (status, response) = AppStatus::read(&got.payload).unwrap();
    (status, response.to_vec())
}

#[test]
fn the_first_sixteen_numbers_are_not_the_users() {
    let reserved: Vec<u8> = (0..=u8::MAX).filter(|&port| AppPort(port).is_reserved()).collect();
    assert_eq!(reserved, Vec::from_iter(0..16));
}

#[test]
fn packets_say_whom_they_are_for() {
    let mut mesh = Mesh::up("path(3)");
    let (first, second) = (AppPort(16), AppPort(255));
    mesh.act(0, |router, now, note| router.send(2, first, b"one", now, note))
        .unwrap();
    mesh.act(0, |router, now, note| {
        router.send_confirmed(2, second, b"two", now, note)
    })
    .unwrap();
    mesh.act(0, |router, now, note| router.broadcast(first, b"three", now, note))
        .unwrap();
    mesh.run(50 * MILLISECOND);
    let got = mesh.board(2).got.iter();
    let got: Vec<_> = got.map(|got| (got.port, &got.payload[..])).collect();
    assert_eq!(got, [(first, &b"one"[..]), (second, b"two"), (first, b"three")]);
    mesh.assert_at_rest();
}

#[test]
fn what_nobody_serves_is_counted_and_senders_who_wait_are_told() {
    let mut mesh = Mesh::up("path(3)");
    serve(&mut mesh, 2, AppPort(99), 9);
    mesh.send(0, 2, b"datagram").unwrap();
    let number = mesh.confirmed(0, 2, b"confirmed").unwrap();
    mesh.broadcast(0, b"broadcast").unwrap();
    mesh.run(50 * MILLISECOND);
    assert!(mesh.board(2).got.is_empty());
    assert_eq!(mesh.board(2).dropped(DropReason::PortUnreachable), 3);
    let unserved = Outcome::Undeliverable {
        at: 2,
        reason: DropReason::PortUnreachable,
    };
    assert_eq!(mesh.board(0).outcomes, [(number, unserved)]);
    assert_eq!(mesh.board(1).payloads(), [(0, &b"broadcast"[..])], "it is served there");
    assert_eq!(request(&mut mesh, 0, 2, APP), (AppStatus::PortUnreachable, vec![]));
    // Once it is served, everything comes.
    serve(&mut mesh, 2, APP, 9);
    mesh.send(0, 2, b"datagram").unwrap();
    mesh.confirmed(0, 2, b"confirmed").unwrap();
    mesh.run(50 * MILLISECOND);
    assert_eq!(mesh.board(2).got.len(), 2);
    mesh.board_mut(2).act(|router, _| router.close(APP));
    mesh.send(0, 2, b"datagram").unwrap();
    mesh.run(50 * MILLISECOND);
    let unreachable = mesh.board(2).dropped(DropReason::PortUnreachable);
    assert_eq!((mesh.board(2).got.len(), unreachable), (2, 4));
    mesh.assert_at_rest();
}

#[test]
fn an_application_without_room_costs_no_other_anything() {
    let mut mesh = Mesh::up("path(2)");
    let full = AppPort(30);
    serve(&mut mesh, 1, full, 1);
    serve(&mut mesh, 1, APP, 200);
    for payload in [b"a", b"b"] {
        mesh.act(0, |router, now, note| router.send(1, full, payload, now, note))
            .unwrap();
    }
    for number in 0..8 {
        mesh.send(0, 1, &[number]).unwrap();
    }
    mesh.run(50 * MILLISECOND);
    assert_eq!(mesh.board(1).got.len(), 9);
    assert_eq!(mesh.board(1).dropped(DropReason::InboxFull), 1);
    // One that is confirmed is refused for good, and its sender told; the others are not held up, however many there are.
    let send = |mesh: &mut Mesh, payload: &[u8]| {
        mesh.act(0, |router, now, note| {
            router.send_confirmed(1, full, payload, now, note)
        })
        .unwrap()
    };
    let refused = send(&mut mesh, b"c");
    mesh.run(50 * MILLISECOND);
    let no_room = Outcome::Undeliverable {
        at: 1,
        reason: DropReason::InboxFull,
    };
    assert_eq!(mesh.board(0).outcomes, [(refused, no_room)]);
    assert_eq!(request(&mut mesh, 0, 1, full).0, AppStatus::Busy);
    for number in 0..100 {
        mesh.confirmed(0, 1, &[number]).unwrap();
        mesh.run(10 * MILLISECOND);
    }
    assert_eq!((mesh.board(0).outcomes.len(), mesh.board(1).got.len()), (101, 109));
    serve(&mut mesh, 1, full, 1);
    let taken = send(&mut mesh, b"d");
    mesh.run(50 * MILLISECOND);
    assert_eq!(mesh.board(0).outcomes.last(), Some(&(taken, Outcome::Delivered)));
    let last = mesh.board(1).got.last().unwrap();
    assert_eq!((last.port, &last.payload[..]), (full, &b"d"[..]));
    mesh.run(50 * MILLISECOND);
    mesh.assert_at_rest();
}

#[test]
fn a_request_is_answered_by_the_application_that_was_asked() {
    let mut mesh = Mesh::up("path(3)");
    mesh.board_mut(2).fetches = false;
    let number = mesh.ask(0, 2, Query::Application(APP), b"how much?").unwrap();
    mesh.run(20 * MILLISECOND);
    let asked = mesh.board_mut(2).router.next_message().unwrap();
    let found = (asked.kind, asked.port, asked.number);
    assert_eq!(found, (MessageKind::Request, APP, number));
    assert_eq!(&asked.payload[..], b"how much?");
    let respond = |mesh: &mut Mesh, response: &[u8]| {
        mesh.act(2, |router, now, note| {
            router.respond(&asked, AppStatus::Ok, response, now, note)
        })
    };
    assert_eq!(respond(&mut mesh, &[0; BODY]), Err(SendError::TooLong));
    assert_eq!(respond(&mut mesh, b"much"), Ok(()));
    mesh.run(20 * MILLISECOND);
    let got = &mesh.board(0).got[0];
    assert_eq!((got.port, got.number), (APP, number));
    assert_eq!(AppStatus::read(&got.payload), Some((AppStatus::Ok, &b"much"[..])));
    mesh.assert_at_rest();
}

#[test]
fn a_board_sends_to_the_host_at_any_board() {
    let mut mesh = Mesh::up("path(3)");
    let host = mesh.host(2);
    for from in [0, 2] {
        mesh.act(from, |router, now, note| {
            router.send_to_host(2, APP, b"21.5", now, note)
        })
        .unwrap();
    }
    mesh.run(20 * MILLISECOND);
    let heard = mesh.stranger(host).heard.iter();
    let heard = heard.map(|heard| (heard.header.source, heard.header.to_host, &heard.body[..]));
    let mut heard: Vec<_> = heard.collect();
    heard.sort();
    assert_eq!(heard, [(0, true, &b"21.5"[..]), (2, true, b"21.5")]);
    assert!(mesh.board(2).got.is_empty());
    mesh.assert_at_rest();
}
