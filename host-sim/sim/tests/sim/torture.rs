//! Bits flip, cables are pulled and boards are reset, by seed: tables as snapshots.

use std::path::Path;

use hopwise_sim::report::{Report, summed};
use hopwise_sim::scenario::Scenario;
use hopwise_sim::{Settings, simulate};
use rayon::prelude::*;

use crate::{on, run};

/// The reports of all runs of an example.
fn reports(name: &str) -> Vec<Report> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let runs = Scenario::read(&folder.join(name)).unwrap().runs().unwrap();
    let report = |settings: &Settings| {
        let run = settings.run().unwrap();
        let account = simulate(&run, None, &mut |_| ()).unwrap();
        Report::new(settings, &run, &account)
    };
    runs.par_iter().map(report).collect()
}

/// A line for each, with some of its settings.
fn table(reports: &[Report], varied: &[&str]) -> String {
    let titles = varied.iter().chain(&Report::TITLES).map(ToString::to_string).collect();
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

/// Boards restart so often that senders know nobody's epoch: a packet delivered before a restart is not delivered again after it.
#[test]
fn nothing_arrives_twice_when_every_board_restarts_all_the_time() {
    for network in ["torus(3,3)", "re(ring(3),complete(3),1)"] {
        for seed in 1..=8 {
            let settings = Settings {
                confirmed: true,
                packets: Some(1_500),
                ber: Some(3e-4),
                reset_every: Some("100ms".parse().unwrap()),
                seed: Some(seed),
                ..on(network)
            };
            let tally = run(&settings).tally;
            // Boards are off for up to seconds.
            assert!(tally.delivered > tally.sent / 3, "{}: {tally:?}", settings.command());
        }
    }
}
