use std::path::{Path, PathBuf};

use clap::Args;

use super::error::CliError;
use super::output::{check_output, say, say_if_cut, write_file};
use super::report::open;
use super::{by_name, check, parse};
use hopwise_collective::{MAX_NODES, Request, run as carry_out, values};
use hopwise_core::Network;
use hopwise_core::collective::{Operation, Ports};
use hopwise_rig::mesh::Mesh;
use hopwise_view::data::{NoPage, PageData, Rounds};
use hopwise_view::page;
use hopwise_view::picture::Picture;

#[derive(Args)]
pub(super) struct ViewArgs {
    /// A trace (JSON lines, as `hopwise sim --trace` and `hopwise capture` write them), a mesh file (.toml), or a network, as an expression
    #[arg(value_name = "TRACE|MESH|EXPR")]
    what: String,
    /// The network, if the trace does not name it
    #[arg(long, value_name = "EXPR")]
    network: Option<String>,
    /// The mesh file of a trace, which tells the page the pins of every cable
    #[arg(long, value_name = "MESH.toml")]
    mesh: Option<PathBuf>,
    /// Draw a network into this file as SVG, instead of a page
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "network", "mesh", "collective"])]
    svg: Option<PathBuf>,
    /// Show the path between two nodes in the drawing
    #[arg(long, value_names = ["FROM", "TO"], num_args = 2, requires = "svg")]
    route: Vec<u64>,
    /// Show the addresses of the nodes in the drawing
    #[arg(long, requires = "svg")]
    addresses: bool,
    /// Play the rounds of a collective, as `hopwise collective` computes them
    #[arg(long, value_name = "OP", conflicts_with = "network", value_parser = by_name(&Operation::ALL, Operation::name))]
    collective: Option<Operation>,
    /// How many messages a node can send, and how many it can receive, in a round of a collective: one, or one through every port
    #[arg(long, value_name = "MODEL", default_value = "all", requires = "collective", value_parser = by_name(&Ports::ALL, Ports::name))]
    port_model: Ports,
    /// The page to write [default: one in the working folder, named after what it shows]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &ViewArgs) -> Result<(), CliError> {
    if let Some(file) = &args.svg {
        return draw(args, file);
    }
    let path = Path::new(&args.what);
    let output = args.output.clone().unwrap_or_else(|| named_after(&args.what));
    check_output(&output, [path].into_iter().chain(args.mesh.as_deref()))?;
    let data = if let Some(operation) = args.collective {
        rounds(&parse(&args.what)?, operation, args.port_model)?
    } else if path.extension().is_some_and(|end| end == "toml") {
        PageData::of_mesh(&Mesh::read(path)?)?
    } else if path.exists() {
        let network = args.network.as_deref().map(parse).transpose()?;
        PageData::of_trace(open(path)?, network).map_err(|error| match error {
            NoPage::TooManyNodes(_) => error.into(),
            of_trace => CliError::file(path, of_trace),
        })?
    } else {
        let network =
            parse(&args.what).map_err(|error| error.after(format_args!("there is no file '{}', and ", args.what)))?;
        PageData::new(&network)?
    };
    let data = match &args.mesh {
        Some(path) => data.with_wiring(&Mesh::read(path)?)?,
        None => data,
    };
    say_if_cut(path, data.trace.as_ref().and_then(|trace| trace.cut));
    write_file(&output, &page::html(&data))?;
    say(&format!("wrote {} (open it in a browser)", output.display()));
    Ok(())
}

fn draw(args: &ViewArgs, file: &Path) -> Result<(), CliError> {
    let network = parse(&args.what)?;
    for node in &args.route {
        check(&network, *node)?;
    }
    let picture = Picture {
        addresses: args.addresses,
        route: args.route.first().copied().zip(args.route.last().copied()),
    };
    write_file(file, &picture.svg(&network)?)?;
    say(&format!("wrote {} (open it in a browser)", file.display()));
    Ok(())
}

/// The rounds of a collective, with seeded values (seed 1).
fn rounds(network: &Network, operation: Operation, ports: Ports) -> Result<PageData, CliError> {
    let request = Request {
        ports,
        write_down: true,
        ..Request::new(operation, values(network.nodes().min(MAX_NODES), 1))
    };
    let done = carry_out(network, &request)?;
    let rounds = Rounds {
        operation: operation.name().into(),
        method: done.report.method,
        sent: done.rounds,
    };
    Ok(PageData::of_rounds(network, rounds)?)
}

/// The name of a page of a file or an expression: trace.html of trace.jsonl, rdn-ring-3-1.html of rdn(ring(3),1).
fn named_after(what: &str) -> PathBuf {
    let file = Path::new(what);
    let stem = match file.exists() {
        true => file
            .file_stem()
            .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned()),
        false => {
            let words = what.split(|letter: char| !letter.is_ascii_alphanumeric());
            let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
            words.join("-")
        }
    };
    PathBuf::from(stem).with_extension("html")
}
