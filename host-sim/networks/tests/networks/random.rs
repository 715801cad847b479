//! Every guarantee, on networks drawn at random. A failure prints the smallest expression that fails.

use proptest::prelude::*;

/// Networks up to this size are audited; larger ones are drawn again.
const MAX_NODES: u64 = 700;

fn base(most: u64) -> impl Strategy<Value = String> {
    let sizes = || prop::collection::vec(2u64..=most.min(5), 1..=3);
    let list = |name: &'static str| {
        sizes().prop_map(move |sizes| {
            let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
            format!("{name}({})", sizes.join(","))
        })
    };
    prop_oneof![
        (3..=most).prop_map(|n| format!("ring({n})")),
        (2..=most).prop_map(|n| format!("path({n})")),
        (2..=most).prop_map(|n| format!("complete({n})")),
        (2..=most).prop_map(|n| format!("star({n})")),
        (1u64..=4).prop_map(|n| format!("hypercube({n})")),
        (2u64..=4).prop_map(|n| format!("folded-hypercube({n})")),
        (2u64..=4).prop_map(|n| format!("nstar({n})")),
        list("torus"),
        list("mesh"),
        list("ghc"),
        Just("petersen".to_string()),
        Just("heawood".to_string()),
        lift(most),
    ]
}

/// A cycle through the orbits, which joins them, a link that turns, and some more.
fn lift(most: u64) -> impl Strategy<Value = String> {
    let more = prop::collection::vec((0u8..4, 0u8..4, 0u64..40), 0..4);
    (1u64..=4, 2..=most.max(4), more).prop_map(|(orbits, places, more)| {
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

fn small(expression: &str) -> bool {
    expression
        .parse::<hopwise_core::Network>()
        .is_ok_and(|network| network.nodes() <= MAX_NODES)
}

fn expression() -> impl Strategy<Value = String> {
    let rdn = (base(9), 0u64..=2).prop_map(|(base, levels)| format!("rdn({base},{levels})"));
    let re = (base(5), base(7), 1u64..=5, prop::bool::weighted(0.2)).prop_map(|(frame, unit, phases, spread)| {
        format!("re({frame},{unit},{phases}{})", if spread { ",sd" } else { "" })
    });
    let frames = (
        prop::collection::vec(base(4), 2..=3),
        base(6),
        prop::bool::weighted(0.2),
    );
    let re_list = frames.prop_map(|(frames, unit, spread)| {
        format!("re([{}],{unit}{})", frames.join(","), if spread { ",sd" } else { "" })
    });
    let rcr = (0u64..=4, 1u64..=12, 0u64..=6).prop_map(|(k, r, j)| format!("rcr({k},{r},{j})"));
    let linkage = prop_oneof![Just("folded"), Just("root-folded"), Just("flooded")];
    let hierarchy = (linkage, base(9), 1u64..=6).prop_map(|(name, base, digits)| format!("{name}({base},{digits})"));
    let cubes = prop_oneof![
        (3u64..=6).prop_map(|n| format!("ccc({n})")),
        (1u64..=4, 2u64..=4).prop_map(|(k, r)| format!("cor({k},{r})")),
        (2u64..=5).prop_map(|n| format!("dualcube({n})")),
        base(9).prop_map(|base| format!("bsw({base})")),
        (1u64..=5, 1u64..=5).prop_map(|(s, t)| format!("exchanged-hypercube({s},{t})")),
    ];
    let corners = prop_oneof![
        (2u64..=25, 1u64..=8).prop_map(|(n, t)| format!("wk({n},{t})")),
        (1u64..=4, 1u64..=8).prop_map(|(n, t)| format!("symmetric-hypernet({n},{t})")),
        (1u64..=5, 1u64..=7).prop_map(|(n, l)| format!("hypernet({n},{l})")),
    ];
    prop_oneof![1 => base(12), 2 => rdn, 3 => re, 2 => re_list, 3 => rcr, 2 => cubes, 2 => corners, 3 => hierarchy]
        .prop_filter("small enough", |text| small(text))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn drawn_networks_keep_their_guarantees(expression in expression()) {
        crate::audit::audit(&expression);
    }
}
