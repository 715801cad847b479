//! `hopwise mesh run`

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;
use hopwise_emulate::app;
use hopwise_host::mesh_check::{CheckReport, check_accounts, check_broadcasts, check_pairs, links_expected, links_up};
use hopwise_rig::mesh::Mesh;
use hopwise_rig::plan::WiringPlan;
use hopwise_rig::ports::VARIABLE;
use hopwise_rig::serial_line::SerialMesh;
use serde::Serialize;

use super::MeshArg;
use super::error::CliError;
use super::output::{Outcome, counted, print, print_facts, print_json, say, stop_on_ctrl_c};

/// How often the processes are looked at.
const LOOK: Duration = Duration::from_millis(50);
/// A process is started again no sooner than this after it was started.
const SHORTEST_LIFE: Duration = Duration::from_secs(1);
/// All processes have made their terminals after this.
const STARTED_WITHIN: Duration = Duration::from_secs(20);
const LINKS_WITHIN: Duration = Duration::from_secs(20);

#[derive(Args)]
#[command(after_help = "\
The nodes are connected through Unix sockets. Each has a terminal for hosts, a serial port to other commands: `hopwise check`, `ping`, `listen`, ...")]
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
    nodes: Vec<Node>,
    restarts: usize,
}

impl Drop for Processes {
    fn drop(&mut self) {
        for node in &mut self.nodes {
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
        for node in mesh.nodes() {
            let mut command = Command::new(&program);
            command.arg("node").arg(path).arg(node.to_string()).arg("--until-eof");
            command
                .arg("--host")
                .arg(format!("pty:{}", terminal(folder, node).display()));
            command.args(app.iter().flat_map(|app| [Path::new("--app"), app]));
            for cable in &plan.cables {
                for end in [cable.from, cable.to].iter().filter(|end| end.node == node) {
                    let socket = folder.join(format!("cable-{}", cable.number));
                    let link = format!("{}=unix:{}", mesh.link(end.node_port()), socket.display());
                    command.args(["--link", &link]);
                }
            }
            // It ends when this process does, however that happens.
            command.stdin(Stdio::piped()).stdout(Stdio::null());
            let child = command.spawn()?;
            nodes.nodes.push(Node {
                command,
                child,
                started: Instant::now(),
            });
        }
        Ok(nodes)
    }

    /// Starts those again that have ended.
    fn look_after(&mut self) -> Result<(), CliError> {
        for (address, node) in self.nodes.iter_mut().enumerate() {
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

pub(super) fn run(args: &RunArgs) -> Result<Outcome, CliError> {
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
    let app = args.app.as_deref().map(|app| app::for_host(app, say)).transpose()?;
    let stop = stop_on_ctrl_c()?;
    let mut processes = Processes::start(&mesh, &args.mesh.path, &folder, app.as_deref())?;
    let terminals: Vec<PathBuf> = mesh.nodes().map(|node| terminal(&folder, node)).collect();
    let begin = Instant::now();
    while !terminals.iter().all(|terminal| terminal.exists()) {
        processes.look_after()?;
        if begin.elapsed() > STARTED_WITHIN {
            return Err(CliError::new("the processes do not start; `hopwise node` says why"));
        }
        std::thread::sleep(LOOK);
    }
    if args.check {
        return check(args, &mesh, &mut processes, &terminals);
    }
    print(|out| {
        writeln!(out, "{} runs, a process for each node; Ctrl-C ends it", mesh.network)?;
        writeln!(out, "terminals: {}", folder.join("node-ADDRESS").display())?;
        writeln!(out, "export {VARIABLE}={}", terminals[0].display())
    })?;
    while !stop.load(Ordering::Relaxed) {
        processes.look_after()?;
        std::thread::sleep(LOOK);
    }
    Ok(Outcome::Done)
}

fn check(args: &RunArgs, mesh: &Mesh, processes: &mut Processes, terminals: &[PathBuf]) -> Result<Outcome, CliError> {
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
            restarts: processes.restarts,
            seconds,
            report: &report,
        })?;
    } else {
        let of = |found: u64, expected: u64| format!("{found} of {expected}");
        let facts = [
            ("processes", processes.nodes.len().to_string()),
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
