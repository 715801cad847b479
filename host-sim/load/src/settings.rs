//! The settings of a load: the options of the command and the keys of an experiment's file are the same words.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use hopwise_core::collective::Operation;
use hopwise_core::{Network, Node, Rule};
use hopwise_language::Traffic;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::bad::{BadLoad, bad};
use super::failures::FailurePlan;
use super::measure::{self, Effort, Experiment, Point};
use super::parameters::{Parameters, Paths, Preset, Process, Rings, Stages};
use super::routes::RouteTable;
use super::saturation::{self, Confidence};
use super::schedule::Schedule;

/// Packets that a node makes in a cycle, unless said otherwise.
const DEFAULT_RATE: f64 = 0.05;
const DEFAULT_SATURATION_PRECISION: f64 = 0.01;
const DEFAULT_SEEDS: u32 = 5;
const MAX_SEEDS: u32 = 100;
const MAX_THREADS: u16 = 256;

/// One experiment. What is not said has its default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Settings {
    /// The network, as an expression.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub network: String,
    /// Packets that a node makes in a cycle, on average (default: 0.05)
    #[cfg_attr(feature = "clap", arg(long))]
    pub rate: Option<f64>,
    /// Search for the highest rate that is carried instead
    #[cfg_attr(feature = "clap", arg(long))]
    pub saturation: bool,
    /// How closely the highest rate is found, relative to it (default: 0.01)
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE"))]
    pub saturation_precision: Option<f64>,
    /// Search for the highest rate with this many seeds, from --seed on; the interval comes from their differences (default: 5)
    #[cfg_attr(feature = "clap", arg(long))]
    pub seeds: Option<u32>,
    /// The settings that all experiments of a sweep have in common.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub scene: Scene,
    /// The routing rule (default: exact)
    #[cfg_attr(feature = "clap", arg(long, value_parser = ["exact", "paper"]))]
    pub rule: Option<String>,
    /// Go by a table of routes instead, as `hopwise export --routes` writes it
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub routes: Option<PathBuf>,
    /// The seed; the same seed gives the same result (default: 1)
    #[cfg_attr(feature = "clap", arg(long))]
    pub seed: Option<u64>,
    /// Send the packets of a trace at their times instead; a cycle is the time that a link of the traced mesh takes for 8 bytes
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub trace: Option<PathBuf>,
    /// Send the messages of a collective instead, each as soon as its sender has what it waits for
    #[cfg_attr(feature = "clap", arg(long, value_name = "OP", value_parser = clap::builder::PossibleValuesParser::new(Operation::ALL.map(Operation::name))))]
    pub collective: Option<String>,
    /// The root of the collective (default: 0)
    #[cfg_attr(feature = "clap", arg(long, value_name = "NODE"))]
    pub root: Option<Node>,
    /// Threads that share the work on a network of a thousand nodes or more; the result does not depend on it (default: 1)
    #[cfg_attr(feature = "clap", arg(long))]
    pub threads: Option<u16>,
}

