//! The page of an experiment: charts that compare networks, and the table.

use std::fmt::Write;

use hopwise_figures::escape;

use crate::folder::Infeasible;
use crate::results::{Figure, Results};

/// Figures that are drawn, where there are any: latency, loss, hops, steps.
const DRAWN: &str = "latency_mean latency_p99 hops_mean accepted_rate latency_mean_us latency_p99_us delivered lost \
                     retransmissions detours pings.lost broadcasts.steps";

const LABELS: f64 = 420.0;
const WIDTH: f64 = 460.0;
const LINE: f64 = 20.0;

/// A page in one file, without scripts.
pub fn document(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\n<style>\n\
         body{{font:15px/1.45 sans-serif;margin:2em auto;max-width:75em;padding:0 1em;color:#222;background:#fff}}\n\
         table{{border-collapse:collapse;font-size:13px}}td,th{{padding:.2em .7em;border-bottom:1px solid #ddd;text-align:left}}\n\
         td.n{{text-align:right}}svg{{max-width:100%;height:auto}}\n</style></head><body>\n<h1>{title}</h1>\n{body}</body></html>\n"
    )
}

/// A table below a heading, numbers to the right. Titles have a | between them.
pub fn table(heading: &str, titles: &str, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut out = format!("<h2>{}</h2>\n<table><tr>", escape(heading));
    for title in titles.split('|') {
        let _ = write!(out, "<th>{}", escape(title));
    }
    for row in rows {
        out.push_str("</tr>\n<tr>");
        for cell in row {
            let is_number = cell.parse::<f64>().is_ok();
            let class = if is_number { " class=\"n\"" } else { "" };
            let _ = write!(out, "<td{class}>{}", escape(&cell));
        }
    }
    out + "</tr>\n</table>\n"
}

/// Charts that compare the networks, and all figures.
pub fn html(results: &Results) -> String {
    let mut out = String::new();
    for remark in &results.remarks {
        let _ = writeln!(out, "<p><b>{}</b></p>", escape(remark));
    }
    let mut kinds: Vec<&str> = results.figures.iter().map(|figure| figure.kind.as_str()).collect();
    kinds.dedup();
    for kind in kinds {
        let _ = writeln!(out, "<h2>{}</h2>", escape(kind));
        for name in DRAWN.split(' ') {
            let is_it = |figure: &&Figure| figure.kind == kind && figure.figure == name;
            let mine: Vec<&Figure> = results.figures.iter().filter(is_it).collect();
            if !mine.is_empty() {
                let _ = writeln!(out, "<h3>{}</h3>\n{}", escape(name), chart(&mine));
            }
        }
    }
    if !results.infeasible.is_empty() {
        let row = |Infeasible { job, reason }: &Infeasible| vec![job.command(), reason.clone()];
        let rows = results.infeasible.iter().map(row);
        out += &table("Not applicable (n/a)", "run|reason", rows);
    }
    let titles = "command|network|scenario|figure|mean|± 95%|unit|seeds|one run";
    let row = |figure: &Figure| {
        vec![
            figure.kind.clone(),
            figure.network.clone(),
            figure.scenario.clone(),
            figure.figure.clone(),
            number(figure.mean),
            figure.ci95.map_or("unknown".into(), number),
            figure.unit.into(),
            figure.seeds.to_string(),
            figure.command.clone(),
        ]
    };
    out += &table("All figures", titles, results.figures.iter().map(row));
    let _ = writeln!(out, "<p>{}</p>", escape(&results.provenance.to_string()));
    document("Experiment", &out)
}

fn number(value: f64) -> String {
    let places = if value.fract() == 0.0 && value.abs() < 1e15 {
        0
    } else {
        4
    };
    format!("{value:.places$}")
}

/// A dot for each network and scenario, and a bar as wide as the interval.
fn chart(figures: &[&Figure]) -> String {
    let ends = |figure: &&Figure| figure.mean + figure.ci95.unwrap_or(0.0);
    let most = figures.iter().map(ends).fold(f64::MIN_POSITIVE, f64::max);
    let x = |value: f64| LABELS + WIDTH * (value / most).clamp(0.0, 1.0);
    let height = LINE * (figures.len() as f64 + 1.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0} {height:.0}\" width=\"{:.0}\" font-family=\"sans-serif\" font-size=\"12\">",
        LABELS + WIDTH + 90.0,
        LABELS + WIDTH + 90.0
    );
    let mut networks: Vec<&str> = figures.iter().map(|figure| figure.network.as_str()).collect();
    networks.dedup();
    for (row, figure) in figures.iter().enumerate() {
        let y = LINE * (row as f64 + 1.0);
        let place = networks.iter().position(|network| *network == figure.network);
        let hue = place.unwrap_or(0) * 67 % 360;
        let half = figure.ci95.unwrap_or(0.0);
        let label = escape(&format!("{} {}", figure.network, figure.scenario));
        let [from, at, to] = [-half, 0.0, half].map(|off| x(figure.mean + off));
        let (before, end, behind, below, mean) = (LABELS - 8.0, LABELS + WIDTH, to + 8.0, y + 4.0, number(figure.mean));
        let _ = write!(
            svg,
            "<text x=\"{before:.0}\" y=\"{below:.1}\" text-anchor=\"end\">{label}</text><line x1=\"{LABELS}\" x2=\"{end:.1}\" y1=\"{y:.1}\" \
             y2=\"{y:.1}\" stroke=\"#eee\"/><line x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"hsl({hue},60%,45%)\" \
             stroke-width=\"5\" opacity=\"0.5\"/><circle cx=\"{at:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"hsl({hue},60%,40%)\"/>\
             <text x=\"{behind:.1}\" y=\"{below:.1}\">{mean}</text>"
        );
    }
    svg + "</svg>"
}
