//! One point of a curve: warm up, measure, drain.

mod check;
mod point;

pub use check::check;
pub use point::{FLIT_BYTES, Point};

use std::time::Instant;

use hopwise_core::{Network, Rule};
use hopwise_language::Traffic;

use super::bad::{BadLoad, bad};
use super::engine::{Engine, MoreClasses};
use super::failures::Failures;
use super::parameters::{Parameters, Process};
use super::routes::RouteTable;
use super::schedule::Schedule;
use super::watchdog::{Deadlock, find_cycle};

#[derive(Clone, Copy, Debug)]
pub struct Experiment<'a> {
    pub network: &'a Network,
    pub rule: Rule,
    pub parameters: Parameters,
    pub traffic: Traffic,
    pub process: Process,
    /// Packets that a node makes in a cycle, on average.
    pub rate: f64,
    /// The same seed gives the same result, to the last digit.
    pub seed: u64,
    pub effort: Effort,
    pub failures: Option<&'a Failures>,
    /// In place of the routing function.
    pub routes: Option<&'a RouteTable>,
    /// Threads that share the work on a large network. The result is the same with any number.
    pub threads: usize,
}

impl<'a> Experiment<'a> {
    /// The network with the routers, the traffic and a low load of the reference simulator.
    pub fn new(network: &'a Network) -> Self {
        Self {
            network,
            rule: Rule::Exact,
            parameters: Parameters::BOOKSIM,
            traffic: Traffic::UniformWithSelf,
            process: Process::Bernoulli,
            rate: 0.05,
            seed: 1,
            effort: Effort::default(),
            failures: None,
            routes: None,
            threads: 1,
        }
    }
}

/// When a measurement is long enough.

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Half the width of the 95% confidence interval of the mean latency, relative to it, that is aimed at.
    pub precision: f64,
    pub least_cycles: u32,
    pub most_cycles: u32,
    /// A mean latency above this means saturation.
    pub latency_limit: f64,
    /// Cycles between two looks at how things are going, as a power of two.
    pub batch_bits: u32,
}

impl Default for Effort {
    fn default() -> Self {
        Self {
            precision: 0.01,
            least_cycles: 10 << 10,
            most_cycles: 100 << 10,
            latency_limit: 500.0,
            batch_bits: 10,
        }
    }
}

/// Warm-up lasts until the mean latency changes by less than this from one batch to the next.
const STEADY: f64 = 0.05;
const LEAST_WARM_UP: u32 = 3;
const MAX_WARM_UP: u32 = 20;
/// Fewer delivered than made by more than this is saturation.
const SHORTFALL: f64 = 0.05;
/// After so many batches a large shortfall is enough to give up.
const HOPELESS: u32 = 4;
/// Batches are joined to this many, so that each is nearly independent of the next.
const GROUPS: usize = 10;
/// For the same reason each of them lasts at least so many mean latencies.
const LATENCIES: f64 = 10.0;
/// Latencies that rise from the first half of a measurement to the second by this share, and by more than chance, are those of a
/// network that never gets steady.
const RISE: f64 = 0.1;
const LINK_BARS: usize = 20;
/// Student's t for 99% and 8 degrees of freedom.
const STUDENT_OF_HALVES: f64 = 3.355;
/// Student's t for 95% and 9 degrees of freedom.
const STUDENT: f64 = 2.262;

enum Stop {
    MoreClasses(MoreClasses),
    Deadlock(Deadlock),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Cycles measured.
    pub measured: u32,
    /// Cycles that will be enough, as it looks now.
    pub enough: u32,
}

pub fn run(experiment: &Experiment<'_>) -> Result<Point, BadLoad> {
    run_watched(experiment, &mut |_| ())
}

/// As [`run`]; `watch` is called from time to time.
pub fn run_watched(experiment: &Experiment<'_>, watch: &mut dyn FnMut(Progress)) -> Result<Point, BadLoad> {
    simulate(experiment, None, watch)
}

/// Sends what a schedule says, instead of traffic at a rate, until all has arrived.
pub fn replay(experiment: &Experiment<'_>, schedule: &Schedule) -> Result<Point, BadLoad> {
    simulate(experiment, Some(schedule), &mut |_| ())
}

