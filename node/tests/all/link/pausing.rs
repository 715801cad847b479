//! An end that stands still for a while, and has said so.

use hopwise_node::link::{Down, Micros};
use hopwise_node::wire::PAUSE_UNIT;

use crate::link::pair::{Notice, Pair};
use crate::support::{MILLISECOND, SECOND};

const UNITS: u8 = 12;
/// By then the other end has been told.
const TOLD: Micros = 20 * MILLISECOND;

/// Some ends say that they will stand still, and do.
fn leave(pair: &mut Pair, ends: &[usize]) {
    ends.iter().for_each(|place| pair.ends[*place].link.pause(UNITS));
    pair.run(TOLD, |_| false);
    ends.iter().for_each(|place| pair.ends[*place].stands_still = true);
}

/// They go on after a while, one after the other.
fn come_back(pair: &mut Pair, ends: &[usize], wait: Micros) {
    for place in ends {
        pair.run(wait, |_| false);
        pair.ends[*place].stands_still = false;
        pair.ends[*place].link.end_pause(pair.now);
    }
}

fn busy_pair() -> Pair {
    let mut pair = Pair::new(1_000_000, [20_000, 20_000], 50);
    pair.run(SECOND, |_| false);
    assert!(pair.both_up() && !pair.all_sent());
    pair
}

#[test]
fn a_pause_that_was_announced_ends_no_session_and_loses_nothing() {
    for ends in [&[0][..], &[1], &[0, 1]] {
        let mut pair = busy_pair();
        for _ in 0..5 {
            leave(&mut pair, ends);
            pair.run(2_500 * MILLISECOND, |_| false);
            come_back(&mut pair, ends, 0);
            pair.run(300 * MILLISECOND, |_| false);
        }
        assert!(pair.run(60 * SECOND, Pair::all_sent));
        for end in &pair.ends {
            assert_eq!(end.notices, [Notice::Up], "{ends:?}");
            let counters = end.link.counters();
            assert_eq!((counters.damaged, counters.sessions), (0, 1));
        }
    }
}

/// Each must not wait for the other to speak first.
#[test]
fn ends_that_were_both_away_find_each_other_at_once() {
    for first in 0..2 {
        let mut pair = busy_pair();
        leave(&mut pair, &[0, 1]);
        come_back(&mut pair, &[first, 1 - first], SECOND / 2);
        let before = pair.ends.each_ref().map(|end| end.link.counters().packets_received);
        pair.run(100 * MILLISECOND, |_| false);
        let after = pair.ends.each_ref().map(|end| end.link.counters().packets_received);
        assert!(
            after[0] > before[0] + 10 && after[1] > before[1] + 10,
            "{before:?} {after:?}"
        );
    }
}

/// It is read when that one is back; else the link would seem dead then.
#[test]
fn a_pause_is_announced_to_an_end_that_is_away_itself() {
    let mut pair = busy_pair();
    leave(&mut pair, &[0, 1]);
    come_back(&mut pair, &[0], SECOND / 2);
    pair.run(100 * MILLISECOND, |_| false);
    leave(&mut pair, &[0]);
    come_back(&mut pair, &[1, 0], SECOND);
    assert!(pair.run(60 * SECOND, Pair::all_sent));
    for end in &pair.ends {
        assert_eq!(end.notices, [Notice::Up]);
        assert_eq!(end.link.counters().damaged, 0);
    }
}

#[test]
fn a_pause_that_was_not_announced_ends_the_session() {
    let mut pair = busy_pair();
    pair.ends[0].stands_still = true;
    come_back(&mut pair, &[0], 2_500 * MILLISECOND);
    assert!(pair.run(60 * SECOND, Pair::all_sent));
    assert!(pair.ends.iter().all(|end| end.notices.len() > 1));
}

#[test]
fn nothing_is_sent_to_an_end_that_is_away_and_it_is_given_up_if_it_does_not_come_back() {
    let mut pair = busy_pair();
    leave(&mut pair, &[0]);
    pair.run(2 * SECOND, |_| false);
    assert_eq!(pair.waiting_from(1), 0);
    let away = u64::from(UNITS) * PAUSE_UNIT;
    pair.run(away - TOLD - 2 * SECOND, |_| false);
    assert_eq!(pair.ends[1].notices, [Notice::Up]);
    pair.run(400 * MILLISECOND, |_| false);
    assert_eq!(pair.ends[1].notices, [Notice::Up, Notice::Down(Down::Silent)]);
}

/// A liar that is always about to be away must not keep what others send waiting for ever.
#[test]
fn pauses_without_end_are_not_accepted() {
    let mut pair = busy_pair();
    let start = pair.now;
    let mut away = 0;
    while pair.now < start + 100 * SECOND {
        leave(&mut pair, &[0]);
        for _ in 0..30 {
            pair.run(100 * MILLISECOND, |_| false);
            away += u64::from(pair.ends[1].link.is_paused(pair.now)) * 100 * MILLISECOND;
        }
        come_back(&mut pair, &[0], 0);
    }
    // Half a minute, and a tenth of the time.
    assert!(away > 20 * SECOND && away < 45 * SECOND, "{away}");
    assert!(pair.ends[1].notices.contains(&Notice::Down(Down::Silent)));
}
