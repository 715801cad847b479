use std::path::PathBuf;

use clap::Args;
use hopwise_networks::{recognise, tables};

use super::error::CliError;
use super::output::{print, print_either};
use recognise::Recognised;

#[derive(Args)]
pub(super) struct RecogniseArgs {
    /// The cables: a line each, two node numbers from 0, as `hopwise edges` prints them
    file: PathBuf,
    /// Print a JSON object, with the node of the network for each node of the file
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &RecogniseArgs) -> Result<(), CliError> {
    let wrong = |reason: &dyn std::fmt::Display| CliError::file(&args.file, reason);
    let text = hopwise_files::read_text(&args.file, hopwise_files::MAX_TEXT).map_err(|error| wrong(&error))?;
    let graph = tables::read(&text).map_err(|error| wrong(&error))?;
    print_either(args.json, &recognise::recognise(graph), show)
}

fn show(found: &Recognised) -> Result<(), CliError> {
    let Recognised { nodes, edges, .. } = found;
    print(|out| {
        let (Some(network), Some(mapping)) = (&found.network, &found.mapping) else {
            writeln!(out, "{nodes} nodes and {edges} links: no network that is known.")?;
            if !found.undecided.is_empty() {
                let undecided = found.undecided.join(", ");
                writeln!(out, "It would take too long to compare it with {undecided}.")?;
            }
            return Ok(());
        };
        writeln!(out, "{nodes} nodes and {edges} links: this is {network}.")?;
        if !found.also.is_empty() {
            writeln!(out, "It is also {}.", found.also.join(", "))?;
        }
        writeln!(out, "\nnode  in {network}")?;
        (0..)
            .zip(mapping)
            .try_for_each(|(node, to): (usize, _)| writeln!(out, "{node:>4}  {to}"))
    })
}