fn simulate(
    experiment: &Experiment<'_>,
    schedule: Option<&Schedule>,
    watch: &mut dyn FnMut(Progress),
) -> Result<Point, BadLoad> {
    check(experiment)?;
    let mut classes = 0;
    loop {
        let begun = Instant::now();
        let engine = Engine::new(experiment, schedule, classes).map_err(bad)?;
        let setup = begun.elapsed().as_secs_f64();
        let mut measurement = Measurement {
            experiment,
            schedule,
            engine,
            watch: &mut *watch,
            stalled: 0,
            moved: 0,
            from: 0,
            to: 0,
        };
        let begun = Instant::now();
        let outcome = measurement.run();
        if let Err(Stop::MoreClasses(MoreClasses(more))) = outcome {
            classes = more;
            continue;
        }
        let wall = begun.elapsed().as_secs_f64();
        return Ok(measurement.point(outcome, setup, wall));
    }
}

struct Measurement<'a> {
    experiment: &'a Experiment<'a>,
    schedule: Option<&'a Schedule>,
    engine: Engine<'a>,
    watch: &'a mut dyn FnMut(Progress),
    /// Batches without any movement.
    stalled: u32,
    moved: u64,
    /// When measuring began and ended.
    from: u32,
    to: u32,
}

impl Measurement<'_> {
    /// Whether all measured packets arrived.
    fn run(&mut self) -> Result<bool, Stop> {
        if let Some(schedule) = self.schedule {
            self.engine.open(self.experiment.effort.batch_bits);
            let played = self.play(schedule.messages().len() as u64);
            self.to = self.engine.now;
            self.engine.close();
            return played;
        }
        self.warm_up()?;
        let length = self.length()?;
        self.from = self.engine.now;
        self.engine.open(self.experiment.effort.batch_bits);
        let measured = self.measure(length);
        self.to = self.engine.now;
        self.engine.close();
        measured?;
        self.drain()
    }

    /// Runs until all messages of a schedule have arrived, or no more can be sent.
    fn play(&mut self, messages: u64) -> Result<bool, Stop> {
        loop {
            self.batch()?;
            let record = &self.engine.recorder;
            if record.expected == messages && record.is_complete() {
                return Ok(true);
            }
            if self.engine.alive() == 0 && !self.engine.has_plans() {
                return Ok(false);
            }
        }
    }

    fn batch(&mut self) -> Result<(), Stop> {
        self.advance(1 << self.experiment.effort.batch_bits)
    }

    fn advance(&mut self, cycles: u32) -> Result<(), Stop> {
        self.engine.run(cycles).map_err(Stop::MoreClasses)?;
        self.look_for_locks()
    }

    /// Looks for packets that wait for each other in a cycle. That nothing moves without one would be a fault of the
    /// simulator; it must not run on for ever.
    fn look_for_locks(&mut self) -> Result<(), Stop> {
        if let Some(deadlock) = find_cycle(&self.engine) {
            return Err(Stop::Deadlock(deadlock));
        }
        let moved = std::mem::replace(&mut self.moved, self.engine.moved());
        let is_stalled = self.engine.alive() > 0 && moved == self.moved;
        self.stalled = u32::from(is_stalled) * (self.stalled + 1);
        let timeout = 1 + (self.experiment.parameters.longest_delay() >> self.experiment.effort.batch_bits);
        if self.stalled > timeout {
            return Err(Stop::Deadlock(Deadlock { cycle: Vec::new() }));
        }
        Ok(())
    }

    fn warm_up(&mut self) -> Result<(), Stop> {
        let mut before: Option<f64> = None;
        for batch in 0..MAX_WARM_UP {
            self.batch()?;
            let mean = self.engine.recorder.take_recent();
            let steady = match (before, mean) {
                (Some(before), Some(mean)) => (mean - before).abs() < STEADY * mean,
                (None, None) => true,
                _ => false,
            };
            // An overloaded network never gets steady.
            let overloaded = mean.is_some_and(|mean| mean > self.experiment.effort.latency_limit);
            if overloaded || (batch + 1 >= LEAST_WARM_UP && steady) {
                break;
            }
            before = mean;
        }
        Ok(())
    }

    /// How many cycles to measure. A trial tells, which is then forgotten: an interval that decided when to stop would be too
    /// narrow.
    fn length(&mut self) -> Result<u32, Stop> {
        let effort = &self.experiment.effort;
        let (batch_bits, most_cycles) = (effort.batch_bits, effort.most_cycles);
        if effort.least_cycles >= most_cycles {
            return Ok(most_cycles);
        }
        self.from = self.engine.now;
        self.engine.open(batch_bits.saturating_sub(1));
        for _ in 0..GROUPS / 2 {
            self.batch()?;
        }
        let cycles = f64::from(self.engine.now - self.from);
        let (mean, half_width) = self.estimate(batch_bits.saturating_sub(1));
        if mean > effort.latency_limit {
            // Not carried: it need not be known exactly by how much.
            return Ok(most_cycles.min(HOPELESS << batch_bits));
        }
        let enough = match half_width {
            // The interval shrinks with the square root of the time.
            Some(half_width) => cycles * (half_width / (effort.precision * mean)).powi(2),
            None => f64::from(most_cycles),
        };
        let least = f64::from(effort.least_cycles).max(LATENCIES * GROUPS as f64 * mean);
        let enough = enough.max(least);
        let batch = 1 << batch_bits;
        Ok((enough.min(f64::from(most_cycles)) as u32).div_ceil(batch) * batch)
    }

    fn measure(&mut self, length: u32) -> Result<(), Stop> {
        let effort = &self.experiment.effort;
        loop {
            let left = length - (self.engine.now - self.from);
            self.advance(left.min(1 << effort.batch_bits))?;
            let cycles = self.engine.now - self.from;
            let overloaded = self.engine.throttled() || self.overloaded(2.0 * SHORTFALL);
            let hopeless = overloaded && cycles >= HOPELESS << effort.batch_bits;
            (self.watch)(Progress {
                measured: cycles,
                enough: length,
            });
            if hopeless || cycles >= length {
                return Ok(());
            }
        }
    }

    /// Whether fewer packets arrived than were made, by more than this share and more than chance.
    fn overloaded(&self, share: f64) -> bool {
        let record = &self.engine.recorder;
        let expected = record.expected as f64;
        ((record.accepted + record.lost) as f64) < expected * (1.0 - share) - 3.0 * expected.sqrt()
    }

    /// Sources go on, so that the last measured packets meet the same traffic as the first.
    fn drain(&mut self) -> Result<bool, Stop> {
        if self.engine.throttled() || self.overloaded(SHORTFALL) {
            return Ok(false);
        }
        let effort = &self.experiment.effort;
        let timeout = ((4.0 * effort.latency_limit) as u32 >> effort.batch_bits) + 4;
        for _ in 0..timeout {
            if self.engine.recorder.is_complete() {
                return Ok(true);
            }
            self.batch()?;
        }
        Ok(self.engine.recorder.is_complete())
    }

    /// The mean latencies of [`GROUPS`] parts of what was measured, in batches of 2^`batch_bits` cycles; `None` if it is too little,
    /// or the parts are shorter than ten of the mean latency.
    fn groups(&self, mean: f64, batch_bits: u32) -> Option<Vec<f64>> {
        let batches = &self.engine.recorder.batches;
        let size = batches.len() / GROUPS;
        if size == 0 || ((size as u64) << batch_bits) as f64 <= LATENCIES * mean {
            return None;
        }
        let groups = batches.chunks(size).take(GROUPS).map(total);
        let means = groups.map(|(sum, count)| (count > 0).then(|| sum as f64 / count as f64));
        means.collect()
    }

    /// The mean latency, and half the width of its confidence interval if enough was measured for one.
    fn estimate(&self, batch_bits: u32) -> (f64, Option<f64>) {
        let (sum, count) = total(&self.engine.recorder.batches);
        let mean = if count == 0 { 0.0 } else { sum as f64 / count as f64 };
        let half_width = self.groups(mean, batch_bits).map(|groups| {
            let (_, variance) = mean_and_variance(&groups);
            STUDENT * (variance / GROUPS as f64).sqrt()
        });
        (mean, half_width)
    }

    /// Whether latencies still rise, by more than chance.
    fn rises(&self, mean: f64) -> bool {
        let Some(groups) = self.groups(mean, self.experiment.effort.batch_bits) else {
            return false;
        };
        let (first, second) = groups.split_at(GROUPS / 2);
        let ((before, one), (after, other)) = (mean_and_variance(first), mean_and_variance(second));
        let chance = STUDENT_OF_HALVES * ((one + other) / (GROUPS as f64 / 2.0)).sqrt();
        after - before > RISE * mean && after - before > chance
    }

    fn point(&self, outcome: Result<bool, Stop>, setup_seconds: f64, wall_seconds: f64) -> Point {
        let Self { experiment, engine, .. } = self;
        let record = &engine.recorder;
        let nodes = experiment.network.nodes();
        let (mean, half_width) = self.estimate(experiment.effort.batch_bits);
        let window = self.to - self.from;
        let rate = |packets: u64| packets as f64 / (nodes as f64 * f64::from(window.max(1)));
        let not_carried = || {
            let late = mean > experiment.effort.latency_limit || self.rises(mean);
            late || engine.throttled() || self.overloaded(SHORTFALL)
        };
        let saturated = match &outcome {
            Ok(drained) => self.schedule.is_none() && (!drained || not_carried()),
            Err(_) => true,
        };
        let deadlock = match outcome {
            Err(Stop::Deadlock(deadlock)) => Some(deadlock.to_string()),
            _ => None,
        };
        let per_second = |count: f64| count / wall_seconds.max(1e-9);
        let (classes, virtual_channels, buffers) = engine.channel_plan();
        let (failed_links, failed_routers) = engine.failed();
        let hops: u64 = record.hops.iter().zip(0..).map(|(packets, hops)| packets * hops).sum();
        let share = |flits: u32| f64::from(flits) / f64::from(window.max(1));
        let mut link_histogram = vec![0; LINK_BARS];
        for &flits in &engine.link_flits {
            link_histogram[((share(flits) * LINK_BARS as f64).ceil() as usize).clamp(1, LINK_BARS) - 1] += 1;
        }
        let flits: u64 = engine.link_flits.iter().map(|&flits| u64::from(flits)).sum();
        let messages = self.schedule.map_or(0, |schedule| schedule.messages().len() as u64);
        Point {
            network: experiment.network.to_string(),
            nodes,
            rule: experiment.rule.name().into(),
            paths: experiment.parameters.paths,
            traffic: match self.schedule {
                Some(schedule) => schedule.name().into(),
                None => experiment.traffic.to_string(),
            },
            process: experiment.process.to_string(),
            packet_flits: experiment.parameters.packet_flits,
            rate: experiment.rate,
            seed: experiment.seed,
            latency_mean: mean,
            latency_ci95: half_width.filter(|_| !saturated),
            latency_p50: record.latencies.percentile(50),
            latency_p95: record.latencies.percentile(95),
            latency_p99: record.latencies.percentile(99),
            latency_max: record.latencies.greatest(),
            hops_mean: hops as f64 / record.measured.max(1) as f64,
            hops_histogram: record.hops.clone(),
            link_load_mean: flits as f64 / (f64::from(window.max(1)) * engine.link_flits.len().max(1) as f64),
            link_load_max: share(engine.link_flits.iter().copied().max().unwrap_or(0)),
            link_histogram,
            lost: record.lost,
            failed_links,
            failed_routers,
            unsent: messages.saturating_sub(record.expected),
            finished: self.schedule.map(|_| u64::from(record.last_delivery)),
            offered_rate: rate(record.offered),
            accepted_rate: rate(record.accepted),
            saturated,
            deadlock,
            cycles: u64::from(engine.now),
            packets: record.delivered,
            packets_measured: record.measured,
            flit_hops: engine.moved(),
            classes,
            virtual_channels,
            buffer_bytes: u64::from(virtual_channels) * u64::from(buffers) * FLIT_BYTES,
            bytes_per_node: engine.bytes() as u64 / nodes,
            setup_seconds,
            wall_seconds,
            node_cycles_per_second: per_second(nodes as f64 * f64::from(engine.now)),
            packets_per_second: per_second(record.delivered as f64),
        }
    }
}

/// The sum of latencies and the number of packets of some batches.
fn total(batches: &[(u64, u64)]) -> (u64, u64) {
    let add = |total: (u64, u64), batch: &(u64, u64)| (total.0 + batch.0, total.1 + batch.1);
    batches.iter().fold((0, 0), add)
}

/// With the variance of a sample.
fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, variance)
}

/// The mean of independent values and half the width of its 95% confidence interval, which two values at least tell.
pub fn confidence(values: &[f64]) -> Option<(f64, Option<f64>)> {
    /// Student's t for 95%, by degrees of freedom.
    const T: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    if values.is_empty() {
        return None;
    }
    let (mean, variance) = mean_and_variance(values);
    let t = match values.len() {
        1 => return Some((mean, None)),
        // Beyond the table it falls slowly to 1.96.
        count => T.get(count - 2).copied().unwrap_or(1.96 + 2.7 / (count as f64 - 1.0)),
    };
    Some((mean, Some(t * (variance / values.len() as f64).sqrt())))
}
