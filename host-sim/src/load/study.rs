//! The study: the papers' networks against torus and hypercube, at four sizes.
//!
//! Everything in the document but the introduction is computed from the results.

use std::fmt::Write;

use super::measure::Effort;
use super::parameters::Parameters;
use super::plot::Chart;
use super::report::{self, Row};
use super::sweep::{Job, Plan, Task};

/// Networks of about one size. The first two are what everybody knows.
pub struct Size {
    /// About how many nodes.
    pub nodes: u32,
    /// The networks.
    pub networks: &'static [&'static str],
    /// The rates of the curves.
    pub rates: &'static [f64],
}

/// The sizes of the study.
pub const SIZES: [Size; 4] = [
    Size {
        nodes: 64,
        networks: &[
            "torus(8,8)",
            "hypercube(6)",
            "rdn(ring(6),1)",
            "re(ring(4),complete(4),2)",
            "rcr(2,4,2)",
            "rsn(2,hypercube(3))",
        ],
        rates: &[0.02, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6],
    },
    Size {
        nodes: 200,
        networks: &[
            "torus(14,14)",
            "hypercube(8)",
            "rdn(petersen,1)",
            "re(ring(4),complete(3),3)",
            "rcr(2,3,4)",
            "rsn(2,ring(14))",
            "folded(heawood,2)",
            "root-folded(heawood,2)",
        ],
        rates: &[0.01, 0.04, 0.08, 0.12, 0.16, 0.2, 0.3, 0.4],
    },
    Size {
        nodes: 650,
        networks: &[
            "torus(25,26)",
            "hypercube(9)",
            "rdn(torus(3,6),1)",
            "re(ring(6),complete(3),3)",
            "rcr(3,10,3)",
            "rsn(2,torus(5,5))",
        ],
        rates: &[0.01, 0.03, 0.06, 0.09, 0.12, 0.16, 0.2, 0.3],
    },
    Size {
        nodes: 3_000,
        networks: &[
            "torus(54,55)",
            "hypercube(11)",
            "rdn(torus(5,8),1)",
            "re(ring(4),complete(3),5)",
            "rcr(4,12,4)",
            "rsn(2,torus(6,9))",
            "folded(heawood,3)",
            "root-folded(heawood,3)",
        ],
        rates: &[0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2],
    },
];

/// Rules are compared where they differ.
fn rules(network: &str) -> &'static [&'static str] {
    let own_order = ["re(", "rcr(", "rsn("];
    if own_order.iter().any(|family| network.starts_with(family)) {
        &["exact", "paper"]
    } else {
        &["exact"]
    }
}

/// Large networks make enough packets for a good mean in fewer cycles.
fn effort(nodes: u32) -> Effort {
    let batch_bits = if nodes > 100 { 8 } else { 10 };
    let cycles = 10 << batch_bits;
    Effort {
        precision: 0.02,
        least_cycles: cycles,
        most_cycles: cycles,
        batch_bits,
        ..Effort::default()
    }
}

/// The jobs of the study.
pub fn plan() -> Plan {
    let mut jobs = Vec::new();
    for size in &SIZES {
        for &network in size.networks {
            for &rule in rules(network) {
                let points = size.rates.iter().map(|&rate| Task::Point { rate });
                for task in points.chain([Task::Saturation { precision: 0.02 }]) {
                    jobs.push(Job {
                        network: network.into(),
                        rule: rule.into(),
                        traffic: "uniform".into(),
                        process: "bernoulli".into(),
                        parameters: Parameters::BOOKSIM,
                        effort: effort(size.nodes),
                        seed: 1,
                        task,
                    });
                }
            }
        }
    }
    Plan { jobs }
}

/// The document, and the charts that it shows, by file name.
pub struct Study {
    /// Markdown.
    pub text: String,
    /// SVG files.
    pub charts: Vec<(String, Chart)>,
}

/// What is told of a network under a rule.
struct Line<'a> {
    network: &'a str,
    rule: &'a str,
    nodes: u64,
    degree: u64,
    hops: f64,
    latency: f64,
    saturation: f64,
}

impl Line<'_> {
    /// Packets a cycle at saturation for every link end that had to be built.
    fn yield_per_link(&self) -> f64 {
        self.saturation / self.degree as f64
    }

    fn name(&self) -> String {
        if self.rule == "paper" {
            format!("{}, paper", self.network)
        } else {
            self.network.into()
        }
    }
}

