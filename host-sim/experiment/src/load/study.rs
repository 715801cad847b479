//! The study: the papers' networks against torus and hypercube, at four sizes.
//!
//! Everything in the document but the introduction is computed from the results.

use std::fmt::Write;

use hopwise_load::measure::confidence;
use serde_json::{Map, Value, json};

use super::plot::Chart;
use super::report::{self, Row};
use crate::Job;

/// Networks of about one size. The first two are what everybody knows.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// About how many nodes.
    pub nodes: u32,
    /// Apart by spaces.
    pub networks: &'static str,
    /// The rates of the curves.
    pub rates: &'static [f64],
}

pub const SIZES: [Size; 4] = [
    Size {
        nodes: 64,
        networks: "torus(8,8) hypercube(6) rdn(ring(6),1) re(ring(4),complete(4),2) rcr(2,4,2) \
                   rsn(2,hypercube(3))",
        rates: &[0.02, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6],
    },
    Size {
        nodes: 200,
        networks: "torus(14,14) hypercube(8) rdn(petersen,1) re(ring(4),complete(3),3) rcr(2,3,4) \
                   rsn(2,ring(14)) folded(heawood,2) root-folded(heawood,2)",
        rates: &[0.01, 0.04, 0.08, 0.12, 0.16, 0.2, 0.3, 0.4],
    },
    Size {
        nodes: 650,
        networks: "torus(25,26) hypercube(9) rdn(torus(3,6),1) re(ring(6),complete(3),3) rcr(3,10,3) \
                   rsn(2,torus(5,5))",
        rates: &[0.01, 0.03, 0.06, 0.09, 0.12, 0.16, 0.2, 0.3],
    },
    Size {
        nodes: 3_000,
        networks: "torus(54,55) hypercube(11) rdn(torus(5,8),1) re(ring(4),complete(3),5) rcr(4,12,4) \
                   rsn(2,torus(6,9)) folded(heawood,3) root-folded(heawood,3)",
        rates: &[0.005, 0.02, 0.05, 0.1, 0.15, 0.2],
    },
];

/// How closely saturation is found, and latency known. What differs by less is not told apart.
const PRECISION: f64 = 0.02;

/// A mean latency above this is saturation.
const LATENCY_LIMIT: f64 = 200.0;

/// Cycles of a batch, as a power of two.
const BATCH_BITS: u32 = 9;

/// Every figure is the mean of so many seeds.
pub const SEEDS: u64 = 5;

/// Flits of a link that all networks are given alike, in the last column: as many as four channels of eight.
const EQUAL_BUFFERS: u32 = 32;

/// Rules are compared where they differ.
fn rules(network: &str) -> &'static [&'static str] {
    let own_order = ["re(", "rcr(", "rsn("];
    let has_two = own_order.iter().any(|family| network.starts_with(family));
    if has_two { &["exact", "paper"] } else { &["exact"] }
}

/// A trial says how long to measure: a tenth of it is longer than ten mean latencies, for latencies up to the limit. The largest networks
/// have latencies of up to 150 cycles when they are idle.
fn effort(nodes: u32) -> Value {
    let (latency_limit, batches) = match nodes {
        0..1_000 => (LATENCY_LIMIT, 40),
        _ => (2.0 * LATENCY_LIMIT, 80),
    };
    json!({
        "precision": PRECISION,
        "cycles": 10 << BATCH_BITS,
        "most-cycles": batches << BATCH_BITS,
        "batch-bits": BATCH_BITS,
        "latency-limit": latency_limit,
    })
}

/// The jobs of the study: [`SIZES`], or others.
pub fn plan(sizes: &[Size]) -> Vec<Job> {
    let saturation = json!({ "saturation": true, "saturation-precision": PRECISION, "seeds": 1 });
    let equal = json!({ "link-buffers": EQUAL_BUFFERS });
    let mut jobs = Vec::new();
    for size in sizes {
        let points = size.rates.iter().map(|rate| vec![json!({ "rate": rate })]);
        let searches = [vec![saturation.clone()], vec![saturation.clone(), equal.clone()]];
        let tasks: Vec<Vec<Value>> = points.chain(searches).collect();
        for network in size.networks.split(' ') {
            for &rule in rules(network) {
                for task in &tasks {
                    let parts = [json!({ "rule": rule }), effort(size.nodes)];
                    let parts = parts.iter().chain(task).filter_map(Value::as_object).cloned();
                    let options: Map<String, Value> = parts.flatten().collect();
                    jobs.extend((1..=SEEDS).map(|seed| Job {
                        kind: "load".into(),
                        network: network.into(),
                        options: options.clone(),
                        seed,
                    }));
                }
            }
        }
    }
    jobs
}

