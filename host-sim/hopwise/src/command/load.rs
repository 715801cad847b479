//! `hopwise load`

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use hopwise_core::Rule;

use super::output::{Outcome, print, print_facts, print_json, progress_bar, say, write_file};
use super::refusal::Refusal;
use super::{NetworkArg, RuleArg};
use hopwise_language::Traffic;
use hopwise_load::measure::{self, Effort, Experiment, Point, Progress, rule_name};
use hopwise_load::parameters::{Parameters, Preset, Process, Rings};
use hopwise_load::report;
use hopwise_load::saturation;
use hopwise_load::study::{self, Size, Study};
use hopwise_load::sweep::{Folder, Job, JobList, Share, Task, Worked};

/// With an expression, one experiment; with a command, many.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct LoadArgs {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    point: PointArgs,
}

#[derive(Subcommand)]
enum Action {
    /// Simulates every network at every rate with every seed, on all cores: table, chart and page
    Sweep(SweepArgs),
    /// Writes the numbered jobs of a sweep into a folder, without doing them
    Plan(SweepArgs),
    /// Does the jobs of a folder that are not done: all, or this member's share of a job array
    Work(WorkArgs),
    /// Joins the results of a folder: table, chart and page
    Merge(MergeArgs),
    /// Compares the papers' networks with torus and hypercube: a document with charts
    Study(StudyArgs),
}

