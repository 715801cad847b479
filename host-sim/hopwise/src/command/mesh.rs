use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::advice::did_you_mean;
use super::error::CliError;
use super::output::{Outcome, create_file, print};
use super::{NetworkArg, RepositoryArg, WithFirmware, assign, mesh_run};
use hopwise_files::create_private;
use hopwise_host::{bridge::to_hex, random_bytes};
use hopwise_node::key::Secret;
use hopwise_node::signature::{SEED_BYTES, owner_key};
use hopwise_rig::boards::{BoardKind, DEFAULT, kind, names};
use hopwise_rig::mesh::{CableRate, Mesh};

#[derive(Args)]
pub(super) struct MeshArgs {
    #[command(subcommand)]
    command: MeshCommand,
}

#[derive(Subcommand)]
enum MeshCommand {
    /// Writes a mesh file for a network
    New(NewArgs),
    /// Makes a key for a mesh, 32 hexadecimal digits; or the pair of keys of its owner, who signs images
    Key(KeyArgs),
    /// Writes into a mesh file which board is which node, as you plug in one board after the other
    Assign(assign::AssignArgs),
    /// Runs every node of a mesh as a process on this machine and restarts those that exit; some nodes can be emulated or real boards
    Run(WithFirmware<mesh_run::RunArgs>),
}

#[derive(Args)]
struct KeyArgs {
    /// Also encrypt what programs say to each other, from end to end
    #[arg(long)]
    encrypt: bool,
    /// The file to write, which only you can read; it must not exist yet
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Make a pair of keys for signing images: writes the private one to this file, which must not exist yet, and prints the line of the mesh
    /// file with the public one
    #[arg(long, value_name = "FILE", conflicts_with_all = ["encrypt", "output"])]
    owner: Option<PathBuf>,
}

#[derive(Args)]
struct NewArgs {
    #[command(flatten)]
    network: NetworkArg,
    /// The kind of the boards
    #[arg(long, value_name = "BOARD", default_value = DEFAULT, value_parser = parse_kind)]
    board: &'static BoardKind,
    /// The file to write; it must not exist yet
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn parse_kind(name: &str) -> Result<&'static BoardKind, String> {
    let known = names();
    kind(name).ok_or_else(|| format!("there is no board '{name}', only {known}{}", did_you_mean(name)))
}

pub(super) fn run(args: &MeshArgs, said: &RepositoryArg) -> Result<Outcome, CliError> {
    match &args.command {
        MeshCommand::New(args) => new(args),
        MeshCommand::Key(args) => key(args),
        MeshCommand::Assign(args) => assign::run(args),
        MeshCommand::Run(with) => mesh_run::run(&with.args, &with.repository.or(said)),
    }
}

/// The first line of an owner's file.
const PRIVATE: &str = "# The private key of an owner. Whoever has it can choose the image of every board.";

fn random() -> Result<[u8; 16], CliError> {
    random_bytes().map_err(|error| CliError::new(format_args!("the system provides no random numbers: {error}")))
}

fn key(args: &KeyArgs) -> Result<Outcome, CliError> {
    if let Some(path) = &args.owner {
        let mut seed = [0; SEED_BYTES];
        let (first, second) = seed.split_at_mut(SEED_BYTES / 2);
        first.copy_from_slice(&random()?);
        second.copy_from_slice(&random()?);
        let text = format!("{PRIVATE}\n{}\n", to_hex(&seed));
        let written = create_private(path).and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| CliError::not_created(path, &error))?;
        print(|out| writeln!(out, "owner = \"{}\"", owner_key(&seed)))?;
        return Ok(Outcome::Done);
    }
    let digits = to_hex(&random()?);
    let use_of_it = if args.encrypt { Secret::ENCRYPTS } else { "" };
    let Some(path) = &args.output else {
        print(|out| writeln!(out, "{digits}{use_of_it}"))?;
        return Ok(Outcome::Done);
    };
    let text = format!("# The key of a mesh. Whoever has it can do anything to every board.\n{digits}{use_of_it}\n");
    let written = create_private(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| CliError::not_created(path, &error))?;
    Ok(Outcome::Done)
}

fn new(args: &NewArgs) -> Result<Outcome, CliError> {
    let mut mesh = Mesh::new(args.network.network()?, args.board)?;
    mesh.set_baud(CableRate::Auto)?;
    match &args.output {
        // Probes that were typed in are not written over.
        Some(path) => create_file(path, &mesh.template())?,
        None => print(|out| write!(out, "{}", mesh.template()))?,
    }
    Ok(Outcome::Done)
}
