//! `hopwise mesh run`

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use hopwise_emulate::app;
use hopwise_emulate::rehearsal::Rehearsal;
use hopwise_host::mesh_check::{CheckReport, check_accounts, check_broadcasts, check_pairs, links_expected, links_up};
use hopwise_host::serial_line::{PortFault, SerialLine};
use hopwise_rig::mesh::{Mesh, NodeKind};
use hopwise_rig::plan::WiringPlan;
use hopwise_rig::ports::{VARIABLE, of_probe};
use hopwise_rig::serial_line::SerialMesh;
use serde::Serialize;

use super::error::CliError;
use super::output::{Outcome, counted, print, print_facts, print_json, say, stop_on_ctrl_c};
use super::{MeshArg, RepositoryArg, bench};

/// How often the processes are looked at.
const LOOK: Duration = Duration::from_millis(50);
/// A process is started again no sooner than this after it was started.
const SHORTEST_LIFE: Duration = Duration::from_secs(1);
/// All processes have made their terminals after this.
const STARTED_WITHIN: Duration = Duration::from_secs(20);
const LINKS_WITHIN: Duration = Duration::from_secs(20);
/// Emulated boards that fall behind by more than this in a [`SPELL`] are reported.
const MAX_LATE: Duration = Duration::from_millis(500);
const SPELL: Duration = Duration::from_secs(5);

#[derive(Args)]
#[command(after_help = "\
Every node is a process, unless the mesh file gives any node `probe = \"process\"` or `\"emulated\"`. Then nodes marked emulated are emulated
boards, and nodes with a probe number are real boards. Each has a terminal for hosts, a serial port to other commands: `hopwise check`, `ping`, ...")]
pub(super) struct RunArgs {
    #[command(flatten)]
    mesh: MeshArg,
    /// A folder for the sockets and terminals [default: a new one, which is removed]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// A program of yours for all nodes: its crate, which is built for this machine, or what was built of it
    #[arg(long, value_name = "PATH")]
    app: Option<PathBuf>,
    /// Check all links, all pairs of nodes and, without a program, all broadcasts, and end
    #[arg(long)]
    check: bool,
    /// Print a JSON object
    #[arg(long, requires = "check")]
    json: bool,
}

/// The keys are stable.
#[derive(Serialize)]
struct RunJson<'a> {
    network: String,
    nodes: u64,
    processes: usize,
    emulated: usize,
    restarts: usize,
    seconds: f64,
    #[serde(flatten)]
    report: &'a CheckReport,
}

/// A process and when it was started.
struct Node {
    command: Command,
    child: Child,
    started: Instant,
}

/// All processes of a mesh. They end with it.
#[derive(Default)]
struct Processes {
    nodes: Vec<(u64, Node)>,
    restarts: usize,
}

impl Drop for Processes {
    fn drop(&mut self) {
        for (_, node) in &mut self.nodes {
            // One that has ended by itself is no harm.
            let _ = node.child.kill();
            let _ = node.child.wait();
        }
    }
}

impl Processes {
    fn start(mesh: &Mesh, path: &Path, folder: &Path, app: Option<&Path>) -> Result<Self, CliError> {
        let program = std::env::current_exe()?;
        let plan = WiringPlan::new(mesh);
        let mut nodes = Processes::default();
        for node in mesh.nodes().filter(|node| kind(mesh, *node) == NodeKind::Process) {
            let mut command = Command::new(&program);
            command.arg("node").arg(path).arg(node.to_string()).arg("--until-eof");
            let host = format!("pty:{}", terminal(folder, node).display());
            command.args(["--host", &host]);
            command.args(app.iter().flat_map(|app| [Path::new("--app"), app]));
            let mut baud = None;
            for cable in &plan.cables {
                for end in [cable.from, cable.to].iter().filter(|end| end.node == node) {
                    let end = end.node_port();
                    let socket = || format!("unix:{}", folder.join(format!("cable-{}", cable.number)).display());
                    let place = mesh.serial(end).map_or_else(socket, |path| path.display().to_string());
                    if mesh.serial(end).is_some() && *baud.get_or_insert(mesh.rate(end)) != mesh.rate(end) {
                        return Err(CliError::new(format_args!(
                            "the serial ports of node {node}, a process, have different rates: give their cables the same baud"
                        )));
                    }
                    let link = format!("{}={place}", mesh.link(end));
                    command.args(["--link", &link]);
                }
            }
            command.args(["--baud", &baud.unwrap_or(mesh.baud).to_string()]);
            // It ends when this process does, however that happens; Ctrl-C is not for it.
            command.stdin(Stdio::piped()).stdout(Stdio::null());
            #[cfg(unix)]
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
            let process = Node {
                child: command.spawn()?,
                command,
                started: Instant::now(),
            };
            nodes.nodes.push((node, process));
        }
        Ok(nodes)
    }

