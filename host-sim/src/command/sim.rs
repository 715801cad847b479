//! `hopwise sim`

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use hopwise_core::Network;
use hopwise_core::limits::{MAX_PAYLOAD, PEERS};
use hopwise_core::node::DropReason;
use hopwise_emulator::world::parse_time;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::output::{Outcome, print_facts, print_json, progress_bar};
use super::{NetworkArg, parse};
use crate::refusal::Refusal;
use crate::sim::oracle::LEAST_PAYLOAD;
use crate::sim::run::{Account, Plan, RunError, run as simulate};
use crate::sim::script::Script;
use crate::sim::traffic::Traffic;
use crate::sim::wire::{Nanos, Noise};
use crate::sim::world::Build;

/// Traffic takes this share of one wire for each node unless told otherwise.
const DEFAULT_LOAD: f64 = 0.1;
/// What a packet costs on the wire besides its payload, about.
const OVERHEAD_BYTES: f64 = 30.0;
/// Boards of few links, and of as many as a node can have.
const NARROW: usize = 8;
const WIDE: usize = 32;
/// Peers that a node of a larger mesh than the default is made for remembers.
const MANY: usize = 256;

#[derive(Args)]
pub(super) struct SimArgs {
    #[command(flatten)]
    network: NetworkArg,
    /// Who sends to whom
    #[arg(long, value_enum, default_value_t = Traffic::Uniform)]
    traffic: Traffic,
    /// How many packets in all; each pair once for ping-all and all-to-all, each node once for broadcasts, otherwise 1000
    #[arg(long, value_name = "N")]
    packets: Option<u64>,
    /// Confirmed packets instead of datagrams
    #[arg(long)]
    confirmed: bool,
    /// Bytes of each packet's payload
    #[arg(long, value_name = "BYTES", default_value_t = 32)]
    payload: usize,
    /// Packets a second of each node; unless told, a tenth of what a wire carries
    #[arg(long, value_name = "RATE")]
    rate: Option<f64>,
    /// Speed of the wires, in bits a second
    #[arg(long, default_value_t = 1_000_000)]
    baud: u32,
    /// From the last byte of a frame to the node's looking at it
    #[arg(long, value_name = "TIME", default_value = "0us", value_parser = nanos)]
    processing: Nanos,
    /// The chance of each bit to be flipped
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    ber: f64,
    /// The chance of each byte to begin a burst of random bits
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    bursts: f64,
    /// How many bits a burst has
    #[arg(long, value_name = "BITS", default_value_t = 16)]
    burst_bits: u32,
    /// The chance of each byte to be lost
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    lost_bytes: f64,
    /// The chance of each byte to have a random one inserted before it
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    inserted_bytes: f64,
    /// The chance of each byte to come twice
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    doubled_bytes: f64,
    /// A cable is pulled this often, for 0.7 s
    #[arg(long, value_name = "TIME", value_parser = nanos)]
    pull_every: Option<Nanos>,
    /// A board is reset this often
    #[arg(long, value_name = "TIME", value_parser = nanos)]
    reset_every: Option<Nanos>,
    /// Decides all that happens by chance
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write every event to this file, a line of JSON each
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

fn nanos(text: &str) -> Result<Nanos, String> {
    parse_time(text).map(|picoseconds| picoseconds / 1_000)
}

pub(super) fn run(args: &SimArgs) -> Result<Outcome, Refusal> {
    let network = parse(&args.network.expression)?;
    let plan = plan(args, network)?;
    let mut file = match &args.trace {
        Some(path) => {
            let file = File::create(path).map_err(|error| Refusal::Sim(format!("{}: {error}", path.display())))?;
            Some(BufWriter::new(file))
        }
        None => None,
    };
    let bar = progress_bar(plan.packets, "packets");
    let account = dispatch(&plan, file.as_mut().map(|file| file as &mut dyn Write), &mut |done| {
        bar.set_position(done);
    });
    bar.finish_and_clear();
    let account = account.map_err(|error| Refusal::Sim(error.to_string()))?;
    if let Some(mut file) = file {
        file.flush().map_err(|error| Refusal::Output(error.to_string()))?;
    }
    show(args, &plan, &account)?;
    Ok(match &account.violation {
        Some(violation) => Outcome::CheckFailed(format!(
            "at {:.6} s node {}: {}; to see it again: {}",
            violation.at as f64 / 1e9,
            violation.node,
            violation.what,
            again(args, &plan),
        )),
        None => Outcome::Done,
    })
}

/// The simulator in the width that the network needs.
fn dispatch<'a>(
    plan: &'a Plan,
    trace: Option<&'a mut (dyn Write + 'a)>,
    progress: &mut dyn FnMut(u64),
) -> Result<Account, RunError> {
    let network = &plan.build.network;
    let widest = (0..network.nodes()).filter_map(|node| network.degree(node).ok()).max();
    let narrow = widest.unwrap_or(0) <= NARROW as u64;
    let few = network.nodes() <= PEERS as u64;
    match (narrow, few) {
        (true, true) => simulate::<NARROW, PEERS>(plan, trace, progress),
        (true, false) => simulate::<NARROW, MANY>(plan, trace, progress),
        (false, true) => simulate::<WIDE, PEERS>(plan, trace, progress),
        (false, false) => simulate::<WIDE, MANY>(plan, trace, progress),
    }
}

