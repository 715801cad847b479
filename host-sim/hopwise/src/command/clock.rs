//! `hopwise clock`

use std::sync::Arc;

use clap::{Args, ValueEnum};
use hopwise_core::Network;
use hopwise_emulate::firmware::BOARDS;
use hopwise_emulate::mesh_time::{Failure, TimedBoards};
use hopwise_emulate::setup::Differences;
use hopwise_emulator::image::Image;
use hopwise_emulator::time::{MILLISECOND, SECOND, Time};
use hopwise_figures::Agreement;
use serde::Serialize;

use super::output::{Outcome, print_facts, print_json};
use super::refusal::Refusal;
use super::{NetworkArg, RepositoryArg};

#[derive(Args)]
pub(super) struct ClockArgs {
    #[command(flatten)]
    network: NetworkArg,
    /// What the boards are
    #[arg(long, value_enum, default_value = "simulated")]
    boards: BoardsArg,
    /// Decides crystals, starts and all else that happens by chance
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Crystals are wrong by up to so many parts of a million
    #[arg(long, value_name = "PPM", default_value_t = 50.0)]
    drift: f64,
    /// What is sent on the links
    #[arg(long, value_enum, default_value = "none")]
    load: LoadArg,
    /// What fails: a board, such as 5, or the cable between two, such as 5-7
    #[arg(long, value_name = "NODE|NODE-NODE")]
    fail: Option<String>,
    /// Threads that boards run on
    #[arg(long, default_value_t = 1)]
    threads: usize,
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
    /// As much as goes through, on all links in both directions
    Full,
}

#[derive(Serialize)]
struct Report {
    network: String,
    boards: BoardsArg,
    nodes: u64,
    seed: u64,
    load: LoadArg,
    #[serde(flatten)]
    agreement: Agreement,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_failure: Option<Agreement>,
}

/// The last board starts at most this much later than the first.
const STARTS: Time = SECOND;
/// The time is settled so long after the last start, and after a failure.
const SETTLES: Time = 5 * SECOND;
/// Then clocks are read this often, for this long.
const EVERY: Time = 50 * MILLISECOND;
const FOR: Time = SECOND;

pub(super) fn run(args: &ClockArgs, repository: &RepositoryArg) -> Result<Outcome, Refusal> {
    let network = args.network.network()?;
    let path = repository.elf(None, BOARDS[0])?;
    let elf = std::fs::read(&path).map_err(|error| Refusal::file(&path, error))?;
    let image = Arc::new(Image::from_elf(&elf).map_err(|error| Refusal::file(&path, error))?);
    let report = emulated(args, &network, &image)?;
    if args.json {
        print_json(&report)?;
    } else {
        print_facts(&report.network, &[("worst", format!("{:.2} us", report.agreement.worst_us)), ("mean", format!("{:.2} us", report.agreement.mean_us))])?;
    }
    Ok(Outcome::Done)
}

fn emulated(args: &ClockArgs, network: &Network, image: &Arc<Image>) -> Result<Report, Refusal> {
    let boards = |error| Refusal::Boards { expression: network.to_string(), error };
    let starts: Vec<Time> = (0..network.nodes()).map(|node| (node.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ args.seed.wrapping_mul(0xd134_2543_de82_ef95)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24).map(|n| n % STARTS).collect();
    let last = starts.iter().copied().max().unwrap_or(0);
    let differences = Differences { seed: args.seed, drift_ppm: args.drift };
    let mut timed = TimedBoards::new(network, image, differences, &starts, args.load == LoadArg::Full).map_err(boards)?;
    timed.world().set_threads(args.threads);
    let settled = last + SETTLES;
    if let Some(fail) = &args.fail {
        let f = match fail.split_once('-') { Some((a,b)) => Failure::Cable(a.parse().unwrap(), b.parse().unwrap()), None => Failure::Board(fail.parse().unwrap()) };
        timed.fail(network, f, settled + FOR).map_err(boards)?;
    }
    let trace = std::env::var("CLOCK_TRACE").is_ok();
    let mut look = |timed: &mut TimedBoards, from: Time| -> Agreement {
        let mut agreement = Agreement::default();
        while timed.world().now() < from + FOR {
            let next = timed.world().now() + EVERY;
            timed.world().run_until(next);
            let read = timed.read();
            let known: Vec<f64> = read.iter().flatten().copied().collect();
            if trace {
                let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
                let off: Vec<String> = read.iter().map(|r| r.map_or("-".into(), |r| format!("{:.1}", r - mean))).collect();
                eprintln!("{:.3} {}", timed.world().now() as f64 / SECOND as f64, off.join(" "));
            }
            if next > from { agreement.add(known); }
        }
        agreement
    };
    let agreement = look(&mut timed, settled);
    let after_failure = args.fail.as_ref().map(|_| look(&mut timed, settled + FOR + SETTLES));
    Ok(Report { network: network.to_string(), boards: args.boards, nodes: network.nodes(), seed: args.seed, load: args.load, agreement, after_failure })
}
