//! `hopwise emulate`

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use hopwise_core::Network;
use hopwise_core::board::DEFAULT_BAUD;
use hopwise_emulator::chip::UARTS;
use hopwise_emulator::image::Image;
use hopwise_emulator::time::{MILLISECOND, SECOND, Time};
use hopwise_emulator::world::{Script, World, parse_time};
use serde::Serialize;

use super::output::{Outcome, print, print_json, progress_bar};
use super::parse;
use hopwise_emulate::check::{CheckReport, check};
use hopwise_emulate::computers::Computers;
use hopwise_emulate::firmware;
use hopwise_emulate::log::{Line, LogFormat};
use hopwise_emulate::serial::{OpenPort, SerialPort};
use hopwise_emulate::{demangle, gdb, profile, setup};
use hopwise_networks::refusal::Refusal;
use hopwise_rig::emulated;
use hopwise_rig::mesh::Mesh;

/// How often logs are shown.
const SLICE: Time = 10 * MILLISECOND;
/// How often serial ports of the host are served: the link protocol waits for few milliseconds only.
const SERIAL_SLICE: Time = MILLISECOND;
/// How many functions a profile lists.
const PROFILED: usize = 30;

#[derive(Args)]
pub(super) struct EmulateArgs {
    /// The network, as an expression; or a mesh file, whose name ends in .toml
    #[arg(value_name = "EXPR|MESH.toml")]
    what: String,
    /// The firmware: the ELF file that is flashed; Hopwise's own unless given
    #[arg(long, value_name = "FILE")]
    elf: Option<PathBuf>,
    /// How much virtual time to run: 10s, 500ms ...
    #[arg(long = "for", value_name = "TIME", default_value = "10s", value_parser = parse_time)]
    duration: Time,
    /// Decides all that happens by chance
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What happens to wires and boards, and when
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Faults by chance: about this many a second at each port, instead of a script
    #[arg(long, value_name = "RATE", conflicts_with = "script", value_parser = parse_rate)]
    faults: Option<f64>,
    /// Crystals are off by up to this many parts in a million
    #[arg(long, value_name = "PPM", default_value_t = 0.0, value_parser = parse_drift)]
    drift: f64,
    /// On how many threads to run; the result is the same
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Show only the logs of these boards
    #[arg(long, value_name = "N", value_delimiter = ',')]
    boards: Vec<usize>,
    /// Show only log lines of at least this level: trace, debug, info, warn, error
    #[arg(long, default_value = "trace")]
    level: LevelArg,
    /// Serial ports for other programs: 0.USART2=pty or 0.USART2=unix:PATH
    #[arg(long, value_name = "PORT=PLACE", value_parser = SerialPort::parse)]
    serial: Vec<SerialPort>,
    /// Wait for GDB on this local port; it holds one board, and the others wait with it
    #[arg(long, value_name = "PORT")]
    gdb: Option<u16>,
    /// The board that GDB holds
    #[arg(long, value_name = "N", default_value_t = 0, requires = "gdb")]
    node: usize,
    /// Check the mesh, with Hopwise's firmware: links, a ping of every pair and its way, a broadcast from every board
    #[arg(long, conflicts_with_all = ["serial", "gdb"])]
    check: bool,
    /// Count the instructions of every function
    #[arg(long)]
    profile: bool,
    /// Print a JSON object and no logs
    #[arg(long)]
    json: bool,
}

fn parse_rate(text: &str) -> Result<f64, String> {
    parse_between(text, 1000.0)
}

/// A crystal that is off by more than a hundredth is broken.
fn parse_drift(text: &str) -> Result<f64, String> {
    parse_between(text, 10_000.0)
}

fn parse_between(text: &str, most: f64) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..=most).contains(&number) => Ok(number),
        _ => Err(format!("it must be a number from 0 to {most}")),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
enum LevelArg {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
}

