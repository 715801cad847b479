use std::collections::BTreeMap;
use std::io::{self, BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use clap::Args;
use hopwise_emulate::doctor::{BoardFault, EmulatedPatient};
use hopwise_emulate::rig::{self, Firmware};
use hopwise_emulate::setup::Program;
use hopwise_node::authority::MeshKeys;
use hopwise_node::wire::{CONFIG_BYTES, DEFAULT_BAUD};
use hopwise_rig::assign::Probe;
use hopwise_rig::boards::{DEFAULT, Pin, Uart};
use hopwise_rig::doctor::{
    Examination, Figure, Finding, Hands, KitReport, Scope, SerialPatient, differences, examine, examine_cable, kind_of,
};
use hopwise_rig::mesh::read_keys;
use hopwise_rig::ports;
use hopwise_rig::update::Package;
use serde::Serialize;

use super::error::CliError;
use super::output::{Outcome, check_output, counted, print, print_json, say, stop_on_ctrl_c, write_file};
use super::talk::parse_baud;
use super::{RepositoryArg, no_boards, update};

/// What a kit examines at most.
const MAX_BOARDS: usize = 3;

#[derive(Args)]
#[command(after_help = "\
The board must be alone: no cables to other boards, unless you are asked for one. It is restarted several times, and keeps its configuration. Links are examined
with one jumper wire, which joins TX and RX of one link after the other. The exit status is 0 if nothing is wrong, 1 if something
is, 2 for bad input. docs/doctor.md says what is examined.")]
pub(super) struct DoctorArgs {
    /// The serial port of the board [default: HOPWISE_PORT, or the one ST-LINK that is plugged in]. With --kit up to three boards: each is
    /// examined alone, and then a cable from each to the next
    #[arg(long, value_name = "TTY", conflicts_with = "emulated")]
    port: Vec<PathBuf>,
    /// The rate of its serial port: the host-baud of its configuration
    #[arg(long, default_value_t = DEFAULT_BAUD, conflicts_with = "emulated", value_parser = parse_baud)]
    baud: u32,
    /// The file of the key of the mesh that its configuration is for, if that has one
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Do not ask for the jumper wire: TX and RX of every link are joined already
    #[arg(long)]
    yes: bool,
    /// Examine everything: links at every rate, an update, cuts of the supply. Takes half an hour, and -o writes what --compare reads
    #[arg(long)]
    kit: bool,
    /// The update file of a kit [default: Hopwise's own firmware]
    #[arg(long, value_name = "FILE", requires = "kit")]
    image: Option<PathBuf>,
    /// Examine an emulated board of the same kind as one whose kit wrote this file, and print what differs
    #[arg(long, value_name = "FILE", conflicts_with_all = ["port", "emulated", "kit", "output", "key_file"])]
    compare: Option<PathBuf>,
    /// Examine an emulated board
    #[arg(long)]
    emulated: bool,
    /// Which emulated board: nucleo-f446re unless given. With --kit up to three
    #[arg(long, value_name = "NAME", requires = "emulated")]
    board: Vec<String>,
    /// What is wrong with the first emulated board: no-external-clock, late-external-clock, wrong-clock, cut-jumper=LINK,
    /// swapped-port=LINK,LINK, noisy-jumper=LINK, stuck-jumper=LINK, flash=SLOT, one-bank, slow-watchdog, cut-cable, noisy-cable
    #[arg(long, value_name = "FAULT", requires = "emulated")]
    fault: Vec<BoardFault>,
    /// The firmware of the emulated board [default: Hopwise's own]
    #[arg(long, value_name = "FILE", requires = "emulated", conflicts_with = "kit")]
    elf: Option<PathBuf>,
    /// Write the report to a file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// The keys are stable.
#[derive(Serialize)]
struct DoctorJson<'a> {
    hopwise: &'static str,
    emulated: bool,
    board: &'a str,
    boards: &'a [String],
    probe: Option<String>,
    /// Of each board, as `probe-rs list` names it; nothing if that is not there.
    probe_versions: Vec<Option<String>>,
    healthy: bool,
    findings: &'a [Finding],
    figures: &'a [Figure],
}

pub(super) fn run(args: &DoctorArgs, repository: &RepositoryArg) -> Result<Outcome, CliError> {
    if let Some(path) = &args.compare {
        return compare(path, args, repository);
    }
    if let Some(output) = &args.output {
        check_output(output, args.elf.as_deref())?;
    }
    let keys = args.key_file.as_deref().map(read_keys).transpose()?;
    let count = args.port.len().max(args.board.len());
    if count > 1 && !args.kit || count > MAX_BOARDS {
        return Err(CliError::new("one board is examined, or with --kit up to three"));
    }
    let ports = match (&args.port[..], args.emulated) {
        ([], false) => vec![ports::meant().map_err(no_boards)?],
        (ports, _) => ports.to_vec(),
    };
    let (examination, boards, stopped) = if args.emulated {
        let boards = match &args.board[..] {
            [] => vec![DEFAULT.to_string()],
            boards => boards.to_vec(),
        };
        (
            examine_emulated(&boards, args.kit, keys, args, repository)?,
            boards,
            false,
        )
    } else {
        examine_real(&ports, keys, args, repository)?
    };
    let faults = examination.faults().count();
    let found = ports::st_links().unwrap_or_default();
    let probe = |port: &PathBuf| {
        found
            .iter()
            .find(|found| found.path == *port)
            .map(|found| found.probe.clone())
    };
    let probes: Vec<Option<String>> = ports.iter().map(probe).collect();
    let version = |probe: &Option<String>| Probe::kind_of(probe.as_ref()?);
    let json = DoctorJson {
        hopwise: env!("CARGO_PKG_VERSION"),
        emulated: args.emulated,
        board: boards.first().map_or("", String::as_str),
        boards: &boards,
        probe: probes.first().cloned().flatten(),
        probe_versions: probes.iter().filter(|_| args.kit).map(version).collect(),
        healthy: faults == 0,
        findings: &examination.findings,
        figures: &examination.figures,
    };
    let text = report(&examination, args);
    if let Some(output) = &args.output {
        let as_json = || serde_json::to_string_pretty(&json).expect("it has no key that is no text") + "\n";
        write_file(output, &if args.kit { as_json() } else { text.clone() })?;
    }
    if args.json {
        print_json(&json)?;
    } else if args.output.is_none() || args.kit {
        print(|out| write!(out, "{text}"))?;
    }
    Ok(match (stopped, faults) {
        (true, _) => Outcome::Stopped("not all was examined; the board has its configuration back".into()),
        (false, 0) => Outcome::Done,
        (false, faults) => {
            let faults = counted(faults as u64, "fault");
            Outcome::CheckFailed(format!("something is wrong with the board: {faults}"))
        }
    })
}

fn scope(kit: bool, package: Option<&Package>) -> Scope<'_> {
    if kit { Scope::Kit(package) } else { Scope::Short }
}

