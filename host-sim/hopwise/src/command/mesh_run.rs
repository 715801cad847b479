//! `hopwise mesh run`

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use hopwise_emulate::app;
use hopwise_emulate::rehearsal::Rehearsal;
use hopwise_host::mesh_check::{CheckReport, check_accounts, check_broadcasts, check_pairs, links_expected, links_up};
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
Every node is a process. But if the mesh file says `probe = \"process\"` or `\"emulated\"` of any node, those that it says emulated of are emulated
boards, and those with a probe are real ones. Each has a terminal for hosts, a serial port to other commands: `hopwise check`, `ping`, `listen`, ...")]
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
        let mut nodes = Processes {
            nodes: Vec::new(),
            restarts: 0,
        };
        for node in mesh.nodes().filter(|node| kind(mesh, *node) == NodeKind::Process) {
            let mut command = Command::new(&program);
            command.arg("node").arg(path).arg(node.to_string()).arg("--until-eof");
            command.args(["--baud", &mesh.baud.to_string()]);
            command
                .arg("--host")
                .arg(format!("pty:{}", terminal(folder, node).display()));
            command.args(app.iter().flat_map(|app| [Path::new("--app"), app]));
            for cable in &plan.cables {
                for end in [cable.from, cable.to].iter().filter(|end| end.node == node) {
                    let end = end.node_port();
                    let socket = || format!("unix:{}", folder.join(format!("cable-{}", cable.number)).display());
                    let place = mesh.serial(end).map_or_else(socket, |path| path.display().to_string());
                    let link = format!("{}={place}", mesh.link(end));
                    command.args(["--link", &link]);
                }
            }
            // It ends when this process does, however that happens.
            command.stdin(Stdio::piped()).stdout(Stdio::null());
            let child = command.spawn()?;
            let started = Instant::now();
            nodes.nodes.push((
                node,
                Node {
                    command,
                    child,
                    started,
                },
            ));
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
    // That of an earlier run.
    let _ = std::fs::remove_file(name);
    #[cfg(unix)]
    let made = std::os::unix::fs::symlink(to, name);
    #[cfg(not(unix))]
    let made = std::io::Result::Err(std::io::ErrorKind::Unsupported.into());
    made.map_err(|error| CliError::file(name, error))
}

/// Starts the emulated boards, if there are any. They run for as long as this process.
fn start_boards(args: &RunArgs, mesh: &Mesh, folder: &Path, repository: &RepositoryArg) -> Result<usize, CliError> {
    let boards: Vec<u64> = mesh
        .nodes()
        .filter(|node| kind(mesh, *node) == NodeKind::Emulated)
        .collect();
    if boards.is_empty() {
        return Ok(0);
    }
    let programs = bench::programs(mesh, args.app.as_deref(), repository)?;
    let mut emulated = Rehearsal::among_others(mesh.clone(), &programs, folder, 1)?;
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
                        "the emulated boards are too many for this machine: {share:.0}% slower than real time"
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
    let made = match args.folder {
        Some(_) => None,
        None => Some(tempfile::Builder::new().prefix("hopwise-").tempdir()?),
    };
    let folder = match (&args.folder, &made) {
        (Some(folder), _) => {
            std::fs::create_dir_all(folder).map_err(|error| CliError::file(folder, error))?;
            folder.canonicalize()?
        }
        (None, made) => made.as_ref().map(|made| made.path().to_path_buf()).unwrap_or_default(),
    };
    let is_any_a_process = mesh.nodes().any(|node| kind(&mesh, node) == NodeKind::Process);
    let app = args.app.as_deref().filter(|_| is_any_a_process);
    let app = app.map(|app| app::for_host(app, say)).transpose()?;
    let stop = stop_on_ctrl_c()?;
    find_real_boards(&mesh, &folder)?;
    let boards = start_boards(args, &mesh, &folder, repository)?;
    let mut processes = Processes::start(&mesh, &args.mesh.path, &folder, app.as_deref())?;
    let of_nodes = |is_meant: fn(NodeKind) -> bool| -> Vec<PathBuf> {
        let nodes = mesh.nodes().filter(|node| is_meant(kind(&mesh, *node)));
        nodes.map(|node| terminal(&folder, node)).collect()
    };
    let terminals = of_nodes(|kind| kind != NodeKind::Board);
    let begin = Instant::now();
    while !terminals.iter().all(|terminal| terminal.exists()) {
        processes.look_after()?;
        if begin.elapsed() > STARTED_WITHIN {
            return Err(CliError::new("the processes do not start; `hopwise node` says why"));
        }
        std::thread::sleep(LOOK);
    }
    if args.check {
        let terminals = of_nodes(|_| true);
        if let Some(missing) = terminals.iter().find(|terminal| !terminal.exists()) {
            return Err(CliError::file(
                missing,
                "--check asks every node, and this one is not plugged in here",
            ));
        }
        return check(args, &mesh, &mut processes, boards, &terminals);
    }
    let count = processes.nodes.len();
    let runs = match (boards, mesh.network.nodes() - count as u64) {
        (_, 0) => "a process for each node".to_string(),
        (boards, others) => format!(
            "{count} processes, {boards} emulated boards, {} real ones",
            others - boards as u64
        ),
    };
    print(|out| {
        writeln!(out, "{} runs, {runs}; Ctrl-C ends it", mesh.network)?;
        writeln!(out, "terminals: {}", folder.join("node-ADDRESS").display())?;
        writeln!(out, "export {VARIABLE}={}", terminals[0].display())
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
) -> Result<Outcome, CliError> {
    let begin = Instant::now();
    let network = &mesh.network;
    let mut hosts = SerialMesh::open(terminals, mesh.host_baud(), mesh.keys)?;
    let mut report = CheckReport {
        links_expected: links_expected(network),
        ..CheckReport::default()
    };
    while report.links_up < report.links_expected && begin.elapsed() < LINKS_WITHIN {
        processes.look_after()?;
        hosts.idle(LOOK)?;
        report.links_up = links_up(&mut hosts, network);
    }
    report.expect("links up", report.links_expected, report.links_up);
    check_pairs(&mut hosts, network, &mut report);
    // The packets of a program are in the accounts as well.
    if args.app.is_none() {
        check_broadcasts(&mut hosts, network.nodes(), mesh.keys.is_some(), &mut report);
        check_accounts(&mut hosts, network.nodes(), &mut report);
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
        let facts = [
            ("processes", processes.nodes.len().to_string()),
            ("emulated boards", emulated.to_string()),
            ("links up", of(report.links_up, report.links_expected)),
            ("pings answered", of(report.pongs, report.pings)),
            ("paths as computed", of(report.paths_as_computed, report.traces)),
            ("broadcasts", report.broadcasts.to_string()),
            ("deliveries", report.broadcast_deliveries.to_string()),
            ("seconds", format!("{seconds:.1}")),
        ];
        print_facts(&network.to_string(), &facts)?;
        report.findings.iter().for_each(|finding| say(finding));
    }
    Ok(Outcome::of(report.passed(), || {
        format!(
            "the mesh does not do what it should: {}",
            counted(report.findings.len() as u64, "finding")
        )
    }))
}
