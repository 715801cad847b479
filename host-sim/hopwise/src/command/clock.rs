use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use hopwise_core::Network;
use hopwise_emulate::mesh_time::TimedBoards;
use hopwise_emulate::rig::read_elf;
use hopwise_emulate::setup::Differences;
use hopwise_emulator::image::Image;
use hopwise_figures::Agreement;
use hopwise_language::Failure;
use hopwise_rig::boards::DEFAULT;
use hopwise_sim::mesh_time::{MAX_LINKS, TimedNodes, Trial};
use rayon::prelude::*;
use serde::Serialize;

use super::error::CliError;
use super::output::{Outcome, print, print_either, print_facts};
use super::{NetworkArg, RepositoryArg, check};

#[derive(Args)]
pub(super) struct ClockArgs {
    #[command(flatten)]
    network: NetworkArg,
    /// What the boards are
    #[arg(long, value_enum, default_value = "simulated")]
    boards: BoardsArg,
    /// Decides crystals, starts and everything else that is random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many seeds to run, in one report
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    seeds: u64,
    /// Crystals are off by up to this many parts in a million
    #[arg(long, value_name = "PPM", default_value_t = 50.0, value_parser = drift)]
    drift: f64,
    /// What is sent on the links
    #[arg(long, value_enum, default_value = "none")]
    load: LoadArg,
    /// What fails once the clocks have been read, after which they are read again: a board, such as 5, or the cable between two, such as 5-7
    #[arg(long, value_name = "NODE|NODE-NODE")]
    fail: Option<Failure>,
    /// The firmware of emulated boards: the ELF file that is flashed; Hopwise's own unless given
    #[arg(long, value_name = "FILE")]
    elf: Option<PathBuf>,
    /// How many threads emulated boards run on
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// The check fails if any two boards differ by more than this
    #[arg(long, value_name = "US", default_value_t = 10.0)]
    within: f64,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum BoardsArg {
    /// The real firmware on emulated boards
    Emulated,
    /// Nodes in the simulator
    Simulated,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum LoadArg {
    /// Nothing
    None,
    /// As much as the links carry, on all links in both directions
    Full,
}

/// Crystals that are off by more are broken.
const MAX_DRIFT: f64 = 100.0;

fn drift(text: &str) -> Result<f64, String> {
    let drift = text.parse().ok().filter(|drift| (0.0..=MAX_DRIFT).contains(drift));
    drift.ok_or_else(|| format!("a number from 0 to {MAX_DRIFT}"))
}

#[derive(Serialize)]
struct Report {
    network: String,
    boards: BoardsArg,
    nodes: u64,
    load: LoadArg,
    drift_ppm: f64,
    first_seed: u64,
    seeds: u64,
    /// Of the run with the worst.
    worst_seed: u64,
    /// How often a board did not know the time when it was asked, or another than the rest.
    without_time: u64,
    #[serde(flatten)]
    agreement: Agreement,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_failure: Option<Agreement>,
}

#[derive(Default)]
struct Found {
    without_time: u64,
    settled: Agreement,
    after_failure: Agreement,
}

impl Found {
    fn worst(&self) -> f64 {
        self.settled.worst_us.max(self.after_failure.worst_us)
    }
}

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MILLISECOND;
/// The last board starts at most this much later than the first.
const STARTS_WITHIN: u64 = SECOND;
/// The time is settled so long after the last start, and after a failure.
const SETTLES: u64 = 5 * SECOND;
/// Then clocks are read this often, for this long.
const EVERY: u64 = 50 * MILLISECOND;
const READ_FOR: u64 = SECOND;

/// Boards whose clocks are read: emulated or simulated. Times are in nanoseconds.
trait Timed {
    fn last_start(&self) -> u64;
    fn now(&self) -> u64;
    fn run_until(&mut self, end: u64) -> Result<(), CliError>;
    fn read(&mut self) -> Vec<Option<f64>>;
    fn fail(&mut self, failure: Failure) -> Result<(), CliError>;
}

pub(super) fn run(args: &ClockArgs, repository: &RepositoryArg) -> Result<Outcome, CliError> {
    let network = args.network.network()?;
    match args.fail {
        Some(Failure::Board(board)) => drop(check(&network, board)?),
        Some(Failure::Cable(a, b)) => {
            check(&network, b)?;
            if network.port_to(check(&network, a)?, b).ok().flatten().is_none() {
                return Err(CliError::new(format_args!("there is no cable between {a} and {b}")));
            }
        }
        None => {}
    }
    let seeds: Vec<u64> = (args.seed..args.seed.saturating_add(args.seeds.max(1))).collect();
    let found: Vec<Found> = match args.boards {
        BoardsArg::Emulated => {
            let path = repository.elf(args.elf.as_deref(), DEFAULT)?;
            let image = Arc::new(read_elf(&path)?.1);
            let run = |&seed: &u64| watch(&mut emulated(args, &network, &image, seed)?, args);
            seeds.iter().map(run).collect::<Result<_, _>>()?
        }
        BoardsArg::Simulated if args.elf.is_some() => {
            return Err(CliError::new(
                "--elf is for emulated boards: say --boards emulated, too",
            ));
        }
        BoardsArg::Simulated => {
            check_width(&network)?;
            let run = |&seed: &u64| watch(&mut simulated(args, &network, seed), args);
            seeds.par_iter().map(run).collect::<Result<_, _>>()?
        }
    };
    let report = sum_up(args, &network, &seeds, &found);
    print_either(args.json, &report, show)?;
    let worst = found.iter().map(Found::worst).fold(0.0, f64::max);
    Ok(if report.without_time > 0 {
        Outcome::CheckFailed(format!(
            "{network}: boards did not know the time, seed {}",
            report.worst_seed
        ))
    } else if worst > args.within {
        let (within, seed) = (args.within, report.worst_seed);
        Outcome::CheckFailed(format!(
            "{network}: clocks differ by {worst:.1} us, more than {within}, with seed {seed}"
        ))
    } else {
        Outcome::Done
    })
}

/// The simulator's boards are made for so many links.
fn check_width(network: &Network) -> Result<(), CliError> {
    let wide = (0..network.nodes()).find(|&node| network.degree(node).unwrap_or(0) > MAX_LINKS);
    match wide {
        Some(node) => Err(CliError::new(format_args!(
            "node {node} has more than {MAX_LINKS} links, which is more than these boards have"
        ))),
        None => Ok(()),
    }
}

/// Reads the clocks when they should agree, and again after something has failed.
fn watch(boards: &mut impl Timed, args: &ClockArgs) -> Result<Found, CliError> {
    let mut found = Found::default();
    let settled = boards.last_start() + SETTLES;
    found.settled = read(boards, settled, &mut found.without_time)?;
    if let Some(failure) = args.fail {
        boards.fail(failure)?;
        let settled = boards.now() + SETTLES;
        found.after_failure = read(boards, settled, &mut found.without_time)?;
    }
    Ok(found)
}

/// Looks at the clocks all the time, and judges from `begin` on.
fn read(boards: &mut impl Timed, begin: u64, without_time: &mut u64) -> Result<Agreement, CliError> {
    let mut agreement = Agreement::default();
    while boards.now() < begin + READ_FOR {
        boards.run_until(boards.now() + EVERY)?;
        let shown = boards.read();
        if boards.now() > begin {
            *without_time += shown.iter().filter(|shown| shown.is_none()).count() as u64;
            agreement.add(shown.into_iter().flatten().collect());
        }
    }
    Ok(agreement)
}

fn sum_up(args: &ClockArgs, network: &Network, seeds: &[u64], found: &[Found]) -> Report {
    let mut sum = Found::default();
    let mut worst = (0.0, args.seed);
    for (found, &seed) in found.iter().zip(seeds) {
        sum.without_time += found.without_time;
        sum.settled.merge(&found.settled);
        sum.after_failure.merge(&found.after_failure);
        if found.without_time > 0 || found.worst() > worst.0 {
            worst = (
                if found.without_time > 0 {
                    f64::MAX
                } else {
                    found.worst()
                },
                seed,
            );
        }
    }
    Report {
        network: network.to_string(),
        boards: args.boards,
        nodes: network.nodes(),
        load: args.load,
        drift_ppm: args.drift,
        first_seed: args.seed,
        seeds: seeds.len() as u64,
        worst_seed: worst.1,
        without_time: sum.without_time,
        agreement: sum.settled,
        after_failure: args.fail.map(|_| sum.after_failure),
    }
}

fn show(report: &Report) -> Result<(), CliError> {
    let agreement = |agreement: &Agreement| {
        format!(
            "{:.1} us at most between any two boards, {:.1} us in the mean",
            agreement.worst_us, agreement.mean_us
        )
    };
    let mut facts = vec![
        ("boards", format!("{}, {} seeds", report.nodes, report.seeds)),
        ("settled", agreement(&report.agreement)),
    ];
    if let Some(after) = &report.after_failure {
        facts.push(("after the failure", agreement(after)));
    }
    facts.push(("worst seed", report.worst_seed.to_string()));
    print_facts(&report.network, &facts)?;
    let mut histogram = report.agreement.clone();
    if let Some(after) = &report.after_failure {
        histogram.merge(after);
    }
    let total: u64 = histogram.histogram.iter().sum();
    let last = histogram.histogram.iter().rposition(|&count| count > 0).unwrap_or(0);
    print(|out| {
        writeln!(out, "from the median of all boards, by microseconds:")?;
        for (from, count) in histogram.histogram.iter().take(last + 1).enumerate() {
            let share = 100.0 * *count as f64 / total.max(1) as f64;
            let bar = "#".repeat((share / 2.0).round() as usize);
            writeln!(out, "  {from:>2}  {share:7.3} %  {bar}")?;
        }
        Ok(())
    })
}

/// Of a nanosecond.
const PICOSECONDS: u64 = 1_000;

fn emulated(args: &ClockArgs, network: &Network, image: &Arc<Image>, seed: u64) -> Result<TimedBoards, CliError> {
    let differences = Differences::new(seed, args.drift);
    let full = args.load == LoadArg::Full;
    let boards = TimedBoards::new(network, image, differences, STARTS_WITHIN * PICOSECONDS, full);
    let mut boards = boards.map_err(|error| CliError::network(network, error))?;
    boards.world.set_threads(args.threads);
    Ok(boards)
}

impl Timed for TimedBoards {
    fn last_start(&self) -> u64 {
        self.last_start() / PICOSECONDS
    }

    fn now(&self) -> u64 {
        self.world.now() / PICOSECONDS
    }

    fn run_until(&mut self, end: u64) -> Result<(), CliError> {
        self.world.run_until(end * PICOSECONDS);
        Ok(())
    }

    fn read(&mut self) -> Vec<Option<f64>> {
        self.read()
    }

    fn fail(&mut self, failure: Failure) -> Result<(), CliError> {
        self.fail(failure)
            .map_err(|error| CliError::network(&self.network, error))
    }
}

fn simulated(args: &ClockArgs, network: &Network, seed: u64) -> TimedNodes {
    TimedNodes::new(&Trial {
        network: *network,
        seed,
        drift: args.drift,
        starts_within: STARTS_WITHIN,
        full: args.load == LoadArg::Full,
    })
}

impl Timed for TimedNodes {
    fn last_start(&self) -> u64 {
        self.last_start()
    }

    fn now(&self) -> u64 {
        self.now()
    }

    fn run_until(&mut self, end: u64) -> Result<(), CliError> {
        Ok(self.run_until(end)?)
    }

    fn read(&mut self) -> Vec<Option<f64>> {
        TimedNodes::read(self)
    }

    fn fail(&mut self, failure: Failure) -> Result<(), CliError> {
        self.fail(failure);
        Ok(())
    }
}
