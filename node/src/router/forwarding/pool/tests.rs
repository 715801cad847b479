//! Allocation under pressure.

use std::vec::Vec;

use super::*;
use crate::capacities::Sizes;
use crate::wire::{Body, Header};

crate::capacities! {
    struct FourLinks { links: 4, body: 48, ..Sizes::BOARD }
}

type Small = Pool<FourLinks>;
type Packet = PacketOf<Body<48>>;

const CHANNELS_USED: u8 = 6;
const NOW: Micros = 5_000_000;

/// A packet of a source that claims to be very old.
fn from(source: u64) -> Packet {
    Packet {
        header: Header {
            age: 20_000,
            ..Header::new(Kind::Datagram, source, 1)
        },
        body: Body::new(),
    }
}

/// Admits a packet that came this many milliseconds ago, and gives it something to do.
fn put(pool: &mut Small, origin: Origin, milliseconds: u64) -> Option<Place> {
    put_of(pool, 0, origin, milliseconds)
}

fn by(link: u8, channel: u8) -> Origin {
    Origin::Link { link, channel }
}

/// The same for a source.
fn put_of(pool: &mut Small, source: u64, origin: Origin, milliseconds: u64) -> Option<Place> {
    let place = pool.admit(&from(source).header, &[], origin, NOW - 1_000 * milliseconds)?;
    pool.get_mut(place)?.pending = 1;
    Some(place)
}

fn take(pool: &mut Small, place: Place) {
    pool.get_mut(place).unwrap().pending = 0;
    pool.release_if_unused(place);
}

/// A pool in which virtual channel 0 is as full as links can make it, and the places.
fn full() -> (Small, Vec<Place>) {
    let mut pool = Small::new(CHANNELS_USED);
    let mut links = (0..4).cycle();
    let places = core::iter::from_fn(|| put(&mut pool, by(links.next()?, 0), 10)).collect();
    pool.forget_turns();
    (pool, places)
}

#[test]
fn however_full_it_is_every_empty_channel_has_room_and_so_has_what_begins_here() {
    let (mut pool, _) = full();
    for channel in 1..CHANNELS_USED {
        assert!(put(&mut pool, by(0, channel), 0).is_some(), "virtual channel {channel}");
        assert!(put(&mut pool, by(0, channel), 0).is_none(), "virtual channel {channel}");
    }
    assert!(put(&mut pool, Origin::Application, 0).is_some());
    assert!(!pool.outbox_has_room(Kind::Datagram));
    assert!(
        put(&mut pool, by(0, CHANNELS_USED), 0).is_none(),
        "no such virtual channel"
    );
}

#[test]
fn broadcasts_that_begin_here_leave_room_for_what_passes() {
    let mut pool = Small::new(CHANNELS_USED);
    while pool.outbox_has_room(Kind::Broadcast) {
        put(&mut pool, Origin::Application, 0).unwrap();
    }
    assert!(pool.outbox_has_room(Kind::Datagram));
    let passing = core::iter::from_fn(|| put(&mut pool, by(0, 0), 0)).count();
    assert!(passing > FourLinks::SIZES.passing, "{passing}");
}

#[test]
fn a_few_answers_have_room_however_full_it_is_and_twice_as_many_if_it_is_not() {
    let responses = |mut pool: Small| core::iter::from_fn(|| put(&mut pool, Origin::Service, 0)).count();
    let (full, _) = full();
    assert_eq!(responses(full), FourLinks::SIZES.service);
    assert_eq!(responses(Small::new(CHANNELS_USED)), 2 * FourLinks::SIZES.service);
}

#[test]
fn a_free_slot_goes_to_the_link_that_has_waited_longest() {
    let (mut pool, places) = full();
    for (link, age) in [(1, 20), (2, 900), (3, 300)] {
        assert!(put(&mut pool, by(link, 0), age).is_none());
    }
    take(&mut pool, places[0]);
    assert!(put(&mut pool, by(1, 0), 20).is_none(), "others have waited longer");
    assert!(put(&mut pool, by(3, 0), 300).is_none(), "one has waited longer");
    assert!(!pool.offer(1).takes(0) && !pool.offer(3).takes(0) && pool.offer(2).takes(0));
    assert!(put(&mut pool, by(2, 0), 900).is_some());
    take(&mut pool, places[1]);
    assert!(!pool.offer(1).takes(0) && pool.offer(3).takes(0));
    assert!(put(&mut pool, by(3, 0), 300).is_some());
    take(&mut pool, places[2]);
    assert!(put(&mut pool, by(1, 0), 20).is_some());
}

