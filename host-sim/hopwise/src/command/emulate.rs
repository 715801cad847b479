mod job;
mod measure;
mod trace;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use hopwise_core::Network;
use hopwise_emulator::boards::BoardKind;
use hopwise_emulator::time::{MICROSECOND, MILLISECOND, SECOND, Time};
use hopwise_emulator::world::{Port, Script, World};
use hopwise_figures::printable_line;
use hopwise_language::BadTime;
use hopwise_language::script::{NoSuchPlace, PortName};
use hopwise_node::authority::MeshKeys;
use hopwise_node::limits::MAX_PAYLOAD;
use hopwise_node::wire::{DEFAULT_BAUD, Traffic};

use super::capture::severity;
use super::error::CliError;
use super::output::{Color, Outcome, colored, print, print_colored, print_either, progress_bar, say};
use super::talk::parse_baud;
use super::{BOARD_OF_MESH, ImageArg, RepositoryArg, parse};
use hopwise_emulate::check::CheckReport;
use hopwise_emulate::gdb::GdbServer;
use hopwise_emulate::rig::{self, CannotEmulate};
use hopwise_emulate::script;
use hopwise_emulate::serial::SerialPort;
use hopwise_emulate::session::{RunFigures, Session};
use hopwise_emulate::setup::{self, Program};
use hopwise_rig::board_log::{BoardLine, LogFormat, LogReaders};
use hopwise_rig::boards::DEFAULT;
use hopwise_rig::log_sources::LEVELS;
use hopwise_rig::mesh::{CableRate, Mesh, NodePort};
pub(super) use job::Emulate;
use trace::TraceFile;

#[derive(Args)]
pub(super) struct EmulateArgs {
    /// The network, as an expression; or a mesh file, whose name ends in .toml
    #[arg(value_name = "EXPR|MESH.toml")]
    what: String,
    /// The kind of board [default: nucleo-f446re, or what the mesh file says]
    #[arg(long, value_name = "NAME")]
    board: Option<String>,
    #[command(flatten)]
    image: ImageArg,
    /// How much virtual time to run: 10s, 500ms ...
    #[arg(long = "for", value_name = "TIME", default_value = "10s", value_parser = picoseconds)]
    duration: Time,
    /// Decides everything that is random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What happens to wires and boards, one event per line: "2s cut 3.0" pulls the cable at port 0 of node 3, and so does
    /// "2s cut 3.USART1"; also plug, one-way, both-ways, reverse, stuck, noise, quiet, burst, swap, reset, press, release
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// The same on the command line, separated by semicolons
    #[arg(long, value_name = "EVENTS", conflicts_with = "script")]
    events: Option<String>,
    /// Random faults instead of a script: about this many a second at each port
    #[arg(long, value_name = "RATE", conflicts_with_all = ["script", "events"], value_parser = parse_rate)]
    faults: Option<f64>,
    /// Crystals are off by up to this many parts in a million
    #[arg(long, value_name = "PPM", default_value_t = 0.0, value_parser = parse_drift)]
    drift: f64,
    /// Every interrupt comes late, by less than so many cycles of the core, as the seed says: up to 10000
    #[arg(long, value_name = "CYCLES", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=10_000))]
    late_interrupts: u64,
    /// The clock or crystal at the HSE pins of every board begins so long after power-on, up to a minute
    #[arg(long, value_name = "TIME", value_parser = parse_late_clock)]
    late_clock: Option<u32>,
    /// How many threads to run on; the result is the same
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Show only the logs of these boards
    #[arg(long, value_name = "N", value_delimiter = ',')]
    boards: Vec<usize>,
    /// Show only log lines of at least this level: trace, debug, info, warn, error
    #[arg(long, default_value = "trace", value_parser = LEVELS)]
    level: String,
    /// Open serial ports to other programs: 0.USART2=pty or 0.USART2=unix:PATH
    #[arg(long, value_name = "PORT=PLACE", value_parser = SerialPort::parse)]
    serial: Vec<SerialPort>,
    /// Wait for GDB on this local port; it controls one board, and the others wait with it
    #[arg(long, value_name = "PORT")]
    gdb: Option<u16>,
    /// The board that GDB controls
    #[arg(long, value_name = "N", default_value_t = 0, requires = "gdb")]
    node: usize,
    /// Check the mesh, with Hopwise's firmware: links, a ping of every pair and its path, a broadcast from every board; or only the links, as
    /// in meshes of hundreds of boards, in which all pairs take hours
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    #[arg(conflicts_with_all = ["serial", "gdb"])]
    check: Option<CheckArg>,
    /// Write a trace of what the boards noticed and did, including all packets, for `hopwise report` and `hopwise load --trace`.
    /// Times are exact, whatever the boards' clocks say
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Packets a second that each board sends to random boards, besides what a mesh file says
    #[arg(long, value_name = "RATE")]
    traffic: Option<u32>,
    /// How many bytes each of them has
    #[arg(long, value_name = "BYTES", requires = "traffic", default_value_t = 32)]
    #[arg(value_parser = clap::value_parser!(u8).range(i64::from(Traffic::SMALLEST)..=MAX_PAYLOAD as i64))]
    payload: u8,
    /// What the bytes are, after a number of four bytes
    #[arg(long, value_name = "WHICH", requires = "traffic", default_value = "zeros", value_parser = ["zeros", "random"])]
    payload_bytes: String,
    /// The rate of the wires between boards, or auto: boards choose it [default: 1000000, or what the mesh file says]
    #[arg(long, value_name = "RATE|auto", value_parser = parse_cable_rate)]
    baud: Option<CableRate>,
    /// Count the instructions of every function, inlined ones too, and of every room: a module of Hopwise, or a crate of others. Of one
    /// board, or of all
    #[arg(long, value_name = "BOARD", num_args = 0..=1, require_equals = true)]
    profile: Option<Option<usize>>,
    /// Subtract from the profile what the same boards execute in the same time without traffic and checks: a second run measures it
    #[arg(long, requires = "profile")]
    without_idle: bool,
    /// For programs that use what the emulator has no model of: that is told, and is no reason for exit status 1
    #[arg(long)]
    lenient: bool,
    /// Print a JSON object and no logs
    #[arg(long)]
    json: bool,
}