fn plan(args: &SimArgs, network: Network) -> Result<Plan, Refusal> {
    let refuse = |what: String| Err(Refusal::Sim(what));
    let nodes = network.nodes();
    if !(2..=1_000_000).contains(&nodes) {
        return refuse(format!("{network} has {nodes} nodes: from 2 to 1000000 can be simulated"));
    }
    if !(LEAST_PAYLOAD..=MAX_PAYLOAD).contains(&args.payload) {
        return refuse(format!("a payload has from {LEAST_PAYLOAD} to {MAX_PAYLOAD} bytes, not {}", args.payload));
    }
    if !(1_200..=50_000_000).contains(&args.baud) {
        return refuse(format!("a wire has from 1200 to 50000000 bits a second, not {}", args.baud));
    }
    let chances = [
        ("ber", args.ber),
        ("bursts", args.bursts),
        ("lost-bytes", args.lost_bytes),
        ("inserted-bytes", args.inserted_bytes),
        ("doubled-bytes", args.doubled_bytes),
    ];
    for (name, chance) in chances {
        if !(0.0..=1.0).contains(&chance) {
            return refuse(format!("--{name} is a chance from 0 to 1, not {chance}"));
        }
    }
    let line_rate = f64::from(args.baud) / 10.0 / (args.payload as f64 + OVERHEAD_BYTES);
    let rate = args.rate.unwrap_or(DEFAULT_LOAD * line_rate);
    if !(rate > 0.0 && rate <= 1e6) {
        return refuse(format!("--rate is a number of packets a second up to 1000000, not {rate}"));
    }
    for (name, time) in [("pull-every", args.pull_every), ("reset-every", args.reset_every)] {
        if time == Some(0) {
            return refuse(format!("--{name} is a time above 0"));
        }
    }
    let packets = args.packets.unwrap_or(match args.traffic {
        Traffic::PingAll | Traffic::AllToAll => nodes * (nodes - 1),
        Traffic::BroadcastAll | Traffic::BroadcastStorm => nodes,
        _ => 1_000,
    });
    if packets > u64::from(u32::MAX) {
        return refuse(format!("at most {} packets can be followed", u32::MAX));
    }
    Ok(Plan {
        build: Build {
            network,
            baud: args.baud,
            processing: args.processing,
            noise: Noise {
                bit_errors: args.ber,
                bursts: args.bursts,
                burst_bits: args.burst_bits,
                lost: args.lost_bytes,
                inserted: args.inserted_bytes,
                duplicated: args.doubled_bytes,
            },
            seed: args.seed,
        },
        traffic: args.traffic,
        packets,
        confirmed: args.confirmed,
        payload: args.payload,
        rate,
        pull_every: args.pull_every,
        reset_every: args.reset_every,
        script: Script::default(),
        begin: 500_000_000,
    })
}

#[derive(Serialize)]
struct Report {
    network: String,
    nodes: u64,
    seed: u64,
    sent: u64,
    delivered: u64,
    lost: u64,
    duplicated: u64,
    corrupted: u64,
    undeliverable: u64,
    interrupted: u64,
    broadcast_deliveries: u64,
    drops: Map<String, Value>,
    frames: u64,
    retransmissions: u64,
    detours: u64,
    links_up: u64,
    latency_mean_us: Option<f64>,
    latency_p99_us: Option<f64>,
    buffers_used: u32,
    virtual_seconds: f64,
    wall_seconds: f64,
    trace_sha256: String,
    violation: Option<String>,
}