#[test]
fn the_slot_of_a_channel_goes_to_the_link_that_has_waited_longest() {
    let (mut pool, _) = full();
    let first = put(&mut pool, by(0, 3), 10).unwrap();
    for (link, age) in [(1, 20), (2, 40)] {
        assert!(put(&mut pool, by(link, 3), age).is_none());
    }
    take(&mut pool, first);
    assert!(put(&mut pool, by(0, 3), 10).is_none());
    assert!(put(&mut pool, by(1, 3), 20).is_none());
    assert!(put(&mut pool, by(2, 3), 40).is_some());
}

/// Nothing is reserved for a link that has its full share.
#[test]
fn a_link_with_its_whole_share_is_not_waited_for() {
    let mut pool = Small::new(CHANNELS_USED);
    while put(&mut pool, by(0, 0), 900).is_some() {}
    assert_eq!(pool.share_left(0), 0);
    let free = pool.common() - pool.common_taken();
    assert!(free > 0);
    assert_eq!(pool.common_for(1, None), free.min(FourLinks::SIZES.link_share));
}

#[test]
fn one_that_does_not_come_back_is_not_waited_for_for_ever() {
    let (mut pool, places) = full();
    assert!(put(&mut pool, by(2, 0), 900).is_none());
    take(&mut pool, places[0]);
    assert!(put(&mut pool, by(1, 0), 20).is_none());
    pool.forget_turns();
    assert!(put(&mut pool, by(1, 0), 20).is_some());
}

#[test]
fn who_has_waited_longest_has_a_turn_though_more_wait_than_are_remembered() {
    let (mut pool, places) = full();
    for channel in 1..CHANNELS_USED {
        put(&mut pool, by(0, channel), 1).unwrap();
    }
    for link in 0..4 {
        for channel in 0..CHANNELS_USED {
            let age = 100 + u64::from(channel) + 10 * u64::from(link);
            assert!(put(&mut pool, by(link, channel), age).is_none());
        }
    }
    take(&mut pool, places[0]);
    assert!(put(&mut pool, by(0, 5), 105).is_none());
    assert!(put(&mut pool, by(3, 5), 135).is_some());
}

#[test]
fn a_source_that_has_had_less_goes_before_one_that_has_waited_longer() {
    let (mut pool, places) = full();
    // Source 0 has had everything so far.
    (0..20).for_each(|_| pool.serve(places[0]));
    assert!(put_of(&mut pool, 0, by(1, 0), 900).is_none());
    assert!(put_of(&mut pool, 7, by(2, 0), 20).is_none());
    take(&mut pool, places[0]);
    assert!(pool.offer(2).takes(0) && !pool.offer(1).takes(0));
    assert!(put_of(&mut pool, 0, by(1, 0), 900).is_none());
    assert!(put_of(&mut pool, 7, by(2, 0), 20).is_some());
}

#[test]
fn a_link_that_has_just_sent_is_taken_to_have_more() {
    let (mut pool, places) = full();
    (0..20).for_each(|_| pool.serve(places[0]));
    assert!(put_of(&mut pool, 7, by(2, 0), 900).is_none());
    assert!(put_of(&mut pool, 0, by(1, 0), 20).is_none());
    take(&mut pool, places[0]);
    assert!(put_of(&mut pool, 7, by(2, 0), 0).is_some());
    take(&mut pool, places[1]);
    assert!(pool.offer(2).takes(0), "source 7 has still had less");
    assert!(put_of(&mut pool, 0, by(1, 0), 0).is_none());
    let later = NOW + 10_000;
    assert!(
        pool.admit(&from(0).header, &[], by(1, 0), later).is_some(),
        "it has no more"
    );
}
