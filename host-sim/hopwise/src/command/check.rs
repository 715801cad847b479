use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use hopwise_emulator::time::{MILLISECOND, Time};
use serde::Serialize;

use super::error::CliError;
use super::output::{Color, Outcome, colored, counted, print_colored, print_either, say};
use super::{MeshArg, RepositoryArg, none_of_mesh, watch};
use hopwise_emulate::rig::{EmulatedMesh, Firmware, Mistakes};
use hopwise_figures::printable_line;
use hopwise_language::script::PortName;
use hopwise_rig::boards::DEFAULT;
use hopwise_rig::mesh::{Mesh, NodePort};
use hopwise_rig::plan::WiringPlan;
use hopwise_rig::ports;
use hopwise_rig::serial_line::SerialMesh;
use hopwise_rig::survey::{LineErrors, LinkRate, Seen, line_errors, link_rates, survey};
use hopwise_rig::wiring_check::{KIND_WIDTH, WiringReport, boards_of, compare};

/// After this every board has heard all who are at its links, and found out who does not hear it.
const SETTLE: Time = 600 * MILLISECOND;

#[derive(Args)]
#[command(after_help = "\
The exit status is 0 if the mesh is as planned, 1 if not, 2 for bad input. Ports are written 3.1, port 1 of node 3, as
`hopwise plan` shows them.")]
pub(super) struct CheckArgs {
    #[command(flatten)]
    mesh: MeshArg,
    /// The serial port of a board of the mesh; several if the mesh may be in parts [default: HOPWISE_PORT, or the boards of the
    /// mesh file that are plugged in, or the one ST-LINK that is]
    #[arg(long, value_name = "TTY", conflicts_with = "emulated")]
    port: Vec<PathBuf>,
    /// Check emulated boards, wired as planned except for the options below. All are nucleo-f446re boards: `hopwise emulate MESH.toml
    /// --check` emulates each kind
    #[arg(long)]
    emulated: bool,
    /// Exchange the plugs at two ports
    #[arg(long, value_names = ["A.p", "B.q"], num_args = 2, conflicts_with = "port")]
    swap: Vec<NodePort>,
    /// Pull the cable at a port
    #[arg(long, value_name = "A.p", conflicts_with = "port")]
    cut: Vec<NodePort>,
    /// Break the wire to a port, so that nothing arrives there
    #[arg(long, value_name = "A.p", conflicts_with = "port")]
    one_way: Vec<NodePort>,
    /// Add a cable between two links that the plan leaves free
    #[arg(long, value_names = ["A.UART", "B.UART"], num_args = 2, conflicts_with = "port")]
    extra: Vec<PortName>,
    /// Give board A the configuration of node B
    #[arg(long, alias = "page", value_name = "A=B", value_parser = parse_config, conflicts_with = "port")]
    config: Vec<(u64, u64)>,
    /// Give a board no key, though the mesh has one
    #[arg(long, value_name = "NODE", conflicts_with = "port")]
    no_key: Vec<u64>,
    /// Give a board the key of another mesh
    #[arg(long, value_name = "NODE", conflicts_with = "port")]
    other_key: Vec<u64>,
    /// Ask through the serial ports of these emulated boards only
    #[arg(long, value_name = "NODES", value_delimiter = ',', conflicts_with = "port")]
    at: Vec<u64>,
    /// Expect only the first N cables of the plan, while wiring
    #[arg(long, value_name = "N")]
    cables: Option<usize>,
    /// The firmware of the emulated boards [default: Hopwise's own]
    #[arg(long, value_name = "FILE", conflicts_with = "port")]
    elf: Option<PathBuf>,
    /// While wiring: say which cable comes next, and when it is right, until all are
    #[arg(long, conflicts_with_all = ["emulated", "json"])]
    watch: bool,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

fn parse_config(text: &str) -> Result<(u64, u64), String> {
    let parts = text.split_once('=');
    let parts = parts.and_then(|(board, node)| Some((board.parse().ok()?, node.parse().ok()?)));
    parts.ok_or_else(|| format!("'{text}' is not 2=4, the configuration of node 4 for board 2"))
}

/// More links than these with one rate are not listed.
const MANY_LINKS: usize = 8;

/// The keys are stable.
#[derive(Serialize)]
struct CheckJson {
    network: String,
    as_planned: bool,
    #[serde(flatten)]
    report: WiringReport,
    line_errors: Vec<LineErrors>,
    rates: Vec<LinkRate>,
}

pub(super) fn run(args: &CheckArgs, repository: &RepositoryArg) -> Result<Outcome, CliError> {
    let mesh = args.mesh.read()?;
    let plan = WiringPlan::new(&mesh);
    let cables = args.cables.unwrap_or(plan.cables.len());
    if cables > plan.cables.len() {
        let most = plan.cables.len();
        return Err(CliError::new(format_args!("the plan has {most} cables, not {cables}")));
    }
    if args.watch && args.port.is_empty() && mesh.is_emulated() {
        return Err(CliError::new(
            "all boards of this mesh are emulated: their cables are in place, and --watch has nothing to see",
        ));
    }
    let boards = boards_of(&plan, cables);
    let (seen, kind) = if args.port.is_empty() && !args.watch && (args.emulated || mesh.is_emulated()) {
        if mesh.kinds().iter().any(|kind| kind.name != DEFAULT) {
            say(&format!(
                "all boards are emulated as {DEFAULT} boards; each as what it is: hopwise emulate {} --check",
                args.mesh.path.display()
            ));
        }
        (look_at_emulated(args, repository, &mesh, &boards)?, Some(DEFAULT))
    } else {
        let ports = match args.port.is_empty() {
            true => ports::meant_by(&mesh).map_err(none_of_mesh)?,
            false => args.port.clone(),
        };
        let mut line = SerialMesh::open(&ports, mesh.host_baud(), mesh.keys)?;
        if args.watch {
            return watch::run(&mut line, &mesh, &plan, cables);
        }
        (survey(&mut line, &mesh, &boards), None)
    };
    let report = compare(&mesh, &plan, cables, &seen, kind);
    let found = CheckJson {
        network: mesh.network.to_string(),
        as_planned: report.findings.is_empty(),
        report,
        line_errors: line_errors(&seen, &mesh),
        rates: link_rates(&seen, &mesh),
    };
    print_either(args.json, &found, |found| {
        let colored = colored();
        print_colored(|out| show(out, &mesh, found, colored))
    })?;
    Ok(Outcome::of(found.as_planned, || {
        let findings = counted(found.report.findings.len() as u64, "finding");
        format!("the mesh is not as planned: {findings}")
    }))
}

fn look_at_emulated(
    args: &CheckArgs,
    repository: &RepositoryArg,
    mesh: &Mesh,
    boards: &[u64],
) -> Result<Seen, CliError> {
    let pairs = args.swap.chunks_exact(2).map(|pair| (pair[0], pair[1]));
    let extra = args
        .extra
        .chunks_exact(2)
        .map(|pair| (pair[0].clone(), pair[1].clone()));
    let mistakes = Mistakes {
        swapped: pairs.collect(),
        cut: args.cut.clone(),
        one_way: args.one_way.clone(),
        extra: extra.collect(),
        configs: args.config.clone(),
        keyless: args.no_key.clone(),
        other_key: args.other_key.clone(),
    };
    let firmware = Firmware::load(&repository.elf(args.elf.as_deref(), DEFAULT)?)?;
    let mut emulated = EmulatedMesh::start(mesh, &firmware.image, &mistakes, &args.at)?;
    emulated.run_for(SETTLE);
    Ok(survey(&mut emulated, mesh, boards))
}

/// All that is printed is made of words and numbers of our own.
fn show(out: &mut dyn Write, mesh: &Mesh, found: &CheckJson, colored: bool) -> io::Result<()> {
    let (report, rates) = (&found.report, &found.rates);
    let summary = format!(
        "{}: {} of {} boards answer, {} of {} cables are right",
        mesh.network, report.boards_seen, report.boards_expected, report.cables_right, report.cables_expected
    );
    let color = if found.as_planned { Color::Green } else { Color::Red };
    writeln!(out, "{}", color.paint(&summary, colored))?;
    for finding in &report.findings {
        let sentence = finding.to_string();
        let (kind, rest) = sentence.split_at(KIND_WIDTH.min(sentence.len()));
        writeln!(out, "  {}{}", Color::Red.paint(kind, colored), printable_line(rest))?;
    }
    for link in &found.line_errors {
        let title = Color::Yellow.paint("line errors", colored);
        writeln!(
            out,
            "  {title} {} {}: {} times bytes without a stop bit, {} times noise, {} times bytes not fetched in time",
            link.node, link.uart, link.framing_errors, link.noise_errors, link.overruns
        )?;
    }
    for rate in BTreeSet::from_iter(rates.iter().filter(|_| mesh.is_auto).map(|link| link.baud)) {
        let links = rates.iter().filter(|link| link.baud == rate);
        let links: Vec<String> = links.map(|link| format!("{} {}", link.node, link.uart)).collect();
        match links.len() {
            count @ 0..=MANY_LINKS => writeln!(out, "  {rate} baud: {count} ends of cables, {}", links.join(", "))?,
            count => writeln!(out, "  {rate} baud: {count} ends of cables")?,
        }
    }
    if !report.moves.is_empty() {
        writeln!(out, "what to do:")?;
    }
    (1..)
        .zip(&report.moves)
        .try_for_each(|(number, step): (usize, _)| writeln!(out, "  {number}. {}", printable_line(step)))
}
