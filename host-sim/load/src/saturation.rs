//! The highest load that a network carries.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::bad::{BadLoad, bad};
use super::measure::{self, Effort, Experiment};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saturation {
    /// The highest rate that was carried, packets a node a cycle.
    pub saturation_rate: f64,
    /// The lowest rate that was not, unless every rate up to the fastest source was.
    pub first_saturated_rate: Option<f64>,
    /// Rates tried.
    pub runs: u32,
    pub virtual_channels: u32,
    /// Bytes of buffers at an end of a link.
    pub buffer_bytes: u64,
}

/// Where a network saturates, by several searches with different seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// The mean of the highest rates that were carried, packets a node a cycle.
    pub saturation_rate: f64,
    /// Half the width of its 95% confidence interval; unknown of one search.
    pub saturation_ci95: Option<f64>,
    /// The search of each seed.
    pub searches: Vec<Saturation>,
}

/// Searches with so many seeds, from that of the experiment on. `tried` is called with the rates tried so far.
pub fn find_with_confidence(
    experiment: &Experiment<'_>,
    precision: f64,
    seeds: u32,
    tried: &dyn Fn(u32),
) -> Result<Confidence, BadLoad> {
    let mut searches: Vec<Saturation> = Vec::new();
    for offset in 0..seeds.max(1) {
        let before: u32 = searches.iter().map(|search| search.runs).sum();
        let experiment = Experiment {
            seed: experiment.seed.wrapping_add(u64::from(offset)),
            ..*experiment
        };
        searches.push(find(&experiment, precision, &|runs| tried(before + runs))?);
    }
    let rates: Vec<f64> = searches.iter().map(|search| search.saturation_rate).collect();
    let (saturation_rate, saturation_ci95) = measure::confidence(&rates).unwrap_or((0.0, None));
    Ok(Confidence {
        saturation_rate,
        saturation_ci95,
        searches,
    })
}

/// The rate at which the hops of a packet are counted before the search.
const PROBE: f64 = 0.001;

/// Draws the first division, besides what the runs draw.
const DIVISION: u64 = 0x6469_7669;
const FIRST_DIVISION: std::ops::Range<f64> = 0.45..0.55;

pub fn expected_runs(precision: f64) -> u32 {
    2 + (1.0 / precision).log2().ceil() as u32
}

/// Whether saturation can be found so closely: otherwise the interval would never be small enough, or is from the beginning.
pub fn check_precision(precision: f64) -> Result<(), BadLoad> {
    match precision > 0.0 && precision < 1.0 {
        true => Ok(()),
        false => Err(bad("the precision of a saturation is above 0 and below 1")),
    }
}

/// Halves the interval between 0 and what the links could carry at best, until it is at most `precision` of the rate. The seed says
/// where it is divided first, so that searches with different seeds do not end at the same few rates and seem to agree better than
/// they do. Every rate is simulated with the same seed. `tried` is called after each with the number of rates so far.
pub fn find(experiment: &Experiment<'_>, precision: f64, tried: &dyn Fn(u32)) -> Result<Saturation, BadLoad> {
    check_precision(precision)?;
    // Only whether a rate is carried matters here, not how exactly its latency is known.
    let effort = Effort {
        precision: 0.02,
        ..experiment.effort
    };
    let run = |rate: f64| {
        measure::run(&Experiment {
            rate,
            effort,
            ..*experiment
        })
    };
    let carries = |rate: f64| run(rate).map(|point| !point.saturated);
    let probe = run(PROBE)?;
    let (hops, virtual_channels, buffer_bytes) = (probe.hops_mean, probe.virtual_channels, probe.buffer_bytes);
    let flits = f64::from(experiment.parameters.packet_flits);
    let bound = links_per_node(experiment) / (hops * flits);
    // A source sends at most one flit a cycle.
    let fastest = 1.0 / flits;
    let mut runs = 1;
    let (mut carried, mut top) = (0.0, bound.min(fastest));
    tried(runs);
    if bound >= fastest {
        runs += 1;
        if carries(fastest)? {
            carried = fastest;
        }
        tried(runs);
    }
    let mut share = Xoshiro256PlusPlus::seed_from_u64(experiment.seed ^ DIVISION).random_range(FIRST_DIVISION);
    while top - carried > precision * top {
        let rate = carried + share * (top - carried);
        share = 0.5;
        runs += 1;
        if carries(rate)? {
            carried = rate;
        } else {
            top = rate;
        }
        tried(runs);
    }
    Ok(Saturation {
        saturation_rate: carried,
        first_saturated_rate: (carried < top).then_some(top),
        runs,
        virtual_channels,
        buffer_bytes,
    })
}

fn links_per_node(experiment: &Experiment<'_>) -> f64 {
    let topology = experiment.network.unchecked();
    let links: u64 = (0..topology.nodes()).map(|node| topology.degree(node)).sum();
    links as f64 / topology.nodes() as f64
}
