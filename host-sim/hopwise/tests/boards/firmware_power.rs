//! Power cuts: whatever the flash was doing, a board comes back with the config before or the config after, and with an epoch that nobody
//! has heard of.

use crate::firmware_support::{Firmware, Rig, firmware};
use crate::kinds::programmed;
use hopwise_emulator::time::{MICROSECOND, MILLISECOND, SECOND, Time};
use hopwise_emulator::world::{Action, BoardOptions};
use hopwise_host::talk::{BoardRequest, Reply};
use hopwise_node::wire::{BoardConfig, BoardState, CONFIG_BYTES, Command};
use hopwise_testing::Random;

const AWAY: Time = 50 * MILLISECOND;

#[derive(Clone, Copy)]
pub(crate) struct Pace {
    /// By then a config that was sent has been written, and the board has started with it and marked that.
    pub(crate) written: Time,
    pub(crate) erase: Time,
    pub(crate) write: Time,
}

const F446: Pace = Pace {
    written: 1_200 * MILLISECOND,
    erase: 250 * MILLISECOND,
    write: 1_500 * MICROSECOND,
};

/// A config that differs from the others by its name.
fn config(number: u32) -> [u8; CONFIG_BYTES] {
    let name = format!("config {number}");
    let config = BoardConfig {
        name: name.as_str().try_into().expect("a name"),
        ..BoardConfig::new("path(2)", 0).expect("a config")
    };
    config.write()
}

fn run_while_flash(rig: &mut Rig, is_busy: bool, pace: Pace) {
    let end = rig.world.now() + pace.written;
    while rig.world.boards()[0].is_flash_busy() == is_busy {
        assert!(rig.world.now() < end, "the flash is not used as it should be");
        rig.run_for(20 * MICROSECOND);
    }
}

/// Runs to a moment after which the power is to be cut, and draws how long after it: anywhere, while the slot is erased, while the
/// config is written, or while the next start is marked.
fn draw_cut(rig: &mut Rig, random: &mut Random, pace: Pace) -> Time {
    let phase = random.below(4);
    let length = match phase {
        0 => pace.written,
        1 => pace.erase,
        2 => pace.write,
        _ => 200 * MICROSECOND,
    };
    if phase > 0 {
        run_while_flash(rig, false, pace);
    }
    if phase > 1 {
        run_while_flash(rig, true, pace);
    }
    if phase > 2 {
        let resets = rig.world.boards()[0].resets();
        while rig.world.boards()[0].resets() == resets {
            rig.run_for(100 * MICROSECOND);
        }
        run_while_flash(rig, false, pace);
    }
    rig.world.now() + random.below(length)
}

pub(crate) fn stored(rig: &mut Rig) -> Vec<u8> {
    match rig.ask(&[BoardRequest::command(0, &Command::ReadConfig)]).remove(0) {
        Some(Reply::Response(bytes)) => bytes,
        other => panic!("{other:?}"),
    }
}

/// The epochs of the starts that the log tells of.
fn epochs(rig: &mut Rig) -> Vec<u32> {
    let lines = rig.log().into_iter();
    let epoch = |text: &str| {
        let rest = text.split_once(", epoch ")?.1;
        rest.split_once(", started by ")?.0.parse().ok()
    };
    lines.filter_map(|line| epoch(&line.text)).collect()
}

/// One board, whose power is cut so many times while configs are written and starts are marked.
fn survive(firmware: &'static Firmware, options: BoardOptions, pace: Pace, seed: u64, cuts: u32) {
    let mut random = Random(seed);
    let mut rig = Rig::special(firmware, &config(0), |board| *board = options);
    rig.run_for(300 * MILLISECOND);
    let (mut before, mut epoch) = (config(0), 0);
    let mut starts = 0;
    let mut kept = [0; 2];
    for cut in 1..=cuts {
        let what = format!("seed {seed}, cut {cut}");
        let after = config(cut);
        rig.command(0, &Command::WriteConfig(&after));
        let at = draw_cut(&mut rig, &mut random, pace);
        let mut events = vec![(at, Action::Off(0)), (at + AWAY, Action::On(0))];
        if cut % 2 == 0 {
            // It runs down to 1.7 of 3.3 V, in up to 50 ms.
            let runs = random.below(50 * MILLISECOND).min(at - rig.world.now());
            events.push((at - runs, Action::Brownout(0, runs * 33 / 16)));
        }
        rig.script(events);
        rig.run_for(at + AWAY + pace.written / 2 - rig.world.now());
        let status = rig.status(0);
        assert_eq!(status.state, BoardState::Configured, "{what}: {status:?}");
        let found = stored(&mut rig);
        let place = [before, after].iter().position(|config| config[..] == found[..]);
        kept[place.unwrap_or_else(|| panic!("{what}: neither config is there: {found:?}"))] += 1;
        before = found.try_into().expect("a config");
        for next in epochs(&mut rig) {
            assert!(next > epoch, "{what}: epoch {next} after {epoch}");
            (epoch, starts) = (next, starts + 1);
        }
        // A line that the cut has torn is not read.
        let last = rig.identity(0).epoch;
        assert!(last >= epoch, "{what}: epoch {last} after {epoch}");
        epoch = last;
    }
    let [before, after] = kept;
    println!("seed {seed}: {before} times the config before, {after} times the config after, {starts} starts");
    assert!(starts > cuts, "{starts}");
    assert!(kept.iter().all(|count| *count > 0) || cuts < 10, "{kept:?}");
}

