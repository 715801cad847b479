//! What two ends write, frame by frame.

use hopwise_node::key::Credentials;
#[cfg(feature = "keys")]
use hopwise_node::key::{Key, Secret};
use hopwise_node::link::{FrameResult, Link, Received, Turn};
use hopwise_node::wire::{DELIMITER, Frame, Header, Identity, Kind, Offer, WIRE, tag_of};

use crate::link::pair::{control, host_identity, identity, time_signal};
use crate::support::Random;

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

/// Nearly half a million wrong CRCs: of 16 bits some would be right.
#[test]
fn a_frame_counts_only_if_all_bits_of_its_crc_are_right() {
    let mut one = Link::<WIRE>::welcoming(identity(0, 1), BAUD, 0);
    let mut other = Link::<WIRE>::welcoming(identity(1, 1), BAUD, 0);
    let mut out = [0; WIRE];
    let length = one.write_control(0, &mut out).unwrap();
    let hello = cobs::decode_vec(&out[1..length - 1]).unwrap();
    let (content, crc) = hello.split_last_chunk::<4>().unwrap();
    let mut told = |crc: u32| {
        let mut frame = cobs::encode_vec(&[content, &crc.to_le_bytes()].concat());
        frame.push(DELIMITER);
        other.receive(&mut &frame[..], 0);
        other.peer()
    };
    let crc = u32::from_le_bytes(*crc);
    let mut random = Random(1);
    for _ in 0..400_000 {
        let wrong = crc ^ (1 + random.below(u64::from(u32::MAX)) as u32);
        assert_eq!(told(wrong), None, "{crc:x} {wrong:x}");
    }
    assert_eq!(told(crc), Some(identity(0, 1)));
}

/// There is no other path to a host, so however often it comes and goes, it is let in at once.
#[test]
fn a_host_is_not_held_down() {
    let mut here = Link::<WIRE>::welcoming(identity(0, 1), BAUD, 0);
    for start in 1..20 {
        let begin = u64::from(start) * 20_000;
        let mut host = Link::<WIRE>::welcoming(host_identity(1, start), BAUD, begin);
        for now in [begin, begin + 1_000, begin + 2_000] {
            control(&mut host, &mut here, now);
            here.tick(now);
            while here.abandoned().is_some() {}
            control(&mut here, &mut host, now);
        }
        assert!(here.is_open() && host.is_open(), "start {start}");
    }
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
        let tag = tag_of(&decoded).expect("a CRC");
        let Ok(Frame::Data { header, packet }) = Frame::read(&decoded, tag) else {
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

/// A datagram of 10 bytes to another of up to 128 nodes, in flows both ways.
fn overhead(credentials: Option<Credentials>, encryption: usize) -> usize {
    const PAYLOAD: usize = 10;
    let [mut one, mut other] = [0, 1].map(|end| Link::<WIRE>::welcoming(identity(end, 1), BAUD, 0));
    if let Some(credentials) = &credentials {
        one.lock(credentials);
        other.lock(credentials);
    }
    for now in [0, 1_000, 2_000, 3_000, 4_000] {
        control(&mut one, &mut other, now);
        control(&mut other, &mut one, now);
    }
    let (mut lengths, mut out) = (Vec::new(), [0; WIRE]);
    for number in 0..8 {
        let header = Header {
            hops_left: 254,
            age: 23_000,
            ..Header::new(Kind::Datagram, 127, 126).numbered(0x1234, number)
        };
        let body = vec![0x55; 1 + PAYLOAD + encryption];
        let length = one.write(number as u8, 11, &header, &body, 5_000, &mut out).unwrap();
        lengths.push(length - PAYLOAD);
        let Some(Received::Packet { length, .. }) = other.receive(&mut &out[..length], 5_000) else {
            panic!("no packet");
        };
        assert_eq!(other.header(length), Some((header, &body[..])));
        other.take();
        // The other direction, with an acknowledgment.
        let back = Header::new(Kind::Datagram, 126, 127);
        let length = other.write(number as u8, 0, &back, &body, 5_000, &mut out).unwrap();
        one.receive(&mut &out[..length], 5_000);
        one.take();
        while one.completed().is_some() || other.completed().is_some() {}
    }
    assert_eq!(lengths[0], lengths[1] + 4, "the first header is full: {lengths:?}");
    assert!(lengths[1..].iter().all(|length| *length == lengths[1]), "{lengths:?}");
    lengths[1]
}

#[test]
fn a_datagram_in_a_flow_costs_18_bytes_besides_its_payload() {
    assert_eq!(overhead(None, 0), 18);
    #[cfg(feature = "keys")]
    {
        let key = Key::new(*b"a key for trials");
        for (encrypts, encryption, bytes) in [(false, 0, 24), (true, 16, 40)] {
            let credentials = Credentials {
                secret: Secret { key, encrypts },
                random: [0; 16],
            };
            assert_eq!(overhead(Some(credentials), encryption), bytes);
        }
    }
}

/// Sends a packet, and returns whether its header is brief.
fn send(one: &mut Link<WIRE>, other: &mut Link<WIRE>, now: u64, number: u32, source: u64, is_taken: bool) -> bool {
    let header = Header::new(Kind::Datagram, source, 3).numbered(9, number);
    let mut out = [0; WIRE];
    let length = one.write(number as u8, 0, &header, b"", now, &mut out).unwrap();
    let received = other.receive(&mut &out[..length], now);
    let Some(Received::Packet { length, .. }) = received else {
        panic!("{received:?}");
    };
    assert_eq!(other.header(length), Some((header, &b""[..])));
    if is_taken {
        other.take();
    }
    // One acknowledgment for all that has come.
    other.offer(Offer::new(5, 0));
    control(other, one, now);
    while one.completed().is_some() {}
    match length {
        12 => false,
        8 => true,
        other => panic!("a header of {other} bytes"),
    }
}

/// What the other end has not taken, or has taken in another session, it is told in full.
#[test]
fn headers_are_full_until_the_other_end_is_known_to_know() {
    let [mut one, mut other] = two(identity(0, 1), identity(1, 1));
    let mut send_now = |number, source, is_taken| send(&mut one, &mut other, 3_000, number, source, is_taken);
    assert!(!send_now(0xfffe, 5, false), "refused");
    assert!(!send_now(0xfffe, 5, true), "after a refusal");
    assert!(send_now(0xffff, 5, true));
    assert!(!send_now(0x1_0000, 5, true), "the high half has changed");
    assert!(send_now(0x1_0001, 5, true));
    assert!(!send_now(0x1_0001, 6, true), "another source");
    assert!(send_now(0x1_0002, 5, true) && send_now(0x1_0002, 6, true));
    // A source that has the place of another.
    let same = (7..200).find(|&source| {
        send_now(1, source, true);
        !send_now(0x1_0003, 5, true)
    });
    assert!(same.is_some_and(|source| source < 100), "{same:?}");
    assert!(send_now(0x1_0004, 5, true));
    // The other end begins anew.
    other = Link::welcoming(identity(1, 2), BAUD, 4_000);
    let mut times = (4_000..2_000_000).step_by(1_000);
    let up = times.find(|now| {
        one.tick(*now);
        control(&mut one, &mut other, *now);
        control(&mut other, &mut one, *now);
        while one.abandoned().is_some() {}
        one.counters().sessions == 2 && one.is_up() && other.is_up()
    });
    let now = up.expect("another session");
    let brief = [0x1_0005, 0x1_0006].map(|number| send(&mut one, &mut other, now, number, 5, true));
    assert_eq!(brief, [false, true]);
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
    other.write_time(&time_signal(), 3_000, &mut out).unwrap();
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
