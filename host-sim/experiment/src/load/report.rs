//! What a sweep found out: tables, charts and a page. Times of the machine are left out, so that the same plan gives the
//! same files wherever and however often it ran.

use std::fmt::Write;

use hopwise_load::parameters::Paths;
use hopwise_load::settings::{Found, Settings};
use serde::{Deserialize, Serialize};

use super::plot::{Chart, Series};
use crate::page::{document, table};
use crate::{Finding, Job, Refused};

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    pub network: String,
    pub rule: String,
    pub traffic: String,
    pub process: String,
    pub packet_flits: u32,
    pub seed: u64,
    /// Packets a node a cycle; none in a line about saturation.
    pub rate: Option<f64>,
    pub latency_mean: Option<f64>,
    pub latency_ci95: Option<f64>,
    pub latency_p99: Option<u64>,
    pub hops_mean: Option<f64>,
    pub accepted_rate: Option<f64>,
    pub saturated: Option<bool>,
    /// The highest rate that it carries.
    pub saturation_rate: Option<f64>,
    pub virtual_channels: Option<u32>,
    pub buffer_bytes: Option<u64>,
    /// Flits that the channels of a link share, if all networks were given the same.
    pub link_buffers: Option<u32>,
    pub paths: Paths,
    pub lost: Option<u64>,
    pub deadlock: Option<String>,
}

impl Row {
    /// From a job and its result, if it is about a load.
    pub fn new(job: &Job, finding: &Finding) -> Result<Self, Refused> {
        if job.kind != "load" {
            let command = job.command();
            return Err(format!("{command}: this is no load, so `hopwise experiment` makes the table").into());
        }
        let settings = Settings::of(&job.settings())?;
        let parameters = settings.scene.parameters();
        let mut row = Self {
            network: job.network.clone(),
            rule: settings.rule().into(),
            traffic: settings.scene.traffic().to_string(),
            process: settings.scene.process().to_string(),
            packet_flits: parameters.packet_flits,
            seed: job.seed,
            link_buffers: parameters.link_buffers,
            paths: parameters.paths,
            ..Self::default()
        };
        match Found::deserialize(&finding.result)? {
            Found::Point(point) => {
                row.rate = Some(point.rate);
                row.latency_mean = Some(point.latency_mean);
                row.latency_ci95 = point.latency_ci95;
                row.latency_p99 = Some(point.latency_p99);
                row.hops_mean = Some(point.hops_mean);
                row.accepted_rate = Some(point.accepted_rate);
                row.saturated = Some(point.saturated);
                row.deadlock.clone_from(&point.deadlock);
                row.lost = Some(point.lost);
                row.virtual_channels = Some(point.virtual_channels);
                row.buffer_bytes = Some(point.buffer_bytes);
            }
            Found::Saturation(saturation) => {
                row.saturation_rate = Some(saturation.saturation_rate);
                row.virtual_channels = saturation.searches.first().map(|search| search.virtual_channels);
                row.buffer_bytes = saturation.searches.first().map(|search| search.buffer_bytes);
            }
        }
        Ok(row)
    }

    /// What the points of one curve have in common.
    fn curve(&self) -> (&str, &str, &str, &str, u32) {
        let (network, rule) = (&self.network, &self.rule);
        (network, rule, &self.traffic, &self.process, self.packet_flits)
    }
}

pub fn rows(findings: &[(&Job, Finding)]) -> Result<Vec<Row>, Refused> {
    findings.iter().map(|(job, finding)| Row::new(job, finding)).collect()
}

