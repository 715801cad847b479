use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use hopwise_core::Network;
use hopwise_emulator::time::{MILLISECOND, Time};
use serde::Serialize;

use super::error::CliError;
use super::output::{Outcome, check_output, counted, print_either, print_line, write_file};
use super::{RepositoryArg, no_boards, parse, recognise as recognise_command};
use hopwise_emulate::rig::{self, Firmware};
use hopwise_emulate::session::offenses;
use hopwise_emulate::setup::{Program, check_size};
use hopwise_emulate::unwired::{Lost, boards_without_configs};
use hopwise_networks::graph::Graph;
use hopwise_networks::recognise;
use hopwise_node::wire::DEFAULT_BAUD;
use hopwise_rig::adopt::{CannotAdopt, Explored, explore};
use hopwise_rig::boards::DEFAULT;
use hopwise_rig::mesh::Mesh;
use hopwise_rig::plan::WiringPlan;
use hopwise_rig::ports;
use hopwise_rig::serial_line::SerialMesh;
use hopwise_rig::survey::survey;
use hopwise_rig::update::Boards;
use hopwise_rig::wiring_check::compare;

/// After this emulated boards are powered and have found each other.
const START: Time = 800 * MILLISECOND;
/// So long a network is looked for that the boards almost are.
const NEARLY_WITHIN: Duration = Duration::from_secs(60);

