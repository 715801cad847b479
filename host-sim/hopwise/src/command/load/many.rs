//! `hopwise load sweep`, `plan`, `work`, `merge` and `study`: many experiments as jobs of a folder.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use hopwise_experiment::Job;
use hopwise_experiment::folder::Folder;
use hopwise_experiment::load::report;
use hopwise_experiment::load::study::{self, Size, Study};
use hopwise_experiment::share::Share;
use hopwise_load::settings::Scene;
use hopwise_sim::settings::said;
use serde_json::{Map, Value, json};

use crate::command::error::CliError;
use crate::command::experiment::{KINDS, ShareArg, pretty, work, write_files};
use crate::command::output::{Outcome, print};
use crate::command::parse;

#[derive(Subcommand)]
pub(super) enum Action {
    /// Simulates every network at every rate with every seed, on all cores, into a table, a chart and a page
    Sweep(SweepArgs),
    /// Writes the numbered jobs of a sweep into a folder, without doing them
    // What it was given, it took and did not need.
    #[command(mut_arg("out", |arg| arg.hide(true)))]
    Plan(SweepArgs),
    /// Does the remaining jobs of a folder: all, or this process's share of a job array
    Work(WorkArgs),
    /// Joins the results of a folder into a table, a chart and a page
    Merge(MergeArgs),
    /// Compares the papers' networks with torus and hypercube: a document with charts
    Study(StudyArgs),
}

#[derive(Args)]
pub(super) struct SweepArgs {
    /// The networks, as expressions
    #[arg(value_name = "EXPR", required = true)]
    networks: Vec<String>,
    /// The rates: numbers, or FROM:TO:STEP
    #[arg(long, value_delimiter = ',', default_value = "0.05:0.5:0.05")]
    rates: Vec<String>,
    /// The routing rules
    #[arg(long, value_delimiter = ',', default_value = "exact", value_parser = ["exact", "paper"])]
    rules: Vec<String>,
    /// How many seeds, from 1
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: u64,
    /// Also find the highest rate that is carried
    #[arg(long)]
    saturation: bool,
    #[command(flatten)]
    scene: Scene,
    /// The folder of the jobs
    #[arg(long, default_value = "load-jobs")]
    jobs: PathBuf,
    /// Where the table, the chart and the page go
    #[arg(long, default_value = ".")]
    out: PathBuf,
}

#[derive(Args)]
pub(super) struct WorkArgs {
    /// The folder of the jobs
    jobs: PathBuf,
    #[command(flatten)]
    share: ShareArg,
}

#[derive(Args)]
pub(super) struct MergeArgs {
    /// The folder of the jobs
    jobs: PathBuf,
    /// Where the table, the chart and the page go
    #[arg(long, default_value = ".")]
    out: PathBuf,
}

#[derive(Args)]
pub(super) struct StudyArgs {
    /// Leave out networks with more nodes than this; the sizes are about 64, 200, 650 and 3000
    #[arg(long, value_name = "NODES", default_value_t = u32::MAX, hide_default_value = true, value_parser = clap::value_parser!(u32).range(64..))]
    most_nodes: u32,
    /// The folder of the jobs
    #[arg(long, default_value = "load-study-jobs")]
    jobs: PathBuf,
    /// Where the document and its charts go
    #[arg(long, default_value = ".")]
    out: PathBuf,
}

pub(super) fn run(action: &Action) -> Result<Outcome, CliError> {
    match action {
        Action::Plan(sweep) => {
            let folder = plan(sweep)?;
            print(|out| writeln!(out, "{} jobs in {}", folder.jobs.len(), sweep.jobs.display()))?;
            Ok(Outcome::Done)
        }
        Action::Sweep(sweep) => {
            let folder = plan(sweep)?;
            work_on(&folder, Share::ALL)?;
            merge(&folder, &sweep.out)
        }
        Action::Work(args) => {
            let folder = Folder::open(&args.jobs, KINDS)?;
            work_on(&folder, args.share.share(folder.jobs.len())?)?;
            Ok(Outcome::Done)
        }
        Action::Study(args) => study(args),
        Action::Merge(args) => merge(&Folder::open(&args.jobs, KINDS)?, &args.out),
    }
}