/// A time as emulated boards count it.
pub(super) fn picoseconds(text: &str) -> Result<Time, BadTime> {
    text.parse::<hopwise_language::Time>()
        .map(hopwise_language::Time::picos)
}

fn parse_rate(text: &str) -> Result<f64, String> {
    parse_between(text, 1000.0)
}

/// A crystal that is off by more than a hundredth is broken.
fn parse_drift(text: &str) -> Result<f64, String> {
    parse_between(text, 10_000.0)
}

/// In microseconds.
fn parse_late_clock(text: &str) -> Result<u32, String> {
    let time = picoseconds(text).map_err(|error| error.to_string())?;
    let micros = u32::try_from(time / MICROSECOND).ok();
    micros
        .filter(|micros| *micros <= 60_000_000)
        .ok_or("it must be a minute at most".into())
}

fn parse_cable_rate(text: &str) -> Result<CableRate, String> {
    match text {
        "auto" => Ok(CableRate::Auto),
        rate => parse_baud(rate).map(CableRate::Fixed),
    }
}

fn parse_between(text: &str, most: f64) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..=most).contains(&number) => Ok(number),
        _ => Err(format!("it must be a number from 0 to {most}")),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum CheckArg {
    All,
    Links,
}

/// What is emulated: a network of boards of one kind, or a mesh file.
enum Subject {
    Network(Network, &'static BoardKind),
    Mesh(Mesh),
}

impl Subject {
    fn of(args: &EmulateArgs) -> Result<Self, CliError> {
        let mut subject = Self::as_written(args)?;
        if args.trace.is_some() || args.traffic.is_some() || args.baud.is_some() {
            if let Subject::Network(network, kind) = subject {
                subject = Subject::Mesh(trace::mesh(network, kind)?);
            }
            if let Subject::Mesh(mesh) = &mut subject {
                trace::prepare(mesh, args)?;
            }
        }
        Ok(subject)
    }

    fn mesh(&self) -> Option<&Mesh> {
        match self {
            Subject::Network(..) => None,
            Subject::Mesh(mesh) => Some(mesh),
        }
    }

    fn has_traffic(&self) -> bool {
        self.mesh().is_some_and(|mesh| mesh.traffic.is_some())
    }

    fn keys(&self) -> Option<&MeshKeys> {
        self.mesh()?.keys.as_ref()
    }