/// Traffic, routers, failures and effort: what all experiments of a sweep have in common.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Scene {
    /// The routers; the options below change single parameters (default: booksim)
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub preset: Option<Preset>,
    /// Where packets go: uniform, uniform-with-self, neighbors, all-to-all, permutation, transpose, bit-complement,
    /// bit-reverse, shuffle, tornado, hot-spot, hot-spot(NODE,SHARE), broadcast (default: that of the preset)
    #[cfg_attr(feature = "clap", arg(long))]
    pub traffic: Option<Traffic>,
    /// When nodes make packets: bernoulli, or bursty(LENGTH,PEAK) with the mean length in cycles and the rate of a burst (default:
    /// bernoulli)
    #[cfg_attr(feature = "clap", arg(long))]
    pub process: Option<Process>,
    /// How packets reach their destination (default: rule)
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub paths: Option<Paths>,
    /// The probability that a link is broken from the beginning; the seed decides which (default: 0)
    #[cfg_attr(feature = "clap", arg(long, value_name = "CHANCE"))]
    pub link_failures: Option<f64>,
    /// The same for a router (default: 0)
    #[cfg_attr(feature = "clap", arg(long, value_name = "CHANCE"))]
    pub router_failures: Option<f64>,
    /// What fails and comes back while the network runs; a cycle is 1ns: `5us cut 3.0; 9us plug 3.0; 9us off 7`
    #[cfg_attr(feature = "clap", arg(long, value_name = "SCRIPT"))]
    pub events: Option<String>,
    /// Flits of a packet
    #[cfg_attr(feature = "clap", arg(long))]
    pub packet_flits: Option<u32>,
    /// Flits that a virtual channel holds
    #[cfg_attr(feature = "clap", arg(long))]
    pub buffers: Option<u32>,
    /// Flits that all virtual channels of a link hold together, divided equally: the same memory for networks that need more channels or fewer
    #[cfg_attr(feature = "clap", arg(long))]
    pub link_buffers: Option<u32>,
    /// Virtual channels of a link for each buffer class; with several there are none for all packets (default: 1)
    #[cfg_attr(feature = "clap", arg(long))]
    pub class_channels: Option<u32>,
    /// Virtual channels of a link for all packets, besides those of the buffer classes
    #[cfg_attr(feature = "clap", arg(long))]
    pub shared_channels: Option<u32>,
    /// What rings do at a tie, and with their two classes
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub rings: Option<Rings>,
    /// Use no more buffer classes than this, although packets may then block each other for good
    #[cfg_attr(feature = "clap", arg(long))]
    pub class_limit: Option<u32>,
    /// How routing and the traversal of the switch work when they take several cycles
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub stages: Option<Stages>,
    /// Cycles from the arrival of a head flit to its request for a virtual channel
    #[cfg_attr(feature = "clap", arg(long))]
    pub routing_delay: Option<u32>,
    /// Cycles to allocate a virtual channel
    #[cfg_attr(feature = "clap", arg(long))]
    pub vc_alloc_delay: Option<u32>,
    /// Cycles to allocate the switch
    #[cfg_attr(feature = "clap", arg(long))]
    pub switch_alloc_delay: Option<u32>,
    /// Cycles to cross the switch
    #[cfg_attr(feature = "clap", arg(long))]
    pub traversal_delay: Option<u32>,
    /// Cycles of a link
    #[cfg_attr(feature = "clap", arg(long))]
    pub channel_delay: Option<u32>,
    /// Extra cycles of a credit
    #[cfg_attr(feature = "clap", arg(long))]
    pub credit_delay: Option<u32>,
    /// Measured cycles, at least; exactly so many with the same --most-cycles, unless the load turns out not to be carried
    #[cfg_attr(feature = "clap", arg(long))]
    pub cycles: Option<u32>,
    /// Measured cycles, at most
    #[cfg_attr(feature = "clap", arg(long))]
    pub most_cycles: Option<u32>,
    /// Cycles between two looks at how a measurement is going, as a power of two (default: 10)
    #[cfg_attr(feature = "clap", arg(long, value_name = "BITS"))]
    pub batch_bits: Option<u32>,
    /// Measure until half the 95% confidence interval of the mean latency is this share of it; a trial determines how long that
    /// takes (default: 0.01)
    #[cfg_attr(feature = "clap", arg(long))]
    pub precision: Option<f64>,
    /// A mean latency above this counts as saturated (default: 500)
    #[cfg_attr(feature = "clap", arg(long))]
    pub latency_limit: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Found {
    /// The latency at a rate, or of a schedule.
    Point(Box<Point>),
    /// The highest rate that is carried.
    Saturation(Confidence),
}

impl Scene {
    pub fn traffic(&self) -> Traffic {
        self.traffic.unwrap_or(self.preset.unwrap_or_default().traffic())
    }

    pub fn process(&self) -> Process {
        self.process.unwrap_or(Process::Bernoulli)
    }

