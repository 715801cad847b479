use std::convert::Infallible;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use hopwise_core::Network;
use hopwise_emulate::app;
use hopwise_node::authority::MeshKeys;
use hopwise_node::wire::{BoardConfig, CONFIG_BYTES, DEFAULT_BAUD};
use hopwise_process::{LINKS, Place, Settings, end_with_input, needs_key};
use hopwise_rig::mesh::{Mesh, read_keys};

use super::error::CliError;
use super::output::{Outcome, say};
use super::talk::parse_baud;
use super::{check, parse};

#[derive(Args)]
#[command(after_help = "\
A cable leads to a pseudo-terminal that another program opens (pty, or pty:LINK with a symbolic link to it), a Unix socket that whichever end comes
first makes (unix:PATH), another process (tcp:HOST:PORT at one end, listen:PORT at the other), or a serial port (/dev/ttyUSB0). `listen` takes
connections from this machine only, unless an address is said; a mesh needs a key where a cable leads to another machine.")]
pub(super) struct NodeArgs {
    /// The network, as an expression, or a mesh file
    #[arg(value_name = "EXPR|MESH.toml")]
    mesh: String,
    /// The address of this node
    #[arg(value_name = "ADDRESS")]
    address: u64,
    /// A cable at a port of the node, and where it leads
    #[arg(long, value_name = "PORT=PLACE", value_parser = parse_link)]
    link: Vec<(usize, Place)>,
    /// Where a host is
    #[arg(long, value_name = "PLACE")]
    host: Option<Place>,
    /// The mesh's key file, if it has a key
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// A program of yours for the node: its crate, which is built for this machine, or what was built of it
    #[arg(long, value_name = "PATH")]
    app: Option<PathBuf>,
    /// The rate of serial ports
    #[arg(long, default_value_t = DEFAULT_BAUD, value_parser = parse_baud)]
    baud: u32,
    /// End when standard input does, and say nothing but why it cannot start
    #[arg(long, hide = true)]
    until_eof: bool,
}

fn parse_link(text: &str) -> Result<(usize, Place), String> {
    let (port, place) = text.split_once('=').ok_or("a link is PORT=PLACE, such as 0=pty")?;
    let port = port.parse().ok().filter(|port| *port < LINKS);
    let port = port.ok_or_else(|| format!("the ports of a node in a process are 0 to {}", LINKS - 1))?;
    let place = place.parse().map_err(|error| format!("{error}"))?;
    Ok((port, place))
}

pub(super) fn run(args: &NodeArgs) -> Result<Outcome, CliError> {
    let (config, mut keys) = config(args)?;
    if let Some(file) = &args.key_file {
        keys = Some(read_keys(file)?);
    }
    let mut settings = Settings::new(&config, keys.map(|keys| keys.of_board(args.address)), args.baud)?;
    for (port, place) in &args.link {
        if settings.links[*port].replace(place.clone()).is_some() {
            return Err(CliError::new(format_args!("port {port} has two cables")));
        }
    }
    settings.host = args.host.clone();
    let places = settings.links.iter().flatten().chain(&args.host);
    for place in places.filter(|_| keys.is_none()) {
        let unknown = |error| CliError::new(format_args!("{place:?}: {error}"));
        if needs_key(place).map_err(unknown)? {
            return Err(CliError::new(
                "a cable leads to another machine: give the mesh a key, by the mesh file or --key-file (`hopwise mesh key` makes one)",
            ));
        }
    }
    settings.is_quiet = args.until_eof;
    if args.until_eof {
        end_with_input();
    }
    if let Some(app) = &args.app {
        let program = app::for_host(app, say)?;
        let mut node = Command::new(&program).stdin(Stdio::piped()).spawn()?;
        // Held until the end, since `wait` closes it, and the program ends with its input.
        let mut input = node.stdin.take();
        if let Some(input) = &mut input {
            writeln!(input, "{}", serde_json::to_string(&settings)?)?;
        }
        let status = node.wait()?;
        return Err(CliError::file(
            &program,
            format_args!("the program has ended: {status}"),
        ));
    }
    let never: Infallible = hopwise_process::run(&settings, say)?;
    match never {}
}

fn config(args: &NodeArgs) -> Result<([u8; CONFIG_BYTES], Option<MeshKeys>), CliError> {
    let path = Path::new(&args.mesh);
    if Mesh::is_mesh_file(path) {
        let mesh = Mesh::read(path)?;
        check_degree(&mesh.network, args.address)?;
        return Ok((mesh.config(args.address)?, mesh.keys));
    }
    let network = parse(&args.mesh)?;
    check_degree(&network, args.address)?;
    let mut config = BoardConfig::new(&network.to_string(), args.address)?;
    config.baud = args.baud;
    Ok((config.write(), None))
}

fn check_degree(network: &Network, node: u64) -> Result<(), CliError> {
    let links = network.degree(check(network, node)?).unwrap_or(0);
    match links <= LINKS as u64 {
        true => Ok(()),
        false => Err(CliError::new(format_args!(
            "node {node} of {network} has {links} links; a node in a process has at most {LINKS}"
        ))),
    }
}
