//! Coming up and going down, and why.

use cobs::{decode_in_place, encode};
use crc::{CRC_32_ISCSI, Crc};
use hopwise_core::link::{Down, Link, Received, Turn};
use hopwise_core::wire::{DELIMITER, VERSION, WIRE};

use crate::link::pair::{Notice, Pair, identity};

const SECOND: u64 = 1_000_000;

fn pair_that_is_up() -> Pair {
    let mut pair = Pair::new(115_200, [0, 0], u64::MAX);
    assert!(pair.run(SECOND, Pair::both_up));
    pair
}

#[test]
fn a_good_wire_is_up_at_once_and_stays_so() {
    let mut pair = pair_that_is_up();
    assert!(pair.now < 100_000, "it took {} microseconds", pair.now);
    pair.run(60 * SECOND, |_| false);
    for end in &pair.ends {
        assert_eq!(end.notices, [Notice::Up]);
    }
}

#[test]
fn a_wire_dead_in_one_direction_is_reported_by_the_end_that_hears() {
    for deaf in 0..2 {
        let mut pair = Pair::new(115_200, [5, 5], u64::MAX);
        pair.ends[1 - deaf].dead = true;
        pair.run(2 * SECOND, |_| false);
        assert_eq!(
            pair.ends[1 - deaf].notices,
            [Notice::Down(Down::OneWay)],
            "the end that hears, but is not heard"
        );
        assert_eq!(pair.ends[deaf].notices, [], "the end that hears nothing");
        assert!(pair.ends[1 - deaf].link.is_one_way());
        assert!(!pair.ends[deaf].link.is_one_way());
        pair.ends[1 - deaf].dead = false;
        assert!(pair.run(SECOND, Pair::all_sent));
        assert!(pair.both_up() && pair.ends.iter().all(|end| !end.link.is_one_way()));
    }
}

#[test]
fn a_wire_that_dies_in_one_direction_is_silent_at_one_end_and_one_way_at_the_other() {
    let mut pair = pair_that_is_up();
    pair.ends[0].dead = true;
    pair.run(2 * SECOND, |_| false);
    assert_eq!(pair.ends[1].notices, [Notice::Up, Notice::Down(Down::Silent)]);
    assert_eq!(
        pair.ends[0].notices,
        [Notice::Up, Notice::Down(Down::Ended), Notice::Down(Down::OneWay)]
    );
}

#[test]
fn silence_ends_a_session_in_time() {
    let mut pair = pair_that_is_up();
    pair.ends.iter_mut().for_each(|end| end.dead = true);
    let pulled = pair.now;
    assert!(pair.run(SECOND, |pair| pair.ends.iter().all(|end| !end.link.is_up())));
    assert!(pair.now - pulled < SECOND / 2);
    for end in &pair.ends {
        assert_eq!(end.notices, [Notice::Up, Notice::Down(Down::Silent)]);
    }
}

#[test]
fn a_changed_epoch_is_a_restart() {
    let mut pair = pair_that_is_up();
    pair.restart(1);
    assert!(pair.run(SECOND, |pair| pair.ends[0].notices.len() == 3));
    assert_eq!(
        pair.ends[0].notices,
        [Notice::Up, Notice::Down(Down::Restarted), Notice::Up]
    );
}

#[test]
fn another_version_is_named() {
    let mut bytes = [0; WIRE];
    let length = Link::<WIRE>::new(identity(1, 1), 115_200, 0)
        .write_control(0, &mut bytes)
        .unwrap();
    // A delimiter, the type, the version; and a CRC at the end.
    let content = decode_in_place(&mut bytes[1..length]).unwrap();
    let (content, crc) = bytes[1..1 + content].split_at_mut(content - 4);
    assert_eq!(content[1], VERSION);
    content[1] = VERSION + 1;
    crc.copy_from_slice(&Crc::<u32>::new(&CRC_32_ISCSI).checksum(content).to_le_bytes());
    let mut frame = [0; WIRE];
    let length = encode(&[content, crc].concat(), &mut frame);
    frame[length] = DELIMITER;

    let mut pair = pair_that_is_up();
    let link = &mut pair.ends[0].link;
    let received = link.receive(&mut &frame[..=length], pair.now);
    assert_eq!(received, Some(Received::Down(Down::Version(VERSION + 1))));
    assert!(!link.is_up() && link.peer().is_none());
}