    pub fn parameters(&self) -> Parameters {
        let preset = self.preset.unwrap_or_default().parameters();
        Parameters {
            routing: self.routing_delay.unwrap_or(preset.routing),
            vc_alloc: self.vc_alloc_delay.unwrap_or(preset.vc_alloc),
            switch_alloc: self.switch_alloc_delay.unwrap_or(preset.switch_alloc),
            traversal: self.traversal_delay.unwrap_or(preset.traversal),
            channel: self.channel_delay.unwrap_or(preset.channel),
            credit: self.credit_delay.unwrap_or(preset.credit),
            buffers: self.buffers.unwrap_or(preset.buffers),
            link_buffers: self.link_buffers.or(preset.link_buffers),
            class_channels: self.class_channels.unwrap_or(preset.class_channels),
            shared_channels: self.shared_channels.unwrap_or(preset.shared_channels),
            packet_flits: self.packet_flits.unwrap_or(preset.packet_flits),
            class_limit: self.class_limit,
            rings: self.rings.unwrap_or(preset.rings),
            stages: self.stages.unwrap_or(preset.stages),
            paths: self.paths.unwrap_or_default(),
        }
    }

    fn failures(&self) -> FailurePlan {
        FailurePlan {
            links: self.link_failures.unwrap_or(0.0),
            routers: self.router_failures.unwrap_or(0.0),
            events: self.events.clone().unwrap_or_default(),
        }
    }

    fn effort(&self) -> Effort {
        let usual = Effort::default();
        let cycles = self.cycles.unwrap_or(0);
        let most_cycles = self.most_cycles.unwrap_or(usual.most_cycles.max(cycles));
        Effort {
            precision: self.precision.unwrap_or(usual.precision),
            least_cycles: self.cycles.unwrap_or(usual.least_cycles).min(most_cycles),
            most_cycles,
            latency_limit: self.latency_limit.unwrap_or(usual.latency_limit),
            batch_bits: self.batch_bits.unwrap_or(usual.batch_bits),
        }
    }
}

impl Settings {
    /// Of names and values.
    pub fn of(table: &Map<String, Value>) -> Result<Self, BadLoad> {
        let all = serde_json::to_value(Settings::default()).map_err(bad)?;
        if let Some(name) = table.keys().find(|name| all.get(name.as_str()).is_none()) {
            let names = all.as_object().into_iter().flat_map(Map::keys);
            let names: Vec<&str> = names.map(String::as_str).collect();
            let names = names.join("`, `");
            return Err(bad(format!("unknown setting `{name}`, expected one of `{names}`")));
        }
        Settings::deserialize(Value::Object(table.clone())).map_err(bad)
    }

    pub fn rule(&self) -> &str {
        self.rule.as_deref().unwrap_or("exact")
    }

    /// Whether they make sense together, and on their network.
    pub fn check(&self) -> Result<(), BadLoad> {
        self.on_network(|experiment| {
            measure::check(experiment)?;
            self.schedule(experiment.network).map(drop)
        })
    }

    /// Runs the experiment. `watch` is called from time to time with how much is done, and of how much.
    pub fn run(&self, watch: &dyn Fn(u32, u32)) -> Result<Found, BadLoad> {
        self.on_network(|experiment| {
            if self.saturation {
                let (precision, seeds) = (self.saturation_precision(), self.seeds.unwrap_or(DEFAULT_SEEDS));
                let all = seeds * saturation::expected_runs(precision);
                let tried = |runs| watch(runs, all);
                let found = saturation::find_with_confidence(experiment, precision, seeds, &tried);
                return found.map(Found::Saturation);
            }
            let point = match self.schedule(experiment.network)? {
                Some(schedule) => measure::replay(experiment, &schedule),
                None => measure::run_watched(experiment, &mut |progress| watch(progress.measured, progress.enough)),
            };
            Ok(Found::Point(Box::new(point?)))
        })
    }

    fn saturation_precision(&self) -> f64 {
        self.saturation_precision.unwrap_or(DEFAULT_SATURATION_PRECISION)
    }