/// What a board after the first is called, or the cable that leads to it.
fn name(what: &str, number: usize) -> String {
    format!("{what} {}", number + 1)
}

fn examine_real(
    ports: &[PathBuf],
    keys: Option<MeshKeys>,
    args: &DoctorArgs,
    repository: &RepositoryArg,
) -> Result<(Examination, Vec<String>, bool), CliError> {
    let stop = stop_on_ctrl_c()?;
    let open = |ports: &[PathBuf]| {
        let hands = Person { joins_all: args.yes };
        SerialPatient::open(ports, args.baud, keys, hands, stop.clone())
    };
    let (mut all, mut boards) = (Examination::default(), Vec::new());
    for (number, port) in ports.iter().enumerate() {
        if ports.len() > 1 {
            say(&format!(
                "now the board at {}, with no cable to another",
                port.display()
            ));
        }
        let mut patient = open(std::slice::from_ref(port))?;
        let board = kind_of(&mut patient).unwrap_or_default();
        let package = match &args.image {
            Some(path) => Some(update::load(path)?),
            None if args.kit && !board.is_empty() => Some(update::build(repository, &board)?),
            None => None,
        };
        let found = examine(&mut patient, scope(args.kit, package.as_ref()));
        match number {
            0 => all = found,
            _ => all.add(&name("board", number), found),
        }
        boards.push(board);
    }
    for (number, pair) in ports.windows(2).enumerate() {
        let [first, second] = pair else { continue };
        let (first, second) = (first.display(), second.display());
        say(&format!(
            "now a cable between the boards at {first} (the first) and {second} (the second)"
        ));
        all.add(&name("cable", number), examine_cable(&mut open(pair)?));
    }
    Ok((all, boards, stop.load(std::sync::atomic::Ordering::Relaxed)))
}