/// The figures of a run; the keys are stable.
#[derive(Serialize)]
struct Summary {
    boards: usize,
    instructions: u64,
    virtual_seconds: f64,
    wall_seconds: f64,
    faults: u64,
    resets: u64,
    uart_bytes_sent: u64,
    uart_bytes_received: u64,
    uart_overruns: u64,
    uart_framing_errors: u64,
    uart_noise_errors: u64,
    log_lines: u64,
    log_undecodable: u64,
    unmodelled: Vec<String>,
    state_hash: String,
    #[serde(flatten)]
    check: Option<CheckReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    profile: Vec<(String, u64)>,
}

/// What is emulated: a network of default boards, or a mesh file.
enum Subject {
    Network(Network),
    Mesh(Mesh),
}

impl Subject {
    fn of(what: &str) -> Result<Self, Refusal> {
        match what.ends_with(".toml") {
            true => Mesh::read(Path::new(what)).map(Subject::Mesh).map_err(Refusal::Emulate),
            false => parse(what).map(Subject::Network),
        }
    }

    fn network(&self) -> &Network {
        match self {
            Subject::Network(network) => network,
            Subject::Mesh(mesh) => &mesh.network,
        }
    }

    fn baud(&self) -> u32 {
        match self {
            Subject::Network(_) => DEFAULT_BAUD,
            Subject::Mesh(mesh) => mesh.baud,
        }
    }

    fn build(&self, image: &Arc<Image>, differences: setup::Differences) -> Result<World, String> {
        match self {
            Subject::Network(network) => {
                setup::build(network, image, differences).map_err(|error| format!("{network}: {error}"))
            }
            Subject::Mesh(mesh) => emulated::build(mesh, image, differences),
        }
    }
}

pub(super) fn run(args: &EmulateArgs) -> Result<Outcome, Refusal> {
    let subject = Subject::of(&args.what)?;
    let path = match &args.elf {
        Some(path) => path.clone(),
        None => firmware::build(firmware::BOARDS[0]).map_err(|error| Refusal::Emulate(error.to_string()))?,
    };
    let elf = std::fs::read(&path).map_err(|error| cannot_read(&path, &error.to_string()))?;
    let image = Image::from_elf(&elf).map_err(|error| cannot_read(&path, &error.to_string()))?;
    let format = LogFormat::of_elf(&elf).map_err(|reason| cannot_read(&path, &reason))?;
    if args.check && setup::configuration_page(&image).is_none() {
        return Err(cannot_read(
            &path,
            "it is not Hopwise's firmware, and cannot be checked",
        ));
    }
    let mut world = build(args, &subject, &Arc::new(image))?;
    if let Some(board) = args.boards.iter().find(|board| **board >= world.boards().len()) {
        return Err(Refusal::Emulate(format!("there is no board {board}")));
    }
    let mut ports = Vec::new();
    for wanted in &args.serial {
        world
            .connect_host(wanted.port)
            .map_err(|error| Refusal::Emulate(error.to_string()))?;
        let port = OpenPort::open(wanted).map_err(Refusal::Emulate)?;
        eprintln!("board {} is at {}", wanted.port.board, port.path);
        ports.push(port);
    }
    if let Some(port) = args.gdb {
        if args.node >= world.boards().len() {
            return Err(Refusal::Emulate(format!("there is no board {}", args.node)));
        }
        let ended = gdb::serve(&mut world, args.node, port, args.duration).map_err(Refusal::Emulate)?;
        eprintln!("{ended}");
    }
    let mut readers = format.readers(world.boards().len());
    let begin = Instant::now();
    let checked = if args.check {
        let connected = Computers::connect(&mut world, subject.baud());
        let mut computers = connected.map_err(|error| Refusal::Emulate(error.to_string()))?;
        Some(check(&mut world, &mut computers, subject.network(), &mut readers))
    } else {
        None
    };
    let bar = progress_bar(args.duration / MILLISECOND, "virtual ms");
    let mut lines_seen = 0;
    let slice = if ports.is_empty() { SLICE } else { SERIAL_SLICE };
    while world.now() < args.duration {
        world.run_until((world.now() + slice).min(args.duration));
        for port in &mut ports {
            port.exchange(&mut world);
        }
        if !ports.is_empty() {
            // Programs at the other end live in real time.
            let ahead = Duration::from_nanos(world.now() / 1000).saturating_sub(begin.elapsed());
            std::thread::sleep(ahead);
        }
        bar.set_position(world.now() / MILLISECOND);
        let lines = readers.take_lines(&mut world);
        lines_seen += lines.len() as u64;
        if !args.json {
            bar.suspend(|| show_lines(args, &lines))?;
        }
    }
    bar.finish_and_clear();
    let mut summary = summarize(
        args,
        &world,
        begin.elapsed().as_secs_f64(),
        lines_seen,
        readers.undecodable,
    );
    let findings = checked
        .as_ref()
        .map(|report| report.findings.clone())
        .unwrap_or_default();
    summary.check = checked;
    if args.json {
        print_json(&summary)?
    } else {
        show(&summary, &world)?
    }
    match findings.len() {
        0 => Ok(Outcome::Done),
        count => Ok(Outcome::CheckFailed(format!(
            "{count} findings, the first: {}",
            findings[0]
        ))),
    }
}

