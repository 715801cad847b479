use std::path::PathBuf;

use clap::Args;
use hopwise_core::Rule;
use hopwise_networks::export;

use super::NetworkArg;
use super::error::CliError;
use super::output::{check_new, create_file, print, say};

#[derive(Args)]
#[command(after_help = "\
Nodes have the same numbers in all formats, and links are in the same order. A table of routes has a line for each node and destination: the
port that leads on from there. For SST, topology() of the Python module makes a topoAny of merlin; for OMNeT++, nodeType names the module of
a node.")]
pub(super) struct ExportArgs {
    #[command(flatten)]
    network: NetworkArg,
    /// The format: booksim (anynet), sst (Python for merlin), ned (OMNeT++), graphml, dot (Graphviz) or edges (u port v port)
    #[arg(long)]
    format: String,
    /// The file to write, which must not be there yet [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the table of routes into this file, too
    #[arg(long, value_name = "FILE")]
    routes: Option<PathBuf>,
}

pub(super) fn run(args: &ExportArgs) -> Result<(), CliError> {
    let network = args.network.network()?;
    let text = export::network(&network, &args.format)?;
    let routes = match args.routes {
        Some(_) => export::routes(&network, Rule::Exact)?,
        None => String::new(),
    };
    let files = [(&args.output, &text), (&args.routes, &routes)];
    let files = files.map(|(path, text)| path.as_deref().zip(Some(text)));
    files.iter().flatten().try_for_each(|(path, _)| check_new(path))?;
    for (path, text) in files.into_iter().flatten() {
        create_file(path, text)?;
        say(&format!("wrote {}", path.display()));
    }
    match args.output {
        Some(_) => Ok(()),
        None => print(|out| out.write_all(text.as_bytes())),
    }
}