#[test]
fn power_fails_while_configs_are_written_and_starts_are_marked() {
    let Some(firmware) = firmware() else { return };
    survive(firmware, BoardOptions::default(), F446, 1, 50);
}

#[allow(dead_code, reason = "the long tests use it")]
pub(crate) fn many_power_cuts(seeds: u64) {
    let Some(firmware) = firmware() else { return };
    (2..2 + seeds).for_each(|seed| survive(firmware, BoardOptions::default(), F446, seed, 200));
}

/// The same for another kind of board, whose flash corrects errors: what a cut has torn cannot be read.
#[allow(dead_code, reason = "the long tests use it")]
pub(crate) fn power_cuts_of(name: &str, pace: Pace, cuts: u32) {
    let Some((program, firmware)) = programmed(name) else {
        return;
    };
    survive(firmware, BoardOptions::of(program.kind), pace, 1, cuts);
}

#[test]
fn a_power_cycle_ends_a_crash_loop_and_is_told_as_such() {
    let Some(mut rig) = Rig::configured() else { return };
    let whole = rig.patch("router::Router", ">::catch_up", &[0x00, 0xde]);
    rig.run_for(2 * SECOND);
    assert_eq!(rig.status(0).state, BoardState::CrashLoop);
    rig.patch("router::Router", ">::catch_up", &whole);
    rig.world.boards_mut()[0].cut_power(3);
    rig.world.boards_mut()[0].restore_power();
    rig.run_for(SECOND);
    let status = rig.status(0);
    let found = (status.state, status.card.reset_cause, status.fault);
    assert_eq!(found, (BoardState::Configured, 1, None));
}

/// What `probe-rs attach` does to a board unless it is told not to.
#[test]
fn a_probe_that_catches_resets_stops_a_board_until_its_power_is_cut() {
    let Some(mut rig) = Rig::configured() else { return };
    rig.run_for(300 * MILLISECOND);
    rig.world.boards_mut()[0].catch_resets(true);
    rig.run_for(SECOND);
    assert!(!rig.world.boards()[0].is_halted(), "attaching alone does nothing");
    rig.command(0, &Command::Restart);
    rig.run_for(10 * SECOND);
    let board = &rig.world.boards()[0];
    let is_dead = board.is_halted() && board.resets() == 1;
    assert!(is_dead, "no watchdog runs before the first instruction");
    assert_eq!(rig.ask(&[BoardRequest::command(0, &Command::Status)]), [None]);
    let now = rig.world.now();
    let events = vec![
        (now, Action::Reset(0)),
        (now + SECOND, Action::Off(0)),
        (now + SECOND + AWAY, Action::On(0)),
    ];
    rig.script(events);
    rig.run_for(SECOND / 2);
    assert!(rig.world.boards()[0].is_halted(), "the reset button does not help");
    rig.run_for(2 * SECOND);
    assert_eq!(rig.status(0).state, BoardState::Configured);
}

#[test]
fn the_watchdog_restarts_a_board_that_a_probe_halts_for_long() {
    let Some(mut rig) = Rig::configured() else { return };
    rig.run_for(300 * MILLISECOND);
    rig.world.boards_mut()[0].halt();
    rig.run_for(SECOND);
    assert_eq!(rig.world.boards()[0].resets(), 0);
    rig.world.boards_mut()[0].resume();
    rig.run_for(10 * SECOND);
    assert_eq!(rig.world.boards()[0].resets(), 0, "a short halt is no fault");
    rig.world.boards_mut()[0].halt();
    rig.run_for(8 * SECOND);
    assert_eq!(rig.world.boards()[0].resets(), 1);
    assert_eq!(rig.status(0).card.reset_cause, 4);
}

/// A neighbor without power holds its line low: the others see that, go on, and link up again when it is back.
#[test]
fn neighbors_bear_a_power_cut() {
    let Some(mut rig) = Rig::up("path(3)") else { return };
    let now = rig.world.now();
    rig.script(vec![(now, Action::Off(1)), (now + 2 * SECOND, Action::On(1))]);
    rig.run_for(SECOND);
    assert!(!rig.world.boards()[1].is_powered());
    assert_eq!([0, 2].map(|board| rig.identity(board).neighbors_up), [0, 0]);
    rig.run_for(3 * SECOND);
    rig.wait_for_links(SECOND);
    // Told once the line is idle again.
    let counters = rig.link_report(0, 0).counters;
    assert!(counters.framing_errors > 0, "a line that is held low");
    assert_eq!([0, 2].map(|board| rig.world.boards()[board].resets()), [0, 0]);
}
