//! How much longer than a shortest path routes are, where they need not be one.

use std::fmt::Write;

use hopwise_core::Rule;
use hopwise_networks::distances::hops_from;
use hopwise_networks::graph::Graph;
use hopwise_networks::routes::RoutesTo;
use hopwise_testing::networks;
use rayon::prelude::*;

#[derive(Default)]
struct Stretch {
    pairs: u64,
    shortest: u64,
    sum: f64,
    most: f64,
}

fn measure(expression: &str, rule: Rule) -> Stretch {
    let network = crate::audit::network(expression);
    let graph = Graph::build(&network).unwrap();
    let mut stretch = Stretch::default();
    for dest in 0..graph.nodes() {
        let hops = hops_from(&graph, dest);
        let routes = RoutesTo::follow(&network, &graph, dest, rule).unwrap_or_else(|fault| panic!("{fault}"));
        for (&taken, &shortest) in routes.hops.iter().zip(&hops).filter(|(_, shortest)| **shortest > 0) {
            let ratio = f64::from(taken) / f64::from(shortest);
            stretch.pairs += 1;
            stretch.shortest += u64::from(taken == shortest);
            stretch.sum += ratio;
            stretch.most = stretch.most.max(ratio);
        }
    }
    stretch
}

#[test]
fn stretch_of_routes() {
    let cases: Vec<_> = networks("stretch")
        .into_iter()
        .flat_map(|network| [(network, Rule::Exact), (network, Rule::Paper)])
        .collect();
    let rows: Vec<_> = cases
        .par_iter()
        .map(|(network, rule)| (network, rule, measure(network, *rule)))
        .collect();
    let mut table = format!(
        "{:<46} {:<6} {:>8} {:>6} {:>6}\n",
        "all pairs", "rule", "shortest", "mean", "most"
    );
    for (network, rule, stretch) in rows {
        let share = 100.0 * stretch.shortest as f64 / stretch.pairs as f64;
        let mean = stretch.sum / stretch.pairs as f64;
        let rule = format!("{rule:?}");
        writeln!(
            table,
            "{network:<46} {rule:<6} {share:>7.2}% {mean:>6.3} {:>6.2}",
            stretch.most
        )
        .unwrap();
    }
    insta::assert_snapshot!(table);
}
