//! Random expressions of networks of every family, legal or not.

use std::string::{String, ToString};
use std::vec::Vec;
use std::{format, vec};

use proptest::prelude::*;

/// Sizes at both ends of what is legal, and beyond.
pub(crate) fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        8 => 0u64..=9,
        2 => 10u64..=70,
        1 => prop::sample::select(vec![1000, 65_535, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 62) - 1, 1 << 63, u64::MAX]),
        1 => any::<u64>(),
    ]
}

fn base() -> impl Strategy<Value = String> {
    let words: Vec<&str> = "ring path complete star hypercube folded-hypercube nstar"
        .split(' ')
        .collect();
    let lists = ["torus", "mesh", "ghc"];
    // Shifts of one orbit, or of the first of two.
    let shifts = prop::sample::subsequence((2..=40).collect::<Vec<u64>>(), 0..=10);
    let lift = |(places, shifts, tail): (u64, Vec<u64>, &str)| {
        let fitting = shifts.iter().filter(|&&shift| shift <= places / 2);
        let links: String = fitting.map(|shift| format!("a{shift}")).collect();
        format!("lift({places},a1{links}{tail})")
    };
    let sizes = prop::collection::vec(number(), 1..=9).prop_map(|sizes| {
        let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
        sizes.join(",")
    });
    prop_oneof![
        (prop::sample::select(words), number()).prop_map(|(word, n)| format!("{word}({n})")),
        (prop::sample::select(lists.to_vec()), sizes).prop_map(|(word, sizes)| format!("{word}({sizes})")),
        Just("petersen".to_string()),
        Just("heawood".to_string()),
        (
            prop_oneof![2u64..=20, 80u64..=1_100],
            shifts,
            prop::sample::select(vec!["", "b,b1", "bb1b7"])
        )
            .prop_map(lift),
        lift_of_orbits(),
    ]
}

/// A cycle through the orbits, which joins them, a link that turns, and some more.
fn lift_of_orbits() -> impl Strategy<Value = String> {
    let more = prop::collection::vec((0u8..4, 0u8..4, 0u64..40), 0..4);
    (1u64..=4, 2u64..=12, more).prop_map(|(orbits, places, more)| {
        let places = (places / orbits).max(2);
        let mut links: Vec<(u8, u8, u64)> = (1..orbits as u8).map(|orbit| (orbit - 1, orbit, 0)).collect();
        links.push((0, 0, 1));
        for (one, other, shift) in more {
            let (from, to) = (one.min(other) % orbits as u8, one.max(other) % orbits as u8);
            let (from, to) = (from.min(to), from.max(to));
            let shift = shift % if from == to { places / 2 + 1 } else { places };
            if from != to || shift > 0 {
                links.push((from, to, shift));
            }
        }
        links.sort_unstable();
        links.dedup();
        let list = |orbit: u8| {
            let own = links.iter().filter(|link| link.0 == orbit);
            own.map(|link| format!("{}{}", char::from(b'a' + link.1), link.2))
                .collect::<String>()
        };
        let last = links.iter().map(|link| link.0).max().unwrap_or(0);
        let lists: Vec<String> = (0..=last).map(list).collect();
        format!("lift({places},{})", lists.join(","))
    })
}

pub(crate) fn expression() -> impl Strategy<Value = String> {
    let one = ["ccc", "dualcube", "hcn", "hfn", "hcn3", "re-heawood-2"];
    let two = ["cor", "wk", "symmetric-hypernet", "hypernet", "exchanged-hypercube"];
    let over_base = ["rdn", "folded", "root-folded", "flooded"];
    let frames = prop::collection::vec(base(), 1..=3).prop_map(|frames| frames.join(","));
    let pivots = prop::sample::select(vec!["", ",sk", ",sd"]);
    let links = prop::sample::select(vec!["", ",diameter"]);
    prop_oneof![
        base(),
        (prop::sample::select(one.to_vec()), number()).prop_map(|(word, n)| format!("{word}({n})")),
        number().prop_map(|n| format!("re-heawood-2({n},one)")),
        (prop::sample::select(two.to_vec()), number(), number()).prop_map(|(word, a, b)| format!("{word}({a},{b})")),
        (prop::sample::select(over_base.to_vec()), base(), number())
            .prop_map(|(word, base, n)| format!("{word}({base},{n})")),
        (number(), number(), number()).prop_map(|(k, r, j)| format!("rcr({k},{r},{j})")),
        (base(), base(), number(), pivots.clone())
            .prop_map(|(frame, unit, r, pivots)| format!("re({frame},{unit},{r}{pivots})")),
        (frames, base(), pivots).prop_map(|(frames, unit, pivots)| format!("re([{frames}],{unit}{pivots})")),
        (number(), base(), links).prop_map(|(l, nucleus, links)| format!("rsn({l},{nucleus}{links})")),
        (number(), base()).prop_map(|(l, nucleus)| format!("hsn({l},{nucleus})")),
        base().prop_map(|base| format!("bsw({base})")),
        Just("partial-swapped".to_string()),
    ]
}
