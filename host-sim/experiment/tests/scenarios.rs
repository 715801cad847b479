//! The examples in scenarios/: bits flip, cables are pulled and boards are reset, by seed: tables as snapshots.

use std::path::Path;

use hopwise_experiment::plan::Plan;
use hopwise_experiment::sim::Sim;
use hopwise_sim::Settings;
use hopwise_sim::report::{Report, summed};
use rayon::prelude::*;

fn reports(name: &str) -> Vec<Report> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let plan = Plan::read(&folder.join(name), &[&Sim]).unwrap();
    let runs = plan.runs().unwrap();
    let report = |run| Sim::report(&Settings::of(run).unwrap()).unwrap();
    runs.par_iter().map(|(_, run)| report(run)).collect()
}

fn table(reports: &[Report], varied: &[&str]) -> String {
    let titles = varied.iter().copied().chain(Report::TITLES.split('|'));
    let titles = titles.map(String::from).collect();
    let rows = reports.iter().map(|report| {
        let settings = varied.iter().map(|name| report.settings[*name].to_string());
        settings.chain(report.row()).collect()
    });
    let lines: Vec<Vec<String>> = std::iter::once(titles).chain(rows).collect();
    lines.iter().map(|cells| cells.join(" | ") + "\n").collect()
}

/// All is accounted for: delivered once, interrupted by a restart of an end, or reported.
#[test]
fn torture_by_fifty_seeds() {
    insta::assert_snapshot!(table(&summed(&reports("torture.toml")), &["network"]));
}

#[test]
fn torture_of_192_nodes_by_fifty_seeds() {
    insta::assert_snapshot!(table(&summed(&reports("torture-large.toml")), &[]));
}

#[test]
fn bit_errors_and_payloads() {
    insta::assert_snapshot!(table(&reports("ber-sweep.toml"), &["payload", "ber"]));
}