/// Writes the study from the rows of its jobs.
pub fn write(rows: &[Row]) -> Study {
    let mut text = String::from(INTRODUCTION);
    let mut charts = Vec::new();
    for size in &SIZES {
        let mine: Vec<Row> = rows
            .iter()
            .filter(|row| size.networks.contains(&row.network.as_str()))
            .cloned()
            .collect();
        let lines: Vec<Line<'_>> = size
            .networks
            .iter()
            .flat_map(|network| describe(network, &mine))
            .collect();
        let file = format!("load-study-{}.svg", size.nodes);
        let _ = write!(
            text,
            "\n## About {} nodes\n\n![Latency against load]({file})\n\n",
            size.nodes
        );
        table(&mut text, &lines);
        verdict(&mut text, &lines);
        charts.push((
            file,
            report::latency_chart(&format!("Latency against load, about {} nodes", size.nodes), &mine),
        ));
    }
    Study { text, charts }
}

const INTRODUCTION: &str = "# Latency against load: the papers' networks, torus and hypercube

Uniform traffic, packets of one flit, routers with the parameters of `--preset booksim`: every pipeline step and every
link one cycle, buffers of 8 flits. A rate is packets that a node makes in a cycle; the saturation is the highest rate
that is carried (mean latency at most 500 cycles and nothing left behind), found by bisection to 2%. Every network has the
virtual channels that it needs to be free of deadlock; the torus has two. Solid lines are the rule `exact`, dashed
lines the rule `paper`, where there is one of its own.

The networks of one size differ in degree, and a link costs wire and pins; the last column divides the saturation by the
degree. This page and its charts are written by

    hopwise load study --out docs
";

fn describe<'a>(network: &'a str, rows: &'a [Row]) -> Vec<Line<'a>> {
    let Ok(parsed) = network.parse::<hopwise_core::Network>() else {
        return Vec::new();
    };
    let degree = (0..parsed.nodes())
        .map(|node| parsed.topology().degree(node))
        .max()
        .unwrap_or(0);
    let line = |rule: &'a str| {
        let mine = || {
            rows.iter()
                .filter(move |row| row.network == network && row.rule == rule)
        };
        let lowest = mine().find(|row| row.rate.is_some())?;
        Some(Line {
            network,
            rule,
            nodes: parsed.nodes(),
            degree,
            hops: lowest.hops_mean?,
            latency: lowest.latency_mean?,
            saturation: mine().find_map(|row| row.saturation_rate)?,
        })
    };
    rules(network).iter().filter_map(|rule| line(rule)).collect()
}

fn table(text: &mut String, lines: &[Line<'_>]) {
    text.push_str("| network | rule | nodes | degree | mean hops | latency at the lowest rate | saturation | saturation / degree |\n");
    text.push_str("|---|---|--:|--:|--:|--:|--:|--:|\n");
    for line in lines {
        let Line {
            network,
            rule,
            nodes,
            degree,
            hops,
            latency,
            saturation,
        } = line;
        let _ = writeln!(
            text,
            "| {network} | {rule} | {nodes} | {degree} | {hops:.2} | {latency:.1} | {saturation:.3} | {:.4} |",
            line.yield_per_link()
        );
    }
}

/// Who wins, from the figures.
fn verdict(text: &mut String, lines: &[Line<'_>]) {
    let most = |value: &dyn Fn(&Line<'_>) -> f64| {
        lines
            .iter()
            .max_by(|a, b| value(a).total_cmp(&value(b)))
            .map(Line::name)
            .unwrap_or_default()
    };
    let _ = write!(
        text,
        "\nShortest latency when idle: {}. Highest saturation: {}. Most for its links: {}.\n",
        most(&|line| -line.latency),
        most(&|line| line.saturation),
        most(&|line| line.yield_per_link()),
    );
    for paper in lines.iter().filter(|line| line.rule == "paper") {
        if let Some(exact) = lines
            .iter()
            .find(|line| line.network == paper.network && line.rule == "exact")
        {
            let _ = writeln!(
                text,
                "On {} the exact rule takes {:.1}% fewer hops than the paper's and carries {:+.1}% load.",
                paper.network,
                100.0 * (1.0 - exact.hops / paper.hops),
                100.0 * (exact.saturation / paper.saturation - 1.0),
            );
        }
    }
}
