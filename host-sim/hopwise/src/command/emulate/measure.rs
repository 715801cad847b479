//! What emulated boards do, each by itself, and where its instructions go.

use std::io::Write;

use hopwise_emulate::profile::{DebugInfo, Profile};
use hopwise_emulate::serial::CannotOpenPort;
use hopwise_emulate::session::{HOSTS_WITHIN, RunFigures, Session};
use hopwise_emulate::setup;
use hopwise_emulator::time::{SECOND, Time};
use hopwise_rig::board_log::BoardLine;

use super::{EmulateArgs, Loaded, Subject, start};
use crate::command::error::CliError;
use crate::command::table;

/// How many functions of a profile are shown.
const FUNCTIONS_SHOWN: usize = 50;

pub(super) fn connect_hosts(subject: &Subject, session: &mut Session<'_>) -> Result<(), CliError> {
    let connected = session.connect_hosts(subject.host_baud(), subject.keys());
    Ok(connected.map_err(CannotOpenPort::from)?)
}

/// Whether boards can be asked what they have done: they have Hopwise's firmware, and their serial ports are free.
fn can_ask(args: &EmulateArgs, images: &[Loaded]) -> bool {
    let is_ours = |image: &Loaded| setup::configuration_slots(&image.program.image).is_some();
    args.serial.is_empty() && images.iter().all(is_ours)
}

/// Whether they are asked before the end.
pub(super) fn is_asking(args: &EmulateArgs, images: &[Loaded]) -> bool {
    args.json && can_ask(args, images)
}

/// Whether nothing disturbs the wires, and links have the time to come up.
fn is_undisturbed(args: &EmulateArgs) -> bool {
    args.script.is_none() && args.events.is_none() && args.faults.is_none() && args.duration >= SECOND
}

/// What should not be in any run.
pub(super) fn complaints(args: &EmulateArgs, figures: &RunFigures) -> Vec<String> {
    let mut complaints = Vec::new();
    if figures.faults > 0 {
        complaints.push(format!("faults of processors: {}", figures.faults));
    }
    if is_undisturbed(args) {
        if figures.uart_overruns > 0 {
            complaints.push(format!("bytes overrun on clean wires: {}", figures.uart_overruns));
        }
        for board in &figures.by_board {
            let down = board.links.iter().filter(|link| link.came_up == Some(false));
            complaints.extend(down.map(|link| format!("link {} of node {} never came up", link.port, board.address)));
            for (link, (rate, said)) in board.links.iter().filter_map(|link| Some((link, link.lies()?))) {
                let (port, node) = (link.port, board.address);
                complaints.push(format!("link {port} of node {node} is at {rate} baud, and says {said}"));
            }
        }
    }
    complaints
}

/// Runs boards to the end, and tells what they have logged by when. Boards with traffic that are to be `asked` at the end get their hosts a little
/// earlier: what they have done by then, they tell at once.
pub(super) fn run(
    args: &EmulateArgs,
    subject: &Subject,
    session: &mut Session<'_>,
    asked: bool,
    mut told: impl FnMut(Time, Vec<BoardLine>) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let hosts_at = args.duration.saturating_sub(HOSTS_WITHIN);
    for end in [
        (args.duration / 2).min(hosts_at),
        (args.duration / 2).max(hosts_at),
        args.duration,
    ] {
        while session.now() < end {
            let lines = session.run_slice(end);
            told(session.now(), lines)?;
        }
        if end == args.duration / 2 {
            session.begin_second_half();
        }
        if end == hosts_at && asked {
            connect_hosts(subject, session)?;
        }
    }
    Ok(())
}

