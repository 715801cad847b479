mod many;

use clap::Args;

use super::error::CliError;
use super::output::{Outcome, print, print_facts, print_json, progress_bar};
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
    let bar = progress_bar(
        0,
        if settings.saturation {
            "trying rates"
        } else {
            "measuring"
        },
    );
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
            print(|out| {
                writeln!(
                    out,
                    "{network} sustains up to {rate:.4}{interval} packets per node and cycle"
                )
            })?;
            Ok(Outcome::Done)
        }
    }
}

fn finish(point: Point, json: bool) -> Result<Outcome, CliError> {
    if json {
        print_json(&point)?;
    } else {
        show(&point)?;
    }
    Ok(match point.deadlock {
        Some(cycle) => Outcome::CheckFailed(cycle),
        None => Outcome::Done,
    })
}

fn show(point: &Point) -> Result<(), CliError> {
    let what = match point.finished {
        Some(_) => point.traffic.clone(),
        None => format!("{} traffic at {}", point.traffic, point.rate),
    };
    let title = format!("{}, rule {}, {what}", point.network, point.rule);
    let mut facts = vec![
        (
            "latency",
            match point.latency_ci95 {
                Some(half) => format!("{:.2} ± {half:.2} cycles", point.latency_mean),
                None => format!("{:.2} cycles, of unknown exactness", point.latency_mean),
            },
        ),
        (
            "of 50, 95, 99%",
            format!("{}, {}, {}", point.latency_p50, point.latency_p95, point.latency_p99),
        ),
        ("hops", format!("{:.3}", point.hops_mean)),
        (
            "accepted",
            format!("{:.4} packets per node and cycle", point.accepted_rate),
        ),
        (
            "links",
            format!(
                "busy in {:.1}% of the cycles, the busiest in {:.1}%",
                100.0 * point.link_load_mean,
                100.0 * point.link_load_max
            ),
        ),
        (
            "channels",
            format!(
                "{} per link, for {} classes, with {} bytes of buffers",
                point.virtual_channels, point.classes, point.buffer_bytes
            ),
        ),
        (
            "simulated",
            format!(
                "{} cycles, {} packets in {:.2} s",
                point.cycles, point.packets, point.wall_seconds
            ),
        ),
        (
            "speed",
            format!("{:.1} million node-cycles/s", point.node_cycles_per_second / 1e6),
        ),
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
