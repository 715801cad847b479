//! `hopwise load`

mod many;

use clap::Args;

<<<<<<< HEAD
use clap::{Args, ValueEnum};
use hopwise_core::collective::Operation;
use hopwise_core::{Network, Node};

use super::collective::by_name;
use super::error::CliError;
use super::output::{Outcome, print, print_facts, print_json, progress_bar};
use super::{NetworkArg, RuleArg};
use hopwise_language::Traffic;
use hopwise_load::failures::FailurePlan;
use hopwise_load::measure::{self, Effort, Experiment, Point, Progress};
use hopwise_load::parameters::{Parameters, Paths, Preset, Process, Rings};
use hopwise_load::saturation;
use hopwise_load::schedule::Schedule;
=======
use super::output::{Outcome, print, print_facts, print_json, progress_bar};
use super::parse;
use super::refusal::Refusal;
use hopwise_load::measure::Point;
use hopwise_load::settings::{Found, Settings};
>>>>>>> 867e60ebd4380d177fc14aeea709848cd36c260e

/// With an expression, one experiment; with a command, many.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct LoadArgs {
    #[command(subcommand)]
    action: Option<many::Action>,
    /// The network, as an expression
    #[arg(value_name = "EXPR", required = true)]
    expression: Option<String>,
    #[command(flatten)]
    settings: Settings,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

<<<<<<< HEAD
/// What all experiments of a command have in common.
#[derive(Args)]
struct SceneArgs {
    /// The routers; the options below change single parameters
    #[arg(long, value_enum, default_value = "booksim")]
    preset: PresetArg,
    /// Where packets go: uniform, uniform-with-self, neighbors, all-to-all, permutation, transpose, bit-complement,
    /// bit-reverse, shuffle, tornado, hot-spot, hot-spot(NODE,SHARE), broadcast [default: that of the preset]
    #[arg(long)]
    traffic: Option<Traffic>,
    /// When nodes make packets: bernoulli, or bursty(LENGTH,PEAK) with the mean length in cycles and the rate of a burst
    #[arg(long, default_value = "bernoulli")]
    process: Process,
    /// How packets reach their destination
    #[arg(long, value_enum, default_value = "rule")]
    paths: PathsArg,
    /// The probability that a link is broken from the beginning; the seed decides which
    #[arg(long, value_name = "CHANCE", default_value_t = 0.0)]
    link_failures: f64,
    /// The same for a router
    #[arg(long, value_name = "CHANCE", default_value_t = 0.0)]
    router_failures: f64,
    /// What fails and comes back while the network runs; a cycle is 1ns: `5us cut 3.0; 9us plug 3.0; 9us off 7`
    #[arg(long, value_name = "SCRIPT", default_value = "")]
    events: String,
    /// Flits of a packet
    #[arg(long)]
    packet_flits: Option<u32>,
    /// Flits that a virtual channel holds
    #[arg(long)]
    buffers: Option<u32>,
    /// Flits that all virtual channels of a link hold together, divided equally: the same memory for networks that need more channels or fewer
    #[arg(long, conflicts_with = "buffers")]
    link_buffers: Option<u32>,
    /// Virtual channels of a link for all packets, besides one for each buffer class
    #[arg(long)]
    shared_channels: Option<u32>,
    /// What rings do at a tie, and with their two classes
    #[arg(long, value_enum)]
    rings: Option<RingsArg>,
    /// Use no more buffer classes than this, although packets may then block each other for good
    #[arg(long)]
    class_limit: Option<u32>,
    /// Cycles from the arrival of a head flit to its request for a virtual channel
    #[arg(long)]
    routing_delay: Option<u32>,
    /// Cycles to allocate a virtual channel
    #[arg(long)]
    vc_alloc_delay: Option<u32>,
    /// Cycles to allocate the switch
    #[arg(long)]
    switch_alloc_delay: Option<u32>,
    /// Cycles to cross the switch
    #[arg(long)]
    traversal_delay: Option<u32>,
    /// Cycles of a link
    #[arg(long)]
    channel_delay: Option<u32>,
    /// Extra cycles of a credit
    #[arg(long)]
    credit_delay: Option<u32>,
    /// Measured cycles, at least
    #[arg(long)]
    cycles: Option<u32>,
    /// Measured cycles, at most
    #[arg(long)]
    most_cycles: Option<u32>,
    /// Measure until half the 95% confidence interval of the mean latency is this share of it; a trial determines how long that
    /// takes
    #[arg(long, default_value_t = Effort::default().precision)]
    precision: f64,
    /// A mean latency above this counts as saturated
    #[arg(long, default_value_t = Effort::default().latency_limit)]
    latency_limit: f64,
}

