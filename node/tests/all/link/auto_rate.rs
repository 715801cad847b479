//! Two ends that change the rate of their wire while it is in use.

use hopwise_node::link::Micros;
use hopwise_node::wire::{RATE_STEPS, StepSet};
use proptest::prelude::*;

use super::pair::{Notice, Pair};
use crate::support::{MILLISECOND as MS, SECOND, START, cases};

const BAUD: u32 = 1_000_000;
const ALL: StepSet = u8::MAX;
const TOP: u32 = RATE_STEPS[6];
const PLENTY: usize = usize::MAX / 2;

fn pair(steps: [StepSet; 2]) -> Pair {
    Pair::new(BAUD, [PLENTY; 2], 1_000).with_steps(steps)
}

/// A cable that damages so many of a thousand frames, by the sender, the rate and the time.
fn cable(pair: &mut Pair, mut random: u64, damage: impl Fn(usize, u32, Micros) -> u64 + 'static) {
    pair.cable = Some(Box::new(move |from, baud, now| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
        (random >> 33) % 1_000 < damage(from, baud, now - START)
    }));
}

fn run(pair: &mut Pair, time: Micros) {
    pair.run(time, |_| false);
}

fn changes(pair: &Pair) -> u32 {
    pair.ends.iter().map(|end| end.port.changes).sum()
}

/// Both have this rate, and never lost their first session.
fn assert_at(pair: &Pair, baud: u32) {
    for end in &pair.ends {
        assert_eq!((end.port.baud, end.link.baud()), (baud, baud));
        assert_eq!(end.notices, [Notice::Up]);
    }
}

#[test]
fn a_good_cable_gets_the_fastest_rate_of_both_ends_and_nothing_is_lost() {
    for (steps, baud) in [
        ([ALL; 2], TOP),
        ([0b0011_1111, ALL], 5_000_000),
        ([0b0000_1001, 0b0010_1001], 3_000_000),
        ([0b0000_0011, 0b0000_0101], BAUD),
    ] {
        let mut pair = pair(steps);
        run(&mut pair, SECOND);
        assert_at(&pair, baud);
        let before = changes(&pair);
        run(&mut pair, 20 * SECOND);
        assert_at(&pair, baud);
        assert_eq!(changes(&pair), before);
        for end in &pair.ends {
            let counters = end.link.counters();
            assert_eq!((counters.damaged, counters.resent, counters.timeouts), (0, 0, 0));
            assert!(end.port.longest_gap <= 10 * MS, "silent for {}", end.port.longest_gap);
        }
    }
}

#[test]
fn a_quiet_link_gets_there_as_well_and_stays_up() {
    let mut pair = Pair::new(BAUD, [0, 0], 9).with_steps([ALL; 2]);
    run(&mut pair, 10 * SECOND);
    assert_at(&pair, TOP);
}

#[cfg(feature = "keys")]
#[test]
fn ends_with_keys_do_the_same() {
    use super::keys::{KEY, credentials};
    let mut pair = Pair::new(BAUD, [500; 2], 9)
        .locked([credentials(KEY); 2])
        .with_steps([ALL; 2]);
    run(&mut pair, 2 * SECOND);
    assert_at(&pair, TOP);
    assert!(pair.all_sent());
}

#[test]
fn an_end_with_a_fixed_rate_stays_there() {
    for steps in [[ALL, 0], [0, ALL], [ALL, 1]] {
        let mut pair = pair(steps);
        run(&mut pair, 5 * SECOND);
        assert_at(&pair, BAUD);
        assert_eq!(changes(&pair), 0);
    }
}

/// Above a rate, a cable is bad or useless, perhaps in one direction only, and that from the beginning or later.
#[test]
fn a_cable_that_is_too_long_for_a_rate_stays_below_it() {
    for (from, worst, since) in [
        (None, 300, 0),
        (None, 1_000, 0),
        (Some(0), 300, 0),
        (Some(1), 1_000, 0),
        (None, 300, 5 * SECOND),
        (Some(0), 300, 5 * SECOND),
        (Some(1), 1_000, 5 * SECOND),
    ] {
        let mut pair = pair([ALL; 2]);
        cable(&mut pair, 7, move |sender, baud, now| {
            let is_bad = baud >= 3_000_000 && now >= since && from.is_none_or(|from| from == sender);
            if is_bad { worst } else { 0 }
        });
        run(&mut pair, 4 * SECOND);
        assert_at(&pair, if since == 0 { 2_000_000 } else { TOP });
        run(&mut pair, 6 * SECOND);
        assert_at(&pair, 2_000_000);
        // It is tried again now and then, more and more rarely.
        let before = changes(&pair);
        run(&mut pair, 90 * SECOND);
        let more = changes(&pair) - before;
        assert!((2..=40).contains(&more), "{more} changes, {from:?} {worst} {since}");
        assert!(pair.ends.iter().all(|end| end.notices == [Notice::Up]));
    }
}

