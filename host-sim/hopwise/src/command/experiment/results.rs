//! What the runs of an experiment found, figure by figure.

use serde::Serialize;
use serde_json::Value;

use super::Done;
use crate::command::error::CliError;
use hopwise_load::measure::confidence;

/// Figures that tell of the machine and not of the network, and those that the plan says anyway.
const LEFT_OUT: [&str; 13] = [
    "seed",
    "rate",
    "nodes",
    "packet_flits",
    "setup_seconds",
    "wall_seconds",
    "node_cycles_per_second",
    "packets_per_second",
    "bytes_per_node",
    "seconds",
    "mips",
    "threads",
    "by_computers",
];

/// A figure of a network in a scenario, over all seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Figure {
    /// The command.
    pub(super) kind: String,
    /// The network.
    pub(super) network: String,
    /// The options.
    pub(super) scenario: String,
    /// What it is.
    pub(super) figure: String,
    /// The mean over the seeds that know it.
    pub(super) mean: f64,
    /// Half the width of its 95% confidence interval; unknown of one seed.
    pub(super) ci95: Option<f64>,
    /// How many seeds know it.
    pub(super) seeds: usize,
    /// The command of the first seed.
    pub(super) command: String,
}

/// All figures, and what else there is to say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Results {
    /// In the order of the plan.
    pub(super) figures: Vec<Figure>,
    /// Runs whose checks failed, and faults that met nothing.
    pub(super) remarks: Vec<String>,
}

impl Results {
    pub(super) fn of(done: &[Done]) -> Results {
        let mut figures: Vec<Figure> = Vec::new();
        let mut remarks = Vec::new();
        let same = |a: &Done, b: &Done| {
            (&a.job.kind, &a.job.network, &a.job.options) == (&b.job.kind, &b.job.network, &b.job.options)
        };
        for runs in done.chunk_by(same) {
            let Some(first) = runs.first() else { continue };
            let mut names: Vec<String> = Vec::new();
            for (name, _) in runs.iter().flat_map(|run| numbers(&run.result)) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            for name in names {
                let values: Vec<f64> = runs
                    .iter()
                    .flat_map(|run| numbers(&run.result))
                    .filter(|(other, _)| *other == name)
                    .map(|(_, value)| value)
                    .collect();
                let Some((mean, ci95)) = confidence(&values) else {
                    continue;
                };
                figures.push(Figure {
                    kind: first.job.kind.clone(),
                    network: first.job.network.clone(),
                    scenario: first.job.scenario(),
                    figure: name,
                    mean,
                    ci95,
                    seeds: values.len(),
                    command: first.job.command(),
                });
            }
            let failed = runs.iter().filter(|run| !run.passed).count();
            if failed > 0 {
                let of = runs.len();
                remarks.push(format!(
                    "A check failed in {failed} of {of} runs of {}",
                    first.job.command()
                ));
            }
            if runs.iter().all(faults_met_nothing) {
                remarks.push(format!(
                    "The faults met no traffic: nothing was sent again, lost or led round in {}",
                    first.job.command()
                ));
            }
        }
        Results { figures, remarks }
    }
}

/// Whether a simulation had faults that nobody noticed.
fn faults_met_nothing(done: &Done) -> bool {
    let faults = [
        "events",
        "script",
        "ber",
        "bursts",
        "lost-bytes",
        "pull-every",
        "reset-every",
        "rogue",
    ];
    let has_faults = faults.iter().any(|name| done.job.options.contains_key(*name));
    let none = |name: &str| {
        done.result
            .get(name)
            .and_then(Value::as_f64)
            .is_some_and(|count| count == 0.0)
    };
    has_faults
        && ["retransmissions", "detours", "lost", "cut_off", "undeliverable"]
            .into_iter()
            .all(none)
}

/// The numbers of a result, those within others with both names; what is true counts 1. What is unknown is left out.
fn numbers(result: &Value) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    for (name, value) in result.as_object().into_iter().flatten() {
        if LEFT_OUT.contains(&name.as_str()) || name == "settings" {
            continue;
        }
        match value {
            Value::Number(number) => found.extend(number.as_f64().map(|number| (name.clone(), number))),
            Value::Bool(is) => found.push((name.clone(), f64::from(u8::from(*is)))),
            Value::Object(inner) => {
                let within = inner.iter().filter_map(|(part, value)| Some((part, value.as_f64()?)));
                found.extend(within.map(|(part, value)| (format!("{name}.{part}"), value)));
            }
            _ => (),
        }
    }
    found
}

/// A line for every figure of every run.
pub(super) fn csv(done: &[Done]) -> Result<String, CliError> {
    let failed = |error: csv::Error| CliError::output(error);
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer
        .write_record(["kind", "network", "scenario", "seed", "figure", "value", "command"])
        .map_err(failed)?;
    for run in done {
        for (figure, value) in numbers(&run.result) {
            let job = &run.job;
            let (seed, value) = (job.seed.to_string(), value.to_string());
            let (scenario, command) = (job.scenario(), job.command());
            writer
                .write_record([&job.kind, &job.network, &scenario, &seed, &figure, &value, &command])
                .map_err(failed)?;
        }
    }
    let bytes = writer.into_inner().map_err(CliError::output)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::super::plan::Job;
    use super::*;
    use serde_json::json;

    fn done(seed: u64, result: Value) -> Done {
        let options = [("events".to_string(), "1s cut 0.0".to_string())].into();
        Done {
            job: Job {
                kind: "sim".into(),
                network: "ring(5)".into(),
                options,
                seed,
            },
            passed: true,
            result,
        }
    }

    #[test]
    fn seeds_become_a_mean_with_its_interval() {
        let run = |seed: u64, latency: f64| {
            let result =
                json!({ "latency": latency, "seed": seed, "unknown": null, "drops": { "full": 1 }, "lost": 1 });
            done(seed, result)
        };
        let results = Results::of(&[run(1, 10.0), run(2, 12.0)]);
        let latency = &results.figures[1];
        assert_eq!(
            (latency.figure.as_str(), latency.mean, latency.seeds),
            ("latency", 11.0, 2)
        );
        // Student's t of one degree of freedom times the error of the mean.
        assert!((latency.ci95.expect("of two seeds") - 12.706).abs() < 1e-9);
        let names: Vec<&str> = results.figures.iter().map(|figure| figure.figure.as_str()).collect();
        assert_eq!(names, ["drops.full", "latency", "lost"]);
        assert!(results.remarks.is_empty(), "something was lost");
        assert_eq!(csv(&[run(1, 10.0)]).expect("a table").lines().count(), 1 + 3);
    }

    #[test]
    fn faults_that_meet_no_traffic_are_told() {
        let quiet = json!({ "retransmissions": 0, "detours": 0, "lost": 0, "cut_off": 0, "undeliverable": 0 });
        let results = Results::of(&[done(1, quiet)]);
        assert_eq!(results.remarks.len(), 1, "{results:?}");
        assert_eq!(results.figures[0].ci95, None, "one seed tells no interval");
    }
}
