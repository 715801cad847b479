//! `hopwise sim`

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::ParallelProgressIterator;
use rayon::prelude::*;
use serde_json::Value;

use super::output::{Outcome, print, print_facts, print_json, progress_bar};
use super::refusal::Refusal;
use super::table;
use hopwise_rig::mesh::Mesh;
use hopwise_sim::report::Report;
use hopwise_sim::run::Plan;
use hopwise_sim::scenario::Scenario;
use hopwise_sim::script::on_one_line;
use hopwise_sim::settings::Settings;
use hopwise_sim::sizes::simulate;

#[derive(Args)]
#[command(after_help = "\
A mesh file gives its network and its baud rate. A scenario file has the same settings as keys, each a value, a list or a range, and every combination of them is run; options
given besides it come in their place. Examples are in scenarios/.

Times are written as 1.5s, 20ms or 300us. The exit status is 1 if a promise of delivery was broken, 2 for bad input.")]
pub(super) struct SimArgs {
    #[command(flatten)]
    settings: Settings,
    /// Write every event to this file, a line of JSON each
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// One row for the runs of a scenario that differ only in the seed: their sums, and the worst latency
    #[arg(long)]
    sum_seeds: bool,
    /// Print a JSON object for each run
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &SimArgs) -> Result<Outcome, Refusal> {
    let file = args.settings.network.as_deref().filter(|name| name.ends_with(".toml"));
    match file.map(Path::new) {
        Some(file) if Mesh::is_mesh_file(file) => one(args, &of_mesh(file, &args.settings)?),
        Some(file) => sweep(args, file),
        None => one(args, &args.settings),
    }
}

/// The network and the speed of a mesh file; what is said besides comes in their place.
fn of_mesh(file: &Path, said: &Settings) -> Result<Settings, Refusal> {
    let mesh = Mesh::read(file)?;
    Ok(Settings {
        network: Some(mesh.network.to_string()),
        baud: said.baud.or(Some(mesh.baud)),
        ..said.clone()
    })
}

fn one(args: &SimArgs, settings: &Settings) -> Result<Outcome, Refusal> {
    let plan = settings.plan()?;
    let mut file = match &args.trace {
        Some(path) => {
            let file = File::create(path).map_err(|error| Refusal::Sim(format!("{}: {error}", path.display())))?;
            Some(BufWriter::new(file))
        }
        None => None,
    };
    let bar = progress_bar(plan.packets, "packets");
    let trace = file.as_mut().map(|file| file as &mut dyn Write);
    let account = simulate(&plan, trace, &mut |done| bar.set_position(done));
    bar.finish_and_clear();
    let account = account.map_err(|error| Refusal::Sim(error.to_string()))?;
    if let Some(mut file) = file {
        file.flush().map_err(|error| Refusal::Output(error.to_string()))?;
    }
    let report = Report::new(settings, &plan, &account);
    if args.json {
        print_json(&report)?;
    } else {
        let title = format!("{}: {} nodes, seed {}", report.network, report.nodes, report.seed);
        print_facts(&title, &report.facts())?;
    }
    Ok(report.violation.map_or(Outcome::Done, Outcome::CheckFailed))
}

/// All runs of a scenario, on all cores.
fn sweep(args: &SimArgs, path: &Path) -> Result<Outcome, Refusal> {
    let named = |what: String| Refusal::Sim(format!("{}: {what}", path.display()));
    let mut scenario = Scenario::read(path).map_err(Refusal::Sim)?;
    let mut said = args.settings.table();
    said.remove("network");
    scenario.set(said);
    let runs = scenario.runs().map_err(named)?;
    if let ([run], true) = (&runs[..], args.trace.is_some()) {
        return one(args, run);
    }
    if args.trace.is_some() {
        return Err(named(format!(
            "a trace is of one run, and the scenario has {}",
            runs.len()
        )));
    }
    let planned = |settings: Settings| settings.plan().map(|plan| (settings, plan));
    let plans = runs.into_iter().map(planned).collect::<Result<Vec<_>, _>>();
    let plans: Vec<(Settings, Plan)> = plans.map_err(|refusal| named(refusal.to_string()))?;
    let bar = progress_bar(plans.len() as u64, "runs");
    let report = |(settings, plan): &(Settings, Plan)| -> Result<Report, Refusal> {
        let account = simulate(plan, None, &mut |_| ()).map_err(|error| Refusal::Sim(error.to_string()))?;
        Ok(Report::new(settings, plan, &account))
    };
    let reports = plans
        .par_iter()
        .progress_with(bar.clone())
        .map(report)
        .collect::<Result<Vec<_>, _>>();
    bar.finish_and_clear();
    let reports = reports?;
    show(args, &scenario, &reports)?;
    Ok(verdict(&reports))
}

fn show(args: &SimArgs, scenario: &Scenario, reports: &[Report]) -> Result<(), Refusal> {
    if args.json {
        return reports.iter().try_for_each(print_json);
    }
    let rows = if args.sum_seeds {
        summed(reports)
    } else {
        reports.to_vec()
    };
    let varied: Vec<&str> = scenario
        .varied()
        .filter(|&name| !(args.sum_seeds && name == "seed"))
        .collect();
    let titles: Vec<&str> = std::iter::once("run")
        .chain(varied.iter().copied())
        .chain(Report::TITLES)
        .collect();
    let rows = (1..).zip(&rows).map(|(number, report): (usize, _)| {
        let setting = |name: &&str| match report.settings.get(*name) {
            Some(Value::String(text)) => on_one_line(text),
            Some(value) => value.to_string(),
            None => "-".into(),
        };
        let settings = varied.iter().map(setting);
        std::iter::once(number.to_string())
            .chain(settings)
            .chain(report.row())
            .collect()
    });
    let text = table::lines(&titles, rows);
    let sum = |of: fn(&Report) -> u64| reports.iter().map(of).sum::<u64>();
    let summary = format!(
        "{} runs: {} sent, {} delivered, {} undeliverable, {} interrupted, {} lost, {} duplicated, {} corrupted",
        reports.len(),
        sum(|report| report.sent),
        sum(|report| report.delivered),
        sum(|report| report.undeliverable),
        sum(|report| report.interrupted),
        sum(|report| report.lost),
        sum(|report| report.duplicated),
        sum(|report| report.corrupted),
    );
    print(|out| writeln!(out, "{text}\n{summary}"))
}

/// Runs that differ only in the seed, as one.
fn summed(reports: &[Report]) -> Vec<Report> {
    let unseeded = |report: &Report| {
        let mut settings = report.settings.clone();
        settings.remove("seed");
        settings
    };
    let mut sums: Vec<Report> = Vec::new();
    for report in reports {
        match sums.iter_mut().find(|sum| unseeded(sum) == unseeded(report)) {
            Some(sum) => sum.add(report),
            None => sums.push(report.clone()),
        }
    }
    sums
}

fn verdict(reports: &[Report]) -> Outcome {
    let broken: Vec<&str> = reports
        .iter()
        .filter_map(|report| report.violation.as_deref())
        .collect();
    match broken.first() {
        None => Outcome::Done,
        Some(first) => Outcome::CheckFailed(format!(
            "{} of {} runs broke a promise, the first {first}",
            broken.len(),
            reports.len()
        )),
    }
}
