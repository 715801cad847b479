//! Bounded-exhaustive tests of received frames: all short inputs, all flips, cuts and garbage around a frame.

use super::*;
use crate::capacities::Fixed;
use crate::wire::{
    Ack, DELIMITER, DataHeader, Frame, Hello, Identity, OVERHEAD, Offer, Role, Stance, encoded_len, mask, write_ack,
    write_data, write_hello,
};
use proptest::prelude::*;
use std::string::String;
use std::vec::Vec;
use std::{assert, assert_eq, format};

const ROOM: usize = 96;
const TAG: u16 = 0x0300;

fn hello() -> Hello {
    Hello {
        identity: Identity {
            role: Role::Node,
            network: 0x1234_5678,
            address: 300,
            port: 2,
            epoch: 0x0a00_0b0c,
            mtu: 274,
        },
        session: 3,
        heard: 0x0900,
        stance: Stance::default(),
        keyed: false,
        keeps_alive: false,
        steps: 0,
    }
}

fn ack() -> Ack {
    Ack {
        tag: TAG,
        next: 17,
        refused: 0b100,
        offer: Offer::new(3, 0x7f),
        missing: Some(2),
        pause: 0,
    }
}

/// A frame of each type, encoded as it is sent, and its description.
fn samples() -> [(Vec<u8>, String); 3] {
    let packet = b"a packet with \0 and \xff in it";
    let header = DataHeader {
        ack: ack(),
        sequence: 18,
        round: 1,
        channel: 5,
    };
    let data = Frame::Data { header, packet };
    let encoded = |write: &dyn Fn(&mut [u8]) -> Option<usize>| {
        let mut out = [0xaa; ROOM];
        let length = write(&mut out).unwrap();
        out[..length].to_vec()
    };
    [
        (
            encoded(&|out| write_hello(&hello(), 0, None, out)),
            Frame::Hello(hello()),
        ),
        (encoded(&|out| write_ack(&ack(), false, None, out)), Frame::Ack(ack())),
        (
            encoded(&|out| write_data(&header, [&packet[..7], &packet[7..]], false, None, out)),
            data,
        ),
    ]
    .map(|(bytes, frame)| (bytes, format!("{frame:?}")))
}

/// The next frame. What the decoder says of its CRC is what the frame's own check says.
fn next<'a, const N: usize>(
    collector: &'a mut Collector<Fixed<u8, N>>,
    bytes: &mut &[u8],
) -> Option<Result<Frame<'a>, FrameError>> {
    let decoded = collector.next(bytes, Check::Crc)?;
    Some(decoded.and_then(|decoded| {
        let bytes = &collector.bytes()[..decoded.length];
        let frame = Frame::read(bytes, TAG);
        let is_damaged = matches!(frame, Err(FrameError::Crc)) || bytes.len() < 4;
        assert_eq!(decoded.has_crc(mask(TAG)) || decoded.has_crc(0), !is_damaged);
        frame
    }))
}

/// The descriptions of received frames; `None` where there was none.
fn read_all<const N: usize>(mut bytes: &[u8]) -> Vec<Option<String>> {
    let mut collector = Collector::<Fixed<u8, N>>::new();
    let mut found = Vec::new();
    while let Some(frame) = next(&mut collector, &mut bytes) {
        found.push(frame.ok().map(|frame| format!("{frame:?}")));
    }
    found
}

fn read(bytes: &[u8]) -> Vec<Option<String>> {
    read_all::<ROOM>(bytes)
}

/// Nothing this short has a CRC, let alone content; and nothing panics.
#[test]
fn no_three_bytes_are_a_frame() {
    assert!(Frame::read(&[], TAG).is_err());
    for a in 0..=255 {
        assert!(Frame::read(&[a], TAG).is_err());
        for b in 0..=255 {
            assert!(Frame::read(&[a, b], TAG).is_err());
            for c in 0..=255 {
                assert!(Frame::read(&[a, b, c], TAG).is_err());
                let mut collector = Collector::<Fixed<u8, 8>>::new();
                let mut input = &[a, b, c, DELIMITER][..];
                while let Some(frame) = next(&mut collector, &mut input) {
                    assert!(frame.is_err());
                }
                assert!(input.is_empty());
            }
        }
    }
}