fn cannot_read(path: &Path, reason: &str) -> Refusal {
    Refusal::Emulate(format!("{}: {reason}", path.display()))
}

fn build(args: &EmulateArgs, subject: &Subject, image: &Arc<Image>) -> Result<World, Refusal> {
    let differences = setup::Differences {
        seed: args.seed,
        drift_ppm: args.drift,
    };
    let mut world = subject.build(image, differences).map_err(Refusal::Emulate)?;
    world.set_threads(args.threads);
    let script = match (&args.script, args.faults) {
        (Some(path), _) => {
            let text = std::fs::read_to_string(path).map_err(|error| cannot_read(path, &error.to_string()))?;
            Script::parse(&text).map_err(|error| cannot_read(path, &error.to_string()))?
        }
        (None, Some(rate)) => Script::random(args.seed, &world.wired_ports(), rate, args.duration),
        (None, None) => Script::default(),
    };
    let refused = |reason: String| Refusal::Emulate(format!("{}: {reason}", subject.network()));
    world.set_script(script).map_err(|error| refused(error.to_string()))?;
    if args.profile {
        world.boards_mut().iter_mut().for_each(|board| board.start_profile());
    }
    Ok(world)
}

fn level_of(line: &Line) -> LevelArg {
    match line.level.map(|level| level.as_str()) {
        Some("trace") => LevelArg::Trace,
        Some("debug") => LevelArg::Debug,
        Some("warn") => LevelArg::Warn,
        Some("error") => LevelArg::Error,
        _ => LevelArg::Info,
    }
}

fn show_lines(args: &EmulateArgs, lines: &[Line]) -> Result<(), Refusal> {
    let wanted =
        |line: &&Line| (args.boards.is_empty() || args.boards.contains(&line.board)) && level_of(line) >= args.level;
    let coloured = std::io::stdout().is_terminal();
    print(|out| {
        lines
            .iter()
            .filter(wanted)
            .try_for_each(|line| show_line(out, line, coloured))
    })
}

fn show_line(out: &mut dyn Write, line: &Line, coloured: bool) -> std::io::Result<()> {
    let (name, colour) = match level_of(line) {
        LevelArg::Trace => ("trace", "2"),
        LevelArg::Debug => ("debug", "2"),
        LevelArg::Info => ("info", "32"),
        LevelArg::Warn => ("warn", "33"),
        LevelArg::Error => ("error", "31"),
    };
    let (on, off) = if coloured {
        (format!("\x1b[{colour}m"), "\x1b[0m")
    } else {
        (String::new(), "")
    };
    let time = line.at as f64 / SECOND as f64;
    let place = line.place.as_deref().unwrap_or("");
    writeln!(
        out,
        "{time:12.6} {:>4} {on}{name:5}{off} {}  {place}",
        line.board, line.text
    )
}

