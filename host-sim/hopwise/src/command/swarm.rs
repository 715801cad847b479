//! `hopwise sim --swarm`

use std::ops::Range;
use std::time::Instant;

use indicatif::ParallelProgressIterator;
use rayon::prelude::*;

use super::error::CliError;
use super::output::{Outcome, listed, print, print_json, progress_bar};
use super::table;
use hopwise_sim::oracle::Violation;
use hopwise_sim::reduce::reduce;
use hopwise_sim::report::Report;
use hopwise_sim::{Settings, simulate, swarm};

/// How it is shown: one row for each network.
const TITLES: &str = "network|runs|sent|delivered|undeliverable|interrupted|broadcasts full|virtual s|broken";

/// The seeds of a swarm, if one is asked for.
pub(super) fn seeds(runs: Option<u64>, only: Option<u64>, first: Option<u64>) -> Option<Range<u64>> {
    let first = first.unwrap_or(1);
    let swarm = runs.map(|runs| first..first.saturating_add(runs));
    swarm.or_else(|| only.map(|seed| seed..seed.saturating_add(1)))
}

/// Runs them on all cores. Those that violated a guarantee are listed, and the first is made short.
pub(super) fn run(json: bool, said: &Settings, seeds: Range<u64>) -> Result<Outcome, CliError> {
    let bar = progress_bar(seeds.end - seeds.start, "runs");
    let one = |seed: u64| -> Result<(Settings, Report, Option<Violation>), CliError> {
        let settings = swarm::draw(seed, said);
        let run = settings.run()?;
        let started = Instant::now();
        let account = simulate(&run, None, &mut |_| ())?;
        let report = Report::new(&settings, &run, &account, started.elapsed().as_secs_f64());
        Ok((settings, report, account.violation))
    };
    let seeds: Vec<u64> = seeds.collect();
    let runs = seeds.par_iter().progress_with(bar.clone());
    let runs: Vec<_> = runs.map(|&seed| one(seed)).collect::<Result<_, _>>()?;
    bar.finish_and_clear();
    if json {
        runs.iter().try_for_each(|(_, report, _)| print_json(report))?;
    } else {
        let text = table::lines(TITLES, rows(runs.iter().map(|(_, report, _)| report)).into_iter());
        print(|out| writeln!(out, "{text}"))?;
    }
    let broken: Vec<_> = runs.iter().filter(|(.., violation)| violation.is_some()).collect();
    let Some((settings, _, Some(violation))) = broken.first() else {
        return Ok(Outcome::Done);
    };
    let (short, how) = reduce(settings, violation.clone());
    Ok(Outcome::CheckFailed(format!(
        "{} of {} runs violated a guarantee, seeds {}; the first, made short: at {:.6} s node {}: {}; to see it again: {}",
        broken.len(),
        runs.len(),
        listed(broken.iter().filter_map(|(settings, ..)| settings.seed)),
        how.at as f64 / 1e9,
        how.node,
        how.what,
        short.command()
    )))
}

/// A row for each network, and the sum.
fn rows<'a>(reports: impl Iterator<Item = &'a Report>) -> Vec<Vec<String>> {
    let reports: Vec<&Report> = reports.collect();
    let row = |name: &str, of: &[&Report]| {
        let sum = |count: fn(&Report) -> u64| of.iter().map(|report| count(report)).sum::<u64>().to_string();
        let seconds: f64 = of.iter().map(|report| report.virtual_seconds).sum();
        vec![
            name.into(),
            of.len().to_string(),
            sum(|report| report.tally.sent),
            sum(|report| report.tally.delivered),
            sum(|report| report.tally.undeliverable),
            sum(|report| report.tally.interrupted),
            sum(|report| report.tally.broadcasts_full),
            format!("{seconds:.0}"),
            sum(|report| u64::from(report.violation.is_some())),
        ]
    };
    let mut names: Vec<&str> = reports.iter().map(|report| report.network.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let of_network = |name: &&str| {
        let of: Vec<&Report> = reports
            .iter()
            .copied()
            .filter(|report| report.network == **name)
            .collect();
        row(name, &of)
    };
    let mut rows: Vec<Vec<String>> = names.iter().map(of_network).collect();
    rows.push(row("all", &reports));
    rows
}
