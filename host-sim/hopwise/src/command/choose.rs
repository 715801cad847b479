use std::path::PathBuf;

use clap::Args;

use super::error::CliError;
use super::output::{Outcome, print, print_either, progress_bar, write_file};
use super::table::{self, known};
use hopwise_networks::choice::{Choice, NEAR_THE_BEST, Pick, Ranked, Wanted};

#[derive(Args)]
pub(super) struct ChooseArgs {
    /// How many boards there are
    #[arg(long, value_parser = clap::value_parser!(u64).range(2..=1 << 24))]
    nodes: u64,
    /// How many links a board can have
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    ports: u64,
    /// Also sizes that differ by up to this many percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=50))]
    within: u64,
    /// How many networks to list
    #[arg(long, value_name = "COUNT", default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..))]
    top: u64,
    /// Print the network with the smallest mean distance and nothing else: hopwise mesh new $(hopwise choose --nodes 18 --ports 3 --best)
    #[arg(long, conflicts_with = "json")]
    best: bool,
    /// If no network is near the bound, write the edges of a graph that is, for graph:FILE
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ChooseArgs) -> Result<Outcome, CliError> {
    let wanted = Wanted {
        nodes: args.nodes,
        ports: args.ports,
        within_percent: args.within,
        top: args.top as usize,
    };
    let bar = progress_bar(0, "measuring");
    let choice = Choice::of(wanted, |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    })?;
    bar.finish_and_clear();
    if let (Some(path), Some(graph)) = (&args.write, &choice.graph) {
        let edges = graph.edges.iter().map(|(u, v)| format!("{u} {v}\n"));
        write_file(path, &edges.collect::<String>())?;
    }
    let Some(best) = choice.networks.first() else {
        return Ok(Outcome::CheckFailed(format!(
            "no network of {} nodes has at most {} links per node",
            args.nodes, args.ports
        )));
    };
    if args.best {
        let best = &best.profile.expression;
        print(|out| writeln!(out, "{best}"))?;
    } else {
        print_either(args.json, &choice, |choice| show(choice, args))?;
    }
    Ok(Outcome::Done)
}

const LEGEND: &str = "\
above: how far the mean distance is above the lower bound for any graph; broadcast: steps from the worst source if a node sends one copy
per step; channels: virtual channels that boards use; throughput: an upper bound on the injection rate, in packets per node and cycle,
under uniform traffic; a simulation finds less; next hop: computed by a formula, in hundreds of instructions, or by a search, in thousands,
when a destination is not a recent one. ? = unknown, and too large to compute.";

fn show(choice: &Choice, args: &ChooseArgs) -> Result<(), CliError> {
    let Choice {
        nodes, ports, found, ..
    } = choice;
    let size = match (choice.least_nodes, choice.most_nodes) {
        (least, most) if least == most => format!("exactly {nodes} nodes"),
        (least, most) => format!("{least} to {most} nodes"),
    };
    let shown = choice.networks.len();
    print(|out| {
        writeln!(
            out,
            "{found} networks of {size} with at most {ports} links per node; the best {shown} by mean distance, then diameter, then \
             links.\nThe bound for {nodes} nodes: mean distance {:.4}, diameter {}.\n",
            choice.bound_mean_distance, choice.bound_diameter
        )?;
        writeln!(out, "{}", rows(&choice.networks))?;
        if let Some(best) = &choice.best {
            writeln!(out, "\nbest         {}", described(best))?;
        }
        let none = format!("none with a formula is within {}% of the best", 100.0 * NEAR_THE_BEST);
        let recommended = choice.recommended.as_ref().map_or(none, described);
        writeln!(out, "recommended  {recommended}\n")?;
        for ranked in choice.networks.iter().filter(|ranked| !ranked.also.is_empty()) {
            writeln!(out, "{} is also {}", ranked.profile.expression, shortest(&ranked.also))?;
        }
        for remark in &choice.remarks {
            writeln!(out, "{remark}")?;
        }
        if let Some(graph) = &choice.graph {
            let written = match &args.write {
                Some(path) => format!("graph:{} is it", path.display()),
                None => "--write FILE writes it".into(),
            };
            writeln!(
                out,
                "A graph that is not in the language, routed by tables, has diameter {} and mean distance {:.4}, {:.1}% above: \
                 {written}",
                graph.diameter,
                graph.mean_distance,
                100.0 * graph.excess
            )?;
        }
        writeln!(out, "{LEGEND}")
    })
}

fn described(pick: &Pick) -> String {
    let mean = known(pick.mean.map(|mean| format!("{mean:.3}")));
    let (network, bound, next_hop) = (&pick.network, pick.bound, pick.next_hop);
    format!("{network}: mean distance {mean}, bound {bound:.3}, next hop by {next_hop}")
}

/// One line a network.
fn rows(networks: &[Ranked]) -> String {
    let titles = "network|nodes|degree|diameter|mean|above|broadcast|channels|throughput|next hop|links";
    let rows = networks.iter().map(|network| {
        let profile = &network.profile;
        vec![
            profile.expression.clone(),
            profile.nodes.to_string(),
            table::degrees(profile.degree_min, profile.degree_max),
            known(profile.diameter),
            known(profile.mean_distance.map(|mean| format!("{mean:.3}"))),
            known(network.excess.map(|excess| format!("{:.1}%", 100.0 * excess))),
            known(profile.broadcast_steps),
            known(network.virtual_channels),
            known(network.saturation_estimate.map(|rate| format!("{rate:.3}"))),
            network.next_hop.into(),
            profile.links.to_string(),
        ]
    });
    table::lines(titles, rows)
}

/// A few of the names, the shortest first.
fn shortest(names: &[String]) -> String {
    const MOST: usize = 3;
    let mut names = names.to_vec();
    names.sort_by_key(String::len);
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    let list = names.join(", ");
    if more > 0 {
        format!("{list} and {more} more")
    } else {
        list
    }
}
