//! Payloads that are encrypted from end to end: what arrives, and what someone on a cable reads.

#[cfg(feature = "cipher")]
use super::harness::APP;
use super::harness::Mesh;
use crate::support::*;

const SECRET: &[u8] = b"the safe is behind the picture";

/// Says the same by every service, asks an application, and gives what the boards got and whether the payload was seen on a cable.
#[cfg(feature = "cipher")]
fn say_it_all(encrypts: bool) -> (Vec<Vec<u8>>, bool) {
    let mut mesh = Mesh::keyed("path(4)", encrypts);
    for node in 0..4 {
        mesh.board_mut(node).act(|router, _| router.serve(APP, 255)).unwrap();
    }
    mesh.send(0, 3, SECRET).unwrap();
    mesh.confirmed(0, 3, SECRET).unwrap();
    mesh.broadcast(0, SECRET).unwrap();
    mesh.run(100 * MILLISECOND);
    mesh.board_mut(3).fetches = false;
    mesh.ask(0, 3, Query::Application(APP), SECRET).unwrap();
    mesh.run(100 * MILLISECOND);
    let request = mesh.board_mut(3).router.next_message().expect("the request has come");
    assert_eq!((request.kind, &request.payload[..]), (MessageKind::Request, SECRET));
    mesh.act(3, |router, now, note| {
        router.respond(&request, AppStatus::Ok, SECRET, now, note)
    })
    .unwrap();
    // Nobody serves this: the router itself says so.
    mesh.ask(0, 2, Query::Application(AppPort(99)), SECRET).unwrap();
    mesh.run(100 * MILLISECOND);
    assert_eq!(mesh.board(0).outcomes.len(), 1);
    let seen = |bytes: &Vec<u8>| {
        bytes
            .windows(6)
            .any(|part| SECRET.windows(6).any(|secret| secret == part))
    };
    let overheard = mesh.overheard.iter().any(seen);
    let got = mesh.boards().flat_map(|board| &board.got);
    let got = got.map(|got| got.payload.clone()).collect();
    mesh.assert_at_rest();
    (got, overheard)
}

#[cfg(feature = "cipher")]
#[test]
fn payloads_arrive_and_nobody_on_a_cable_reads_them() {
    let (plain, overheard) = say_it_all(false);
    assert!(overheard, "without encryption everyone reads them");
    // The broadcast at three boards, the datagram, the confirmed packet, the response, and the refusal.
    assert_eq!(plain.len(), 7);
    assert_eq!(plain.iter().filter(|payload| payload.ends_with(SECRET)).count(), 6);
    let (encrypted, overheard) = say_it_all(true);
    assert_eq!(encrypted, plain);
    assert!(!overheard);
}

#[cfg(feature = "cipher")]
#[test]
fn the_longest_payload_still_fits_and_goes_round_a_dead_link() {
    let mut mesh = Mesh::keyed("ring(6)", true);
    let long = [0xa5; limits::MAX_PAYLOAD];
    mesh.cut(0, 1);
    mesh.run(SECOND);
    mesh.send(0, 2, &long).unwrap();
    mesh.confirmed(0, 2, &long).unwrap();
    mesh.run(SECOND);
    assert_eq!(mesh.board(2).payloads(), [(0, &long[..]), (0, &long[..])]);
}

/// What cannot be encrypted does not leave, and what the boards say of themselves still does.
#[cfg(not(feature = "cipher"))]
#[test]
fn a_node_without_the_cipher_sends_nothing_readable() {
    let mut mesh = Mesh::keyed("path(3)", true);
    assert!(mesh.send(0, 2, SECRET).is_err());
    assert!(mesh.confirmed(0, 2, SECRET).is_err());
    assert!(mesh.broadcast(0, SECRET).is_err());
    mesh.ask(0, 2, Query::Ping, &[]).unwrap();
    mesh.run(SECOND);
    let mut got = mesh.boards().flat_map(|board| &board.got);
    assert!(got.all(|got| got.payload.is_empty()));
    assert_eq!(mesh.board(0).got.len(), 1, "the response to the ping");
    mesh.assert_at_rest();
}