/// The jobs of a sweep, network by network, in the order of the arguments.
fn plan(args: &SweepArgs) -> Result<Folder<'static>, CliError> {
    let rates = rates(&args.rates)?;
    let mut tasks: Vec<Value> = rates.into_iter().map(|rate| json!({ "rate": rate })).collect();
    if args.saturation {
        tasks.push(json!({ "saturation": true, "seeds": 1 }));
    }
    let mut jobs = Vec::new();
    for expression in &args.networks {
        let network = parse(expression)?.to_string();
        for rule in &args.rules {
            for task in &tasks {
                let task = task.as_object().cloned().into_iter().flatten();
                let mut options: Map<String, Value> = said(&args.scene).into_iter().chain(task).collect();
                options.insert("rule".into(), rule.clone().into());
                jobs.extend((1..=args.seeds).map(|seed| Job {
                    kind: "load".into(),
                    network: network.clone(),
                    options: options.clone(),
                    seed,
                }));
            }
        }
    }
    Ok(Folder::create(&args.jobs, jobs, KINDS, false)?)
}

/// Numbers, and ranges FROM:TO:STEP with both ends.
fn rates(texts: &[String]) -> Result<Vec<f64>, CliError> {
    let mut rates = Vec::new();
    for text in texts {
        let wrong = || {
            CliError::new(format_args!(
                "'{text}' is not a rate: a number, or FROM:TO:STEP with a step above 0"
            ))
        };
        let numbers: Result<Vec<f64>, _> = text.split(':').map(str::parse).collect();
        match numbers.map_err(|_| wrong())?[..] {
            [rate] => rates.push(rate),
            [from, to, step] if step > 0.0 && from >= 0.0 && (to - from) / step < 10_000.0 => {
                let steps = ((to - from) / step + 1e-9).floor();
                // Rounded, so that 0.05 and 0.05:0.5:0.05 begin with the same number.
                rates.extend((0..=steps as u32).map(|i| ((from + f64::from(i) * step) * 1e9).round() / 1e9));
            }
            _ => return Err(wrong()),
        }
    }
    Ok(rates)
}

fn work_on(folder: &Folder<'_>, share: Share) -> Result<(), CliError> {
    let mine = folder.share(share);
    let done = work(folder, &mine)?;
    print(|out| writeln!(out, "jobs done now: {done}, before: {}", mine.len() - done))
}

fn merge(folder: &Folder<'_>, out: &Path) -> Result<Outcome, CliError> {
    let findings = match folder.findings() {
        Ok(findings) => findings,
        Err(missing) => return Ok(Outcome::CheckFailed(missing.to_string())),
    };
    let rows = report::rows(&findings).map_err(CliError::room)?;
    let chart = report::latency_chart("Latency against load", &rows);
    let files = [
        ("load.csv", report::csv(&rows).map_err(CliError::output)?),
        ("load.json", pretty(&rows)?),
        ("load.svg", chart.svg()),
        ("load.html", report::page("Latency against load", &chart, &rows)),
    ];
    write_files(out, &files)?;
    let deadlock = rows.into_iter().find_map(|row| row.deadlock);
    Ok(deadlock.map_or(Outcome::Done, Outcome::CheckFailed))
}

fn study(args: &StudyArgs) -> Result<Outcome, CliError> {
    let sizes: Vec<Size> = study::SIZES
        .into_iter()
        .filter(|size| size.nodes <= args.most_nodes)
        .collect();
    let folder = Folder::create(&args.jobs, study::plan(&sizes), KINDS, false)?;
    work_on(&folder, Share::ALL)?;
    let rows = report::rows(&folder.findings()?).map_err(CliError::room)?;
    let Study { text, charts } = study::write(&sizes, &rows);
    let mut files = vec![("load-study.md".to_string(), text)];
    files.extend(charts.into_iter().map(|(name, chart)| (name, chart.svg())));
    write_files(&args.out, &files)?;
    Ok(Outcome::Done)
}