fn show(args: &SimArgs, plan: &Plan, account: &Account) -> Result<(), Refusal> {
    let tally = &account.tally;
    let latencies = &account.latencies;
    let mean = latencies.iter().map(|&nanos| nanos as f64).sum::<f64>() / latencies.len() as f64 / 1e3;
    let p99 = latencies.get(latencies.len().saturating_sub(1) * 99 / 100).map(|&nanos| nanos as f64 / 1e3);
    let drops = DropReason::ALL.iter().zip(&account.drops).filter(|&(_, &count)| count > 0);
    let report = Report {
        network: plan.build.network.to_string(),
        nodes: plan.build.network.nodes(),
        seed: plan.build.seed,
        sent: tally.sent,
        delivered: tally.delivered,
        lost: tally.lost,
        duplicated: tally.duplicated,
        corrupted: tally.corrupted,
        undeliverable: tally.undeliverable,
        interrupted: tally.interrupted,
        broadcast_deliveries: tally.broadcast_deliveries,
        drops: drops.map(|(reason, count)| (reason.name().into(), json!(count))).collect(),
        frames: account.frames,
        retransmissions: account.retransmissions,
        detours: account.detours,
        links_up: account.links_up,
        latency_mean_us: p99.map(|_| mean),
        latency_p99_us: p99,
        buffers_used: account.buffers_used,
        virtual_seconds: account.virtual_seconds,
        wall_seconds: account.wall_seconds,
        trace_sha256: account.trace_sha256.clone(),
        violation: account.violation.as_ref().map(|violation| violation.what.clone()),
    };
    if args.json {
        return print_json(&report);
    }
    let drops: Vec<String> = report.drops.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
    let or_none = |text: String| if text.is_empty() { "none".into() } else { text };
    print_facts(
        &format!("{}: {} nodes, seed {}", report.network, report.nodes, report.seed),
        &[
            ("sent", report.sent.to_string()),
            ("delivered", report.delivered.to_string()),
            ("undeliverable", report.undeliverable.to_string()),
            ("interrupted", report.interrupted.to_string()),
            ("lost", report.lost.to_string()),
            ("duplicated", report.duplicated.to_string()),
            ("corrupted", report.corrupted.to_string()),
            ("dropped by nodes", or_none(drops.join(", "))),
            ("latency", p99.map_or("none".into(), |p99| format!("mean {mean:.0} us, 99% within {p99:.0} us"))),
            ("frames", report.frames.to_string()),
            ("retransmissions", report.retransmissions.to_string()),
            ("detours", report.detours.to_string()),
            ("links came up", format!("{} times at their ends", report.links_up)),
            ("buffers used", format!("{} at most in a node", report.buffers_used)),
            ("virtual time", format!("{:.3} s", report.virtual_seconds)),
            ("wall time", format!("{:.3} s", report.wall_seconds)),
            ("trace sum", report.trace_sha256.clone()),
        ],
    )
}

/// The command that does the same again.
fn again(args: &SimArgs, plan: &Plan) -> String {
    let time = |nanos: Nanos| format!("{}us", nanos / 1_000);
    let mut command = format!(
        "hopwise sim '{}' --traffic {} --packets {} --payload {} --rate {} --baud {} --seed {}",
        plan.build.network,
        clap::ValueEnum::to_possible_value(&plan.traffic).map_or(String::new(), |value| value.get_name().into()),
        plan.packets,
        plan.payload,
        plan.rate,
        plan.build.baud,
        plan.build.seed,
    );
    let mut option = |name: &str, value: String| command.push_str(&format!(" --{name} {value}"));
    let noise = &plan.build.noise;
    for (name, chance) in [
        ("ber", noise.bit_errors),
        ("bursts", noise.bursts),
        ("lost-bytes", noise.lost),
        ("inserted-bytes", noise.inserted),
        ("doubled-bytes", noise.duplicated),
    ] {
        if chance > 0.0 {
            option(name, chance.to_string());
        }
    }
    if noise.bursts > 0.0 {
        option("burst-bits", noise.burst_bits.to_string());
    }
    if plan.build.processing > 0 {
        option("processing", time(plan.build.processing));
    }
    if let Some(every) = plan.pull_every {
        option("pull-every", time(every));
    }
    if let Some(every) = plan.reset_every {
        option("reset-every", time(every));
    }
    if args.confirmed {
        command.push_str(" --confirmed");
    }
    command
}
