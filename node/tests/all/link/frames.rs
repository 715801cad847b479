//! What two ends write, frame by frame.

use hopwise_node::link::{FrameResult, Link, Received, Turn};
use hopwise_node::wire::{Frame, Identity, Offer, TimeSignal, WIRE};

use crate::link::pair::{control, host_identity, identity};

const BAUD: u32 = 1_000_000;

fn two(one: Identity, other: Identity) -> [Link<WIRE>; 2] {
    let [mut one, mut other] = [one, other].map(|identity| Link::<WIRE>::welcoming(identity, BAUD, 0));
    for now in [0, 1_000, 2_000] {
        control(&mut one, &mut other, now);
        control(&mut other, &mut one, now);
    }
    assert!(one.is_up() && other.is_up());
    [one, other]
}

#[test]
fn sequence_numbers_go_up_to_63_and_begin_again() {
    let [mut one, mut other] = two(identity(0, 1), identity(1, 1));
    let mut completed = 0;
    for count in 0..141_u32 {
        let mut out = [0; WIRE];
        let length = one
            .write_packet(7, (count % 12) as u8, [b"pac", b"ket"], 3_000, &mut out)
            .unwrap();
        let begin = usize::from(out[0] == 0);
        let decoded = cobs::decode_vec(&out[begin..length - 1]).unwrap();
        let Ok(Frame::Data { header, packet }) = Frame::read(&decoded) else {
            panic!("no packet");
        };
        assert_eq!((u32::from(header.sequence), header.round), (count % 64, 0));
        assert_eq!((u32::from(header.channel), packet), (count % 12, &b"packet"[..]));
        assert!(matches!(
            other.receive(&mut &out[..length], 3_000),
            Some(Received::Packet { .. })
        ));
        other.take();
        // Of a window of six, three at a time are acknowledged.
        let is_acknowledged = count % 3 == 2;
        assert_eq!(other.is_due(3_000), is_acknowledged);
        control(&mut other, &mut one, 3_000);
        while let Some(done) = one.completed() {
            assert_eq!(done, (7, FrameResult::Taken));
            completed += 1;
        }
        assert_eq!(completed == count + 1, is_acknowledged);
    }
    assert_eq!(
        (one.counters().packets_sent, other.counters().packets_received),
        (141, 141)
    );
    assert_eq!((one.counters().resent, other.counters().not_taken), (0, 0));
}

/// A packet comes, for which there may be no room.
fn packet(one: &mut Link<WIRE>, other: &mut Link<WIRE>, is_taken: bool) {
    let mut out = [0; WIRE];
    let length = one.write_packet(7, 0, [b"packet", b""], 3_000, &mut out).unwrap();
    let received = other.receive(&mut &out[..length], 3_000);
    assert!(matches!(received, Some(Received::Packet { .. })), "{received:?}");
    if is_taken {
        other.take();
    }
}

#[test]
fn an_acknowledgement_waits_for_a_sign_of_life_unless_it_is_waited_for() {
    let [mut one, mut other] = two(identity(0, 1), identity(1, 1));
    packet(&mut one, &mut other, true);
    assert!(!other.is_due(3_000));
    let sign = other.deadline();
    assert!(sign <= 14_500 && other.is_due(sign) && one.deadline() > sign, "{sign}");
    control(&mut other, &mut one, sign);
    assert_eq!(one.completed(), Some((7, FrameResult::Taken)));

    packet(&mut one, &mut other, true);
    let mut out = [0; WIRE];
    let signal = TimeSignal {
        number: 1,
        sent: None,
        mesh: None,
        rate: 0,
        root: 0,
        round: 1,
        hops: 0,
    };
    other.write_time(&signal, 3_000, &mut out).unwrap();
    assert!(other.is_due(3_000), "the sign of life comes later");
    control(&mut other, &mut one, 3_000);
    assert_eq!(one.completed(), Some((7, FrameResult::Taken)));

    packet(&mut one, &mut other, false);
    packet(&mut one, &mut other, true);
    assert!(other.is_due(3_000), "one of them was refused");
    control(&mut other, &mut one, 3_000);
    assert_eq!(one.completed(), Some((7, FrameResult::Refused)));

    packet(&mut one, &mut other, true);
    assert!(other.offer(Offer::new(5, 0)) && other.is_due(3_000), "room is scarce");
    control(&mut other, &mut one, 3_000);
    packet(&mut one, &mut other, true);
    assert!(other.is_due(3_000), "and still is");

    let [mut one, mut other] = two(host_identity(0, 1), identity(1, 1));
    packet(&mut one, &mut other, true);
    assert!(other.is_due(3_000), "a host does not show that it is alive");
}

/// Two cables of one board: what is for one end is not taken by the other, though all but the port is the same.
#[test]
fn ends_of_one_board_are_told_apart() {
    let port = |port| Identity { port, ..identity(1, 1) };
    let [mut here, _] = two(identity(0, 1), port(0));
    let [_, mut elsewhere] = two(identity(0, 1), port(1));
    let mut out = [0; WIRE];
    let length = here.write_packet(1, 0, [b"for port 0", b""], 3_000, &mut out).unwrap();
    assert_eq!(elsewhere.receive(&mut &out[..length], 3_000), Some(Received::Frame));
    assert_eq!(
        (elsewhere.counters().packets_received, elsewhere.counters().useless),
        (0, 1)
    );
    for (one, other) in [(port(0), port(1)), (identity(1, 1), identity(1, 2))] {
        assert_ne!(one.tag(1), other.tag(1));
        assert_ne!(one.tag(1), one.tag(2));
    }
}

/// The other end had no room, and its word that there is some was lost: one packet is tried after a while.
#[test]
fn lost_credit_is_asked_for() {
    let [mut one, mut other] = two(identity(0, 1), identity(1, 1));
    other.offer(Offer::new(0, 0));
    let mut out = [0; WIRE];
    let length = one.write_packet(1, 0, [b"x", b""], 3_000, &mut out).unwrap();
    other.receive(&mut &out[..length], 3_000);
    control(&mut other, &mut one, 3_000);
    assert_eq!(one.completed(), Some((1, FrameResult::Refused)));
    let closed = |link: &mut Link<WIRE>, now| match link.turn(now) {
        Turn::New(room) => !room.takes(0),
        other => panic!("{other:?}"),
    };
    assert!(closed(&mut one, 4_000));
    // Signs of life say the same again.
    control(&mut one, &mut other, 15_500);
    control(&mut other, &mut one, 16_000);
    assert_eq!(one.tick(22_000), None);
    assert!(closed(&mut one, 22_000));
    assert!(one.deadline() <= 23_000);
    assert_eq!(one.tick(23_000), None);
    assert!(!closed(&mut one, 23_000));
}
