use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::MeshArg;
use super::board::show_pins;
use super::error::CliError;
use super::output::{check_output, counted, print, print_json, write_file};
use hopwise_rig::drawing;
use hopwise_rig::mesh::Mesh;
use hopwise_rig::plan::{Cable, WiringPlan};

#[derive(Args)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    mesh: MeshArg,
    /// Draw the plan into this SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// The keys are stable.
#[derive(Serialize)]
struct PlanJson<'a> {
    network: String,
    board: String,
    nodes: u64,
    baud: u32,
    host_baud: u32,
    ground: &'static [&'static str],
    #[serde(flatten)]
    plan: &'a WiringPlan,
}

pub(super) fn run(args: &PlanArgs) -> Result<(), CliError> {
    let mesh = args.mesh.read()?;
    let plan = WiringPlan::new(&mesh);
    if let Some(path) = &args.svg {
        check_output(path, [args.mesh.path.as_path()])?;
        write_file(path, &drawing::svg(&mesh, &plan))?;
    }
    if args.json {
        print_json(&PlanJson {
            network: mesh.network.to_string(),
            board: names(&mesh),
            nodes: mesh.network.nodes(),
            baud: mesh.baud,
            host_baud: mesh.host_baud(),
            ground: &mesh.kind.ground,
            plan: &plan,
        })
    } else {
        print(|out| show(out, args, &mesh, &plan))
    }
}

/// The kinds of boards, with commas between.
fn names(mesh: &Mesh) -> String {
    Vec::from_iter(mesh.kinds().iter().map(|kind| kind.name)).join(",")
}

fn show(out: &mut dyn Write, args: &PlanArgs, mesh: &Mesh, plan: &WiringPlan) -> io::Result<()> {
    let file = args.mesh.path.display();
    writeln!(
        out,
        "{}: {} ({}), {}; a cable is three wires: TX to RX, RX to TX, ground to ground",
        mesh.network,
        counted(mesh.network.nodes(), "board"),
        names(mesh),
        counted(plan.cables.len() as u64, "cable")
    )?;
    let kinds = mesh.kinds();
    for kind in &kinds {
        match kinds.len() {
            1 => writeln!(out, "\nPins, the same on all boards; 3.3 V, never 5 V:\n")?,
            _ => writeln!(out, "\nPins of a {}; 3.3 V, never 5 V:\n", kind.name)?,
        }
        show_pins(out, kind)?;
    }
    writeln!(
        out,
        "\nCables, in the order of wiring. After each board, check what is wired so far; board 0 is at the host:\n"
    )?;
    let mut before = 0;
    for step in &plan.steps {
        let name = match mesh.name(step.node) {
            "" => String::new(),
            name => format!(" ({name})"),
        };
        writeln!(out, "board {}{name}", step.node)?;
        for cable in &plan.cables[before..step.cables] {
            writeln!(out, "  {}", cable_line(cable))?;
        }
        if step.cables > before {
            writeln!(out, "      hopwise check {file} --cables {} --port PORT", step.cables)?;
        }
        before = step.cables;
    }
    Ok(())
}

fn cable_line(cable: &Cable) -> String {
    let (from, to) = (&cable.from, &cable.to);
    format!(
        "{:>3}  {:>5} {:7} TX {:4} -> {:4} RX {:>5} {:7}   RX {:4} <- {:4} TX",
        cable.number,
        from.node_port().to_string(),
        from.uart,
        from.tx,
        to.rx,
        to.node_port().to_string(),
        to.uart,
        from.rx,
        to.tx
    )
}
