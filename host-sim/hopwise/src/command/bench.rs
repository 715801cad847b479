//! `hopwise bench`: boards to rehearse with; and `hopwise bench-probe`, which is probe-rs there.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::Args;
use hopwise_emulate::app;
use hopwise_emulate::rehearsal::Rehearsal;
use hopwise_emulate::rig::{self, Firmware};
use hopwise_emulate::setup::Program;
use hopwise_emulator::image::Image;
use hopwise_rig::bench::{Bench, VARIABLE};
use hopwise_rig::board_log::LogFormat;
use hopwise_rig::boards::BoardKind;
use hopwise_rig::mesh::Mesh;
use hopwise_rig::probe_rs::OLDEST;

use super::error::CliError;
use super::output::{Outcome, print, say};
use super::web_server::{HTML, Request, Response, TEXT, listen, refusal, serve};
use super::{MeshArg, RepositoryArg};

/// Others have a turn between two moments of the boards.
pub(super) const TURN: Duration = Duration::from_micros(50);
/// How often a board's log is read.
const LOOK: Duration = Duration::from_millis(10);

#[derive(Args)]
#[command(after_help = "\
Unless told otherwise the boards are as out of the box: blank, without cables. Open the page to plug in USB and link cables and to press
buttons. In other terminals set the variable HOPWISE_BENCH as printed: commands for boards then work on those of the bench.")]
pub(super) struct BenchArgs {
    #[command(flatten)]
    mesh: MeshArg,
    /// The port to serve the page at; 0 takes any that is free
    #[arg(long, value_name = "PORT", default_value_t = 8018)]
    port: u16,
    /// The USB cables of all boards are plugged in
    #[arg(long)]
    plugged: bool,
    /// All link cables are plugged in, as the mesh file says
    #[arg(long)]
    wired: bool,
    /// All boards have Hopwise's own image and their configs
    #[arg(long)]
    flashed: bool,
    /// Decides everything random: numbers of probes, clocks
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(super) fn run(args: &BenchArgs, repository: &RepositoryArg) -> Result<Outcome, CliError> {
    let mesh = args.mesh.read()?;
    if mesh.is_emulated() {
        return Err(CliError::new(
            "with `probe = \"emulated\"` in the mesh file commands need no bench: take out that line",
        ));
    }
    let programs = match args.flashed {
        true => programs(&mesh, &mesh.kinds(), None, repository)?,
        false => Vec::new(),
    };
    let boards = mesh.nodes();
    let mut bench = Rehearsal::new(mesh, &programs, args.wired, args.seed)?;
    for board in boards.filter(|_| args.plugged) {
        bench.act(&format!("usb in {board}")).map_err(CliError::room)?;
    }
    let (listener, address) = listen(args.port)?;
    print(|out| {
        writeln!(out, "{address}/ (open it in a browser; Ctrl-C ends this)")?;
        writeln!(out, "export {VARIABLE}={address}")
    })?;
    let bench = Arc::new(Mutex::new(bench));
    let (shown, path) = (bench.clone(), args.mesh.path.clone());
    std::thread::spawn(move || serve(&listener, |request| respond(request, &path, lock(&shown))));
    loop {
        let ahead = lock(&bench).run_slice();
        std::thread::sleep(ahead.max(TURN));
    }
}

/// What is flashed into boards of these kinds: Hopwise's own image or a program, and the boot loader.
pub(super) fn programs(
    mesh: &Mesh,
    kinds: &[&BoardKind],
    app: Option<&Path>,
    repository: &RepositoryArg,
) -> Result<Vec<Program>, CliError> {
    let mut programs = Vec::new();
    for kind in kinds {
        // The boot loader is built with it.
        let own = repository.elf(None, kind.name)?;
        let elf = match app {
            Some(app) => app::elf(app, kind.name, &mesh.network, say)?,
            None => own,
        };
        let firmware = Firmware::load(&elf)?.with_loader(&repository.loader_path(kind.name)?)?;
        programs.push(Program::new(rig::board(kind.name)?, firmware.image));
    }
    Ok(programs)
}

fn lock(bench: &Mutex<Rehearsal>) -> MutexGuard<'_, Rehearsal> {
    bench.lock().unwrap_or_else(PoisonError::into_inner)
}

