//! How soon a dead end is noticed, and that a live one is not taken for dead.

use hopwise_node::link::{Down, Link};
use hopwise_node::wire::WIRE;

use crate::link::pair::{Notice, Pair, host_identity, identity};
use crate::support::{MILLISECOND, Random, SECOND};

const BAUD: u32 = 1_000_000;
/// More than are sent.
const FULL: [usize; 2] = [1_000_000; 2];
const IDLE: [usize; 2] = [0; 2];

fn pair(baud: u32, packets: [usize; 2], is_keyed: bool) -> Pair {
    match is_keyed {
        #[cfg(feature = "keys")]
        true => Pair::new(baud, packets, u64::MAX).locked([super::keys::credentials(super::keys::KEY); 2]),
        _ => Pair::new(baud, packets, u64::MAX),
    }
}

fn is_down(pair: &Pair, end: usize) -> bool {
    !pair.ends[end].link.is_up()
}

/// At any moment of the quiet times, and around those at which the units of time wrap.
#[test]
fn a_cut_cable_and_a_hung_board_are_noticed_within_20_ms() {
    let wraps = [0, 500 * MILLISECOND, 950 * MILLISECOND];
    let cases = [
        (1_000_000, IDLE, 12, &wraps[..]),
        (1_000_000, FULL, 4, &wraps[..1]),
        (2_000_000, IDLE, 12, &wraps[..1]),
        (4_500_000, FULL, 4, &wraps[..1]),
    ];
    for ((baud, packets, moments, begins), is_keyed) in cases.into_iter().flat_map(|case| [(case, false), (case, true)])
    {
        for &begin in begins {
            let mut pair = pair(baud, packets, is_keyed);
            pair.now += begin;
            assert!(pair.run(SECOND, Pair::both_up));
            for moment in 0..moments {
                // A session after one that did not last would not be watched.
                pair.run(SECOND + moment * 1_100, |_| false);
                assert!(pair.both_up());
                let cut = pair.now;
                let is_cut = moment % 2 == 0;
                if is_cut {
                    pair.ends.iter_mut().for_each(|end| end.dead = true);
                    pair.run(SECOND, |pair| is_down(pair, 0) && is_down(pair, 1));
                } else {
                    pair.ends[1].stands_still = true;
                    pair.run(SECOND, |pair| is_down(pair, 0));
                }
                let took = pair.now - cut;
                assert!(
                    (5 * MILLISECOND..20 * MILLISECOND).contains(&took),
                    "{baud} {is_cut}: {took} after {:?} and {:?}",
                    pair.ends[0].notices,
                    pair.ends[1].notices
                );
                pair.ends.iter_mut().for_each(|end| end.dead = false);
                pair.ends[1].stands_still = false;
                assert!(pair.run(SECOND, Pair::both_up));
            }
        }
    }
}

/// A host, a node on a slow wire, and a node that may stand still, such as a process.
#[test]
fn who_does_not_show_that_it_is_alive_is_missed_later() {
    for (identity, baud, may_stall) in [
        (host_identity(1, 1), BAUD, false),
        (identity(1, 1), 80_000, false),
        (identity(1, 1), BAUD, true),
    ] {
        let mut pair = Pair::new(baud, IDLE, u64::MAX);
        pair.ends[1].link = Link::<WIRE>::welcoming(identity, baud, 0);
        if may_stall {
            pair.ends[1].link.expect_stalls();
        }
        assert!(pair.run(SECOND, Pair::both_up));
        pair.run(SECOND, |_| false);
        assert_eq!(pair.ends[0].notices, [Notice::Up]);
        let (at_least, at_most) = if may_stall { (690, 800) } else { (240, 350) };
        for end in [1, 0] {
            pair.ends[end].dead = true;
            let cut = pair.now;
            pair.run(at_least * MILLISECOND, |_| false);
            assert!(!is_down(&pair, 1 - end), "{baud} {may_stall} {end}");
            pair.run(SECOND, |pair| is_down(pair, 1 - end));
            let took = pair.now - cut;
            assert!(took <= at_most * MILLISECOND, "{baud} {may_stall} {end}: {took}");
            pair.ends[end].dead = false;
            assert!(pair.run(2 * SECOND, Pair::both_up));
            pair.run(SECOND, |_| false);
        }
    }
}