/// One end is up and sends again and again, the other has only heard its first hello: it must hear another.
#[test]
fn an_end_that_is_up_says_hello_to_one_that_is_not() {
    let mut pair = Pair::new(1_000_000, [1, 0], u64::MAX);
    pair.run(0, |_| false);
    pair.ends[0].dead = true;
    // Long enough for the other end to forget what it heard.
    pair.run(400_000, |_| false);
    assert!(pair.ends[0].link.is_up() && !pair.ends[1].link.is_up());
    pair.ends[0].dead = false;
    assert!(pair.run(SECOND, Pair::all_sent));
}

/// The wire dies when the first hello has come through: the end that came up by it does not go on as if it were heard.
#[test]
fn an_end_that_came_up_without_being_heard_any_more_goes_down() {
    let mut pair = Pair::new(1_000_000, [1, 0], u64::MAX);
    pair.run(0, |_| false);
    pair.ends[0].dead = true;
    pair.run(2 * SECOND, |_| false);
    assert_eq!(pair.ends[0].notices, [Notice::Up, Notice::Down(Down::OneWay)]);
    assert!(pair.ends[0].link.is_one_way());
    assert_eq!(pair.ends[0].left, 1, "its packet has come back");
    pair.ends[0].dead = false;
    assert!(pair.run(SECOND, Pair::all_sent));
}

/// Gives what one end has to send, of its own accord, to the other.
fn control(from: &mut Link<WIRE>, to: &mut Link<WIRE>, now: u64) {
    let mut out = [0; WIRE];
    let length = from.write_control(now, &mut out).unwrap_or(0);
    to.receive(&mut &out[..length], now);
}

/// An end that restarts while the other has packets on the way, and whose first hellos are lost: the frames of the other end
/// name a session that the restarted end would number the same. They are none of its.
#[test]
fn frames_for_the_end_before_its_restart_are_not_taken_for_its_own() {
    let [mut here, mut there] = [0, 1].map(|end| Link::<WIRE>::new(identity(end, 1), 1_000_000, 0));
    for now in [0, 1_000, 2_000] {
        control(&mut here, &mut there, now);
        control(&mut there, &mut here, now);
    }
    assert!(here.is_up() && there.is_up());
    let mut out = [0; WIRE];
    // Sequence numbers have come so far that a restarted end's first ones are among those that are expected.
    for token in 0..62 {
        let length = there.write_packet(token, 0, [b"packet", b""], 3_000, &mut out).unwrap();
        assert!(matches!(
            here.receive(&mut &out[..length], 3_000),
            Some(Received::Packet { .. })
        ));
        here.take();
        control(&mut here, &mut there, 3_000);
        assert!(there.settled().is_some());
    }
    for token in 100..103 {
        assert!(there.write_packet(token, 0, [b"lost", b""], 4_000, &mut out).is_some());
    }
    let mut here = Link::<WIRE>::new(identity(0, 2), 1_000_000, 5_000);
    let mut now = 104_000;
    there.tick(now);
    while there.turn(now) != Turn::Control {
        now += 1_000;
    }
    control(&mut there, &mut here, now);
    for token in 100..103 {
        let length = there.write_packet(token, 0, [b"lost", b""], now, &mut out).unwrap();
        let received = here.receive(&mut &out[..length], now);
        assert_eq!(received, Some(Received::Frame), "packet {token}");
        assert!(!here.is_up());
    }
    let length = here.write_control(now, &mut out).expect("hello");
    assert_eq!(
        there.receive(&mut &out[..length], now),
        Some(Received::Down(Down::Restarted))
    );
    assert_eq!(there.settled(), None, "nobody has had the packets");
    assert_eq!(
        [(); 4].map(|()| there.abandoned()),
        [Some(100), Some(101), Some(102), None]
    );
    for now in [now + 10_000, now + 20_000, now + 30_000] {
        control(&mut there, &mut here, now);
        control(&mut here, &mut there, now);
    }
    assert!(here.is_up() && there.is_up());
}