#[test]
fn a_cable_that_gets_worse_slowly_is_followed_down() {
    let mut pair = pair([ALL; 2]);
    cable(&mut pair, 3, |_, baud, now| {
        let percent = u64::from(baud / BAUD) * (now / SECOND) / 2;
        if baud > BAUD { percent } else { 0 }
    });
    let mut slowest = TOP;
    for _ in 0..150 {
        run(&mut pair, SECOND);
        slowest = slowest.min(pair.ends[0].port.baud);
    }
    assert_eq!(slowest, BAUD);
    assert!(changes(&pair) < 200, "{} changes", changes(&pair));
    assert!(pair.ends.iter().all(|end| end.notices == [Notice::Up]));
}

#[test]
fn an_end_that_lies_about_its_rates_costs_little() {
    for liar in [0, 1] {
        let mut pair = pair([ALL; 2]);
        pair.ends[liar].port.late = Micros::MAX;
        run(&mut pair, 60 * SECOND);
        assert_eq!(pair.ends[1 - liar].port.baud, BAUD);
        assert!(changes(&pair) < 40, "{} changes", changes(&pair));
        for end in &pair.ends {
            assert_eq!(end.notices, [Notice::Up]);
            assert!(end.port.longest_gap <= 30 * MS, "silent for {}", end.port.longest_gap);
        }
    }
}

#[test]
fn ends_that_change_at_different_moments_find_each_other() {
    for late in [[0, 2], [2, 0], [3, 1], [0, 4], [4, 0]].map(|late| late.map(|late| late * MS)) {
        let mut pair = pair([ALL; 2]);
        for (end, late) in pair.ends.iter_mut().zip(late) {
            end.port.late = late;
        }
        run(&mut pair, 2 * SECOND);
        assert_at(&pair, TOP);
    }
}

#[test]
fn after_a_reset_of_either_end_the_rate_is_agreed_again() {
    for place in [0, 1] {
        for moment in 0..120 {
            let mut pair = pair([ALL; 2]);
            run(&mut pair, 40 * MS + moment * 777);
            pair.restart(place);
            let at_the_top = |pair: &Pair| pair.both_up() && pair.ends.iter().all(|end| end.port.baud == TOP);
            assert!(pair.run(8 * SECOND, at_the_top), "end {place}, {moment}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(60)))]
    /// Whatever the cable does for a while, whoever is reset or late: once it is good, both ends soon have one rate, and all packets come.
    #[test]
    fn both_ends_end_at_one_rate(
        steps in any::<[u8; 2]>(),
        damage in prop::array::uniform4(0..1_000u64),
        late in prop::array::uniform2(0..3_000u64),
        resets in prop::collection::vec((0..2usize, 0..1_000_000u64), 0..4),
        seed: u64,
    ) {
        let mut pair = Pair::new(BAUD, [300; 2], 9).with_steps(steps.map(|steps| steps | 1));
        cable(&mut pair, seed, move |from, baud, now| match now {
            0..2_000_000 => damage[from + if baud > 2_500_000 { 2 } else { 0 }],
            _ => 0,
        });
        for (end, late) in pair.ends.iter_mut().zip(late) {
            end.port.late = late;
        }
        for (end, later) in resets {
            run(&mut pair, later);
            pair.restart(end);
        }
        let is_done = |pair: &Pair| pair.now > START + 2 * SECOND && pair.both_up() && pair.all_sent();
        prop_assert!(pair.run(60 * SECOND, is_done));
        // Not within a change.
        let agree = |pair: &Pair| pair.both_up() && pair.ends[0].port.baud == pair.ends[1].port.baud;
        prop_assert!(pair.run(200 * MS, agree));
    }
}
