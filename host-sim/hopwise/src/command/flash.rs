use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use hopwise_emulator::time::{MILLISECOND, Time};
use hopwise_node::wire::Command;
use indicatif::{MultiProgress, ProgressBar};

use super::error::CliError;
use super::output::{Outcome, print, say};
use super::{ImageArg, MeshArg, RepositoryArg, one_kind, update};
use hopwise_emulate::rig::{EmulatedMesh, Firmware, Mistakes};
use hopwise_host::talk::{Reply, ask_nodes};
use hopwise_rig::boards::DEFAULT;
use hopwise_rig::flash::{FlashFailure, FlashJob, FlashStep, Flasher, jobs, write_configs};
use hopwise_rig::mesh::Mesh;
use hopwise_rig::probe_rs::Program;

/// Emulated boards answer after this.
const START: Time = 200 * MILLISECOND;

#[derive(Args)]
#[command(after_help = "The exit status is 1 if a board could not be flashed; the others are still flashed.")]
pub(super) struct FlashArgs {
    #[command(flatten)]
    mesh: MeshArg,
    /// The serial port of one board: boards that were flashed before are given firmware and configs through the mesh, without probes
    #[arg(long, value_name = "TTY", conflicts_with_all = ["only", "dry_run", "loader"])]
    port: Option<PathBuf>,
    /// Only these nodes
    #[arg(long, value_name = "NODES", value_delimiter = ',')]
    only: Vec<u64>,
    /// Print the commands, and do nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    image: ImageArg,
    /// Another boot loader than Hopwise's own; an image given by --elf has none without this
    #[arg(long, value_name = "FILE")]
    loader: Option<PathBuf>,
    /// How many boards at once
    #[arg(long, value_name = "N", default_value_t = 8)]
    at_once: usize,
    /// How long the image, the config and the reset of a board may each take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
    /// The probe-rs program
    #[arg(long, value_name = "PROGRAM", default_value = "probe-rs")]
    probe_rs: String,
}

pub(super) fn run(args: &FlashArgs, repository: &RepositoryArg) -> Result<Outcome, CliError> {
    let mesh = args.mesh.read()?;
    if let Some(port) = &args.port {
        if args.image.files().next().is_some() {
            return Err(CliError::new(
                "without probes, your own program comes as an update: `hopwise update MESH.toml --elf FIRST SECOND`",
            ));
        }
        return update::flash(&mesh, port, repository);
    }
    let nodes = match args.only.is_empty() {
        true => mesh.real_nodes().collect(),
        false => args.only.iter().copied().collect::<BTreeSet<_>>(),
    };
    if let Some(wrong) = nodes.iter().find(|node| mesh.network.check(**node).is_err()) {
        return Err(CliError::new(format_args!("{} has no node {wrong}", mesh.network)));
    }
    let nodes: Vec<u64> = nodes.into_iter().collect();
    if mesh.is_emulated() {
        return flash_emulated(args, repository, &mesh, &nodes);
    }
    if nodes.is_empty() {
        return Err(CliError::new(
            "no node of this mesh is a real board: `hopwise mesh run` starts the others",
        ));
    }
    let kind = one_kind(
        nodes.iter().map(|node| mesh.kind_of(*node)),
        "flash those of one kind at a time, with --only",
    )?;
    let folder = std::env::temp_dir().join(format!("hopwise-configs-{}", std::process::id()));
    let jobs = jobs(&mesh, &nodes, &folder)?;
    let flasher = |elf: PathBuf, loader: Option<PathBuf>| Flasher {
        chip: kind.chip,
        elf,
        loader,
        slots: kind.slots,
        keyed_slot_bytes: mesh.keys.map(|_| kind.slot_bytes),
        limit: Duration::from_secs(args.limit),
    };
    if args.dry_run {
        let elf = match (&args.image.elf, &args.image.app) {
            (Some(path), _) => path.clone(),
            (None, Some(_)) => args.image.find(repository, kind.name, &mesh.network)?,
            (None, None) => repository.elf_path(kind.name)?,
        };
        let flasher = flasher(elf, loader(args, repository, kind.name)?);
        return show_commands(&args.probe_rs, &flasher, &jobs);
    }
    // Said once, not once a board, and before an image is built.
    let program = Program::find(&args.probe_rs)?;
    let loader = loader(args, repository, kind.name)?;
    let flasher = flasher(args.image.find(repository, kind.name, &mesh.network)?, loader);
    let refused = |error: std::io::Error| CliError::file(&folder, error);
    std::fs::create_dir_all(&folder).map_err(refused)?;
    let written = write_configs(&mesh, &jobs);
    let results = written.map(|()| flash_boards(args, &program, &flasher, &jobs));
    std::fs::remove_dir_all(&folder).map_err(refused)?;
    conclude(args, &jobs, &results?)
}

