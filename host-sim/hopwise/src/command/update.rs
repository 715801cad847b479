use std::path::{Path, PathBuf};

use clap::Args;
use hopwise_emulator::time::{MILLISECOND, Time};
use hopwise_files::write_whole;

use super::error::CliError;
use super::mesh::parse_kind;
use super::output::{Outcome, check_output, print, print_json};
use super::sign::{self, Numbers};
use super::{BOARD_OF_MESH, RepositoryArg, none_of_mesh, one_kind, parse};
use hopwise_emulate::package::package;
use hopwise_emulate::rig::{self, CannotEmulate, EmulatedMesh, Firmware, Mistakes};
use hopwise_emulate::script;
use hopwise_emulate::session::offenses;
use hopwise_emulate::setup::Program;
use hopwise_node::wire::VERSION;
use hopwise_rig::boards::{BoardKind, DEFAULT, KINDS};
use hopwise_rig::mesh::Mesh;
use hopwise_rig::ports;
use hopwise_rig::serial_line::SerialMesh;
use hopwise_rig::update::{Boards, CannotUpdate, ConfigsReport, Package, UpdateReport, change_configs, update};

/// After this emulated boards have found each other.
const START: Time = 600 * MILLISECOND;
/// Where the host is, of emulated boards.
const ENTRANCE: u64 = 0;

