//! Clocks are aligned from packets, whatever the graph.

use proptest::prelude::*;

use crate::clocks::{Pair, align};

proptest! {
    /// Clocks with offsets of up to an hour and crystals of the usual kind agree to microseconds, whatever the graph.
    #[test]
    fn clocks_agree_after_alignment(
        offsets in proptest::collection::vec(-3600.0..3600.0f64, 5),
        drifts in proptest::collection::vec(-50e-6..50e-6f64, 5),
        more in proptest::collection::vec((0usize..5, 0usize..5, 0.0..20.0f64, 0usize..2), 10..40),
    ) {
        // What a clock shows at a common time.
        let shown = |clock: usize, time: f64| time * (1.0 + drifts[clock]) + offsets[clock];
        let delays = [400e-6, 900e-6];
        // A ring in both directions at both ends of the time, and whatever else there is.
        let ring = (0..5).flat_map(|a| [(a, (a + 1) % 5), ((a + 1) % 5, a)]);
        let ring = ring.flat_map(|(a, b)| [0.0, 20.0].map(|time| (a, b, time, 0)));
        let pairs: Vec<Pair> = ring
            .chain(more)
            .filter(|(a, b, ..)| a != b)
            .map(|(from, to, time, class)| Pair {
                from,
                to,
                sent: shown(from, time),
                received: shown(to, time + delays[class]),
                class,
            })
            .collect();
        let alignment = align(5, &pairs, &[500e-6; 2]);
        prop_assert!(alignment.residual_worst < 3e-6, "{:?}", alignment);
        for time in [0.0, 10.0, 20.0] {
            let times: Vec<f64> = (0..5).map(|clock| alignment.clocks[clock].common(shown(clock, time))).collect();
            let spread = times.iter().fold(0.0f64, |spread, other| spread.max((other - times[0]).abs()));
            prop_assert!(spread < 5e-6, "{times:?}");
        }
    }
}

#[test]
fn a_late_packet_does_not_spoil_the_clocks() {
    let pair = |number: usize| {
        let (from, to) = (number % 2, 1 - number % 2);
        let shown = |clock: usize, time: f64| time + 5.0 * clock as f64;
        let time = number as f64 * 0.1;
        // Every tenth is noticed a millisecond late.
        let late = if number % 10 == 3 { 1e-3 } else { 0.0 };
        Pair {
            from,
            to,
            sent: shown(from, time),
            received: shown(to, time + 400e-6 + late),
            class: 0,
        }
    };
    let pairs: Vec<Pair> = (0..100).map(pair).collect();
    let alignment = align(3, &pairs, &[400e-6]);
    let difference = alignment.clocks[1].common(10.0) - alignment.clocks[0].common(5.0);
    assert!(difference.abs() < 10e-6, "{difference}");
    let is_rare = alignment.residual_median < 10e-6 && alignment.residual_worst > 0.9e-3;
    assert!(is_rare, "{alignment:?}");
    let found = alignment.clocks.iter().map(|clock| clock.group).collect::<Vec<_>>();
    assert_eq!(found, [0, 0, 1]);
}
