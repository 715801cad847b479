//! What a sweep found out: tables, charts and a page. Times of the machine are left out, so that the same plan gives the
//! same files wherever and however often it ran.

use std::fmt::Write;

use hopwise_figures::escape;
use serde::Serialize;

use super::parameters::Paths;
use super::plot::{Chart, Series};
use super::sweep::{Finding, Job};

/// A line of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The network, as an expression.
    pub network: String,
    /// The rule.
    pub rule: String,
    /// Who sends to whom.
    pub traffic: String,
    /// When.
    pub process: String,
    /// Flits of a packet.
    pub packet_flits: u32,
    /// The seed.
    pub seed: u64,
    /// Packets a node a cycle; none in a line about saturation.
    pub rate: Option<f64>,
    /// Mean latency.
    pub latency_mean: Option<f64>,
    /// Half the width of its 95% confidence interval.
    pub latency_ci95: Option<f64>,
    /// 99 of 100 packets took no longer.
    pub latency_p99: Option<u64>,
    /// Mean number of links on a path.
    pub hops_mean: Option<f64>,
    /// Packets delivered, a node a cycle.
    pub accepted_rate: Option<f64>,
    /// Whether the network cannot carry the rate.
    pub saturated: Option<bool>,
    /// The highest rate that it carries.
    pub saturation_rate: Option<f64>,
    /// Virtual channels of a link.
    pub virtual_channels: Option<u32>,
    /// Bytes of buffers at an end of a link.
    pub buffer_bytes: Option<u64>,
    /// Flits that the channels of a link share, if all networks were given the same.
    pub link_buffers: Option<u32>,
    /// How packets reach their destination.
    pub paths: Paths,
    /// Measured packets that failures made undeliverable.
    pub lost: Option<u64>,
    /// The cycle of a deadlock.
    pub deadlock: Option<String>,
}

impl Row {
    /// From a job and its result.
    pub fn new(job: &Job, finding: &Finding) -> Self {
        let mut row = Self {
            network: job.network.clone(),
            rule: job.rule.clone(),
            traffic: job.traffic.to_string(),
            process: job.process.to_string(),
            packet_flits: job.parameters.packet_flits,
            seed: job.seed,
            rate: None,
            latency_mean: None,
            latency_ci95: None,
            latency_p99: None,
            hops_mean: None,
            accepted_rate: None,
            saturated: None,
            saturation_rate: None,
            virtual_channels: None,
            buffer_bytes: None,
            link_buffers: job.parameters.link_buffers,
            paths: job.parameters.paths,
            lost: None,
            deadlock: None,
        };
        match finding {
            Finding::Point(point) => {
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
            Finding::Saturation(saturation) => {
                row.saturation_rate = Some(saturation.saturation_rate);
                row.virtual_channels = Some(saturation.virtual_channels);
                row.buffer_bytes = Some(saturation.buffer_bytes);
            }
        }
        row
    }

    /// What the points of one curve have in common.
    fn curve(&self) -> (&str, &str, &str, &str, u32) {
        (
            &self.network,
            &self.rule,
            &self.traffic,
            &self.process,
            self.packet_flits,
        )
    }
}

/// The table of all jobs.
pub fn rows(findings: &[(&Job, Finding)]) -> Vec<Row> {
    findings.iter().map(|(job, finding)| Row::new(job, finding)).collect()
}

/// The table as CSV.
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
    let (same_rule, same_traffic) = (
        one(|name| name.1.into()),
        one(|name| format!("{} {} {}", name.2, name.3, name.4)),
    );
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

/// Latency against load.
pub fn latency_chart(title: &str, rows: &[Row]) -> Chart {
    let series = curves(rows, |row| row.latency_mean);
    // Curves go up without end; five times the lowest shows where they bend.
    let lowest = series
        .iter()
        .filter_map(|line| line.points.first())
        .map(|point| point.1)
        .fold(f64::INFINITY, f64::min);
    let highest = series
        .iter()
        .flat_map(|line| &line.points)
        .map(|point| point.1)
        .fold(0.0, f64::max);
    let y_end = if lowest.is_finite() {
        (5.0 * lowest).min(1.1 * highest)
    } else {
        1.0
    };
    Chart {
        title: title.into(),
        x_label: "packets a node makes a cycle".into(),
        y_label: "mean latency, cycles".into(),
        y_end,
        series,
    }
}

/// A page with charts and the table, in one file.
pub fn page(title: &str, charts: &[Chart], rows: &[Row]) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n<style>\n\
         body{{font:15px/1.45 sans-serif;margin:2em auto;max-width:70em;padding:0 1em;color:#222;background:#fff}}\n\
         table{{border-collapse:collapse;font-size:13px}}td,th{{padding:.2em .7em;border-bottom:1px solid #ddd;text-align:right}}\n\
         td:nth-child(-n+3),th:nth-child(-n+3){{text-align:left}}svg{{max-width:100%;height:auto}}\n\
         .saturated{{color:#a00}}\n</style></head><body>\n<h1>{0}</h1>\n",
        escape(title)
    );
    for chart in charts {
        out.push_str(&chart.svg());
    }
    out.push_str(&saturation_table(rows));
    out.push_str("<h2>All points</h2>\n<table><tr><th>network<th>rule<th>traffic<th>flits<th>seed<th>rate<th>latency<th>± 95%<th>p99<th>hops<th>accepted<th>channels<th>buffer bytes</tr>\n");
    for row in rows.iter().filter(|row| row.rate.is_some()) {
        let class = if row.saturated == Some(true) {
            " class=\"saturated\""
        } else {
            ""
        };
        let decimal = |value: Option<f64>, places: usize| value.map(|v| format!("{v:.places$}")).unwrap_or_default();
        let _ = writeln!(
            out,
            "<tr{class}>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}</tr>",
            scene_cells(row),
            decimal(row.rate, 4),
            if row.saturated == Some(true) {
                "saturated".into()
            } else {
                decimal(row.latency_mean, 2)
            },
            decimal(row.latency_ci95, 2),
            row.latency_p99.map(|p99| p99.to_string()).unwrap_or_default(),
            decimal(row.hops_mean, 3),
            decimal(row.accepted_rate, 4),
            row.virtual_channels
                .map(|channels| channels.to_string())
                .unwrap_or_default(),
            row.buffer_bytes.map(|bytes| bytes.to_string()).unwrap_or_default(),
        );
    }
    out.push_str("</table>\n</body></html>\n");
    out
}

/// The cells that say what was simulated: network, rule, traffic, flits, seed.
fn scene_cells(row: &Row) -> String {
    let [network, rule, traffic, process] =
        [&row.network, &row.rule, &row.traffic, &row.process].map(|text| escape(text));
    let (flits, seed) = (row.packet_flits, row.seed);
    format!("<td>{network}<td>{rule}<td>{traffic} {process}<td>{flits}<td>{seed}")
}

fn saturation_table(rows: &[Row]) -> String {
    let mut out = String::new();
    let found: Vec<&Row> = rows.iter().filter(|row| row.saturation_rate.is_some()).collect();
    if found.is_empty() {
        return out;
    }
    out.push_str("<h2>Saturation</h2>\n<table><tr><th>network<th>rule<th>traffic<th>flits<th>seed<th>packets per node and cycle</tr>\n");
    for row in found {
        let _ = writeln!(
            out,
            "<tr>{}<td>{:.4}</tr>",
            scene_cells(row),
            row.saturation_rate.unwrap_or(0.0)
        );
    }
    out.push_str("</table>\n");
    out
}