fn examine_emulated(
    boards: &[String],
    kit: bool,
    keys: Option<MeshKeys>,
    args: &DoctorArgs,
    repository: &RepositoryArg,
) -> Result<Examination, CliError> {
    let no_config = &[0xff; CONFIG_BYTES];
    let (mut all, mut programs) = (Examination::default(), Vec::new());
    // Boards of one kind without faults are all the same.
    let mut good = BTreeMap::new();
    for (number, board) in boards.iter().enumerate() {
        let kind = rig::board(board)?;
        let (firmware, package) = match kit {
            false => (Firmware::load(&repository.elf(args.elf.as_deref(), kind.name)?)?, None),
            true => {
                let [first, second, loader] = repository.both_slots(kind.name)?;
                let own = || update::pair(&first, &second);
                let package = args.image.as_deref().map_or_else(own, update::load)?;
                (Firmware::load(&first)?.with_loader(&loader)?, Some(package))
            }
        };
        let program = Program::new(kind, firmware.image);
        let faults = if number == 0 { &args.fault[..] } else { &[] };
        let found = match good.get(kind.name) {
            Some(found) if faults.is_empty() => Examination::clone(found),
            _ => {
                let mut patient = EmulatedPatient::new(&program, no_config, keys, faults)?;
                examine(&mut patient, scope(kit, package.as_ref()))
            }
        };
        if faults.is_empty() {
            good.insert(kind.name, found.clone());
        }
        match number {
            0 => all = found,
            _ => all.add(&name("board", number), found),
        }
        programs.push(program);
    }
    for (number, pair) in programs.windows(2).enumerate() {
        let faults = if number == 0 { &args.fault[..] } else { &[] };
        let mut patient = EmulatedPatient::of(&[&pair[0], &pair[1]], no_config, keys, faults)?;
        all.add(&name("cable", number), examine_cable(&mut patient));
    }
    Ok(all)
}

/// A real board beside an emulated one.
fn compare(path: &Path, args: &DoctorArgs, repository: &RepositoryArg) -> Result<Outcome, CliError> {
    let text = hopwise_files::read(path, hopwise_files::MAX_TEXT).map_err(|error| CliError::file(path, error))?;
    let real: KitReport = serde_json::from_slice(&text).map_err(|error| CliError::file(path, error))?;
    let boards = match &real.boards[..] {
        [] => std::slice::from_ref(&real.board),
        boards => boards.get(..MAX_BOARDS).unwrap_or(boards),
    };
    let emulated = examine_emulated(boards, true, None, args, repository)?;
    let differ = differences(&real.figures, &emulated.figures);
    let is_missing = |what: &&str| real.figures.iter().all(|figure| figure.what != *what);
    let all = emulated.figures.iter().map(|figure| &*figure.what);
    let missing: Vec<&str> = all.filter(is_missing).collect();
    if args.json {
        print_json(&serde_json::json!({ "board": real.board, "differences": differ, "not_measured": missing }))?;
    } else {
        print(|out| {
            for one in &differ {
                let emulated = one.emulated.map_or("none".into(), |value| format!("{value:.2}"));
                writeln!(out, "{}: {:.2}{}, emulated {emulated}", one.what, one.board, one.unit)?;
            }
            missing
                .iter()
                .try_for_each(|what| writeln!(out, "not measured: {what}"))
        })?;
    }
    Ok(Outcome::of(differ.is_empty(), || {
        let (differ, all, board) = (differ.len(), real.figures.len(), &real.board);
        format!("{differ} of {all} figures are not as those of an emulated {board}")
    }))
}

fn report(examination: &Examination, args: &DoctorArgs) -> String {
    let place = if args.emulated { "an emulated board" } else { "a board" };
    let version = env!("CARGO_PKG_VERSION");
    format!("hopwise {version} has examined {place}\n\n{examination}")
}

/// Whoever sits at the desk; without a terminal there is nobody.
struct Person {
    joins_all: bool,
}

fn asked(sentence: &str) -> bool {
    if !io::stdin().is_terminal() {
        return false;
    }
    say(sentence);
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.is_ok_and(|bytes| bytes > 0) && line.trim() != "s"
}

impl Hands for Person {
    fn join(&mut self, uart: &Uart) -> bool {
        let place = |pin: Pin| match pin.arduino {
            "" => format!("{} ({})", pin.name, pin.header),
            arduino => format!("{} ({}, {arduino})", pin.name, pin.header),
        };
        let (tx, rx) = (place(uart.tx), place(uart.rx));
        let sentence = format!(
            "{}: join TX {tx} and RX {rx} with the wire, then press Enter; s and Enter skip it",
            uart.name
        );
        self.joins_all || asked(&sentence)
    }

    fn join_boards(&mut self, ends: [&Uart; 2]) -> bool {
        let [tx, rx, other_tx, other_rx] =
            [ends[0].tx, ends[0].rx, ends[1].tx, ends[1].rx].map(|pin| format!("{} ({})", pin.name, pin.header));
        asked(&format!(
            "take the jumper wires away; join TX {tx} of the first board and RX {other_rx} of the second, RX {rx} of the first and TX \
             {other_tx} of the second, and a GND of both; then press Enter; s and Enter skip it"
        ))
    }

    fn unplug(&mut self) -> bool {
        asked("press Enter, and within a minute unplug the USB cable of the board; s and Enter skip it")
    }

    fn plug(&mut self) -> bool {
        asked("plug the USB cable in again, then press Enter")
    }
}
