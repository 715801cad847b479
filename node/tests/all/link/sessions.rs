//! Coming up and going down, and why.

use cobs::{decode_in_place, encode};
use hopwise_node::link::{Down, Link, Received};
use hopwise_node::wire::crc32c;
use hopwise_node::wire::{DELIMITER, VERSION, WIRE};

use crate::link::pair::{Notice, Pair, identity};
use crate::support::{SECOND, START};

fn pair_that_is_up() -> Pair {
    let mut pair = Pair::new(115_200, [0, 0], u64::MAX);
    assert!(pair.run(SECOND, Pair::both_up));
    pair
}

#[test]
fn a_good_wire_is_up_at_once_and_stays_so() {
    let mut pair = pair_that_is_up();
    let took = pair.now - START;
    assert!(took < 100_000, "it took {took} microseconds");
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

/// Packets of one end do not get through, hellos do: it retransmits ever more seldom.
#[test]
fn retransmissions_become_rare() {
    let mut pair = Pair::new(1_000_000, [1, 0], u64::MAX);
    assert!(pair.run(SECOND, |pair| pair.ends[0].left == 0));
    pair.ends[0].left = 5;
    pair.tamper = Some(Box::new(|from, bytes| {
        if from == 0 && bytes.len() > 28 {
            Vec::new()
        } else {
            bytes
        }
    }));
    pair.run(SECOND, |_| false);
    let timeouts = pair.ends[0].link.counters().timeouts;
    assert!((4..20).contains(&timeouts), "{timeouts}");
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

/// A frame as it is on the wire, of a content.
fn framed(content: &[u8]) -> Vec<u8> {
    let crc = crc32c([content]).to_le_bytes();
    let mut frame = [0; WIRE];
    let length = encode(&[content, &crc].concat(), &mut frame);
    frame[length] = DELIMITER;
    frame[..=length].to_vec()
}

/// The content of a hello: the type, the version, the role, and so on.
fn hello() -> Vec<u8> {
    let mut bytes = [0; WIRE];
    let mut link = Link::<WIRE>::welcoming(identity(1, 1), 115_200, 0);
    let length = link.write_control(0, &mut bytes).unwrap();
    let content = decode_in_place(&mut bytes[1..length]).unwrap() - 4;
    assert_eq!(bytes[1..4], [0, VERSION, 0]);
    bytes[1..=content].to_vec()
}

/// A later version is known as that, whatever follows: more fields, a role that nobody knows yet, or nothing. It is told once.
#[test]
fn another_version_is_named_once() {
    let mut long = hello();
    long[1] = VERSION + 1;
    long.extend([7; 100]);
    let mut role = hello();
    role[1..3].copy_from_slice(&[VERSION + 1, 77]);
    for content in [&long[..], &role, &[0, VERSION + 1], &[0, 255, 9]] {
        let mut pair = pair_that_is_up();
        let link = &mut pair.ends[0].link;
        let frame = framed(content);
        let received = link.receive(&mut &frame[..], pair.now);
        assert_eq!(received, Some(Received::Down(Down::Version(content[1]))));
        assert!(!link.is_up() && link.peer().is_none());
        for later in 1..100 {
            let now = pair.now + later * 50_000;
            assert_eq!(link.tick(now), None);
            assert_eq!(link.receive(&mut &frame[..], now), Some(Received::Frame));
        }
        assert_eq!(link.counters().damaged, 0);
    }
}

#[test]
fn further_fields_are_skipped() {
    let mut content = hello();
    content.extend([1, 2, 3]);
    let mut link = Link::<WIRE>::welcoming(identity(0, 1), 115_200, 0);
    assert_eq!(link.receive(&mut &framed(&content)[..], 0), Some(Received::Frame));
    assert_eq!(link.peer(), Some(identity(1, 1)));
}

/// Kinds and roles of which nobody knows here are skipped: they do no harm, and nobody complains that something is missing.
#[test]
fn unknown_frames_are_skipped_and_counted() {
    let mut role = hello();
    role[2] = 2;
    let mut pair = pair_that_is_up();
    pair.run(SECOND / 50, |_| false);
    let link = &mut pair.ends[0].link;
    for (number, content) in [&[0x83][..], &[0x83; 200], &[0x80], &[0x82; 40], &role]
        .iter()
        .enumerate()
    {
        let received = link.receive(&mut &framed(content)[..], pair.now);
        assert_eq!(received, Some(Received::Frame), "{content:?}");
        assert_eq!(
            (link.counters().damaged, link.counters().useless),
            (0, number as u32 + 1)
        );
        assert!(link.is_open() && !link.is_due(pair.now), "{content:?}");
    }
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
