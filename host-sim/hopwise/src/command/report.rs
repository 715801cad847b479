use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use super::error::CliError;
use super::output::{self, check_output, json, print, say_if_cut, write_file};
use super::{parse, table};
use hopwise_figures::markdown_cell;
use hopwise_trace::reader::Reader;
use hopwise_trace::report::{Delivery, Deviation, LinkQuality, Report};
use hopwise_trace::samples::TimeSpread;

/// The cables with the most faults that are listed for people; JSON has all.
const MAX_LINKS: usize = 20;
/// The nodes that dropped the most, by reason.
const MAX_NODES: usize = 5;

#[derive(Args)]
pub(super) struct ReportArgs {
    /// The traces: JSON lines, as `hopwise sim --trace` and `hopwise capture` write them; several are put side by side
    #[arg(value_name = "TRACE", required = true)]
    traces: Vec<PathBuf>,
    /// The network, if the trace does not name it
    #[arg(long, value_name = "EXPR")]
    network: Option<String>,
    /// A JSON object instead of Markdown
    #[arg(long)]
    json: bool,
    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &ReportArgs) -> Result<(), CliError> {
    let network = args.network.as_deref().map(parse).transpose()?;
    if let Some(output) = &args.output {
        check_output(output, args.traces.iter().map(PathBuf::as_path))?;
    }
    let mut reports = Vec::new();
    for path in &args.traces {
        let report = Report::read(open(path)?, network).map_err(|error| CliError::file(path, error))?;
        say_if_cut(path, report.cut);
        if report.events == 0 {
            return Err(CliError::file(path, "the trace has no events"));
        }
        reports.push(report);
    }
    let text = match &reports[..] {
        [report] if args.json => json(report)? + "\n",
        [report] => markdown(report),
        several if args.json => json(&several)? + "\n",
        several => side_by_side(&args.traces, several)?,
    };
    match &args.output {
        Some(path) => write_file(path, &text),
        None => print(|out| out.write_all(text.as_bytes())),
    }
}

/// The numbers of several reports, a column each.
fn side_by_side(paths: &[PathBuf], reports: &[Report]) -> Result<String, CliError> {
    let columns: Vec<Vec<(String, String)>> = reports
        .iter()
        .map(|report| serde_json::to_value(report).map(|value| scalars(&value)))
        .collect::<Result<_, _>>()
        .map_err(CliError::output)?;
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in columns.iter().flatten() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let heads = paths.iter().map(|path| markdown_cell(&path.display().to_string()));
    let mut text = format!("| | {} |\n|---|", heads.collect::<Vec<_>>().join(" | "));
    text.push_str(&"--:|".repeat(paths.len()));
    for name in names {
        let cell = |column: &Vec<(String, String)>| {
            let found = column.iter().find(|(other, _)| other == name);
            found.map_or(String::new(), |(_, value)| markdown_cell(value))
        };
        let cells: Vec<String> = columns.iter().map(cell).collect();
        text.push_str(&format!("\n| {} | {} |", markdown_cell(name), cells.join(" | ")));
    }
    Ok(text + "\n")
}

/// Numbers and texts of a report, those within others with all names; lists are left out.
fn scalars(value: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), value)];
    while let Some((name, value)) = open.pop() {
        match value {
            Value::Object(inner) => {
                let within = inner.iter().rev().map(|(part, value)| {
                    let name = if name.is_empty() {
                        part.clone()
                    } else {
                        format!("{name}, {part}")
                    };
                    (name, value)
                });
                open.extend(within);
            }
            Value::Number(number) => {
                let fraction = number.as_f64().filter(|_| number.is_f64());
                let text = fraction.map_or_else(|| number.to_string(), |fraction| format!("{fraction:.3}"));
                found.push((name, text));
            }
            Value::String(text) => found.push((name, text.clone())),
            _ => (),
        }
    }
    found
}

/// Opens a trace; what is wrong with it is told with its name and line.
pub(super) fn open(path: &Path) -> Result<Reader<BufReader<File>>, CliError> {
    let file = File::open(path).map_err(|error| CliError::file(path, error))?;
    Reader::new(BufReader::new(file)).map_err(|error| CliError::file(path, error))
}

fn markdown(report: &Report) -> String {
    let title = match (&report.network, report.nodes) {
        (Some(network), Some(nodes)) => format!("# {}: {nodes} nodes", markdown_cell(network)),
        _ => "# A trace of an unnamed network".into(),
    };
    let baud = report.baud.map_or(String::new(), |baud| format!(", {baud} bits/s"));
    let unknown = match report.unknown_events {
        0 => String::new(),
        count => format!(" {count} of them have words that are not known here."),
    };
    let cut = match report.cut {
        Some(line) => format!(" The trace is cut short in line {line}."),
        None => String::new(),
    };
    let about = format!(
        "{} events in {:.3} s{baud}.{unknown}{cut}",
        report.events, report.seconds
    );
    let sections = [
        delivery(report),
        latency(report),
        paths(report),
        links(&report.links),
        drops(report),
    ];
    format!("{title}\n\n{about}\n\n{}", sections.join("\n"))
}

