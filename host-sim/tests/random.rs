//! Every promise, on networks drawn at random. A failure prints the smallest expression that fails.

mod audit;

use proptest::prelude::*;

/// Networks up to this size are audited; larger ones are drawn again.
const MOST_NODES: u64 = 700;

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
    ]
}

fn small(expression: &str) -> bool {
    expression
        .parse::<hopwise_core::Network>()
        .is_ok_and(|network| network.nodes() <= MOST_NODES)
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
    prop_oneof![1 => base(12), 2 => rdn, 3 => re, 2 => re_list, 3 => rcr]
        .prop_filter("small enough", |text| small(text))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn drawn_networks_keep_their_promises(expression in expression()) {
        audit::audit(&expression);
    }
}