#[derive(Args, Default)]
#[command(after_help = "\
Boards go back to their old image by themselves unless all of them come back with the new one. The exit status is 0 if all boards
have it, 1 if not, 2 for bad input.")]
pub(super) struct UpdateArgs {
    /// The network, as an expression; or a mesh file, whose name ends in .toml
    #[arg(value_name = "EXPR|MESH.toml")]
    what: String,
    /// The serial port of a board of the mesh
    #[arg(long, value_name = "TTY", conflicts_with = "emulated")]
    port: Option<PathBuf>,
    /// Update emulated boards, which start with Hopwise's own image
    #[arg(long)]
    emulated: bool,
    /// What happens to emulated boards and their wires meanwhile, as a script of `hopwise emulate`: "2s off 1; 3s on 1"
    #[arg(long, value_name = "EVENTS", requires = "emulated", conflicts_with = "configs")]
    events: Option<String>,
    /// The kind of board [default: nucleo-f446re, or what the mesh file says]
    #[arg(long, value_name = "BOARD", value_parser = parse_kind)]
    board: Option<&'static BoardKind>,
    /// The update file [default: Hopwise's own firmware, built for both slots]
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// A program of yours as two ELF files, linked for the first slot and for the second
    #[arg(long, value_names = ["FIRST", "SECOND"], num_args = 2, conflicts_with = "image")]
    elf: Vec<PathBuf>,
    /// Write the update file, and update nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["port", "emulated", "image", "rolling"])]
    save: Option<PathBuf>,
    /// Sign the image with the private key of the owner of the boards
    #[arg(long, value_name = "FILE", conflicts_with = "configs")]
    owner: Option<PathBuf>,
    #[command(flatten)]
    numbers: Numbers,
    /// Boards switch to the new image one after the other, the farthest from the port first, not all together
    #[arg(long)]
    rolling: bool,
    /// The boards have keys, and firmware of version 3 of the wire format, which cannot prove what it says
    #[arg(long, conflicts_with_all = ["emulated", "save", "configs"])]
    from_version_3: bool,
    /// Write the configs of the mesh file instead of firmware
    #[arg(long, alias = "pages", conflicts_with_all = ["image", "elf", "save", "rolling"])]
    configs: bool,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// What `hopwise flash` does without probes: new firmware, then the configs that differ.
pub(super) fn flash(mesh: &Mesh, port: &Path, repository: &RepositoryArg) -> Result<Outcome, CliError> {
    let firmware = UpdateArgs {
        port: Some(port.into()),
        ..UpdateArgs::default()
    };
    match run_on(mesh, &firmware, repository)? {
        Outcome::Done => bring_configs(&firmware, repository, mesh),
        failed => Ok(failed),
    }
}

pub(super) fn run(args: &UpdateArgs, repository: &RepositoryArg) -> Result<Outcome, CliError> {
    let mesh = match (args.what.ends_with(".toml"), args.board) {
        (true, None) => Mesh::read(Path::new(&args.what))?,
        (true, Some(_)) => return Err(CliError::new(BOARD_OF_MESH)),
        (false, board) => Mesh::new(parse(&args.what)?, board.unwrap_or(KINDS[0]))?,
    };
    run_on(&mesh, args, repository)
}

fn run_on(mesh: &Mesh, args: &UpdateArgs, repository: &RepositoryArg) -> Result<Outcome, CliError> {
    let kind = one_kind(mesh.kinds(), "an update file is for one kind")?;
    let given = match (&args.image, &args.elf[..]) {
        (Some(path), _) => Some(load(path)?),
        (None, [first, second]) => Some(pair(first, second)?),
        (None, _) => None,
    };
    if let Some(path) = &args.save {
        check_output(path, args.elf.iter().map(PathBuf::as_path))?;
        let package = signed(args, mesh, given.map_or_else(|| build(repository, kind.name), Ok)?)?;
        write_whole(path, package.write()).map_err(|error| CliError::output_file(path, &error))?;
        return Ok(Outcome::Done);
    }
    if args.configs {
        return bring_configs(args, repository, mesh);
    }
    let result = if args.port.is_none() && (args.emulated || mesh.is_emulated()) {
        let [first, second, loader] = repository.both_slots(kind.name)?;
        let package = match given {
            Some(package) => package,
            None => pair(&first, &second)?,
        };
        let package = signed(args, mesh, package)?;
        let firmware = Firmware::load(&first)?.with_loader(&loader)?;
        let program = Program::new(rig::board(kind.name)?, firmware.image);
        let mut emulated = EmulatedMesh::start_real(mesh, &[program], &[ENTRANCE])?;
        if let Some(events) = &args.events {
            let script = script::read(events, &mesh.network, |name| script::port_in(mesh, name));
            let script = script.map_err(|error| CliError::new(format_args!("events, {error}")))?;
            emulated.world.set_script(script).map_err(CannotEmulate::from)?;
        }
        emulated.run_for(START);
        let result = bring(args, mesh, &package, &mut emulated);
        if let Some(said) = offense(&emulated) {
            return Ok(said);
        }
        result
    } else {
        let mut line = open(args, mesh)?;
        if args.from_version_3 {
            line.trust_version_3();
        } else if mesh.keys.is_some() && line.wire_version() < VERSION {
            return Err(CliError::new(
                "the boards say that they speak version 3 of the wire format, in which they cannot prove it: if they do, add `--from-version-3`",
            ));
        }
        let package = signed(args, mesh, given.map_or_else(|| build(repository, kind.name), Ok)?)?;
        bring(args, mesh, &package, &mut line)
    };
    conclude(args, result)
}

fn open(args: &UpdateArgs, mesh: &Mesh) -> Result<SerialMesh, CliError> {
    let ports = match &args.port {
        Some(port) => vec![port.clone()],
        None => ports::meant_by(mesh).map_err(none_of_mesh)?,
    };
    Ok(SerialMesh::open(&ports, mesh.host_baud(), mesh.keys)?)
}

fn bring_configs(args: &UpdateArgs, repository: &RepositoryArg, mesh: &Mesh) -> Result<Outcome, CliError> {
    let write = |boards: &mut dyn Boards| {
        let config = |node| Ok((node, mesh.config(node)?));
        let configs = in_order(mesh, boards).into_iter().map(config);
        let configs: Vec<_> = configs.collect::<Result<_, CannotEmulate>>()?;
        Ok::<_, CliError>(change_configs(boards, &configs))
    };
    let result = if args.port.is_none() && (args.emulated || mesh.is_emulated()) {
        let firmware = Firmware::load(&repository.elf(None, DEFAULT)?)?;
        let mut emulated = EmulatedMesh::start(mesh, &firmware.image, &Mistakes::default(), &[ENTRANCE])?;
        emulated.run_for(START);
        let result = write(&mut emulated)?;
        if let Some(said) = offense(&emulated) {
            return Ok(said);
        }
        result
    } else {
        write(&mut open(args, mesh)?)?
    };
    match result {
        Err(error) => return Ok(Outcome::CheckFailed(error.to_string())),
        Ok(report) if args.json => print_json(&report)?,
        Ok(ConfigsReport { boards, changed, .. }) => {
            print(|out| writeln!(out, "{boards} boards have their configs, {changed} of them new ones"))?;
        }
    }
    Ok(Outcome::Done)
}

/// What emulated boards did that real ones must not: it may have harmed those, whatever became of the update.
fn offense(emulated: &EmulatedMesh) -> Option<Outcome> {
    let [violations, remarks] = offenses(emulated.world.boards());
    let mut offenses = violations
        .into_iter()
        .chain(remarks.iter().map(|what| format!("not modeled: {what}")));
    let first = offenses.next()?;
    Some(Outcome::CheckFailed(format!(
        "{} findings, the first: {first}",
        1 + offenses.count()
    )))
}

/// The nodes, the farthest from the host first.
fn in_order(mesh: &Mesh, boards: &dyn Boards) -> Vec<u64> {
    let entrance = boards.entrances().first().copied().unwrap_or(ENTRANCE);
    let mut nodes: Vec<u64> = mesh.nodes().collect();
    nodes.sort_by_key(|node| std::cmp::Reverse(mesh.network.distance(*node, entrance).unwrap_or_default()));
    nodes
}

/// Signs an image, if the owner's private key is given.
fn signed(args: &UpdateArgs, mesh: &Mesh, mut package: Package) -> Result<Package, CliError> {
    let Some(path) = &args.owner else { return Ok(package) };
    let (owner, _) = sign::sign(&mut package, path, &args.numbers)?;
    if mesh.owner.is_some_and(|other| other != owner) {
        return Err(CliError::file(
            path,
            "this is not the private key of the owner that the mesh file names",
        ));
    }
    Ok(package)
}

/// An update file.
pub(super) fn load(path: &Path) -> Result<Package, CliError> {
    Package::load(path).map_err(|error| CliError::file(path, error))
}

pub(super) fn build(repository: &RepositoryArg, board: &str) -> Result<Package, CliError> {
    let [first, second, _] = repository.both_slots(board)?;
    pair(&first, &second)
}

pub(super) fn pair(first: &Path, second: &Path) -> Result<Package, CliError> {
    let (one, other) = (Firmware::load(first)?, Firmware::load(second)?);
    package(&one.image, &other.image).map_err(|error| CliError::file(second, error))
}

fn bring(
    args: &UpdateArgs,
    mesh: &Mesh,
    package: &Package,
    boards: &mut dyn Boards,
) -> Result<UpdateReport, CannotUpdate> {
    let nodes = in_order(mesh, boards);
    let waves = match args.rolling {
        false => vec![nodes],
        true => nodes.into_iter().map(|node| vec![node]).collect(),
    };
    update(boards, package, &waves)
}

fn conclude(args: &UpdateArgs, result: Result<UpdateReport, CannotUpdate>) -> Result<Outcome, CliError> {
    let report = match result {
        Ok(report) => report,
        Err(error) => return Ok(Outcome::CheckFailed(error.to_string())),
    };
    if args.json {
        print_json(&report)?;
    } else {
        print(|out| {
            writeln!(
                out,
                "{} boards have the new image after {:.1} s",
                report.boards, report.seconds
            )?;
            writeln!(
                out,
                "  erase {:.1} s, {} blocks {:.1} s, {} retransmitted",
                report.erase_seconds, report.blocks, report.transfer_seconds, report.retries
            )
        })?;
    }
    Ok(Outcome::Done)
}