/// The boot loader, by which the next program can come through the mesh. Nobody knows whether an ELF file has room for one.
fn loader(args: &FlashArgs, repository: &RepositoryArg, board: &str) -> Result<Option<PathBuf>, CliError> {
    if args.loader.is_some() || args.image.elf.is_some() {
        return Ok(args.loader.clone());
    }
    // It is built with Hopwise's own image.
    let built = match args.dry_run {
        true => Ok(PathBuf::new()),
        false => repository.elf(None, board),
    };
    match built.and_then(|_| repository.loader_path(board)) {
        Err(error) if args.image.app.is_some() => {
            say(&format!("no boot loader is flashed, so updates need probes: {error}"));
            Ok(None)
        }
        found => found.map(Some),
    }
}

fn show_commands(program: &str, flasher: &Flasher, jobs: &[FlashJob]) -> Result<Outcome, CliError> {
    let quoted = |word: &str| match word.contains([' ', '\'', '"']) {
        true => format!("'{}'", word.replace('\'', "'\\''")),
        false => word.into(),
    };
    print(|out| {
        for (job, step) in jobs.iter().flat_map(|job| FlashStep::ALL.map(|step| (job, step))) {
            let Some(call) = flasher.call(job, step) else { continue };
            let words = call.arguments();
            let words: Vec<String> = words.iter().map(|word| quoted(&word.to_string_lossy())).collect();
            writeln!(out, "{program} {}", words.join(" "))?;
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}

/// One line of progress for each board, where there is a terminal.
fn flash_boards(
    args: &FlashArgs,
    program: &Program,
    flasher: &Flasher,
    jobs: &[FlashJob],
) -> Vec<Result<(), FlashFailure>> {
    let all = MultiProgress::new();
    let line = |job: &FlashJob| {
        let bar = all.add(ProgressBar::new_spinner());
        bar.set_message(format!("board {}: waits", job.node));
        bar
    };
    let bars: Vec<ProgressBar> = jobs.iter().map(line).collect();
    let progress = |place: usize, step: FlashStep| {
        bars[place].enable_steady_tick(Duration::from_millis(120));
        bars[place].set_message(format!("board {}: {step}", jobs[place].node));
    };
    let done = |place: usize, result: &Result<(), FlashFailure>| {
        let how = if result.is_ok() { "flashed" } else { "FAILED" };
        bars[place].finish_with_message(format!("board {}: {how}", jobs[place].node));
    };
    flasher.flash_all(program, jobs, args.at_once, &progress, &done)
}

fn conclude(args: &FlashArgs, jobs: &[FlashJob], results: &[Result<(), FlashFailure>]) -> Result<Outcome, CliError> {
    let failed: Vec<(&FlashJob, &FlashFailure)> = jobs
        .iter()
        .zip(results)
        .filter_map(|(job, result)| Some((job, result.as_ref().err()?)))
        .collect();
    print(|out| {
        writeln!(out, "{} of {} boards flashed", jobs.len() - failed.len(), jobs.len())?;
        for (job, FlashFailure { step, reason }) in &failed {
            // In the words of probe-rs.
            let advice = match reason.ends_with("Probe not found") {
                true => ": plug its USB cable into this host",
                false => "",
            };
            writeln!(
                out,
                "  board {} (probe {}) failed at its {step}: {reason}{advice}",
                job.node, job.probe
            )?;
        }
        Ok(())
    })?;
    if failed.is_empty() {
        return Ok(Outcome::Done);
    }
    let nodes: Vec<String> = failed.iter().map(|(job, _)| job.node.to_string()).collect();
    Ok(Outcome::CheckFailed(format!(
        "not flashed: {} of {} boards; to retry only those: hopwise flash {} --only {}",
        failed.len(),
        jobs.len(),
        args.mesh.path.display(),
        nodes.join(",")
    )))
}

/// Emulated boards begin with their configs: what remains is to see that each has understood its own.
fn flash_emulated(
    args: &FlashArgs,
    repository: &RepositoryArg,
    mesh: &Mesh,
    nodes: &[u64],
) -> Result<Outcome, CliError> {
    if args.dry_run {
        print(|out| writeln!(out, "nothing to do: the boards are emulated"))?;
        return Ok(Outcome::Done);
    }
    let firmware = Firmware::load(&args.image.find(repository, DEFAULT, &mesh.network)?)?;
    let mut emulated = EmulatedMesh::start(mesh, &firmware.image, &Mistakes::default(), &[])?;
    emulated.run_for(START);
    let replies = ask_nodes(&mut emulated, nodes, Command::ReadConfig.query(), &[]);
    let has_its_config = |node: &u64, reply: &Option<Reply>| match (mesh.config(*node), reply) {
        (Ok(config), Some(Reply::Response(bytes))) => bytes[..] == config[..],
        _ => false,
    };
    let right = nodes
        .iter()
        .zip(&replies)
        .filter(|(node, reply)| has_its_config(node, reply))
        .count();
    print(|out| writeln!(out, "{right} of {} emulated boards have their config", nodes.len()))?;
    let all = right == nodes.len();
    Ok(Outcome::of(all, || "not all boards have their config".into()))
}
