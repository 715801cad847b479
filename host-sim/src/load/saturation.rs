//! The highest load that a network carries.

use serde::{Deserialize, Serialize};

use super::measure::{self, Effort, Experiment};

/// Where a network saturates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saturation {
    /// The highest rate that was carried, packets a node a cycle.
    pub saturation_rate: f64,
    /// The lowest rate that was not, unless every rate up to the fastest source was.
    pub first_saturated_rate: Option<f64>,
    /// Rates tried.
    pub runs: u32,
}

/// Halves the interval until it is at most `precision` of the rate. Every rate is simulated with the same seed.
pub fn find(experiment: &Experiment<'_>, precision: f64) -> Result<Saturation, String> {
    // A source sends at most one flit a cycle.
    let fastest = 1.0 / f64::from(experiment.parameters.packet_flits);
    // Only whether a rate is carried matters here, not how exactly its latency is known.
    let effort = Effort {
        precision: 0.02,
        ..experiment.effort
    };
    let (mut carried, mut saturated, mut runs) = (0.0, None, 0);
    loop {
        let top = saturated.unwrap_or(fastest);
        if runs > 0 && (carried == fastest || (top - carried) <= precision * top) {
            return Ok(Saturation {
                saturation_rate: carried,
                first_saturated_rate: saturated,
                runs,
            });
        }
        let rate = if runs == 0 { fastest } else { (carried + top) / 2.0 };
        runs += 1;
        if measure::run(&Experiment {
            rate,
            effort,
            ..*experiment
        })?
        .saturated
        {
            saturated = Some(rate);
        } else {
            carried = rate;
        }
    }
}