fn row_of(mut cells: Vec<String>, figures: &[impl ToString]) -> Vec<String> {
    cells.extend(figures.iter().map(ToString::to_string));
    cells
}

fn delivery(report: &Report) -> String {
    let titles = "kind|packets|delivered|dropped|open|arrivals|duplicates";
    let row = |(kind, of): (&&str, &Delivery)| {
        let share = 100.0 * of.delivered as f64 / of.packets as f64;
        let delivered = format!("{} ({share:.2} %)", of.delivered);
        let begin = vec![kind.to_string(), of.packets.to_string(), delivered];
        row_of(begin, &[of.dropped, of.open, of.arrivals, of.duplicates])
    };
    let outcomes = report.outcomes.iter();
    let outcomes = output::listed(outcomes.map(|(outcome, count)| format!("{outcome} {count}")));
    let settled = match outcomes.as_str() {
        "" => String::new(),
        outcomes => format!("\nAs their senders know it: {outcomes}.\n"),
    };
    let table = table::markdown(titles, report.delivery.iter().map(row));
    format!("## Delivery\n\n{table}{settled}")
}

fn latency(report: &Report) -> String {
    let titles = "us|count|mean|min|50 %|90 %|99 %|max";
    let latency = &report.latency;
    let row = |name: String, spread: TimeSpread| {
        let figures = [
            spread.mean_us,
            spread.min_us,
            spread.p50_us,
            spread.p90_us,
            spread.p99_us,
            spread.max_us,
        ];
        let figures = figures.map(|figure| format!("{figure:.0}"));
        row_of(vec![name, spread.count.to_string()], &figures)
    };
    let of_hops =
        |(&hops, &spread): (&usize, &TimeSpread)| (format!("of {}", output::counted(hops as u64, "hop")), Some(spread));
    let rows = [("end to end".to_string(), latency.end_to_end)]
        .into_iter()
        .chain(latency.by_hops.iter().map(of_hops))
        .chain([
            ("broadcast, to each node".into(), latency.broadcast),
            ("one hop".into(), latency.hop),
            ("wait in a node".into(), latency.wait),
        ]);
    let rows = rows.filter_map(|(name, spread)| Some(row(name, spread?)));
    format!("## Latency\n\n{}", table::markdown(titles, rows))
}

fn paths(report: &Report) -> String {
    let Some(paths) = &report.paths else {
        return "## Paths\n\nThe trace does not name its network; with `--network EXPR` paths are compared.\n".into();
    };
    let facts = [
        ("packets followed from end to end", paths.followed),
        ("on the computed path", paths.computed),
        ("on another of the same length", paths.other),
        ("on a longer one", paths.longer),
        ("hops", paths.hops),
        ("hops of the computed paths", paths.computed_hops),
        ("detours begun", report.detours),
        ("arrivals of broadcasts along the tree", paths.tree_arrivals),
        ("other arrivals of broadcasts", paths.other_arrivals),
    ];
    let rows = facts.map(|(name, count)| vec![name.to_string(), count.to_string()]);
    let facts = table::markdown("paths|count", rows.into_iter());
    let path = |nodes: &[u64]| nodes.iter().map(u64::to_string).collect::<Vec<_>>().join(" → ");
    let row = |example: &Deviation| {
        vec![
            format!("{} {}", example.kind.name(), example.number),
            path(&example.path),
            path(&example.computed),
        ]
    };
    let examples = match paths.examples.len() {
        0 => String::new(),
        _ => {
            let titles = "packet|path it took|computed path";
            format!("\n{}", table::markdown(titles, paths.examples.iter().map(row)))
        }
    };
    format!("## Paths\n\n{facts}{examples}")
}

fn links(links: &[LinkQuality]) -> String {
    let titles = "cable|frames|retransmitted|damaged|came up|went down|miswired";
    let mut worst = links.to_vec();
    worst.sort_by_key(|link| std::cmp::Reverse((link.fault(), link.frames)));
    let row = |link: &LinkQuality| {
        let counts = [
            link.frames,
            link.retransmissions,
            link.damaged,
            link.ups,
            link.downs,
            link.miswired,
        ];
        row_of(vec![format!("{} – {}", link.a, link.b)], &counts)
    };
    let table = table::markdown(titles, worst.iter().take(MAX_LINKS).map(row));
    let rest = match links.len().saturating_sub(MAX_LINKS) {
        0 => String::new(),
        rest => format!("\n{rest} more with no more faults than these; `--json` has all.\n"),
    };
    format!("## Cables\n\nBoth directions together, the most faults first.\n\n{table}{rest}")
}

fn drops(report: &Report) -> String {
    if report.drops.is_empty() {
        return "## Drops\n\nNone.\n".into();
    }
    let rows = report.drops.iter().map(|(reason, drops)| {
        let mut nodes: Vec<_> = drops.nodes.iter().collect();
        nodes.sort_by_key(|&(node, count)| (std::cmp::Reverse(count), node));
        let most = nodes.iter().take(MAX_NODES);
        let most = output::listed(most.map(|(node, count)| format!("{node} ({count})")));
        vec![reason.to_string(), drops.count.to_string(), most]
    });
    format!("## Drops\n\n{}", table::markdown("reason|count|most at node", rows))
}
