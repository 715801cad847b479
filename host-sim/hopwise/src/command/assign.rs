//! `hopwise mesh assign`

use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::MeshArg;
use super::error::CliError;
use super::output::{Outcome, listed, print, print_json, say, stop_on_ctrl_c, write_file};
use hopwise_rig::assign::{Next, Probe, blink, label, next};
use hopwise_rig::mesh::{BadMesh, Mesh, with_probe};
use hopwise_rig::probe_rs::Program;

/// Between two looks at what is plugged in.
const PAUSE: Duration = Duration::from_millis(300);

#[derive(Args)]
#[command(after_help = "\
Plug in one board after the other. The probe of each goes into the mesh file, for the next node that has none; comments stay as they
are. The board's LED goes off and on three times, and the text for its label is printed. Ctrl-C ends it; what has been assigned stays.")]
pub(super) struct AssignArgs {
    #[command(flatten)]
    mesh: MeshArg,
    /// The probe-rs program
    #[arg(long, value_name = "PROGRAM", default_value = "probe-rs")]
    probe_rs: String,
    /// Print a JSON object for each board
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &AssignArgs) -> Result<Outcome, CliError> {
    let mesh = args.mesh.read()?;
    if mesh.is_emulated() {
        return Err(CliError::new(
            "all boards of this mesh are emulated: there are no probes to assign",
        ));
    }
    if mesh.is_mixed() {
        return Err(CliError::new(
            "the nodes of this mesh without a probe are processes: write the probes of real boards into the mesh file, `probe-rs list` shows their numbers",
        ));
    }
    let program = Program::find(&args.probe_rs)?;
    let stop = stop_on_ctrl_c()?;
    let mut said = None;
    loop {
        // People may have the file open, too: it is read anew each time.
        let mesh = args.mesh.read()?;
        let seen = Probe::find(&program).map_err(|error| CliError::file(args.probe_rs.as_ref(), error))?;
        let step = next(&mesh, &seen);
        match &step {
            Next::Done => break,
            Next::Assign(node, probe) => {
                assign(args, &mesh, *node, probe)?;
                if let Err(error) = blink(&program, &mesh, *node, probe) {
                    say(&format!("the LED of node {node} could not be made to blink: {error}"));
                }
            }
            Next::PlugIn(node) if said.as_ref() != Some(&step) => say(&format!("plug in the board of node {node}")),
            Next::Several(node, probes) if said.as_ref() != Some(&step) => {
                let probes = listed(probes.iter().map(|probe| &probe.0));
                say(&format!(
                    "several boards are new ({probes}): unplug all but that of node {node}"
                ));
            }
            Next::PlugIn(_) | Next::Several(..) => {}
        }
        said = Some(step);
        if stop.load(Ordering::Relaxed) {
            let mesh = args.mesh.read()?;
            let assigned = mesh.nodes().filter(|node| mesh.probe(*node).is_some()).count();
            return Ok(Outcome::Stopped(format!(
                "{assigned} of {} nodes have a probe",
                mesh.network.nodes()
            )));
        }
        std::thread::sleep(PAUSE);
    }
    say(&format!("every node of {} has a probe", args.mesh.path.display()));
    Ok(Outcome::Done)
}

/// Writes a probe into the file, and prints the label.
fn assign(args: &AssignArgs, mesh: &Mesh, node: u64, probe: &Probe) -> Result<(), CliError> {
    let path = &args.mesh.path;
    let text = hopwise_files::read_text(path, hopwise_files::MAX_TEXT).map_err(|error| BadMesh::Unreadable {
        path: path.clone(),
        error,
    })?;
    let written = with_probe(&text, node, &probe.written(mesh, node)).map_err(|error| CliError::file(path, error))?;
    write_file(path, &written)?;
    match args.json {
        true => print_json(&json!({"node": node, "probe": probe.0})),
        false => print(|out| write!(out, "{}", label(mesh, node))),
    }
}