    /// The serial ports of all ports of all nodes, with their rates.
    fn links(&self) -> Result<Vec<Vec<(Port, u32)>>, CliError> {
        let network = self.network();
        let rate = |node, port| {
            self.mesh()
                .map_or(DEFAULT_BAUD, |mesh| mesh.rate(NodePort { node, port }))
        };
        let of_node = |node: u64| {
            let ports = 0..network.degree(node).unwrap_or(0);
            let links = ports.map(|port| Ok((self.link(node, port)?, rate(node, port))));
            links.collect::<Result<_, _>>()
        };
        (0..network.nodes()).map(of_node).collect()
    }

    fn link(&self, node: u64, port: u64) -> Result<Port, CliError> {
        match self {
            Subject::Network(network, kind) => {
                let place = setup::place(kind, network, node, Some(port));
                place.map_err(|error| CliError::network(network, error))
            }
            Subject::Mesh(mesh) => Ok(rig::port(mesh, NodePort { node, port })?),
        }
    }

    fn as_written(args: &EmulateArgs) -> Result<Self, CliError> {
        match (args.what.ends_with(".toml"), &args.board) {
            (true, None) => Ok(Subject::Mesh(Mesh::read(Path::new(&args.what))?)),
            (true, Some(_)) => Err(CliError::new(BOARD_OF_MESH)),
            (false, board) => {
                let board = board.as_deref().unwrap_or(DEFAULT);
                Ok(Subject::Network(parse(&args.what)?, rig::board(board)?))
            }
        }
    }

    /// Whether there are boards and links enough, before an image is built for them. Mesh files are checked when they are read.
    fn check_size(&self) -> Result<(), CliError> {
        match self {
            Subject::Network(network, kind) => {
                setup::check_size(kind, network).map_err(|error| CliError::network(network, error))
            }
            Subject::Mesh(_) => Ok(()),
        }
    }

    fn kinds(&self) -> Result<Vec<&'static BoardKind>, CliError> {
        match self {
            Subject::Network(_, kind) => Ok(vec![kind]),
            Subject::Mesh(mesh) => {
                let kinds = mesh.kinds().into_iter().map(|kind| rig::board(kind.name));
                Ok(kinds.collect::<Result<_, _>>()?)
            }
        }
    }

    fn network(&self) -> &Network {
        match self {
            Subject::Network(network, _) => network,
            Subject::Mesh(mesh) => &mesh.network,
        }
    }

    fn baud(&self) -> u32 {
        self.mesh().map_or(DEFAULT_BAUD, |mesh| mesh.baud)
    }

    fn host_baud(&self) -> u32 {
        self.mesh().map_or(DEFAULT_BAUD, Mesh::host_baud)
    }

    fn build(&self, programs: &[Program], differences: setup::Differences) -> Result<World, CliError> {
        match (self, programs) {
            (Subject::Network(network, _), [program, ..]) => {
                setup::build_of(program, network, differences).map_err(|error| CliError::network(network, error))
            }
            (Subject::Network(..), []) => Err(CannotEmulate::no_image(0).into()),
            (Subject::Mesh(mesh), programs) => Ok(rig::build(mesh, programs, differences)?),
        }
    }

    fn place(&self, name: &PortName) -> Result<Port, NoSuchPlace> {
        match self {
            Subject::Network(_, kind) => script::port_on(kind, name),
            Subject::Mesh(mesh) => script::port_in(mesh, name),
        }
    }
}

pub(super) fn run(args: &EmulateArgs, repository: &RepositoryArg) -> Result<Outcome, CliError> {
    let bar = progress_bar(args.duration / MILLISECOND, "virtual ms");
    let (figures, faults) = figures(args, repository, &bar)?;
    print_either(args.json, &figures, |figures| show(figures, &faults))?;
    let findings = findings(args, &figures);
    Ok(match findings.first() {
        Some(first) => Outcome::CheckFailed(format!("{} findings, the first: {first}", findings.len())),
        None => Outcome::Done,
    })
}

/// All that a run is not to have.
fn findings(args: &EmulateArgs, figures: &RunFigures) -> Vec<String> {
    let of_check = figures.check.iter().flat_map(|check| &check.findings);
    let mut findings: Vec<String> = of_check.chain(&figures.violations).cloned().collect();
    if !args.lenient {
        findings.extend(figures.unmodelled.iter().map(|what| format!("not modeled: {what}")));
    }
    findings.extend(measure::complaints(args, figures));
    findings
}

