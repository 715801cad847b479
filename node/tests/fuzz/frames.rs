//! The frame decoder.

use hopwise_node::link::{Link, Received};
use hopwise_node::wire::{DELIMITER, Identity, Role, WIRE};

use hopwise_testing::fuzz::Input;

fn identity(address: u64) -> Identity {
    Identity {
        role: Role::Node,
        network: 1,
        address,
        port: 0,
        epoch: 7,
        mtu: 200,
    }
}

/// Two ends that have heard each other, so that bytes can mean all that they ever can.
fn ends_that_are_up() -> [Link<WIRE>; 2] {
    let mut ends = [
        Link::welcoming(identity(0), 1_000_000, 0),
        Link::welcoming(identity(1), 1_000_000, 0),
    ];
    let mut bytes = [0; WIRE];
    for now in 0..200 {
        for from in 0..2 {
            if let Some(length) = ends[from].write_control(now * 100, &mut bytes) {
                assert_eq!(heard(&mut ends[1 - from], &bytes[..length], now * 100).len(), 1);
            }
        }
    }
    assert!(ends.iter().all(|end| end.is_up()));
    ends
}

/// What an end makes of bytes, in words.
fn heard(end: &mut Link<WIRE>, mut bytes: &[u8], now: u64) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(received) = end.receive(&mut bytes, now) {
        if let Received::Packet { channel, length } = received {
            assert!(usize::from(length) < WIRE && end.packet(length).len() == usize::from(length));
            all.push(format!("Packet {channel} {:?}", end.packet(length)));
            end.take();
        } else {
            all.push(format!("{received:?}"));
        }
        while end.completed().is_some() {}
        while end.abandoned().is_some() {}
    }
    assert!(bytes.is_empty(), "all bytes are used");
    all
}

/// Whatever comes, cut anywhere: no more frames than delimiters, and the cuts do not matter.
#[test]
fn cuts_do_not_matter() {
    let up = ends_that_are_up();
    hopwise_testing::check!(4_096, |bytes: &[u8]| {
        let mut input = Input::new(bytes);
        let [mut whole, mut cut] = [up[0].clone(), up[0].clone()];
        let step = 1 + input.below(9);
        let bytes = input.bytes(usize::MAX);
        let told = heard(&mut whole, bytes, 50_000);
        assert!(told.len() <= bytes.iter().filter(|&&byte| byte == DELIMITER).count());
        let pieces = bytes.chunks(step).flat_map(|piece| heard(&mut cut, piece, 50_000));
        let told_in_pieces: Vec<_> = pieces.collect();
        assert_eq!(told, told_in_pieces);
        assert_eq!(whole.counters(), cut.counters());
        assert_eq!(whole.is_up(), cut.is_up());
    });
}

/// Frames of a real end, some of them damaged: the other end takes no packet that was not sent.
#[test]
fn damaged_frames_carry_nothing() {
    let up = ends_that_are_up();
    hopwise_testing::check!(4_096, |bytes: &[u8]| {
        let mut input = Input::new(bytes);
        let [mut from, mut to] = up.clone();
        let mut now = 50_000;
        let mut sent = Vec::new();
        let mut wire = [0; WIRE];
        while !input.is_empty() {
            now += u64::from(input.byte()) * 16;
            let length = 1 + input.below(32);
            let packet = [input.bytes(length), &[sent.len() as u8]].concat();
            let Some(length) = from.write_packet(sent.len() as u8, 0, [&packet, &[]], now, &mut wire) else {
                break;
            };
            sent.push(packet);
            let damage = input.byte();
            if damage > 0 {
                wire[usize::from(damage) % length] ^= input.byte();
            }
            for told in heard(&mut to, &wire[..length], now) {
                let known = sent.iter().any(|packet| told == format!("Packet 0 {packet:?}"));
                assert!(known || !told.starts_with("Packet"), "{told} was not sent");
            }
        }
    });
}