/// Named sets of parameters.
#[derive(Clone, Copy, ValueEnum)]
enum PresetArg {
    /// BookSim 2: one cycle per step, two virtual channels of eight flits, and by default its uniform traffic, in which nodes also
    /// send to themselves: uniform-with-self
    Booksim,
}

/// How rings and tori are routed where there is a choice.
#[derive(Clone, Copy, ValueEnum)]
enum RingsArg {
    /// As the rule says: a tie goes +1, the class changes at the wrap
    Core,
    /// A tie is random; a packet keeps the class with which it enters a ring
    Balanced,
}

/// Ways through the network.
#[derive(Clone, Copy, ValueEnum)]
enum PathsArg {
    /// By the rule, hop by hop
    Rule,
    /// By the rule to a random node, drawn for each packet, then by the rule to its destination
    Valiant,
    /// On shortest paths, to where there is most room
    Adaptive,
}

impl From<PathsArg> for Paths {
    fn from(arg: PathsArg) -> Self {
        match arg {
            PathsArg::Rule => Paths::Rule,
            PathsArg::Valiant => Paths::Valiant,
            PathsArg::Adaptive => Paths::Adaptive,
        }
    }
}

impl From<PresetArg> for Preset {
    fn from(arg: PresetArg) -> Self {
        match arg {
            PresetArg::Booksim => Preset::Booksim,
        }
    }
}

impl From<RingsArg> for Rings {
    fn from(arg: RingsArg) -> Self {
        match arg {
            RingsArg::Core => Rings::Core,
            RingsArg::Balanced => Rings::Balanced,
        }
    }
}

impl SceneArgs {
    fn traffic(&self) -> Traffic {
        self.traffic.unwrap_or(Preset::from(self.preset).traffic())
    }

    fn parameters(&self) -> Parameters {
        let preset = Preset::from(self.preset).parameters();
        Parameters {
            routing: self.routing_delay.unwrap_or(preset.routing),
            vc_alloc: self.vc_alloc_delay.unwrap_or(preset.vc_alloc),
            switch_alloc: self.switch_alloc_delay.unwrap_or(preset.switch_alloc),
            traversal: self.traversal_delay.unwrap_or(preset.traversal),
            channel: self.channel_delay.unwrap_or(preset.channel),
            credit: self.credit_delay.unwrap_or(preset.credit),
            buffers: self.buffers.unwrap_or(preset.buffers),
            link_buffers: self.link_buffers.or(preset.link_buffers),
            shared_channels: self.shared_channels.unwrap_or(preset.shared_channels),
            packet_flits: self.packet_flits.unwrap_or(preset.packet_flits),
            class_limit: self.class_limit,
            rings: self.rings.map_or(preset.rings, Rings::from),
            paths: self.paths.into(),
        }
    }

    fn failures(&self) -> FailurePlan {
        FailurePlan {
            links: self.link_failures,
            routers: self.router_failures,
            events: self.events.clone(),
        }
    }

    fn effort(&self) -> Effort {
        let usual = Effort::default();
        let most_cycles = self
            .most_cycles
            .unwrap_or(usual.most_cycles.max(self.cycles.unwrap_or(0)));
        let least_cycles = self.cycles.unwrap_or(usual.least_cycles).min(most_cycles);
        Effort {
            precision: self.precision,
            least_cycles,
            most_cycles,
            latency_limit: self.latency_limit,
            ..usual
        }
    }
}

/// How closely saturation is found, relative to it.
const SATURATION_PRECISION: f64 = 0.01;

pub(super) fn run(args: &LoadArgs) -> Result<Outcome, CliError> {
    match &args.action {
        None => point(&args.point),
        Some(action) => many::run(action),
    }
}