pub fn csv(rows: &[Row]) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// One line of a chart a network, rule and traffic, over the rates that were carried; several seeds are averaged.
pub fn curves(rows: &[Row], value: impl Fn(&Row) -> Option<f64>) -> Vec<Series> {
    let mut names: Vec<_> = Vec::new();
    for row in rows.iter().filter(|row| row.rate.is_some()) {
        if !names.contains(&row.curve()) {
            names.push(row.curve());
        }
    }
    let mut networks: Vec<&str> = names.iter().map(|name| name.0).collect();
    networks.dedup();
    let one =
        |part: fn(&(&str, &str, &str, &str, u32)) -> String| names.iter().all(|name| part(name) == part(&names[0]));
    let same_rule = one(|name| name.1.into());
    let same_traffic = one(|name| format!("{} {} {}", name.2, name.3, name.4));
    names
        .iter()
        .map(|name| {
            let mine: Vec<&Row> = rows.iter().filter(|row| row.curve() == *name).collect();
            let mut label = name.0.to_string();
            if !same_rule {
                let _ = write!(label, ", {}", name.1);
            }
            if !same_traffic {
                let _ = write!(label, ", {} {}, {} flits", name.2, name.3, name.4);
            }
            let color = networks.iter().position(|network| *network == name.0).unwrap_or(0);
            Series {
                name: label,
                points: averages(&mine, &value),
                dashed: name.1 == "paper",
                color,
            }
        })
        .collect()
}

fn averages(rows: &[&Row], value: impl Fn(&Row) -> Option<f64>) -> Vec<(f64, f64)> {
    let mut rates: Vec<f64> = rows.iter().filter_map(|row| row.rate).collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    let at = |rate: f64| {
        let mine: Vec<_> = rows.iter().filter(|row| row.rate == Some(rate)).collect();
        let carried = mine.iter().all(|row| row.saturated == Some(false));
        let values: Vec<f64> = mine.iter().filter_map(|row| value(row)).collect();
        (carried && !values.is_empty()).then(|| (rate, values.iter().sum::<f64>() / values.len() as f64))
    };
    rates.into_iter().map_while(at).collect()
}

pub fn latency_chart(title: &str, rows: &[Row]) -> Chart {
    let series = curves(rows, |row| row.latency_mean);
    // Curves go up without end; five times the lowest shows where they bend.
    let first = series.iter().filter_map(|line| line.points.first());
    let lowest = first.map(|point| point.1).fold(f64::INFINITY, f64::min);
    let points = series.iter().flat_map(|line| &line.points);
    let highest = points.map(|point| point.1).fold(0.0, f64::max);
    let end = (5.0 * lowest).min(1.1 * highest);
    let y_end = if lowest.is_finite() { end } else { 1.0 };
    Chart {
        title: title.into(),
        x_label: "packets a node makes a cycle".into(),
        y_label: "mean latency, cycles".into(),
        y_end,
        series,
    }
}

/// A page with a chart and the tables, in one file.
pub fn page(title: &str, chart: &Chart, rows: &[Row]) -> String {
    let decimal = |value: Option<f64>, places: usize| value.map(|v| format!("{v:.places$}")).unwrap_or_default();
    let whole = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    // What was simulated, and then what was found.
    let cells = |row: &Row, found: Vec<String>| {
        let traffic = format!("{} {}", row.traffic, row.process);
        let (flits, seed) = (row.packet_flits.to_string(), row.seed.to_string());
        let scene = [row.network.clone(), row.rule.clone(), traffic, flits, seed];
        scene.into_iter().chain(found).collect()
    };
    let point = |row: &Row| {
        let latency = match row.saturated {
            Some(true) => "saturated".into(),
            _ => decimal(row.latency_mean, 2),
        };
        let found = vec![
            decimal(row.rate, 4),
            latency,
            decimal(row.latency_ci95, 2),
            whole(row.latency_p99),
            decimal(row.hops_mean, 3),
            decimal(row.accepted_rate, 4),
            whole(row.virtual_channels.map(u64::from)),
            whole(row.buffer_bytes),
        ];
        cells(row, found)
    };
    let mut body = chart.svg();
    let scene = "network|rule|traffic|flits|seed";
    let mut saturations = rows.iter().filter(|row| row.saturation_rate.is_some()).peekable();
    if saturations.peek().is_some() {
        let titles = format!("{scene}|packets per node and cycle");
        let rows = saturations.map(|row| cells(row, vec![decimal(row.saturation_rate, 4)]));
        body += &table("Saturation", &titles, rows);
    }
    let titles = format!("{scene}|rate|latency|± 95%|p99|hops|accepted|channels|buffer bytes");
    let points = rows.iter().filter(|row| row.rate.is_some()).map(point);
    body += &table("All points", &titles, points);
    document(title, &body)
}