/// Emulates what is asked for, to its end: what there was, and the faults of processors.
fn figures(
    args: &EmulateArgs,
    repository: &RepositoryArg,
    bar: &indicatif::ProgressBar,
) -> Result<(RunFigures, Vec<String>), CliError> {
    let subject = Subject::of(args)?;
    subject.check_size()?;
    let kinds = subject.kinds()?;
    if args.image.elf.is_some() && kinds.len() > 1 {
        return Err(CliError::new(
            "--elf is one image, and the mesh file has boards of several kinds: --images names a folder with one for each",
        ));
    }
    let images = kinds
        .into_iter()
        .map(|kind| Loaded::new(args, repository, kind, subject.network()));
    let images: Vec<Loaded> = images.collect::<Result<_, _>>()?;
    let mut session = start(args, &subject, &images)?;
    let named = args.boards.iter().chain(args.gdb.map(|_| &args.node));
    let mut named = named.chain(args.profile.iter().flatten());
    if let Some(board) = named.find(|board| **board >= session.boards()) {
        return Err(CliError::new(format_args!("there is no board {board}")));
    }
    for wanted in &args.serial {
        let port = subject
            .place(&wanted.name)
            .map_err(|error| CliError::new(format_args!("--serial: {error}")))?;
        let path = session.open_port(port, wanted.socket.as_deref())?;
        say(&format!("board {} is at {path}", port.board));
    }
    if let Some(port) = args.gdb {
        let server = GdbServer::listen(port)?;
        let (node, address) = (args.node, server.address);
        say(&format!("board {node} waits for: gdb -ex 'target remote {address}'"));
        say(session.hold(server, node, args.duration)?);
    }
    if let Some(what) = args.check {
        measure::connect_hosts(&subject, &mut session)?;
        match what {
            CheckArg::All => session.check(subject.network()),
            CheckArg::Links => session.check_links(subject.network()),
        }
    }
    let mut trace = match &args.trace {
        Some(path) => Some(TraceFile::create(path, args, subject.network(), subject.baud())?),
        None => None,
    };
    let asked = measure::is_asking(args, &images);
    measure::run(args, &subject, &mut session, asked, |at, lines| {
        bar.set_position(at / MILLISECOND);
        if let Some(trace) = &mut trace {
            trace.write(&lines)?;
        }
        match args.json {
            true => Ok(()),
            false => bar.suspend(|| show_lines(args, &lines)),
        }
    })?;
    bar.finish_and_clear();
    trace.map(TraceFile::finish).transpose()?;
    let mut figures = session.figures();
    let faults = session.faults();
    measure::add(args, subject, &images, session, &mut figures)?;
    Ok((figures, faults))
}

/// The firmware of a kind of board, and how to read its log and its debug information.
struct Loaded {
    path: PathBuf,
    elf: Vec<u8>,
    program: Program,
    format: LogFormat,
}

impl Loaded {
    fn new(
        args: &EmulateArgs,
        repository: &RepositoryArg,
        kind: &'static BoardKind,
        network: &Network,
    ) -> Result<Self, CliError> {
        let path = args.image.find(repository, kind.name, network)?;
        let (elf, image) = rig::read_elf(&path)?;
        let format = LogFormat::of_elf(&elf).map_err(|error| CliError::file(&path, error))?;
        if args.check.is_some() && setup::configuration_slots(&image).is_none() {
            let reason = "it is not Hopwise's firmware, and cannot be checked";
            return Err(CliError::file(&path, reason));
        }
        Ok(Loaded {
            path,
            elf,
            program: Program::new(kind, Arc::new(image)),
            format,
        })
    }
}

/// Boards that have not run yet.
fn start<'i>(args: &EmulateArgs, subject: &Subject, images: &'i [Loaded]) -> Result<Session<'i>, CliError> {
    let programs: Vec<Program> = images.iter().map(|image| image.program.clone()).collect();
    let world = build(args, subject, &programs)?;
    let of_kind = |kind: &BoardKind| images.iter().find(|image| image.program.kind.name == kind.name);
    let of_boards = world.boards().iter().filter_map(|board| of_kind(board.kind()));
    let readers = LogReaders::new(of_boards.map(|image| &image.format));
    let mut session = Session::new(world, readers);
    if let Some(board) = args.profile {
        session.start_profile(board);
    }
    Ok(session)
}

