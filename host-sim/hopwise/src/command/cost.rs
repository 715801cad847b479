use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use hopwise_core::Network;
use hopwise_emulate::cost::{self, NETWORKS, PAYLOADS, Row};
use hopwise_emulate::firmware::Firmware;
use hopwise_emulate::hop_time::{self, Distribution, HopTime};
use hopwise_emulate::profile::DebugInfo;
use hopwise_emulate::repository::Repository;
use hopwise_emulate::rig;
use hopwise_emulate::setup::Program;
use hopwise_emulator::boards::BoardKind;
use hopwise_node::wire::Traffic;
use hopwise_rig::boards::DEFAULT;
use rayon::prelude::*;
use serde::Serialize;

use super::error::CliError;
use super::output::{print, print_either, print_json, say};
use super::{RepositoryArg, parse, table};

/// What programs cost is measured between the two nodes of this.
const PROGRAMS: &str = "path(2)";
/// A way of twelve hops, and what goes it.
const WAY: &str = "path(13)";
const HOP_PAYLOADS: [u8; 4] = [Traffic::SMALLEST, 10, 40, 200];

#[derive(Args)]
#[command(after_help = "\
Instructions are counted on emulated boards, with those of acknowledgements and without those of the same time when nothing is sent. Forwarding is that of
200 packets between two nodes, in the mean over all boards on the way; a program sends 100 messages of 32 bytes over one hop.")]
pub(super) struct CostArgs {
    /// The kind of board
    #[arg(long, value_name = "NAME", default_value = DEFAULT)]
    board: String,
    /// The firmware that forwards, an ELF file [default: Hopwise's own]
    #[arg(long, value_name = "FILE")]
    elf: Option<PathBuf>,
    /// Measure forwarding in this network only, and no programs
    #[arg(long, value_name = "EXPR")]
    network: Option<String>,
    /// Measure only what programs cost
    #[arg(long, conflicts_with = "network")]
    programs: bool,
    /// Measure how long packets take instead: on wires and in nodes, over twelve hops
    #[arg(long, conflicts_with_all = ["network", "programs", "profile"])]
    hop: bool,
    /// Say in which rooms the instructions are: modules of Hopwise, and crates of others
    #[arg(long)]
    profile: bool,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// The keys are stable.
#[derive(Serialize)]
struct Costs {
    board: &'static str,
    rows: Vec<Row>,
}

pub(super) fn run(args: &CostArgs, repository: &RepositoryArg) -> Result<(), CliError> {
    let kind = rig::board(&args.board)?;
    let networks = match &args.network {
        Some(expression) => vec![parse(expression)?],
        None if args.programs => Vec::new(),
        None => NETWORKS
            .iter()
            .map(|expression| parse(expression))
            .collect::<Result<_, _>>()?,
    };
    if args.hop {
        return hop_times(args, &load(kind, &repository.elf(args.elf.as_deref(), kind.name)?)?.0);
    }
    let mut rows = Vec::new();
    if !networks.is_empty() {
        let elf = repository.elf(args.elf.as_deref(), kind.name)?;
        let (program, elf) = load(kind, &elf)?;
        rows = forwarding(args, &program, &elf, &networks)?;
    }
    if args.network.is_none() {
        let image = Firmware::new(kind.name).with_families(&["rdn", "rsn", "large-examples"]);
        let trials = image
            .with_example("trials")
            .build(&Repository::find(repository.repo.as_deref())?, say)?;
        let (program, elf) = load(kind, &trials)?;
        let debug = args.profile.then(|| DebugInfo::of_elf(&elf)).transpose()?;
        rows.extend(cost::programs(&program, &parse(PROGRAMS)?, debug.as_ref())?);
    }
    let costs = Costs { board: kind.name, rows };
    print_either(args.json, &costs, show)
}

/// The keys are stable.
#[derive(Serialize)]
struct HopTimes {
    board: &'static str,
    network: &'static str,
    rows: Vec<HopTime>,
}

fn hop_times(args: &CostArgs, program: &Program) -> Result<(), CliError> {
    let network = parse(WAY)?;
    let rates = hop_time::rates(program, &network)?;
    let sizes = rates
        .iter()
        .flat_map(|baud| HOP_PAYLOADS.map(|payload| (*baud, payload)));
    let sizes: Vec<(u32, u8)> = sizes.collect();
    let rows = sizes
        .into_par_iter()
        .map(|(baud, payload)| hop_time::measure(program, &network, baud, payload));
    let times = HopTimes {
        board: program.kind.name,
        network: WAY,
        rows: rows.collect::<Result<_, _>>()?,
    };
    if args.json {
        return print_json(&times);
    }
    let microseconds = |time: Distribution| [time.median, time.most].map(|time| format!("{time:.0}"));
    let rows = times.rows.iter().map(|row| {
        let times = [row.wire_us, row.node_us, row.way_us]
            .into_iter()
            .flat_map(microseconds);
        [row.baud.to_string(), row.payload.to_string()]
            .into_iter()
            .chain(times)
            .collect()
    });
    let titles = "baud|payload|frame|at most|in a node|at most|12 hops|at most";
    print(|out| {
        let board = times.board;
        writeln!(out, "Microseconds of packets in {WAY} of {board}, one at a time:\n")?;
        writeln!(out, "{}", table::markdown(titles, rows))
    })
}

fn load(kind: &'static BoardKind, path: &Path) -> Result<(Program, Vec<u8>), CliError> {
    let (elf, image) = rig::read_elf(path)?;
    Ok((Program::new(kind, Arc::new(image)), elf))
}

fn forwarding(args: &CostArgs, program: &Program, elf: &[u8], networks: &[Network]) -> Result<Vec<Row>, CliError> {
    let meshes: Vec<(&Network, bool)> = networks
        .iter()
        .flat_map(|network| [(network, false), (network, true)])
        .collect();
    let rows = meshes.into_par_iter().map(|(network, keyed)| {
        let debug = args.profile.then(|| DebugInfo::of_elf(elf)).transpose()?;
        Ok(cost::forwarding(program, network, keyed, debug.as_ref())?)
    });
    let rows: Vec<Vec<Row>> = rows.collect::<Result<_, CliError>>()?;
    Ok(rows.concat())
}

fn show(costs: &Costs) -> Result<(), CliError> {
    let (forwarding, programs): (Vec<&Row>, Vec<&Row>) = costs.rows.iter().partition(|row| row.operation == "forward");
    // The rows of a network are together: those without a key, then those with one.
    let networks = forwarding.chunks(2 * PAYLOADS.len());
    let known = |figure: Option<u64>| figure.map_or_else(|| "-".into(), |figure| figure.to_string());
    let columns = |rows: &[&Row]| {
        let title = |row: &&Row| {
            let key = if row.keyed { ", key" } else { "" };
            format!("{} {}{key}", row.payload, row.payload_bytes)
        };
        rows.iter().map(title).collect::<Vec<_>>().join("|")
    };
    print(|out| {
        if !forwarding.is_empty() {
            writeln!(out, "Instructions of a {} to forward a packet:\n", costs.board)?;
        }
        let titles = networks.clone().next().map(columns).unwrap_or_default();
        let rows = networks.clone().map(|rows| {
            let figures = rows.iter().map(|row| known(row.instructions));
            std::iter::once(rows[0].network.clone()).chain(figures).collect()
        });
        if !forwarding.is_empty() {
            writeln!(out, "{}", table::markdown(&format!("network|{titles}"), rows))?;
        }
        for rows in networks
            .clone()
            .filter(|rows| rows.iter().any(|row| !row.rooms.is_empty()))
        {
            writeln!(out, "{}, by room:\n", rows[0].network)?;
            writeln!(out, "{}", table::markdown(&format!("room|{titles}"), by_room(rows)))?;
        }
        if !programs.is_empty() {
            let bytes = programs[0].payload;
            writeln!(out, "Instructions for messages of programs, of {bytes} bytes:\n")?;
            let rows = programs
                .iter()
                .map(|row| vec![row.operation.to_string(), known(row.instructions)]);
            writeln!(out, "{}", table::markdown("operation|instructions", rows))?;
            if programs.iter().any(|row| !row.rooms.is_empty()) {
                let operations = programs.iter().map(|row| row.operation);
                let titles: Vec<&str> = std::iter::once("room").chain(operations).collect();
                let table = table::markdown(&titles.join("|"), by_room(&programs));
                writeln!(out, "By room:\n\n{table}")?;
            }
        }
        Ok(())
    })
}

/// The rooms of all rows, most first, with what each row has in them.
fn by_room(rows: &[&Row]) -> impl Iterator<Item = Vec<String>> {
    let mut rooms: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for (column, row) in rows.iter().enumerate() {
        for room in &row.rooms {
            rooms.entry(&room.room).or_insert_with(|| vec![0; rows.len()])[column] = room.instructions;
        }
    }
    let mut rooms: Vec<(&str, Vec<i64>)> = rooms.into_iter().collect();
    rooms.sort_by_key(|(_, counts)| -counts[0]);
    let cells = |(room, counts): (&str, Vec<i64>)| {
        let counts = counts.iter().map(ToString::to_string);
        std::iter::once(room.to_string()).chain(counts).collect()
    };
    rooms.into_iter().map(cells).collect::<Vec<_>>().into_iter()
}