    /// Starts those again that have ended.
    fn look_after(&mut self) -> Result<(), CliError> {
        for (address, node) in &mut self.nodes {
            if node.started.elapsed() < SHORTEST_LIFE {
                continue;
            }
            if let Some(status) = node.child.try_wait()? {
                say(&format!("node {address} has ended ({status}) and is started again"));
                (node.child, node.started) = (node.command.spawn()?, Instant::now());
                self.restarts += 1;
            }
        }
        Ok(())
    }
}

fn terminal(folder: &Path, node: u64) -> PathBuf {
    folder.join(format!("node-{node}"))
}

/// What a node is here: unless the mesh is mixed, all are processes.
fn kind(mesh: &Mesh, node: u64) -> NodeKind {
    match mesh.is_mixed() {
        true => mesh.node_kind(node),
        false => NodeKind::Process,
    }
}

/// Real boards have cables of this machine, and terminals if they are plugged in.
fn find_real_boards(mesh: &Mesh, folder: &Path) -> Result<(), CliError> {
    let is_real = |node| kind(mesh, node) == NodeKind::Board;
    for cable in WiringPlan::new(mesh).cables {
        let [from, to] = [cable.from, cable.to].map(|end| end.node_port());
        let serial = mesh.serial(from).or(mesh.serial(to));
        if is_real(from.node) != is_real(to.node) && serial.is_none() {
            return Err(CliError::new(format_args!(
                "the cable from {from} to {to} leads to a real board: a [[cable]] with at = \"{from}\" and serial names the serial port it is at"
            )));
        }
        let Some(path) = serial else { continue };
        // Processes do not say that they cannot open it.
        SerialLine::open(path, mesh.rate(from), None).map_err(|bad| match &bad.fault {
            PortFault::Busy => bad.into(),
            PortFault::Io(error) if error.kind() == ErrorKind::PermissionDenied => bad.into(),
            _ => CliError::new(format_args!(
                "{bad}: plug in the adapter of the cable from {from} to {to}, or correct its serial in the mesh file"
            )),
        })?;
    }
    for node in mesh.nodes().filter(|node| is_real(*node)) {
        if let Some(port) = mesh.probe(node).map(|probe| of_probe(&probe)).transpose()?.flatten() {
            link(&port, &terminal(folder, node))?;
        }
    }
    Ok(())
}

/// Makes a name for a terminal.
fn link(to: &Path, name: &Path) -> Result<(), CliError> {
    #[cfg(unix)]
    let made = std::os::unix::fs::symlink(to, name);
    #[cfg(not(unix))]
    let made = std::io::Result::Err(std::io::ErrorKind::Unsupported.into());
    made.map_err(|error| CliError::file(name, error))
}

/// Starts the emulated boards, if there are any. They run for as long as this process.
fn start_boards(args: &RunArgs, mesh: &Mesh, folder: &Path, repository: &RepositoryArg) -> Result<usize, CliError> {
    let is_emulated = |node: &u64| kind(mesh, *node) == NodeKind::Emulated;
    let boards: Vec<u64> = mesh.nodes().filter(is_emulated).collect();
    if boards.is_empty() {
        return Ok(0);
    }
    let mut kinds = mesh.kinds();
    kinds.retain(|kind| boards.iter().any(|node| mesh.kind_of(*node) == *kind));
    let programs = bench::programs(mesh, &kinds, args.app.as_deref(), repository)?;
    let emulated = Rehearsal::among_others(mesh.clone(), &programs, folder, say);
    let mut emulated = emulated.map_err(CliError::room)?;
    for node in &boards {
        if let Some(path) = emulated.terminal(*node as usize) {
            link(Path::new(path), &terminal(folder, *node))?;
        }
    }
    thread::spawn(move || {
        let (mut since, mut late) = (Instant::now(), Duration::ZERO);
        loop {
            let ahead = emulated.run_slice();
            if since.elapsed() > SPELL {
                let behind = emulated.late() - late;
                if behind > MAX_LATE {
                    let share = 100.0 * behind.as_secs_f64() / since.elapsed().as_secs_f64();
                    say(&format!(
                        "too many emulated boards for this machine: they run {share:.0}% slower than real time"
                    ));
                }
                (since, late) = (Instant::now(), emulated.late());
            }
            thread::sleep(ahead.max(bench::TURN));
        }
    });
    Ok(boards.len())
}