fn build(args: &EmulateArgs, subject: &Subject, programs: &[Program]) -> Result<World, CliError> {
    let differences = setup::Differences {
        late_interrupts: args.late_interrupts,
        late_clock: args.late_clock,
        ..setup::Differences::new(args.seed, args.drift)
    };
    let mut world = subject.build(programs, differences)?;
    world.set_threads(args.threads);
    let read = |text: &str| script::read(text, subject.network(), |name| subject.place(name));
    let script = match (&args.script, &args.events, args.faults) {
        (Some(path), _, _) => {
            let text =
                hopwise_files::read_text(path, hopwise_files::MAX_TEXT).map_err(|error| CliError::file(path, error))?;
            read(&text).map_err(|error| CliError::file(path, error))?
        }
        (None, Some(events), _) => read(events).map_err(|error| CliError::new(format_args!("events, {error}")))?,
        (None, None, Some(rate)) => Script::random(args.seed, &world.wired_ports(), rate, args.duration),
        (None, None, None) => Script::default(),
    };
    world
        .set_script(script)
        .map_err(|error| CliError::network(subject.network(), error))?;
    Ok(world)
}

fn level_of(line: &BoardLine) -> &'static str {
    line.level.map_or("info", |level| level.as_str())
}

fn show_lines(args: &EmulateArgs, lines: &[BoardLine]) -> Result<(), CliError> {
    let wanted = |line: &&BoardLine| {
        (args.boards.is_empty() || args.boards.contains(&line.board))
            && severity(level_of(line)) >= severity(&args.level)
    };
    let colored = colored();
    print_colored(|out| {
        lines
            .iter()
            .filter(wanted)
            .try_for_each(|line| show_line(out, line, colored))
    })
}

fn show_line(out: &mut dyn Write, line: &BoardLine, colored: bool) -> std::io::Result<()> {
    let name = level_of(line);
    let level = Color::of_level(name).paint(&format!("{name:5}"), colored);
    let time = line.at as f64 / SECOND as f64;
    let place = printable_line(line.place.as_deref().unwrap_or(""));
    let text = printable_line(&line.text);
    writeln!(out, "{time:12.6} {:>4} {level} {text}  {place}", line.board)
}

fn show_check(out: &mut dyn Write, check: &CheckReport) -> std::io::Result<()> {
    let of = |found: u64, expected: u64| format!("{found} of {expected}");
    let (sent, delivered, twice) = (check.broadcasts, check.broadcast_deliveries, check.duplicates);
    let facts = [
        ("links up", of(check.links_up, check.links_expected)),
        ("pings answered", of(check.pongs, check.pings)),
        ("paths as computed", of(check.paths_as_computed, check.traces)),
        ("broadcasts", format!("{sent}, {delivered} delivered, {twice} twice")),
        ("balanced accounts", check.accounts_balanced.to_string()),
    ];
    // Without broadcasts only the links were checked.
    let checked = if check.broadcasts == 0 { 1 } else { facts.len() };
    for (what, figure) in &facts[..checked] {
        writeln!(out, "{what:17}  {figure}")?;
    }
    check
        .findings
        .iter()
        .try_for_each(|finding| writeln!(out, "MISSING {finding}"))
}

fn show(summary: &RunFigures, faults: &[String]) -> Result<(), CliError> {
    print(|out| {
        for fault in faults {
            write!(out, "{fault}")?;
        }
        for remark in &summary.unmodelled {
            writeln!(out, "not modeled: {remark}")?;
        }
        for violation in &summary.violations {
            writeln!(out, "rule broken: {violation}")?;
        }
        if let Some(check) = &summary.check {
            show_check(out, check)?;
        }
        if let Some(profile) = &summary.profile {
            measure::show_profile(out, profile)?;
        }
        let (boards, virtual_time, wall_time) = (summary.boards, summary.virtual_seconds, summary.wall_seconds);
        let (instructions, times) = (summary.instructions, virtual_time / wall_time);
        let millions = instructions as f64 / wall_time / 1e6;
        writeln!(
            out,
            "{boards} boards, {virtual_time:.3} s in {wall_time:.3} s ({times:.1} times real time), {instructions} instructions \
             ({millions:.1} million a second)"
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