fn respond(request: &Request, mesh: &Path, mut bench: MutexGuard<'_, Rehearsal>) -> Response {
    let parts: Vec<&str> = request.path.trim_start_matches('/').split('/').collect();
    let done = match (request.method.as_str(), &parts[..]) {
        ("GET", [""]) => return ("200 OK", HTML, include_bytes!("bench.html").into()),
        ("GET", ["state"]) => {
            let mut state = bench.state(Mesh::read(mesh).ok().as_ref());
            state["mesh"] = mesh.display().to_string().into();
            return ("200 OK", "application/json", state.to_string().into());
        }
        ("POST", ["do"]) => bench.act(&String::from_utf8_lossy(&request.body)).map(|()| Vec::new()),
        ("POST", ["probe", probe, call @ ..]) => bench.probe(probe, call, &request.body),
        _ => return refusal("404 Not Found", "there is no such thing here"),
    };
    match done {
        Ok(bytes) => ("200 OK", TEXT, bytes),
        Err(error) => refusal("400 Bad Request", error),
    }
}

#[derive(Args)]
pub(super) struct BenchProbeArgs {
    /// What probe-rs is called with
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// What probe-rs would do. Failures are told as probe-rs tells them: that is what the callers know.
pub(super) fn probe(args: &BenchProbeArgs) -> Result<Outcome, CliError> {
    if let Err(error) = carry_out(&args.words) {
        say(&format!("Error: {error}"));
        std::process::exit(1);
    }
    Ok(Outcome::Done)
}

/// Takes the words of [`hopwise_rig::probe_rs::Call`].
fn carry_out(words: &[String]) -> Result<(), CliError> {
    let bench = Bench::named().ok_or_else(|| CliError::new(format_args!("{VARIABLE} is not set")))?;
    let value = |option: &str| {
        let value = words.iter().skip_while(|word| *word != option).nth(1);
        value.map_or("", String::as_str)
    };
    let ask = |call: &str, bytes: &[u8]| bench.ask("POST", &format!("/probe/{}/{call}", value("--probe")), bytes);
    let file = || {
        let path = words.last().map(PathBuf::from).unwrap_or_default();
        hopwise_files::read(&path, hopwise_files::MAX_IMAGE).map_err(|error| CliError::file(&path, error))
    };
    match words.first().map_or("", String::as_str) {
        "--version" => print(|out| writeln!(out, "probe-rs {OLDEST} (hopwise bench)"))?,
        "list" => {
            for (number, board) in bench.boards()?.iter().enumerate() {
                print(|out| writeln!(out, "[{number}]: STLink -- {} (ST-LINK)", board.probe))?;
            }
        }
        "download" => match value("--base-address") {
            "" => drop(ask("elf", &file()?)?),
            address => drop(ask(&format!("bytes/{address}"), &file()?)?),
        },
        "read" => {
            let count = words.last().and_then(|count| count.parse::<u32>().ok());
            let length = 4 * count.unwrap_or_default();
            io::stdout().write_all(&ask(&format!("read/{}/{length:x}", value("b32")), &[])?)?;
        }
        "reset" => drop(ask("reset", &[])?),
        "attach" => print_log(&file()?, |block| ask(&format!("log/{block:x}"), &[]))?,
        other => return Err(CliError::new(format_args!("'{other}' is not for a bench"))),
    }
    Ok(())
}

/// Prints a board's log as [`hopwise_rig::probe_rs::LOG_FORMAT`] has it, until the board goes.
fn print_log(elf: &[u8], read: impl Fn(u32) -> io::Result<Vec<u8>>) -> Result<(), CliError> {
    let format = LogFormat::of_elf(elf)?;
    let block = Image::from_elf(elf)?.address_of("_SEGGER_RTT");
    let block = block.ok_or_else(|| CliError::new("this program has no log"))?;
    let mut readers = format.readers(1);
    loop {
        for line in readers.decode(0, 0, &read(block)?) {
            let level = line.level.map_or("", |level| level.as_str());
            writeln!(io::stdout(), "{}|{level}|{}", line.stamp.unwrap_or_default(), line.text)?;
        }
        std::thread::sleep(LOOK);
    }
}
