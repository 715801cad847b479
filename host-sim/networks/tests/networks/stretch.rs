//! How much longer than a shortest path routes are, where they need not be one.

use std::fmt::Write;

use hopwise_core::Rule;
use hopwise_networks::graph::Graph;
use hopwise_networks::stretch::Stretch;
use hopwise_testing::networks;
use rayon::prelude::*;

fn measure(expression: &str, rule: Rule) -> Stretch {
    let network = crate::audit::network(expression);
    let graph = Graph::build(&network).unwrap();
    Stretch::measure(&network, &graph, rule).unwrap_or_else(|fault| panic!("{fault}"))
}

#[test]
fn stretch_of_routes() {
    let cases = networks("stretch").into_iter();
    let cases = cases.flat_map(|network| [(network, Rule::Exact), (network, Rule::Paper)]);
    let cases: Vec<_> = cases.collect();
    let rows = cases
        .par_iter()
        .map(|(network, rule)| (network, rule, measure(network, *rule)));
    let rows: Vec<_> = rows.collect();
    let mut table = format!(
        "{:<46} {:<6} {:>8} {:>6} {:>6}\n",
        "all pairs", "rule", "shortest", "mean", "most"
    );
    for (network, rule, stretch) in rows {
        let share = 100.0 * stretch.shortest as f64 / stretch.pairs as f64;
        let (mean, most) = (stretch.mean(), stretch.worst.ratio());
        let rule = format!("{rule:?}");
        writeln!(table, "{network:<46} {rule:<6} {share:>7.2}% {mean:>6.3} {most:>6.2}").unwrap();
    }
    insta::assert_snapshot!(table);
}