fn point(args: &PointArgs) -> Result<Outcome, CliError> {
    let network = NetworkArg {
        expression: args.expression.clone().unwrap_or_default(),
    }
    .network()?;
    let failures = args.scene.failures().on(&network)?;
    let experiment = Experiment {
        network: &network,
        rule: args.rule.into(),
        parameters: args.scene.parameters(),
        traffic: args.scene.traffic(),
        process: args.scene.process,
        rate: args.rate,
        seed: args.seed,
        effort: args.scene.effort(),
        failures: failures.as_ref(),
        threads: args.threads.into(),
=======
pub(super) fn run(args: &LoadArgs) -> Result<Outcome, Refusal> {
    if let Some(action) = &args.action {
        return many::run(action);
    }
    let network = parse(args.expression.as_deref().unwrap_or_default())?;
    let settings = Settings {
        network: network.to_string(),
        ..args.settings.clone()
>>>>>>> 867e60ebd4380d177fc14aeea709848cd36c260e
    };
    let bar = progress_bar(
        0,
        if settings.saturation {
            "trying rates"
        } else {
            "measuring"
        },
    );
    let found = settings.run(&|done, all| {
        bar.set_length(all.into());
        bar.set_position(done.into());
    })?;
    bar.finish_and_clear();
    match found {
        Found::Point(point) => finish(*point, args.json),
        Found::Saturation(found) if args.json => print_json(&found).map(|()| Outcome::Done),
        Found::Saturation(found) => {
            let interval = found
                .saturation_ci95
                .map_or(String::new(), |half| format!(" ± {half:.4}"));
            let rate = found.saturation_rate;
            print(|out| {
                writeln!(
                    out,
                    "{network} carries up to {rate:.4}{interval} packets per node and cycle"
                )
            })?;
            Ok(Outcome::Done)
        }
    }
<<<<<<< HEAD
    let bar = progress_bar(0, "measuring");
    let mut watch = |progress: Progress| {
        bar.set_length(u64::from(progress.enough));
        bar.set_position(u64::from(progress.measured));
    };
    let point = measure::run_watched(&experiment, &mut watch)?;
    bar.finish_and_clear();
    finish(point, args.json)
}

/// What is sent by a trace or a collective, if one is asked for.
fn schedule(args: &PointArgs, network: &Network) -> Result<Option<Schedule>, CliError> {
    if let Some(path) = &args.trace {
        let file = File::open(path).map_err(|error| CliError::file(path, error))?;
        let schedule = Schedule::trace(network, BufReader::new(file)).map_err(|error| CliError::file(path, error))?;
        return Ok(Some(schedule));
    }
    let collective = |operation| Schedule::collective(network, operation, args.root);
    Ok(args.collective.map(collective).transpose()?)
=======
>>>>>>> 867e60ebd4380d177fc14aeea709848cd36c260e
}

fn finish(point: Point, json: bool) -> Result<Outcome, CliError> {
    if json {
        print_json(&point)?;
    } else {
        show(&point)?;
    }
    Ok(match point.deadlock {
        Some(cycle) => Outcome::CheckFailed(cycle),
        None => Outcome::Done,
    })
}

fn show(point: &Point) -> Result<(), CliError> {
    let what = match point.finished {
        Some(_) => point.traffic.clone(),
        None => format!("{} traffic at {}", point.traffic, point.rate),
    };
    let title = format!("{}, rule {}, {what}", point.network, point.rule);
    let mut facts = vec![
        (
            "latency",
            match point.latency_ci95 {
                Some(half) => format!("{:.2} ± {half:.2} cycles", point.latency_mean),
                None => format!("{:.2} cycles, of unknown exactness", point.latency_mean),
            },
        ),
        (
            "of 50, 95, 99%",
            format!("{}, {}, {}", point.latency_p50, point.latency_p95, point.latency_p99),
        ),
        ("hops", format!("{:.3}", point.hops_mean)),
        (
            "accepted",
            format!("{:.4} packets per node and cycle", point.accepted_rate),
        ),
        (
            "links",
            format!(
                "busy in {:.1}% of the cycles, the busiest in {:.1}%",
                100.0 * point.link_load_mean,
                100.0 * point.link_load_max
            ),
        ),
        (
            "channels",
            format!(
                "{} per link, for {} classes, with {} bytes of buffers",
                point.virtual_channels, point.classes, point.buffer_bytes
            ),
        ),
        (
            "simulated",
            format!(
                "{} cycles, {} packets in {:.2} s",
                point.cycles, point.packets, point.wall_seconds
            ),
        ),
        (
            "speed",
            format!("{:.1} million node-cycles/s", point.node_cycles_per_second / 1e6),
        ),
        ("memory", format!("{} bytes per node", point.bytes_per_node)),
    ];
    if point.failed_links + point.failed_routers + point.lost > 0 {
        let out = format!("{} links and {} routers", point.failed_links, point.failed_routers);
        let made = point.packets_measured + point.lost;
        facts.insert(1, ("out of action", out));
        facts.insert(2, ("lost", format!("{} of {made} packets", point.lost)));
    }
    if let Some(cycle) = point.finished {
        let unsent = match point.unsent {
            0 => String::new(),
            unsent => format!(", without {unsent} that were never sent"),
        };
        facts.insert(0, ("finished", format!("after {cycle} cycles{unsent}")));
    }
    if point.saturated {
        facts.insert(0, ("saturated", "the network cannot carry this load".into()));
    }
    print_facts(&title, &facts)
}