/// The document, and the charts that it shows, by file name.
pub struct Study {
    /// Markdown.
    pub text: String,
    /// SVG files.
    pub charts: Vec<(String, Chart)>,
}

struct Entry<'a> {
    network: &'a str,
    rule: &'a str,
    nodes: u64,
    degree: u64,
    hops: f64,
    latency: f64,
    saturation: f64,
    /// Half the width of its 95% confidence interval.
    saturation_ci95: Option<f64>,
    /// With the same buffers for all.
    equal: f64,
    channels: u32,
    buffer_bytes: u64,
}

impl Entry<'_> {
    /// Packets a cycle at saturation for every link end that had to be built.
    fn yield_per_link(&self) -> f64 {
        self.saturation / self.degree as f64
    }

    fn name(&self) -> String {
        let rule = if self.rule == "paper" { ", paper" } else { "" };
        format!("{}{rule}", self.network)
    }
}

pub fn write(sizes: &[Size], rows: &[Row]) -> Study {
    let mut text = String::from(INTRODUCTION);
    let most = sizes.iter().map(|size| size.nodes).max().unwrap_or(0);
    let all = SIZES.iter().all(|size| size.nodes <= most);
    let most_nodes = format!("--most-nodes {most} ");
    let option = if all { "" } else { &most_nodes };
    let _ = write!(
        text,
        "This page and its charts are written by\n\n    hopwise load study {option}--out docs\n\n{COST}"
    );
    let mut charts = Vec::new();
    let described: Vec<Vec<Entry<'_>>> = sizes
        .iter()
        .map(|size| {
            let networks = size.networks.split(' ');
            networks.flat_map(|network| describe(network, rows)).collect()
        })
        .collect();
    winners(&mut text, sizes, &described);
    rules_compared(&mut text, &described);
    for (size, lines) in sizes.iter().zip(&described) {
        let is_mine = |row: &&Row| size.networks.split(' ').any(|network| network == row.network);
        let mine: Vec<Row> = rows.iter().filter(is_mine).cloned().collect();
        let file = format!("load-study-{}.svg", size.nodes);
        let nodes = size.nodes;
        let _ = write!(text, "\n## About {nodes} nodes\n\n![Latency against load]({file})\n\n");
        table(&mut text, lines);
        let title = format!("Latency against load, about {} nodes", size.nodes);
        charts.push((file, report::latency_chart(&title, &mine)));
    }
    Study { text, charts }
}

const INTRODUCTION: &str = "# Latency against load: the papers' networks, torus and hypercube

Traffic is uniform as in BookSim, where nodes also send to themselves (`uniform-with-self`); packets have one flit; routers have the parameters of
`--preset booksim`: one cycle for every pipeline step and every link, buffers of 8 flits. A rate is the injection rate, in packets per node and cycle;
the saturation is the highest sustained rate (mean latency at most 200 cycles, 400 in the largest networks, not rising, and throughput equal to
offered load), found by bisection to 2%. Every figure is the mean of five seeds, and ± is half the 95% confidence interval of the saturation. Every
network has the virtual channels that make it deadlock-free; the torus has two. Channels cost memory: the tables say how much at each end of a link,
at 8 bytes per flit, and in the last column all networks have the same, 32 flits per link divided among their channels. Solid lines show `exact`
routing, dashed lines `paper` routing, where the paper defines its own.

The networks of one size differ in degree, and a link costs wire and pins; one column of the tables divides the
saturation by the largest degree. The Heawood hierarchies have 14^n nodes, so they appear at about 200 and 3,000 nodes.
";