/// Adds to the figures what each board has done and where its instructions went, as far as that is wanted.
pub(super) fn add(
    args: &EmulateArgs,
    mut subject: Subject,
    images: &[Loaded],
    mut session: Session<'_>,
    figures: &mut RunFigures,
) -> Result<(), CliError> {
    let is_idle = !subject.has_traffic() && args.check.is_none();
    let asked = is_asking(args, images);
    let mut idle = None;
    if args.without_idle || args.json && !is_idle {
        if let Subject::Mesh(mesh) = &mut subject {
            mesh.traffic = None;
        }
        let mut quiet = start(args, &subject, images)?;
        run(args, &subject, &mut quiet, asked, |_, _| Ok(()))?;
        idle = Some(quiet);
    }
    if args.profile.is_some() {
        let subtracted = idle.as_ref().filter(|_| args.without_idle);
        figures.profile = Some(profile(images, &session, subtracted)?);
    }
    if args.json || is_undisturbed(args) {
        if can_ask(args, images) {
            connect_hosts(&subject, &mut session)?;
        }
        figures.by_board = session.by_board(&subject.links()?);
        let idle = idle.iter().flat_map(Session::instructions);
        for (board, instructions) in figures.by_board.iter_mut().zip(idle) {
            board.idle_instructions = instructions;
        }
    }
    Ok(())
}

/// Where the instructions of a session went, without those of another.
fn profile(images: &[Loaded], session: &Session<'_>, idle: Option<&Session<'_>>) -> Result<Profile, CliError> {
    let mut parts = Vec::new();
    for image in images {
        let debug = DebugInfo::of_elf(&image.elf).map_err(|error| CliError::file(&image.path, error))?;
        let mut executed = session.executed(image.program.kind);
        if let Some(idle) = idle {
            executed = executed.without(&idle.executed(image.program.kind));
        }
        parts.push((executed, image, debug));
    }
    let parts = parts.iter();
    Ok(Profile::new(parts.map(|(executed, image, debug)| {
        (executed, &*image.program.image, debug)
    })))
}

pub(super) fn show_profile(out: &mut dyn Write, profile: &Profile) -> std::io::Result<()> {
    let share = |count: i64| format!("{:.1}%", 100.0 * count as f64 / profile.instructions.max(1) as f64);
    let rooms = profile.rooms.iter();
    let rooms = rooms.map(|room| {
        vec![
            room.room.clone(),
            room.instructions.to_string(),
            share(room.instructions),
        ]
    });
    writeln!(out, "{}", table::lines("room|instructions|", rooms))?;
    writeln!(out, "instructions  with inlined  function (room)")?;
    for function in profile.functions.iter().take(FUNCTIONS_SHOWN) {
        let (alone, all) = (function.instructions, function.with_inlined);
        writeln!(out, "{alone:>12}  {all:>12}  {} ({})", function.function, function.room)?;
    }
    match profile.functions.len().saturating_sub(FUNCTIONS_SHOWN) {
        0 => Ok(()),
        more => writeln!(out, "and {more} functions more: --json has all of them"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use hopwise_emulate::by_board::{BoardFigures, LinkFigures};

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: EmulateArgs,
    }

    #[test]
    fn what_should_not_be_in_a_run_is_said_unless_a_script_did_it() {
        let links = [Some(true), None, Some(false)].map(|came_up| LinkFigures {
            came_up,
            baud: Some(1_000_000),
            says_baud: came_up.map(|is_up| if is_up { 1_000_000 } else { 2_000_000 }),
            ..LinkFigures::default()
        });
        let figures = RunFigures {
            faults: 1,
            uart_overruns: 2,
            by_board: vec![BoardFigures {
                links: links.into(),
                ..BoardFigures::default()
            }],
            ..RunFigures::default()
        };
        let said =
            |line: &[&str], figures| complaints(&Line::parse_from([&["", "path(2)"], line].concat()).args, figures);
        assert_eq!(said(&[], &figures).len(), 4);
        assert_eq!(said(&["--events", "1s cut 0.0"], &figures), ["faults of processors: 1"]);
        assert_eq!(said(&["--for", "100ms"], &figures), ["faults of processors: 1"]);
        assert_eq!(said(&[], &RunFigures::default()), [""; 0]);
    }
}
