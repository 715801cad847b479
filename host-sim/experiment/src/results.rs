//! What the runs of an experiment found, figure by figure.

use std::collections::{BTreeSet, HashMap};

use hopwise_load::measure::confidence;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::folder::Infeasible;
use crate::job::written;
use crate::{Finding, Job};

/// Figures that tell of the machine and not of the network, and those that the plan says anyway.
const LEFT_OUT: &str = "seed rate nodes packet_flits setup_seconds wall_seconds node_cycles_per_second \
                        packets_per_second bytes_per_node seconds mips threads by_hosts";

/// The unit of a parameter or a figure of a command, if it is more than a number, a share or a text: a line of `units.txt`.
fn unit(of: &str, kind: &str, name: &str) -> &'static str {
    let is = |pattern: &str, text: &str| match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => text.ends_with(end),
        (_, Some(begin)) => text.starts_with(begin),
        _ => text == pattern,
    };
    let lines = include_str!("units.txt").lines();
    let mut entries = lines.map(|line| line.splitn(4, ' ').collect::<Vec<_>>());
    let entry = entries.find(|entry| entry[0] == of && is(entry[1], kind) && is(entry[2], name));
    entry.map_or("", |entry| entry[3])
}

/// The parameters of a job, by name with unit.
fn parameters(job: &Job) -> Map<String, Value> {
    let named = job.options.iter().map(|(name, value)| {
        let (plain, value) = (name.replace('-', "_"), value.clone());
        match unit("parameter", &job.kind, name) {
            "" => (plain, value),
            unit => (format!("{plain}_{unit}"), value),
        }
    });
    named.collect()
}

/// A figure of a network in a scenario, over all seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The command.
    pub kind: String,
    pub network: String,
    /// The options.
    pub scenario: String,
    /// The same, by name with unit.
    pub parameters: Map<String, Value>,
    /// What it is.
    pub figure: String,
    pub unit: &'static str,
    /// The mean over the seeds that know it.
    pub mean: f64,
    /// Half the width of its 95% confidence interval; unknown of one seed.
    pub ci95: Option<f64>,
    pub seeds: usize,
    /// The command of the first seed.
    pub command: String,
}

/// All figures, and what else there is to say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Results {
    /// In the order of the plan.
    pub figures: Vec<Figure>,
    /// Runs whose checks failed, and faults that met nothing.
    pub remarks: Vec<String>,
    pub infeasible: Vec<Infeasible>,
    /// The command, the seeds, and what made the results.
    pub provenance: Value,
}

impl Results {
    pub fn of(runs: &[(&Job, Finding)]) -> Results {
        let mut results = Results {
            figures: Vec::new(),
            remarks: Vec::new(),
            infeasible: Vec::new(),
            provenance: Value::Null,
        };
        // Runs that differ only in the seed, in the order of the first of each.
        let mut groups: Vec<Vec<&(&Job, Finding)>> = Vec::new();
        let mut places = HashMap::new();
        for run in runs {
            let group = (&run.0.kind, &run.0.network, run.0.scenario());
            let place = *places.entry(group).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(group) => group.push(run),
                None => groups.push(vec![run]),
            }
        }
        for group in &groups {
            results.add(group);
        }
        results
    }

    fn add(&mut self, runs: &[&(&Job, Finding)]) {
        let Some((first, _)) = runs.first() else { return };
        let mut figures: Vec<(String, Vec<f64>)> = Vec::new();
        for (name, value) in runs.iter().flat_map(|(_, finding)| numbers(&finding.result)) {
            match figures.iter_mut().find(|(other, _)| *other == name) {
                Some((_, values)) => values.push(value),
                None => figures.push((name, vec![value])),
            }
        }
        for (figure, values) in figures {
            let Some((mean, ci95)) = confidence(&values) else {
                continue;
            };
            self.figures.push(Figure {
                kind: first.kind.clone(),
                network: first.network.clone(),
                scenario: first.scenario(),
                parameters: parameters(first),
                unit: unit("figure", &first.kind, &figure),
                figure,
                mean,
                ci95,
                seeds: values.len(),
                command: first.command(),
            });
        }
        let failed = runs.iter().filter(|(_, finding)| !finding.passed).count();
        if failed > 0 {
            let (of, command) = (runs.len(), first.command());
            self.remarks
                .push(format!("A check failed in {failed} of {of} runs of {command}"));
        }
        let mut runs = runs.iter();
        if runs.all(|(job, finding)| faults_met_nothing(job, &finding.result)) {
            let remark = "The faults met no traffic: nothing was retransmitted, lost or led round in";
            self.remarks.push(format!("{remark} {}", first.command()));
        }
    }
}

