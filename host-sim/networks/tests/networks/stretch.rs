//! How much longer than a shortest path routes are, where they need not be one.

use std::fmt::Write;

use hopwise_core::Rule;
use hopwise_networks::distances::hops_from;
use hopwise_networks::graph::Graph;
use hopwise_networks::routes::RoutesTo;
use rayon::prelude::*;

const NETWORKS: [&str; 14] = [
    "re(ring(4),complete(3),3)",
    "re(ring(4),ring(4),4)",
    "re(complete(2),ring(6),6)",
    "re(heawood,heawood,1)",
    "re(ring(4),ring(4),2,sd)",
    "re(ring(4),ring(8),2,sd)",
    "re(ring(3),ring(4),4,sd)",
    "re(complete(4),ring(6),2,sd)",
    "re(star(4),hypercube(3),2,sd)",
    "re([ring(3),complete(4),path(3)],ring(7),sd)",
    "rcr(2,2,1)",
    "rcr(1,4,3)",
    "rcr(2,3,4)",
    "rcr(2,5,3)",
];

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
    let cases: Vec<_> = NETWORKS
        .iter()
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