fn flip(bytes: &mut [u8], bit: usize) {
    bytes[bit / 8] ^= 1 << (bit % 8);
}

#[test]
fn one_or_two_flipped_bits_are_found() {
    for (mut bytes, frame) in samples() {
        let bits = bytes.len() * 8;
        for first in 0..bits {
            flip(&mut bytes, first);
            for second in first..bits {
                // Both the same: one flip only, since two would undo each other.
                if second > first {
                    flip(&mut bytes, second);
                }
                let found = read(&bytes);
                assert!(
                    found.iter().flatten().all(|found| *found == frame),
                    "bits {first} and {second} of {frame}: {found:?}"
                );
                assert!(
                    found.iter().flatten().count() <= 1,
                    "bits {first} and {second} of {frame} twice"
                );
                if second > first {
                    flip(&mut bytes, second);
                }
            }
            flip(&mut bytes, first);
        }
    }
}

#[test]
fn cut_frames_are_not_read() {
    for (bytes, frame) in samples() {
        let body = bytes.len() - 1;
        for cut in 0..body {
            let found = read(&[&bytes[..cut], &[DELIMITER]].concat());
            assert!(
                found.iter().all(Option::is_none),
                "{frame} without its end from {cut}: {found:?}"
            );
        }
        // A missing leading delimiter does no harm.
        let begin = bytes.iter().take_while(|&&byte| byte == DELIMITER).count();
        for cut in begin + 1..bytes.len() {
            let found = read(&bytes[cut..]);
            assert!(
                found.iter().all(Option::is_none),
                "{frame} without its first {cut}: {found:?}"
            );
        }
    }
}

/// Garbage does not even cost a frame that has a delimiter before it.
#[test]
fn in_step_after_at_most_one_frame() {
    for (bytes, frame) in samples() {
        let frames = [&bytes[..], &bytes].concat();
        assert_eq!(read(&frames), [Some(frame.clone()), Some(frame.clone())]);
        for garbage in 0..=u16::MAX {
            for length in 1..=2 {
                let garbage = &garbage.to_le_bytes()[..length];
                let found = read(&[garbage, &frames].concat());
                assert_eq!(found.last(), Some(&Some(frame.clone())), "{garbage:?}");
                let whole = found.iter().flatten();
                assert!(whole.clone().all(|found| *found == frame), "{garbage:?}: {found:?}");
                let costs_none = garbage.ends_with(&[DELIMITER]) || bytes[0] == DELIMITER;
                assert!(whole.count() >= if costs_none { 2 } else { 1 });
            }
        }
    }
}

proptest! {
    #[test]
    fn in_step_after_long_garbage(garbage: Vec<u8>, which in 0..3_usize) {
        let (bytes, frame) = &samples()[which];
        let found = read(&[&garbage[..], bytes, bytes].concat());
        prop_assert_eq!(found.last(), Some(&Some(frame.clone())));
    }

    /// Whatever the parts and the room: all of it is written or nothing, and without a delimiter inside.
    #[test]
    fn any_packet_goes_through_or_does_not_fit(
        first in proptest::collection::vec(any::<u8>(), 0..300),
        second: Vec<u8>,
        room in 0..700_usize,
    ) {
        let mut out = std::vec![0xaa; room];
        let decoded = OVERHEAD + first.len() + second.len();
        let header = DataHeader { ack: ack(), sequence: 1, round: 0, channel: 0 };
        match write_data(&header, [&first, &second], true, None, &mut out) {
            None => prop_assert!(room < encoded_len(decoded)),
            Some(length) => {
                prop_assert!(length <= encoded_len(decoded));
                prop_assert!(out[1..length - 1].iter().all(|&byte| byte != DELIMITER));
                let packet = [first, second].concat();
                let frame = Frame::Data { header, packet: &packet };
                prop_assert_eq!(read_all::<700>(&out[..length]), [Some(format!("{frame:?}"))]);
            }
        }
    }
}
