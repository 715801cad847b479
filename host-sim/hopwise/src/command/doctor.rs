use std::io::{self, BufRead, IsTerminal};
use std::path::PathBuf;

use clap::Args;
use hopwise_emulate::doctor::{BoardFault, EmulatedPatient};
use hopwise_emulate::rig::{self, Firmware};
use hopwise_emulate::setup::Program;
use hopwise_node::wire::{CONFIG_BYTES, DEFAULT_BAUD};
use hopwise_rig::boards::{DEFAULT, Uart};
use hopwise_rig::doctor::{Examination, SerialPatient, examine};
use hopwise_rig::mesh::read_keys;
use serde::Serialize;

use super::error::CliError;
use super::output::{Outcome, check_output, counted, print, print_json, say, stop_on_ctrl_c, write_file};
use super::talk::parse_baud;
use super::{RepositoryArg, no_boards};
use hopwise_rig::ports;

#[derive(Args)]
#[command(after_help = "\
The board must be alone: no cables to other boards. It is restarted several times, and keeps its configuration. Links are examined
with one jumper wire, which joins TX and RX of one link after the other. The exit status is 0 if nothing is wrong, 1 if something
is, 2 for bad input. docs/doctor.md says what is examined.")]
pub(super) struct DoctorArgs {
    /// The serial port of the board [default: HOPWISE_PORT, or the one ST-LINK that is plugged in]
    #[arg(long, value_name = "TTY", conflicts_with = "emulated")]
    port: Option<PathBuf>,
    /// The rate of its serial port: the host-baud of its configuration
    #[arg(long, default_value_t = DEFAULT_BAUD, conflicts_with = "emulated", value_parser = parse_baud)]
    baud: u32,
    /// The file of the key of the mesh that its configuration is for, if that has one
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Do not ask for the jumper wire: TX and RX of every link are joined already
    #[arg(long)]
    yes: bool,
    /// Examine an emulated board
    #[arg(long)]
    emulated: bool,
    /// Which emulated board: nucleo-f446re unless given
    #[arg(long, value_name = "NAME", requires = "emulated")]
    board: Option<String>,
    /// What is wrong with the emulated board: no-external-clock, late-external-clock, wrong-clock, cut-jumper=LINK,
    /// swapped-port=LINK,LINK, noisy-jumper=LINK, stuck-jumper=LINK, flash=SLOT, one-bank, slow-watchdog
    #[arg(long, value_name = "FAULT", requires = "emulated")]
    fault: Vec<BoardFault>,
    /// The firmware of the emulated board [default: Hopwise's own]
    #[arg(long, value_name = "FILE", requires = "emulated")]
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
    healthy: bool,
    findings: &'a [hopwise_rig::doctor::Finding],
}

pub(super) fn run(args: &DoctorArgs, repository: &RepositoryArg) -> Result<Outcome, CliError> {
    if let Some(output) = &args.output {
        check_output(output, args.elf.as_deref())?;
    }
    let keys = args.key_file.as_deref().map(read_keys).transpose()?;
    let port = match (&args.port, args.emulated) {
        (Some(port), _) => Some(port.clone()),
        (None, true) => None,
        (None, false) => Some(ports::meant().map_err(no_boards)?),
    };
    let (examination, stopped) = match &port {
        Some(port) => {
            let stop = stop_on_ctrl_c()?;
            let yes = args.yes;
            let join = |uart: &Uart| yes || ask_for_jumper(uart);
            let mut patient = SerialPatient::open(port, args.baud, keys, join, stop.clone())?;
            let examination = examine(&mut patient);
            (examination, stop.load(std::sync::atomic::Ordering::Relaxed))
        }
        None => {
            let kind = rig::board(args.board.as_deref().unwrap_or(DEFAULT))?;
            let Firmware { image, .. } = Firmware::load(&repository.elf(args.elf.as_deref(), kind.name)?)?;
            let mut patient = EmulatedPatient::new(&Program { kind, image }, &[0xff; CONFIG_BYTES], keys, &args.fault)?;
            (examine(&mut patient), false)
        }
    };
    let faults = examination.faults().count();
    let text = report(&examination, args);
    if let Some(output) = &args.output {
        write_file(output, &text)?;
    }
    if args.json {
        print_json(&DoctorJson {
            healthy: faults == 0,
            findings: &examination.findings,
        })?;
    } else if args.output.is_none() {
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

fn report(examination: &Examination, args: &DoctorArgs) -> String {
    let place = if args.emulated { "an emulated board" } else { "a board" };
    let version = env!("CARGO_PKG_VERSION");
    format!("hopwise {version} has examined {place}\n\n{examination}")
}

/// Asks a person to plug the jumper wire; without a terminal there is none.
fn ask_for_jumper(uart: &Uart) -> bool {
    if !io::stdin().is_terminal() {
        return false;
    }
    let place = |pin: hopwise_rig::boards::Pin| match pin.arduino {
        "" => format!("{} ({})", pin.name, pin.header),
        arduino => format!("{} ({}, {arduino})", pin.name, pin.header),
    };
    let (tx, rx) = (place(uart.tx), place(uart.rx));
    say(&format!(
        "{}: join TX {tx} and RX {rx} with the wire, then press Enter; s and Enter skip it",
        uart.name
    ));
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.is_ok_and(|bytes| bytes > 0) && line.trim() != "s"
}
