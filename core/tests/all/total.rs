//! Nothing that a network is asked makes it panic, overflow or run on: not with the largest parameters, and not with nodes
//! that do not exist.

use hopwise_core::{Network, Rule, Tree};
use proptest::prelude::*;

use crate::support::cases;

/// Sizes at both ends of what is legal, and beyond.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        8 => 0u64..=9,
        2 => 10u64..=70,
        1 => prop::sample::select(vec![1000, 65_535, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 62) - 1, 1 << 63, u64::MAX]),
    ]
}

fn base() -> impl Strategy<Value = String> {
    let words = [
        "ring",
        "path",
        "complete",
        "star",
        "hypercube",
        "folded-hypercube",
        "nstar",
    ];
    let lists = ["torus", "mesh", "ghc"];
    let sizes = prop::collection::vec(number(), 1..=9).prop_map(|sizes| {
        let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
        sizes.join(",")
    });
    prop_oneof![
        (prop::sample::select(words.to_vec()), number()).prop_map(|(word, n)| format!("{word}({n})")),
        (prop::sample::select(lists.to_vec()), sizes).prop_map(|(word, sizes)| format!("{word}({sizes})")),
        Just("petersen".to_string()),
        Just("heawood".to_string()),
    ]
}

/// An expression of any family, legal or not.
fn expression() -> impl Strategy<Value = String> {
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

/// Asks a network everything about two nodes.
fn ask_everything(network: &Network, a: u64, b: u64, port: u64) {
    let exists = a < network.nodes() && b < network.nodes();
    let _ = network.to_string();
    assert_eq!(network.degree(a).is_ok(), a < network.nodes());
    let _ = network.neighbor(a, port);
    if has_few_links(network, a) {
        let _ = network.port_to(a, b);
    }
    assert_eq!(network.distance(a, b).is_ok(), exists, "{network}: {a} to {b}");
    if let Ok(neighbors) = network.neighbors(a) {
        neighbors
            .take(70)
            .for_each(|neighbor| assert!(neighbor < network.nodes(), "{network}: {a} to {neighbor}"));
    }
    for rule in [Rule::Exact, Rule::Paper] {
        let _ = network.longest_route(rule);
        let _ = network.method(a, b, rule);
        if has_few_links(network, a) {
            assert_eq!(network.next_port(a, b, rule).is_ok(), exists, "{network}: {a} to {b}");
        }
        if let Ok(next) = network.next_hop(a, b, rule) {
            assert!(next < network.nodes(), "{network}: {a} to {b} by {next}");
        }
    }
    if let Ok(address) = network.address(a) {
        let _ = address.to_string();
    }
}

/// Looking for a port goes through all links of a node: more than this are not worth waiting for.
const MOST_LINKS: u64 = 4_096;
/// In a broadcast each link takes a next hop, which in some families goes through all links of the neighbour.
const MOST_LINKS_OF_TREES: u64 = 512;

fn has_few_links(network: &Network, node: u64) -> bool {
    network.degree(node).is_ok_and(|links| links <= MOST_LINKS)
}

/// What takes many next hops: asked less often.
fn ask_for_trees(network: &Network, a: u64, b: u64) {
    if network.degree(a).is_ok_and(|links| links > MOST_LINKS_OF_TREES) {
        return;
    }
    for tree in [Tree::LeastDepth, Tree::FewestSteps] {
        if let Ok(fanout) = network.fanout_by(a, b, tree) {
            fanout
                .take(40)
                .for_each(|(_, child)| assert!(child < network.nodes(), "{network}: {a} to {child}"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(400), max_global_rejects: 1_000_000, ..ProptestConfig::default() })]

    #[test]
    fn any_network_answers_anything(text in expression(), a: u64, b: u64, port in number()) {
        if let Ok(network) = text.parse::<Network>() {
            let (c, d) = (a % network.nodes(), b % network.nodes());
            ask_everything(&network, c, d, port);
            ask_everything(&network, a, d, port);
            ask_everything(&network, 0, network.nodes() - 1, u64::MAX);
            ask_everything(&network, network.nodes(), u64::MAX, 0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(100), max_global_rejects: 1_000_000, ..ProptestConfig::default() })]

    #[test]
    fn any_network_broadcasts(text in expression(), a: u64, b: u64) {
        if let Ok(network) = text.parse::<Network>() {
            ask_for_trees(&network, a % network.nodes(), b % network.nodes());
            ask_for_trees(&network, 0, network.nodes() - 1);
        }
    }
}

/// A port that no node has leads nowhere, in every base graph.
#[test]
fn the_largest_port_leads_nowhere() {
    for expression in [
        "ring(5)",
        "path(5)",
        "complete(5)",
        "star(5)",
        "hypercube(3)",
        "folded-hypercube(3)",
        "nstar(4)",
        "torus(3,3)",
        "mesh(3,3)",
        "ghc(3,3)",
        "petersen",
        "heawood",
    ] {
        let network: Network = expression.parse().unwrap();
        for port in [u64::MAX, u64::from(u32::MAX)] {
            assert_eq!(network.neighbor(0, port), Ok(None), "{expression}, port {port}");
        }
    }
}