fn faults_met_nothing(job: &Job, result: &Value) -> bool {
    let mut faults = "events script ber bursts lost-bytes pull-every reset-every rogue".split(' ');
    let has_faults = faults.any(|name| job.options.contains_key(name));
    let none = |name: &str| result.get(name).and_then(Value::as_f64) == Some(0.0);
    let counts = ["retransmissions", "detours", "lost", "cut_off", "undeliverable"];
    has_faults && counts.into_iter().all(none)
}

/// The numbers of a result, those within others with both names; what is true counts 1. What is unknown is left out.
fn numbers(result: &Value) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    for (name, value) in result.as_object().into_iter().flatten() {
        if LEFT_OUT.split(' ').any(|left_out| left_out == name) || name == "settings" {
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

/// A line for every figure of every run, and for every run that cannot be. Every parameter has a column.
pub fn csv(runs: &[(&Job, Finding)], infeasible: &[Infeasible]) -> Result<String, csv::Error> {
    let others = infeasible.iter().map(|one| &one.job);
    let jobs = runs.iter().map(|(job, _)| *job).chain(others);
    let names: BTreeSet<String> = jobs.flat_map(parameters).map(|(name, _)| name).collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut record = |begin: [&str; 2], cells: Vec<String>, end: [&str; 6]| {
        let cells = cells.iter().map(String::as_str);
        writer.write_record(begin.into_iter().chain(cells).chain(end))
    };
    let titles = ["seed", "figure", "value", "unit", "command", "reason"];
    record(["kind", "network"], names.iter().cloned().collect(), titles)?;
    let mut write = |job: &Job, [figure, value, unit, reason]: [&str; 4]| {
        let said = parameters(job);
        let cell = |name| said.get(name).map(written).unwrap_or_default();
        let end = [&job.seed.to_string(), figure, value, unit, &job.command(), reason];
        record([&job.kind, &job.network], names.iter().map(cell).collect(), end)
    };
    for (job, finding) in runs {
        for (figure, value) in numbers(&finding.result) {
            let unit = unit("figure", &job.kind, &figure);
            write(job, [&figure, &value.to_string(), unit, ""])?;
        }
    }
    for Infeasible { job, reason } in infeasible {
        write(job, ["", "n/a", "", reason])?;
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, json};

    fn job(seed: u64) -> Job {
        Job {
            kind: "sim".into(),
            network: "ring(5)".into(),
            options: Map::from_iter([("events".into(), "1s cut 0.0".into())]),
            seed,
        }
    }

    fn finding(result: Value) -> Finding {
        Finding { passed: true, result }
    }

    #[test]
    fn seeds_become_a_mean_with_its_interval() {
        let found = |seed: u64, latency: f64| {
            finding(json!({ "latency": latency, "seed": seed, "unknown": null, "drops": { "full": 1 }, "lost": 1 }))
        };
        let jobs = [job(1), job(2)];
        let runs = [(&jobs[0], found(1, 10.0)), (&jobs[1], found(2, 12.0))];
        let results = Results::of(&runs);
        let latency = &results.figures[1];
        let seen = (latency.figure.as_str(), latency.mean, latency.seeds);
        assert_eq!(seen, ("latency", 11.0, 2));
        // Student's t of one degree of freedom times the error of the mean.
        assert!((latency.ci95.expect("of two seeds") - 12.706).abs() < 1e-9);
        let names: Vec<&str> = results.figures.iter().map(|figure| figure.figure.as_str()).collect();
        assert_eq!(names, ["drops.full", "latency", "lost"]);
        assert!(results.remarks.is_empty(), "something was lost");
        let (job, reason) = (job(3), "it is, too small".into());
        let table = csv(&runs[..1], &[Infeasible { job, reason }]).expect("a table");
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[0], "kind,network,events,seed,figure,value,unit,command,reason");
        let end = "--seed 3 --json,\"it is, too small\"";
        let line = format!("sim,ring(5),1s cut 0.0,3,,n/a,,hopwise sim 'ring(5)' --events '1s cut 0.0' {end}");
        assert_eq!(lines[4..], [line]);
        let units = ["latency_mean", "link_load_max", "lost"].map(|figure| unit("figure", "load", figure));
        assert_eq!(units, ["cycles", "share of cycles", ""]);
    }

    #[test]
    fn faults_that_meet_no_traffic_are_told() {
        let quiet = json!({ "retransmissions": 0, "detours": 0, "lost": 0, "cut_off": 0, "undeliverable": 0 });
        let results = Results::of(&[(&job(1), finding(quiet))]);
        assert_eq!(results.remarks.len(), 1, "{results:?}");
        assert_eq!(results.figures[0].ci95, None, "one seed tells no interval");
    }
}
