mod many;

use clap::Args;

use super::error::CliError;
use super::output::{Outcome, print_either, print_facts, print_json, print_line, progress_bar};
use super::parse;
use hopwise_load::measure::Point;
use hopwise_load::settings::{Found, Settings};

/// With an expression, one experiment; with a command, many.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct LoadArgs {
    #[command(subcommand)]
    action: Option<many::Action>,
    /// The network, as an expression
    #[arg(value_name = "EXPR", required = true)]
    expression: Option<String>,
    #[command(flatten)]
    settings: Settings,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &LoadArgs) -> Result<Outcome, CliError> {
    if let Some(action) = &args.action {
        return many::run(action);
    }
    let network = parse(args.expression.as_deref().unwrap_or_default())?;
    let settings = Settings {
        network: network.to_string(),
        ..args.settings.clone()
    };
    let what = if settings.saturation {
        "trying rates"
    } else {
        "measuring"
    };
    let bar = progress_bar(0, what);
    let found = settings.run(&|done, all| {
        bar.set_length(all.into());
        bar.set_position(done.into());
    })?;
    bar.finish_and_clear();
    match found {
        Found::Point(point) => finish(*point, args.json),
        Found::Saturation(found) if args.json => print_json(&found).map(|()| Outcome::Done),
        Found::Saturation(found) => {
            let interval = found
                .saturation_ci95
                .map_or(String::new(), |half| format!(" ± {half:.4}"));
            let rate = found.saturation_rate;
            print_line(format_args!(
                "{network} sustains up to {rate:.4}{interval} packets per node and cycle"
            ))?;
            Ok(Outcome::Done)
        }
    }
}

fn finish(point: Point, json: bool) -> Result<Outcome, CliError> {
    print_either(json, &point, show)?;
    Ok(point.deadlock.map_or(Outcome::Done, Outcome::CheckFailed))
}

fn show(point: &Point) -> Result<(), CliError> {
    let what = match point.finished {
        Some(_) => point.traffic.clone(),
        None => format!("{} traffic at {}", point.traffic, point.rate),
    };
    let title = format!("{}, rule {}, {what}", point.network, point.rule);
    let mean = point.latency_mean;
    let latency = match point.latency_ci95 {
        Some(half) => format!("{mean:.2} ± {half:.2} cycles"),
        None => format!("{mean:.2} cycles, of unknown exactness"),
    };
    let (p50, p95, p99) = (point.latency_p50, point.latency_p95, point.latency_p99);
    let (accepted, speed) = (point.accepted_rate, point.node_cycles_per_second / 1e6);
    let [load, most] = [point.link_load_mean, point.link_load_max].map(|load| 100.0 * load);
    let (channels, classes, buffers) = (point.virtual_channels, point.classes, point.buffer_bytes);
    let (cycles, packets, seconds) = (point.cycles, point.packets, point.wall_seconds);
    let links = format!("busy in {load:.1}% of the cycles, the busiest in {most:.1}%");
    let channels = format!("{channels} per link, for {classes} classes, with {buffers} bytes of buffers");
    let simulated = format!("{cycles} cycles, {packets} packets in {seconds:.2} s");
    let mut facts = vec![
        ("latency", latency),
        ("of 50, 95, 99%", format!("{p50}, {p95}, {p99}")),
        ("hops", format!("{:.3}", point.hops_mean)),
        ("accepted", format!("{accepted:.4} packets per node and cycle")),
        ("links", links),
        ("channels", channels),
        ("simulated", simulated),
        ("speed", format!("{speed:.1} million node-cycles/s")),
        ("memory", format!("{} bytes per node", point.bytes_per_node)),
    ];
    if point.failed_links + point.failed_routers + point.lost > 0 {
        let out = format!("{} links and {} routers", point.failed_links, point.failed_routers);
        let made = point.packets_measured + point.lost;
        facts.insert(1, ("out of action", out));
        facts.insert(2, ("lost", format!("{} of {made} packets", point.lost)));
    }
    if let Some(cycle) = point.finished {
        let unsent = match point.unsent {
            0 => String::new(),
            unsent => format!(", without {unsent} that were never sent"),
        };
        facts.insert(0, ("finished", format!("after {cycle} cycles{unsent}")));
    }
    if point.saturated {
        facts.insert(0, ("saturated", "the network cannot carry this load".into()));
    }
    print_facts(&title, &facts)
}