fn summarize(args: &EmulateArgs, world: &World, wall_seconds: f64, log_lines: u64, log_undecodable: u64) -> Summary {
    let boards = world.boards();
    let traffic = || {
        boards
            .iter()
            .flat_map(|board| (0..UARTS).map(|uart| board.traffic(uart)))
    };
    let mut unmodelled: Vec<String> = boards
        .iter()
        .flat_map(|board| board.remarks().iter().map(|remark| remark.0.clone()))
        .collect();
    unmodelled.sort();
    unmodelled.dedup();
    let profile = if args.profile {
        profile::functions(world)
    } else {
        Vec::new()
    };
    Summary {
        boards: boards.len(),
        instructions: world.instructions(),
        virtual_seconds: world.now() as f64 / SECOND as f64,
        wall_seconds,
        faults: boards.iter().map(|board| board.cpu.fault_count).sum(),
        resets: boards.iter().map(|board| board.resets()).sum(),
        uart_bytes_sent: traffic().map(|port| port.sent).sum(),
        uart_bytes_received: traffic().map(|port| port.received).sum(),
        uart_overruns: traffic().map(|port| port.overruns).sum(),
        uart_framing_errors: traffic().map(|port| port.framing_errors).sum(),
        uart_noise_errors: traffic().map(|port| port.noise_errors).sum(),
        log_lines,
        log_undecodable,
        unmodelled,
        state_hash: format!("{:016x}", world.state_hash()),
        check: None,
        profile: profile
            .into_iter()
            .take(PROFILED)
            .map(|entry| (entry.function, entry.instructions))
            .collect(),
    }
}

fn show_check(out: &mut dyn Write, check: &CheckReport) -> std::io::Result<()> {
    writeln!(out, "links up        {} of {}", check.links_up, check.links_expected)?;
    writeln!(out, "pings answered  {} of {}", check.pongs, check.pings)?;
    writeln!(out, "ways as computed {} of {}", check.paths_as_computed, check.traces)?;
    writeln!(
        out,
        "broadcasts      {}, {} delivered, {} twice",
        check.broadcasts, check.broadcast_deliveries, check.duplicates
    )?;
    writeln!(out, "accounts that add up {}", check.accounts_balanced)?;
    check
        .findings
        .iter()
        .try_for_each(|finding| writeln!(out, "MISSING {finding}"))
}

fn show(summary: &Summary, world: &World) -> Result<(), Refusal> {
    print(|out| {
        for (number, board) in world.boards().iter().enumerate() {
            for fault in board.faults() {
                let at = board.time_of(fault.at) as f64 / SECOND as f64;
                let names = fault.stack.iter().map(|(_, name)| name);
                let text = names.fold(fault.to_string(), |text, name| text.replace(name, &demangle(name)));
                write!(out, "board {number}, {at:.6} s: {text}")?;
            }
        }
        for remark in &summary.unmodelled {
            writeln!(out, "not modelled: {remark}")?;
        }
        if let Some(check) = &summary.check {
            show_check(out, check)?;
        }
        for (function, instructions) in &summary.profile {
            writeln!(out, "{instructions:>14}  {function}")?;
        }
        writeln!(
            out,
            "{} boards, {:.3} s in {:.3} s ({:.1} times real time), {} instructions ({:.1} million a second)",
            summary.boards,
            summary.virtual_seconds,
            summary.wall_seconds,
            summary.virtual_seconds / summary.wall_seconds,
            summary.instructions,
            summary.instructions as f64 / summary.wall_seconds / 1e6
        )?;
        writeln!(
            out,
            "{} bytes sent, {} received, {} overruns, {} framing and {} noise errors; {} faults, {} resets; state {}",
            summary.uart_bytes_sent,
            summary.uart_bytes_received,
            summary.uart_overruns,
            summary.uart_framing_errors,
            summary.uart_noise_errors,
            summary.faults,
            summary.resets,
            summary.state_hash
        )
    })
}