const COST: &str = "`--most-nodes 650` leaves out the networks of about 3,000 nodes, which take some twenty hours of processor time; all others take two. `hopwise load
work` on the job folder distributes the jobs over machines.
";

fn describe<'a>(network: &'a str, rows: &'a [Row]) -> Vec<Entry<'a>> {
    let Ok(parsed) = network.parse::<hopwise_core::Network>() else {
        return Vec::new();
    };
    let degrees = (0..parsed.nodes()).map(|node| parsed.unchecked().degree(node));
    let degree = degrees.max().unwrap_or(0);
    let line = |rule: &'a str| {
        let is_mine = move |row: &&Row| row.network == network && row.rule == rule;
        let mine = || rows.iter().filter(is_mine);

        let lowest_rate = mine().find_map(|row| row.rate)?;
        let lowest = || mine().filter(|row| row.rate == Some(lowest_rate));
        let mean = |values: Vec<f64>| confidence(&values).map(|(mean, _)| mean);
        let saturations = |equal: bool| -> Vec<f64> {
            let mine = mine().filter(|row| row.link_buffers.is_some() == equal);
            mine.filter_map(|row| row.saturation_rate).collect()
        };
        let (saturation, saturation_ci95) = confidence(&saturations(false))?;
        Some(Entry {
            network,
            rule,
            nodes: parsed.nodes(),
            degree,
            hops: mean(lowest().filter_map(|row| row.hops_mean).collect())?,
            latency: mean(lowest().filter_map(|row| row.latency_mean).collect())?,
            saturation,
            saturation_ci95,
            equal: mean(saturations(true))?,
            channels: lowest().find_map(|row| row.virtual_channels)?,
            buffer_bytes: lowest().find_map(|row| row.buffer_bytes)?,
        })
    };
    rules(network).iter().filter_map(|rule| line(rule)).collect()
}

fn table(text: &mut String, lines: &[Entry<'_>]) {
    text.push_str(
        "| network | rule | nodes | degree | mean hops | latency at the lowest rate | saturation | ± 95% | saturation / degree | channels | \
         buffer bytes | saturation, equal buffers |\n",
    );
    text.push_str("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    for line in lines {
        let Entry {
            network,
            rule,
            nodes,
            degree,
            hops,
            latency,
            saturation,
            saturation_ci95,
            equal,
            channels,
            buffer_bytes,
        } = line;
        let interval = saturation_ci95.map_or("unknown".into(), |half| format!("{half:.3}"));
        let _ = writeln!(
            text,
            "| {network} | {rule} | {nodes} | {degree} | {hops:.2} | {latency:.1} | {saturation:.3} | {interval} | {:.4} | \
             {channels} | {buffer_bytes} | {equal:.3} |",
            line.yield_per_link()
        );
    }
}

/// Who wins at each size, from the figures; those that cannot be told apart are named together.
fn winners(text: &mut String, sizes: &[Size], described: &[Vec<Entry<'_>>]) {
    text.push_str("\n## What wins where\n\n");
    text.push_str(
        "| nodes | shortest latency when idle | highest saturation | most for its links |\n|--:|---|---|---|\n",
    );
    for (size, lines) in sizes.iter().zip(described) {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            size.nodes,
            best(lines, |line| 1.0 / line.latency),
            best(lines, |line| line.saturation),
            best(lines, |line| line.yield_per_link()),
        );
    }
}

fn best(lines: &[Entry<'_>], value: impl Fn(&Entry<'_>) -> f64) -> String {
    let most = lines.iter().map(&value).fold(0.0, f64::max);
    let best = lines.iter().filter(|line| value(line) >= most * (1.0 - PRECISION));
    let names: Vec<String> = best.map(Entry::name).collect();
    names.join("; ")
}

fn rules_compared(text: &mut String, described: &[Vec<Entry<'_>>]) {
    text.push_str("\n## Exact against paper routing\n\n");
    text.push_str("| network | hops, exact | hops, paper | saturation, exact | saturation, paper | exact carries |\n");
    text.push_str("|---|--:|--:|--:|--:|--:|\n");
    for paper in described.iter().flatten().filter(|line| line.rule == "paper") {
        let same = |line: &&Entry<'_>| line.network == paper.network && line.rule == "exact";
        if let Some(exact) = described.iter().flatten().find(same) {
            let _ = writeln!(
                text,
                "| {} | {:.2} | {:.2} | {:.3} | {:.3} | {:+.0}% |",
                paper.network,
                exact.hops,
                paper.hops,
                exact.saturation,
                paper.saturation,
                100.0 * (exact.saturation / paper.saturation - 1.0),
            );
        }
    }
}
