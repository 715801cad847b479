//! `hopwise choose`

use clap::Args;

use super::compare::{LEGEND, profiles};
use super::output::{Outcome, print, print_json, progress_bar};
use super::refusal::Refusal;
use hopwise_networks::choice::{Choice, Wanted};
use hopwise_networks::profile::Profile;

#[derive(Args)]
pub(super) struct ChooseArgs {
    /// How many boards there are
    #[arg(long, value_parser = clap::value_parser!(u64).range(2..=1 << 24))]
    nodes: u64,
    /// How many links a board can have
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    ports: u64,
    /// Also sizes that differ by up to so many percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=50))]
    within: u64,
    /// How many networks to list
    #[arg(long, value_name = "COUNT", default_value_t = 15)]
    top: usize,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ChooseArgs) -> Result<Outcome, Refusal> {
    let wanted = Wanted {
        nodes: args.nodes,
        ports: args.ports,
        within_percent: args.within,
        top: args.top,
    };
    let bar = progress_bar(0, "measuring");
    let choice = Choice::of(wanted, |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    })?;
    bar.finish_and_clear();
    if args.json {
        print_json(&choice)?;
    } else {
        show(&choice)?;
    }
    Ok(Outcome::Done)
}

fn show(choice: &Choice) -> Result<(), Refusal> {
    let Choice {
        nodes, ports, found, ..
    } = choice;
    let size = match (choice.least_nodes, choice.most_nodes) {
        (least, most) if least == most => format!("exactly {nodes} nodes"),
        (least, most) => format!("{least} to {most} nodes"),
    };
    let shown = choice.networks.len();
    let list: Vec<Profile> = choice.networks.iter().map(|ranked| ranked.profile.clone()).collect();
    print(|out| {
        writeln!(
            out,
            "{found} networks of {size} with at most {ports} links a node; the best {shown} by diameter, then mean distance, then \
             links:\n"
        )?;
        writeln!(out, "{}", profiles(&list))?;
        for ranked in choice.networks.iter().filter(|ranked| !ranked.also.is_empty()) {
            writeln!(out, "{} is also {}", ranked.profile.expression, shortest(&ranked.also))?;
        }
        writeln!(out, "{LEGEND}")
    })
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