    /// Does something with the experiment that they describe.
    fn on_network<T>(&self, with: impl FnOnce(&Experiment<'_>) -> Result<T, BadLoad>) -> Result<T, BadLoad> {
        self.check_together()?;
        let parsed: Result<Network, _> = self.network.parse();
        let network = parsed.map_err(|error| bad(format!("'{}' is not a network: {error}", self.network)))?;
        // Exact searches may take what a host has to spare.
        let network = network.with_search_memory(usize::MAX);
        let failures = self.scene.failures().on(&network)?;
        let read = |path: &PathBuf| of_file(path, |file| RouteTable::read(&network, file));
        let routes = self.routes.as_ref().map(read).transpose()?;
        with(&Experiment {
            network: &network,
            rule: match self.rule() {
                "exact" => Rule::Exact,
                "paper" => Rule::Paper,
                other => return Err(bad(format!("'{other}' is not a rule: exact or paper"))),
            },
            parameters: self.scene.parameters(),
            traffic: self.scene.traffic(),
            process: self.scene.process(),
            rate: self.rate.unwrap_or(DEFAULT_RATE),
            seed: self.seed.unwrap_or(1),
            effort: self.scene.effort(),
            failures: failures.as_ref(),
            routes: routes.as_ref(),
            threads: self.threads.unwrap_or(1).into(),
        })
    }

    fn check_together(&self) -> Result<(), BadLoad> {
        let (saturation, collective) = (self.saturation, self.collective.is_some());
        let tasks = [
            ("rate", self.rate.is_some()),
            ("saturation", saturation),
            ("trace", self.trace.is_some()),
            ("collective", collective),
        ];
        let buffers = [
            ("buffers", self.scene.buffers.is_some()),
            ("link-buffers", self.scene.link_buffers.is_some()),
        ];
        let channels = [
            ("class-channels", self.scene.class_channels.is_some()),
            ("shared-channels", self.scene.shared_channels.is_some()),
        ];
        for alternatives in [&tasks[..], &buffers, &channels] {
            let mut set = alternatives.iter().filter(|(_, set)| *set).map(|(name, _)| name);
            if let (Some(one), Some(other)) = (set.next(), set.next()) {
                return Err(bad(format!("{one} and {other} cannot both be set")));
            }
        }
        for (name, set, needed) in [
            ("seeds is for saturation", self.seeds.is_some(), saturation),
            (
                "saturation-precision is for saturation",
                self.saturation_precision.is_some(),
                saturation,
            ),
            ("root is for a collective", self.root.is_some(), collective),
        ] {
            if set && !needed {
                return Err(bad(name));
            }
        }
        if self.seeds.is_some_and(|seeds| !(1..=MAX_SEEDS).contains(&seeds)) {
            return Err(bad(format!("seeds is from 1 to {MAX_SEEDS}")));
        }
        let is_none = |threads| !(1..=MAX_THREADS).contains(&threads);
        if self.threads.is_some_and(is_none) {
            return Err(bad(format!("threads is from 1 to {MAX_THREADS}")));
        }
        saturation::check_precision(self.saturation_precision())
    }

    /// What is sent by a trace or a collective, if one is asked for.
    fn schedule(&self, network: &Network) -> Result<Option<Schedule>, BadLoad> {
        if let Some(path) = &self.trace {
            return of_file(path, |file| Schedule::trace(network, BufReader::new(file))).map(Some);
        }
        let Some(name) = &self.collective else { return Ok(None) };
        let operation = Operation::ALL.into_iter().find(|operation| operation.name() == name);
        let operation = operation.ok_or_else(|| bad(format!("'{name}' is not a collective")))?;
        Schedule::collective(network, operation, self.root.unwrap_or(0)).map(Some)
    }
}

/// Reads a file; an error names it.
fn of_file<T>(path: &Path, read: impl FnOnce(File) -> Result<T, BadLoad>) -> Result<T, BadLoad> {
    let found = File::open(path).map_err(bad).and_then(read);
    found.map_err(|error| bad(format!("{}: {error}", path.display())))
}