#[derive(Args)]
#[command(after_help = "\
Flash all boards alike, without configs, and plug cables between them anyhow, up to five at a board. The exit status is 0 if the boards are a network
and run as one, 1 if not, 2 for bad input.")]
pub(super) struct AdoptArgs {
    /// The serial port of one of the boards [default: HOPWISE_PORT, or the one ST-LINK that is plugged in]
    #[arg(long, value_name = "TTY", conflicts_with = "emulated")]
    port: Option<PathBuf>,
    /// Adopt emulated boards, wired as this network, but at any links
    #[arg(long, value_name = "EXPR")]
    emulated: Option<String>,
    /// How the emulated boards are wired
    #[arg(long, default_value_t = 1, requires = "emulated")]
    seed: u64,
    /// Leave out some of the emulated boards
    #[arg(long, value_name = "N", default_value_t = 0, requires = "emulated")]
    lose_boards: u64,
    /// Leave out some of the cables between emulated boards
    #[arg(long, value_name = "N", default_value_t = 0, requires = "emulated")]
    lose_cables: u64,
    /// The firmware of the emulated boards [default: Hopwise's own]
    #[arg(long, value_name = "FILE", requires = "emulated")]
    elf: Option<PathBuf>,
    /// Write the mesh file; if the boards are no known network, a file of their cables, for `graph:FILE`
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// The keys are stable.
#[derive(Default, Serialize)]
struct AdoptJson {
    boards: usize,
    cables: usize,
    /// `network`, `almost` or `graph`.
    verdict: &'static str,
    network: Option<String>,
    missing_boards: Option<u64>,
    missing_cables: Option<u64>,
    /// By the boards' time, all of it, until they were explored, and until they had their configs.
    seconds: f64,
    explore_seconds: f64,
    configure_seconds: f64,
    check: bool,
    remarks: Vec<String>,
}

pub(super) fn run(args: &AdoptArgs, repository: &RepositoryArg) -> Result<Outcome, CliError> {
    if let Some(path) = &args.output {
        check_output(path, args.elf.as_deref())?;
    }
    let Some(expression) = &args.emulated else {
        let port = match &args.port {
            Some(port) => port.clone(),
            None => ports::meant().map_err(no_boards)?,
        };
        return adopt(args, &mut SerialMesh::open(&[port], DEFAULT_BAUD, None)?);
    };
    let network = parse(expression)?;
    let kind = rig::board(DEFAULT)?;
    check_size(kind, &network)?;
    let firmware = Firmware::load(&repository.elf(args.elf.as_deref(), DEFAULT)?)?;
    let program = Program::new(kind, firmware.image);
    let lost = Lost {
        boards: args.lose_boards,
        cables: args.lose_cables,
    };
    let mut boards = boards_without_configs(&network, &program, args.seed, lost)?;
    boards.run_for(START);
    let outcome = adopt(args, &mut boards)?;
    let [violations, remarks] = offenses(boards.world.boards());
    Ok(match violations.into_iter().chain(remarks).next() {
        Some(offense) => Outcome::CheckFailed(format!("an emulated board did what a real one must not: {offense}")),
        None => outcome,
    })
}

fn adopt(args: &AdoptArgs, boards: &mut dyn Boards) -> Result<Outcome, CliError> {
    let begin = boards.elapsed();
    let mut shown = Ok(());
    let mut told = |line: &str| {
        if !args.json && shown.is_ok() {
            shown = print_line(line);
        }
    };
    let explored = match explore(boards, &mut told) {
        Ok(explored) => explored,
        Err(error) => return Ok(Outcome::CheckFailed(error.to_string())),
    };
    shown?;
    let mut report = AdoptJson {
        boards: explored.boards.len(),
        cables: explored.cables().len(),
        verdict: "graph",
        explore_seconds: (boards.elapsed() - begin).as_secs_f64(),
        remarks: [&explored.remarks[..], &explored.doubts[..]].concat(),
        ..AdoptJson::default()
    };
    let found = certain(&explored).map(|graph| recognise::recognise_nearly(graph, NEARLY_WITHIN));
    let outcome = match found {
        Err(why) => Outcome::CheckFailed(why),
        Ok(found) => {
            report.verdict = found.verdict;
            let network: Option<Network> = found.network.as_ref().and_then(|name| name.parse().ok());
            report.network = network.map(|network| network.to_string());
            let differences = [found.missing_boards.len(), found.missing_cables.len()].map(|count| count as u64);
            [report.missing_boards, report.missing_cables] = differences.map(|count| network.map(|_| count));
            match (network, &found.mapping) {
                (Some(network), Some(nodes)) if found.verdict == "network" => {
                    bring_up(boards, &explored, &network, nodes, &mut report, args.output.as_deref())?
                }
                (Some(network), Some(nodes)) => {
                    let board = |node| nodes.iter().position(|&at| at == node);
                    let lines = recognise_command::differences(&found, &network, board, explored.free_links());
                    report.remarks.extend(lines);
                    Outcome::CheckFailed(format!(
                        "almost {network}: change the cables as said, and run this again"
                    ))
                }
                _ => Outcome::CheckFailed(format!(
                    "{} with {} are no network that is known, so they got no configs",
                    counted(report.boards as u64, "board"),
                    counted(report.cables as u64, "cable")
                )),
            }
        }
    };
    if report.verdict != "network"
        && let Some(path) = &args.output
    {
        write_file(path, &explored.edge_list())?;
    }
    report.seconds = (boards.elapsed() - begin).as_secs_f64();
    print_either(args.json, &report, show)?;
    Ok(outcome)
}

/// The graph of the boards, if that is certain.
fn certain(explored: &Explored) -> Result<Graph, String> {
    if let Some(doubt) = explored.doubts.first() {
        return Err(format!(
            "what was found is not certain, so nothing was changed: {doubt}"
        ));
    }
    let cables = explored.cables();
    if cables.is_empty() {
        return Err(
            "no other board was found: are there cables, and do all boards run Hopwise without a config?".into(),
        );
    }
    let edges = cables.iter().map(|(one, other)| (one.board, other.board));
    Ok(Graph::from_edges(explored.boards.len(), edges))
}

/// Gives the boards their configs, writes the mesh file, and checks the mesh.
fn bring_up(
    boards: &mut dyn Boards,
    explored: &Explored,
    network: &Network,
    nodes: &[usize],
    report: &mut AdoptJson,
    output: Option<&Path>,
) -> Result<Outcome, CliError> {
    let begin = boards.elapsed();
    let text = explored.mesh_file(network, nodes);
    let mesh = Mesh::parse(&text).map_err(CannotAdopt::from);
    let configured = mesh.and_then(|mesh| explored.configure(boards, &mesh, nodes).map(|()| mesh));
    report.configure_seconds = (boards.elapsed() - begin).as_secs_f64();
    let mesh = match configured {
        Ok(mesh) => mesh,
        Err(error) => return Ok(Outcome::CheckFailed(error.to_string())),
    };
    if let Some(path) = output {
        write_file(path, &text)?;
    }
    let plan = WiringPlan::new(&mesh);
    let all: Vec<u64> = mesh.nodes().collect();
    let seen = survey(boards, &mesh, &all);
    let findings = compare(&mesh, &plan, plan.cables.len(), &seen, None).findings;
    report.check = findings.is_empty();
    report.remarks.extend(findings.iter().map(ToString::to_string));
    Ok(Outcome::of(report.check, || {
        let findings = counted(findings.len() as u64, "finding");
        format!("the mesh runs, and is not as the mesh file says: {findings}, see `hopwise check`")
    }))
}

fn show(report: &AdoptJson) -> Result<(), CliError> {
    for remark in &report.remarks {
        print_line(format_args!("note: {remark}"))?;
    }
    let boards = counted(report.boards as u64, "board");
    let cables = counted(report.cables as u64, "cable");
    let seconds = report.explore_seconds;
    print_line(format_args!("{boards}, {cables}: explored in {seconds:.1} s"))?;
    if let Some(network) = &report.network {
        let verdict = if report.verdict == "network" {
            "this is"
        } else {
            "this is almost"
        };
        print_line(format_args!("{verdict} {network}"))?;
    }
    if report.check {
        let seconds = report.configure_seconds;
        print_line(format_args!(
            "all boards have their configs and run as planned, after {seconds:.1} s more"
        ))?;
    }
    Ok(())
}