#[derive(Args)]
struct PointArgs {
    /// The network, as an expression
    #[arg(value_name = "EXPR", required = true)]
    expression: Option<String>,
    /// Packets that a node makes in a cycle, on average
    #[arg(long, default_value_t = 0.05, conflicts_with = "saturation")]
    rate: f64,
    /// Look for the highest rate that is carried instead
    #[arg(long)]
    saturation: bool,
    #[command(flatten)]
    scene: SceneArgs,
    /// The routing rule
    #[arg(long, value_enum, default_value = "exact")]
    rule: RuleArg,
    /// The seed; the same seed gives the same result
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Search for the highest rate with so many seeds, from that one on; the interval comes from their differences
    #[arg(long, default_value_t = 5, requires = "saturation", value_parser = clap::value_parser!(u32).range(1..=100))]
    seeds: u32,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// What all experiments of a command have in common.
#[derive(Args)]
struct SceneArgs {
    /// The routers; the options below change single numbers
    #[arg(long, value_enum, default_value = "booksim")]
    preset: PresetArg,
    /// Who sends to whom: uniform, uniform-with-self, neighbors, all-to-all, permutation, transpose, bit-complement,
    /// bit-reverse, shuffle, tornado, hot-spot, hot-spot(NODE,SHARE), broadcast [default: that of the preset]
    #[arg(long)]
    traffic: Option<Traffic>,
    /// When nodes make packets: bernoulli, or bursty(LENGTH,PEAK) with the mean cycles and the rate of a burst
    #[arg(long, default_value = "bernoulli")]
    process: Process,
    /// Flits of a packet
    #[arg(long)]
    packet_flits: Option<u32>,
    /// Flits that a virtual channel holds
    #[arg(long)]
    buffers: Option<u32>,
    /// Flits that all virtual channels of a link hold together, shared out alike: equal memory for networks that need more or fewer
    #[arg(long, conflicts_with = "buffers")]
    link_buffers: Option<u32>,
    /// Virtual channels of a link for all packets, beside one for each buffer class
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
    /// Measure for as long as it takes, by a trial beforehand, until half the 95% confidence interval of the mean latency is this
    /// share of it
    #[arg(long, default_value_t = Effort::default().precision)]
    precision: f64,
    /// A mean latency above this counts as saturated
    #[arg(long, default_value_t = Effort::default().latency_limit)]
    latency_limit: f64,
}

/// Named sets of parameters.
#[derive(Clone, Copy, ValueEnum)]
enum PresetArg {
    /// BookSim 2: every step one cycle, two virtual channels of eight flits, and unless said otherwise its uniform traffic, in
    /// which nodes send to themselves too: uniform-with-self
    Booksim,
}

/// How rings and tori are routed where there is a choice.
#[derive(Clone, Copy, ValueEnum)]
enum RingsArg {
    /// As the rule says: a tie goes +1, the class changes at the wrap
    Core,
    /// A tie is tossed; a packet keeps the class it enters a ring with
    Balanced,
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

#[derive(Args)]
struct SweepArgs {
    /// The networks, as expressions
    #[arg(value_name = "EXPR", required = true)]
    networks: Vec<String>,
    /// The rates: numbers, or FROM:TO:STEP
    #[arg(long, value_delimiter = ',', default_value = "0.05:0.5:0.05")]
    rates: Vec<String>,
    /// The routing rules
    #[arg(long, value_enum, value_delimiter = ',', default_value = "exact")]
    rules: Vec<RuleArg>,
    /// How many seeds, from 1
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: u64,
    /// Find the highest rate that is carried too
    #[arg(long)]
    saturation: bool,
    #[command(flatten)]
    scene: SceneArgs,
    /// The folder of the jobs
    #[arg(long, default_value = "load-jobs")]
    jobs: PathBuf,
    /// Where table, chart and page go
    #[arg(long, default_value = ".")]
    out: PathBuf,
}

#[derive(Args)]
struct WorkArgs {
    /// The folder of the jobs
    jobs: PathBuf,
    /// How many processes share the work; this one's number comes from SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX or
    /// PARALLEL_SEQ
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    shards: Option<u32>,
}

#[derive(Args)]
struct MergeArgs {
    /// The folder of the jobs
    jobs: PathBuf,
    /// Where table, chart and page go
    #[arg(long, default_value = ".")]
    out: PathBuf,
}

#[derive(Args)]
struct StudyArgs {
    /// Leave out networks of more nodes, about: 64, 200, 650 and 3000 there are
    #[arg(long, value_name = "NODES", default_value_t = u32::MAX, value_parser = clap::value_parser!(u32).range(64..))]
    most_nodes: u32,
    /// The folder of the jobs
    #[arg(long, default_value = "load-study-jobs")]
    jobs: PathBuf,
    /// Where the document and its charts go
    #[arg(long, default_value = ".")]
    out: PathBuf,
}

/// How closely saturation is found, relative to it.
const SATURATION_PRECISION: f64 = 0.01;

pub(super) fn run(args: &LoadArgs) -> Result<Outcome, Refusal> {
    match &args.action {
        None => point(&args.point),
        Some(Action::Plan(sweep)) => {
            let folder = plan(sweep)?;
            print(|out| writeln!(out, "{} jobs in {}", folder.list.jobs.len(), sweep.jobs.display()))?;
            Ok(Outcome::Done)
        }
        Some(Action::Sweep(sweep)) => {
            let folder = plan(sweep)?;
            work(&folder, Share::ALL)?;
            merge(&folder, &sweep.out)
        }
        Some(Action::Work(args)) => {
            let folder = Folder::open(&args.jobs)?;
            let variable = |name: &str| std::env::var(name).ok();
            let share = Share::from_environment(
                variable,
                args.shards.map(|count| count as usize),
                folder.list.jobs.len(),
            )?;
            work(&folder, share.unwrap_or(Share::ALL))?;
            Ok(Outcome::Done)
        }
        Some(Action::Study(args)) => study(args),
        Some(Action::Merge(args)) => merge(&Folder::open(&args.jobs)?, &args.out),
    }
}

fn point(args: &PointArgs) -> Result<Outcome, Refusal> {
    let network = NetworkArg {
        expression: args.expression.clone().unwrap_or_default(),
    }
    .network()?;
    let experiment = Experiment {
        network: &network,
        rule: args.rule.into(),
        parameters: args.scene.parameters(),
        traffic: args.scene.traffic(),
        process: args.scene.process,
        rate: args.rate,
        seed: args.seed,
        effort: args.scene.effort(),
    };
    if args.saturation {
        let bar = progress_bar(
            u64::from(args.seeds * saturation::expected_runs(SATURATION_PRECISION)),
            "trying rates",
        );
        let tried = |runs| bar.set_position(u64::from(runs));
        let found = saturation::find_with_confidence(&experiment, SATURATION_PRECISION, args.seeds, &tried)?;
        bar.finish_and_clear();
        if args.json {
            print_json(&found)?;
        } else {
            print(|out| {
                let interval = found
                    .saturation_ci95
                    .map_or(String::new(), |half| format!(" ± {half:.4}"));
                writeln!(
                    out,
                    "{network} carries up to {:.4}{interval} packets a node a cycle",
                    found.saturation_rate
                )
            })?;
        }
        return Ok(Outcome::Done);
    }
    let bar = progress_bar(0, "measuring");
    let mut watch = |progress: Progress| {
        bar.set_length(u64::from(progress.enough));
        bar.set_position(u64::from(progress.measured));
    };
    let point = measure::run_watched(&experiment, &mut watch)?;
    bar.finish_and_clear();
    if args.json {
        print_json(&point)?;
    } else {
        show(&point)?;
    }
    Ok(match point.deadlock {
        Some(cycle) => Outcome::CheckFailed(cycle),
        None => Outcome::Done,
    })
}

fn show(point: &Point) -> Result<(), Refusal> {
    let title = format!(
        "{}, rule {}, {} traffic at {}",
        point.network, point.rule, point.traffic, point.rate
    );
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
        ("accepted", format!("{:.4} packets a node a cycle", point.accepted_rate)),
        (
            "channels",
            format!(
                "{} a link, for {} classes, with {} bytes of buffers",
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
        ("memory", format!("{} bytes a node", point.bytes_per_node)),
    ];
    if point.saturated {
        facts.insert(0, ("saturated", "the network cannot carry this load".into()));
    }
    print_facts(&title, &facts)
}

/// The jobs of a sweep, network by network, in the order of the arguments.
fn plan(args: &SweepArgs) -> Result<Folder, Refusal> {
    let rates = rates(&args.rates)?;
    let mut tasks: Vec<Task> = rates.into_iter().map(|rate| Task::Point { rate }).collect();
    if args.saturation {
        tasks.push(Task::Saturation {
            precision: SATURATION_PRECISION,
        });
    }
    let mut jobs = Vec::new();
    for expression in &args.networks {
        let network = NetworkArg {
            expression: expression.clone(),
        }
        .network()?;
        for &rule in &args.rules {
            for &task in &tasks {
                jobs.extend((1..=args.seeds).map(|seed| Job {
                    network: network.to_string(),
                    rule: rule_name(Rule::from(rule)).into(),
                    traffic: args.scene.traffic(),
                    process: args.scene.process,
                    parameters: args.scene.parameters(),
                    effort: args.scene.effort(),
                    seed,
                    task,
                }));
            }
        }
    }
    Ok(Folder::create(&args.jobs, JobList { jobs })?)
}

/// Numbers, and ranges FROM:TO:STEP with both ends.
fn rates(texts: &[String]) -> Result<Vec<f64>, Refusal> {
    let mut rates = Vec::new();
    for text in texts {
        let wrong = || Refusal::Rate(text.clone());
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

fn work(folder: &Folder, share: Share) -> Result<(), Refusal> {
    let numbers = folder.share(share);
    let bar = progress_bar(numbers.len() as u64, "simulating");
    let done = folder.work_all(&numbers, |worked| {
        if let Worked::Again(damaged) = worked {
            bar.suspend(|| say(&format!("hopwise: {damaged}: done again")));
        }
        bar.inc(1);
    })?;
    bar.finish_and_clear();
    print(|out| writeln!(out, "jobs done now: {done}, before: {}", numbers.len() - done))
}

fn merge(folder: &Folder, out: &Path) -> Result<Outcome, Refusal> {
    let findings = match folder.findings() {
        Ok(findings) => findings,
        Err(missing) => return Ok(Outcome::CheckFailed(missing.to_string())),
    };
    let rows = report::rows(&findings);
    let chart = report::latency_chart("Latency against load", &rows);
    let json = serde_json::to_string_pretty(&rows).map_err(|error| Refusal::Output(error.to_string()))?;
    let files = [
        (
            "load.csv",
            report::csv(&rows).map_err(|error| Refusal::Output(error.to_string()))?,
        ),
        ("load.json", json + "\n"),
        ("load.svg", chart.svg()),
        ("load.html", report::page("Latency against load", &[chart], &rows)),
    ];
    write_files(out, &files)?;
    let deadlock = rows.iter().find_map(|row| row.deadlock.clone());
    Ok(deadlock.map_or(Outcome::Done, Outcome::CheckFailed))
}

fn study(args: &StudyArgs) -> Result<Outcome, Refusal> {
    let sizes: Vec<Size> = study::SIZES
        .into_iter()
        .filter(|size| size.nodes <= args.most_nodes)
        .collect();
    let folder = Folder::create(&args.jobs, study::plan(&sizes))?;
    work(&folder, Share::ALL)?;
    let findings = folder.findings()?;
    let Study { text, charts } = study::write(&sizes, &report::rows(&findings));
    let mut files = vec![("load-study.md".to_string(), text)];
    files.extend(charts.into_iter().map(|(name, chart)| (name, chart.svg())));
    write_files(&args.out, &files)?;
    Ok(Outcome::Done)
}

/// Writes files into a folder and prints where they are.
fn write_files(folder: &Path, files: &[(impl AsRef<str>, String)]) -> Result<(), Refusal> {
    std::fs::create_dir_all(folder).map_err(|error| Refusal::Output(error.to_string()))?;
    for (name, text) in files {
        let path = folder.join(name.as_ref());
        write_file(&path, text)?;
        print(|out| writeln!(out, "{}", path.display()))?;
    }
    Ok(())
}