/// Noise in place of frames: it may be that the other end is alive, but not for ever.
#[test]
fn noise_is_a_sign_of_life_for_a_while() {
    for noise in [&[7, 7, 7][..], &[7, 7, 7, 0]] {
        let mut pair = Pair::new(BAUD, IDLE, u64::MAX);
        assert!(pair.run(SECOND, Pair::both_up));
        pair.run(SECOND, |_| false);
        pair.tamper = Some(Box::new(|_, _| noise.to_vec()));
        pair.run(330 * MILLISECOND, |_| false);
        assert!(pair.both_up());
        pair.run(60 * MILLISECOND, |_| false);
        assert!(is_down(&pair, 0) && is_down(&pair, 1));
    }
    // Zeros are what a line brings that is stuck.
    let mut pair = Pair::new(BAUD, IDLE, u64::MAX);
    assert!(pair.run(SECOND, Pair::both_up));
    pair.run(SECOND, |_| false);
    pair.tamper = Some(Box::new(|_, _| vec![0; 14]));
    pair.run(20 * MILLISECOND, |_| false);
    assert!(is_down(&pair, 0) && is_down(&pair, 1));
}

/// All that is sent on an idle line, hellos too.
#[test]
fn an_idle_line_is_idle_for_97_percent() {
    for (is_keyed, most) in [(false, 0.01), (true, 0.016)] {
        let mut pair = pair(BAUD, IDLE, is_keyed);
        assert!(pair.run(SECOND, Pair::both_up));
        pair.record = Some(Vec::new());
        pair.run(10 * SECOND, |_| false);
        for end in 0..2 {
            let sent = pair.record.iter().flatten().filter(|(from, _)| *from == end);
            let bytes: usize = sent.map(|(_, bytes)| bytes.len()).sum();
            let share = (bytes * 10) as f64 / (10 * BAUD) as f64;
            assert!(share > 0.005 && share < most, "{share}");
        }
    }
}

/// A hundred times the bit errors that wires should have at most: no link goes down.
#[test]
fn errors_take_no_link_down() {
    for (packets, seconds) in [(IDLE, 1_000), ([2_000; 2], 10)] {
        let mut pair = Pair::new(BAUD, packets, u64::MAX);
        assert!(pair.run(SECOND, Pair::both_up));
        let mut random = Random(1);
        pair.tamper = Some(Box::new(move |_, mut bytes| {
            for byte in &mut bytes {
                // Start and stop bits included, one of 10,000 is flipped.
                match random.below(10_000) {
                    flip @ 0..8 => *byte ^= 1 << flip,
                    8 | 9 => *byte = 0xff,
                    _ => {}
                }
            }
            bytes
        }));
        pair.run(seconds * SECOND, |_| false);
        let damaged: u32 = pair.ends.iter().map(|end| end.link.counters().damaged).sum();
        assert!(damaged > 200, "{damaged}");
        for end in &pair.ends {
            assert_eq!(end.notices, [Notice::Up], "{packets:?}");
        }
    }
}

/// Where whole frames get lost, a link that was taken for dead is not watched again so soon, and works.
#[test]
fn a_wire_that_swallows_frames_is_not_down_again_and_again() {
    let mut pair = Pair::new(BAUD, [2_000, 0], u64::MAX);
    let mut random = Random(3);
    pair.tamper = Some(Box::new(
        move |_, bytes| if random.below(10) == 0 { Vec::new() } else { bytes },
    ));
    assert!(pair.run(60 * SECOND, Pair::all_sent));
    pair.run(25 * SECOND, |_| false);
    for end in &pair.ends {
        let downs = end
            .notices
            .iter()
            .filter(|notice| matches!(notice, Notice::Down(Down::Silent)));
        assert!(downs.count() <= 3, "{:?}", end.notices);
    }
}
