//! Shared by the tests of the load simulator.

use hopwise_core::{Network, Rule};
use hopwise_language::Traffic;
use hopwise_load::measure::{self, Effort, Experiment, Point};
use hopwise_load::parameters::{Parameters, Paths, Preset, Process};
use hopwise_load::saturation;

pub(crate) fn network(expression: &str) -> Network {
    expression
        .parse()
        .unwrap_or_else(|error| panic!("{expression}: {error}"))
}

/// An experiment with the parameters of the reference simulator, but for what is changed.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) expression: String,
    pub(crate) rule: Rule,
    pub(crate) traffic: Traffic,
    pub(crate) process: Process,
    pub(crate) rate: f64,
    pub(crate) flits: u32,
    pub(crate) seed: u64,
    pub(crate) class_limit: Option<u32>,
    pub(crate) cycles: Option<u32>,
    pub(crate) precision: f64,
    pub(crate) link_buffers: Option<u32>,
    pub(crate) paths: Paths,
    pub(crate) threads: usize,
}

impl Setup {
    pub(crate) fn new(expression: &str) -> Self {
        Self {
            expression: expression.into(),
            rule: Rule::Exact,
            traffic: Preset::Booksim.traffic(),
            process: Process::Bernoulli,
            rate: 0.05,
            flits: 1,
            seed: 1,
            class_limit: None,
            cycles: None,
            precision: 0.005,
            link_buffers: None,
            paths: Paths::Rule,
            threads: 1,
        }
    }

    /// Exactly `cycles` are measured if they are given.
    pub(crate) fn run(&self) -> Point {
        let network = network(&self.expression);
        measure::run(&self.experiment(&network)).unwrap_or_else(|error| panic!("{}: {error}", self.expression))
    }

    /// The highest rate that is carried.
    pub(crate) fn saturation(&self) -> f64 {
        let network = network(&self.expression);
        let found = saturation::find(&self.experiment(&network), 0.01, &|_| ());
        found
            .unwrap_or_else(|error| panic!("{}: {error}", self.expression))
            .saturation_rate
    }

    /// What is run.
    pub(crate) fn experiment<'a>(&self, network: &'a Network) -> Experiment<'a> {
        let mut effort = Effort {
            precision: self.precision,
            most_cycles: 200 << 10,
            ..Effort::default()
        };
        if let Some(cycles) = self.cycles {
            (effort.least_cycles, effort.most_cycles) = (cycles, cycles);
        }
        let parameters = Parameters {
            packet_flits: self.flits,
            class_limit: self.class_limit,
            link_buffers: self.link_buffers,
            paths: self.paths,
            ..Parameters::BOOKSIM
        };
        Experiment {
            network,
            rule: self.rule,
            parameters,
            traffic: self.traffic,
            process: self.process,
            rate: self.rate,
            seed: self.seed,
            effort,
            failures: None,
            threads: self.threads,
        }
    }
}

/// What must not differ between two runs.
pub(crate) fn without_times(mut point: Point) -> Point {
    (point.setup_seconds, point.wall_seconds) = (0.0, 0.0);
    (point.node_cycles_per_second, point.packets_per_second) = (0.0, 0.0);
    point
}