pub(super) fn run(args: &RunArgs, repository: &RepositoryArg) -> Result<Outcome, CliError> {
    let mesh = args.mesh.read()?;
    let is_any = |meant| mesh.nodes().any(|node| kind(&mesh, node) == meant);
    let app = args.app.as_deref().filter(|_| is_any(NodeKind::Process));
    if let Some(file) = app.filter(|app| app.is_file() && is_any(NodeKind::Emulated)) {
        let why = "--app takes a crate, which is built for processes and for emulated boards, and this is a file";
        return Err(CliError::file(file, why));
    }
    let made = tempfile::Builder::new().prefix("hopwise-").tempdir()?;
    let folder = args.folder.as_deref().unwrap_or(made.path());
    std::fs::create_dir_all(folder).map_err(|error| CliError::file(folder, error))?;
    let folder = folder.canonicalize()?;
    let terminals: Vec<PathBuf> = mesh.nodes().map(|node| terminal(&folder, node)).collect();
    // Those of an earlier run may lead to other boards.
    for stale in terminals.iter().filter(|terminal| terminal.is_symlink()) {
        std::fs::remove_file(stale).map_err(|error| CliError::file(stale, error))?;
    }
    find_real_boards(&mesh, &folder)?;
    let app = app.map(|app| app::for_host(app, say)).transpose()?;
    let boards = start_boards(args, &mesh, &folder, repository)?;
    // Until here Ctrl-C ends a build as ever.
    let stop = stop_on_ctrl_c()?;
    let mut processes = Processes::start(&mesh, &args.mesh.path, &folder, app.as_deref())?;
    let is_missing = |node| kind(&mesh, node) != NodeKind::Board && !terminals[node as usize].exists();
    let begin = Instant::now();
    while mesh.nodes().any(is_missing) {
        if stop.load(Ordering::Relaxed) {
            return Ok(Outcome::Stopped("not all nodes had started".into()));
        }
        processes.look_after()?;
        if begin.elapsed() > STARTED_WITHIN {
            return Err(CliError::new("the processes do not start; `hopwise node` says why"));
        }
        std::thread::sleep(LOOK);
    }
    if args.check {
        if let Some(missing) = terminals.iter().find(|terminal| !terminal.exists()) {
            let why = "--check asks every node, and this one is not plugged in here";
            return Err(CliError::file(missing, why));
        }
        return check(args, &mesh, &mut processes, boards, &terminals, &stop);
    }
    let (count, boards) = (processes.nodes.len() as u64, boards as u64);
    let real = mesh.network.nodes() - count - boards;
    let mut runs = counted(count, "process");
    for (count, what) in [(boards, "emulated board"), (real, "real board")] {
        if count > 0 {
            runs += &format!(", {}", counted(count, what));
        }
    }
    let first = terminals.iter().find(|terminal| terminal.exists());
    print(|out| {
        writeln!(out, "{} runs: {runs}; Ctrl-C ends it", mesh.network)?;
        writeln!(out, "terminals: {}", folder.join("node-ADDRESS").display())?;
        writeln!(out, "export {VARIABLE}={}", first.unwrap_or(&folder).display())
    })?;
    while !stop.load(Ordering::Relaxed) {
        processes.look_after()?;
        std::thread::sleep(LOOK);
    }
    Ok(Outcome::Done)
}

fn check(
    args: &RunArgs,
    mesh: &Mesh,
    processes: &mut Processes,
    emulated: usize,
    terminals: &[PathBuf],
    stop: &AtomicBool,
) -> Result<Outcome, CliError> {
    let begin = Instant::now();
    let network = &mesh.network;
    let mut hosts = SerialMesh::open(terminals, mesh.host_baud(), mesh.keys)?;
    let mut report = CheckReport {
        links_expected: links_expected(network),
        ..CheckReport::default()
    };
    let goes_on = || !stop.load(Ordering::Relaxed);
    while report.links_up < report.links_expected && begin.elapsed() < LINKS_WITHIN && goes_on() {
        processes.look_after()?;
        hosts.idle(LOOK)?;
        report.links_up = links_up(&mut hosts, network);
    }
    report.expect("links up", report.links_expected, report.links_up);
    if goes_on() {
        check_pairs(&mut hosts, network, &mut report);
    }
    // The packets of a program are in the accounts as well.
    if args.app.is_none() && goes_on() {
        check_broadcasts(&mut hosts, network.nodes(), mesh.keys.is_some(), &mut report);
        // A node has its last reply until the host has acknowledged that.
        hosts.idle(LOOK)?;
        check_accounts(&mut hosts, network.nodes(), &mut report);
    }
    if !goes_on() {
        return Ok(Outcome::Stopped("the check was not finished".into()));
    }
    let seconds = begin.elapsed().as_secs_f64();
    if args.json {
        print_json(&RunJson {
            network: network.to_string(),
            nodes: network.nodes(),
            processes: processes.nodes.len(),
            emulated,
            restarts: processes.restarts,
            seconds,
            report: &report,
        })?;
    } else {
        let of = |found: u64, expected: u64| format!("{found} of {expected}");
        let mut facts = vec![
            ("processes", processes.nodes.len().to_string()),
            ("emulated boards", emulated.to_string()),
            ("links up", of(report.links_up, report.links_expected)),
            ("pings answered", of(report.pongs, report.pings)),
            ("paths as computed", of(report.paths_as_computed, report.traces)),
            ("broadcasts", report.broadcasts.to_string()),
            ("deliveries", report.broadcast_deliveries.to_string()),
            ("seconds", format!("{seconds:.1}")),
        ];
        facts.retain(|(name, _)| emulated > 0 || *name != "emulated boards");
        print_facts(&network.to_string(), &facts)?;
        report.findings.iter().for_each(|finding| say(finding));
    }
    let findings = counted(report.findings.len() as u64, "finding");
    Ok(Outcome::of(report.passed(), || {
        format!("the mesh does not do what it should: {findings}")
    }))
}
