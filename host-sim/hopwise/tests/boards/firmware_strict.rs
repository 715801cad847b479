//! The firmware on boards that are at the edge of their data sheets or beyond, and what the emulator says of broken rules.

use crate::firmware_power::stored;
use crate::firmware_support::{Rig, config, firmware};
use crate::kinds::{a_late_clock, broken_rules};
use crate::next_hop::start;
use hopwise_emulator::chip::clocks::Hse;
use hopwise_emulator::chip::rules::{Rule, Violation};
use hopwise_emulator::time::{MILLISECOND, SECOND};
use hopwise_emulator::world::Action;
use hopwise_node::wire::{BoardConfig, BoardState, CONFIG_BYTES, Command, Pattern, Traffic};
use hopwise_rig::boards::DEFAULT;

const GPIOA: u32 = 0x4002_0000;
const AFRH: u32 = 0x24;

#[test]
fn a_board_without_an_external_clock_runs_and_says_so() {
    let Some(firmware) = firmware() else { return };
    for (hse, broken) in [
        (Hse::Absent, vec![]),
        (Hse::Crystal(8_000_000), vec![Rule::ExternalClock]),
    ] {
        let mut rig = Rig::special(firmware, &config("path(2)", 0), |options| options.hse = hse);
        rig.run_for(300 * MILLISECOND);
        let status = rig.status(0);
        assert_eq!(status.state, BoardState::Configured, "{hse:?}");
        let said = "no external clock: the internal one is less exact";
        assert_eq!(status.fault.as_deref(), Some(said), "{hse:?}");
        assert!(rig.log().iter().any(|line| line.text == said), "{hse:?}");
        assert_eq!(broken_rules(&rig), broken, "{hse:?}");
    }
}

/// The firmware waits for the clock for 50 ms at least, and changes over to one that comes after that.
#[test]
fn a_clock_that_starts_late_is_waited_for_and_one_that_starts_too_late_is_used_when_it_comes() {
    for (hse_start, is_late) in [(10_000, false), (45_000, false), (700_000, true)] {
        a_late_clock(DEFAULT, hse_start, is_late);
    }
}

/// Interrupts wait for whatever else uses the bus, or has them masked: here each for up to two microseconds more.
#[test]
fn boards_whose_interrupts_come_late_are_a_mesh() {
    let Some(firmware) = firmware() else { return };
    let mut rig = Rig::new(firmware, "complete(4)");
    for (seed, board) in (1..).zip(rig.world.boards_mut()) {
        board.cpu.delay_interrupts(seed, 360);
    }
    let report = rig.check();
    assert_eq!((report.findings, report.links_up), (vec![], 6));
    assert_eq!(broken_rules(&rig), []);
}

/// Writing 32 bits at once takes 2.7 V: a board whose supply falls leaves its flash alone, and a config that it was sent is not half written.
#[test]
fn a_board_whose_supply_falls_leaves_its_flash_alone() {
    let Some(firmware) = firmware() else { return };
    let before = config("path(2)", 0);
    let mut rig = Rig::special(firmware, &before, |_| {});
    rig.run_for(300 * MILLISECOND);
    let now = rig.world.now();
    // From 240 ms on it is below 2.9 V, until 970 ms above 1.7.
    rig.script(vec![
        (now, Action::Brownout(0, 2 * SECOND)),
        (now + 970 * MILLISECOND, Action::Off(0)),
        (now + SECOND, Action::On(0)),
    ]);
    rig.run_for(300 * MILLISECOND);
    rig.command(0, &Command::WriteConfig(&config("path(3)", 0)));
    rig.run_for(650 * MILLISECOND);
    let refused = "the supply is too low for the flash to be written";
    assert!(rig.log().iter().any(|line| line.text == refused), "it was asked to");
    rig.run_for(600 * MILLISECOND);
    assert_eq!((stored(&mut rig), broken_rules(&rig)), (before.to_vec(), vec![]));
    rig.command(0, &Command::WriteConfig(&config("path(3)", 0)));
    rig.run_for(2 * SECOND);
    assert_eq!(
        stored(&mut rig),
        config("path(3)", 0),
        "with its supply it does as told"
    );
}

#[test]
fn the_slowest_flash_is_written_under_the_fastest_watchdog() {
    let Some(firmware) = firmware() else { return };
    let mut rig = Rig::special(firmware, &[0xff; CONFIG_BYTES], |options| {
        (options.lsi, options.flash_wear) = (47_000, 100);
    });
    rig.run_for(100 * MILLISECOND);
    rig.command(0, &Command::WriteConfig(&config("path(2)", 0)));
    // It begins within 325 ms; erasing 16 KiB takes 500 ms at most, and 800 if only 8 bits are erased at once.
    rig.run_for(930 * MILLISECOND);
    assert_eq!(rig.world.boards()[0].resets(), 1, "written and restarted");
    rig.run_for(SECOND);
    let status = rig.status(0);
    let found = (status.state, status.card.reset_cause);
    assert_eq!(found, (BoardState::Configured, 3), "by itself, not by the watchdog");
    assert_eq!(rig.world.boards()[0].resets(), 1);
    rig.assert_healthy();
}

#[test]
fn a_pin_that_is_not_the_ports_ends_the_link_and_is_named() {
    let Some(mut rig) = Rig::up("path(2)") else { return };
    assert_eq!(broken_rules(&rig), []);
    let cpu = &mut rig.world.boards_mut()[0].cpu;
    cpu.write_register(GPIOA + AFRH, 0).expect("a register");
    rig.run_for(SECOND);
    assert_eq!(rig.identity(1).neighbors_up, 0);
    let expected = ["receives while PA10", "sends while PA9"].map(|what| Violation {
        rule: Rule::Pins,
        how: format!("USART1 {what} is not in alternate function 7"),
    });
    assert_eq!(rig.world.boards()[0].violations(), expected);
}

#[test]
fn rates_that_too_few_ports_can_run_at_are_refused() {
    let Some(firmware) = firmware() else { return };
    // Two links are on the bus of 90 MHz, the others and the host on that of 45.
    for (network, baud, host_baud, expected) in [
        ("complete(6)", 1_000_000, 1_000_000, BoardState::Configured),
        ("complete(6)", 1_800_000, 115_200, BoardState::Configured),
        ("complete(6)", 5_625_000, 1_000_000, BoardState::Configured),
        ("complete(6)", 2_000_000, 1_000_000, BoardState::BadConfig),
        ("complete(6)", 6_000_000, 1_000_000, BoardState::BadConfig),
        ("ring(3)", 11_250_000, 1_000_000, BoardState::Configured),
        ("complete(4)", 11_250_000, 1_000_000, BoardState::BadConfig),
        ("path(2)", 1_000_000, 2_000_000, BoardState::BadConfig),
    ] {
        let mut config = BoardConfig::new(network, 0).expect("a config");
        (config.baud, config.host_baud) = (baud, host_baud);
        let mut rig = Rig::single(firmware, &config.write());
        rig.run_for(100 * MILLISECOND);
        let line = "not part of a mesh: BadConfig";
        let refused = rig.log().iter().any(|entry| entry.text == line);
        let is_bad = expected == BoardState::BadConfig;
        assert_eq!(refused, is_bad, "{network} {baud} {host_baud}");
    }
}

/// A processor enters a handler once more whose flag was cleared too late for it.
#[test]
fn an_interrupt_of_a_ring_without_a_flag_drops_nothing() {
    // USART1 receives by stream 5 of DMA2, whose interrupt is 68.
    const ISPR2: u32 = 0xe000_e208;
    let Some(mut rig) = Rig::up("path(2)") else { return };
    for board in 0..2 {
        start(&mut rig, board, Traffic::new(100_000, 0, Pattern::Neighbors, 200));
    }
    for _ in 0..50 {
        rig.run_for(3 * MILLISECOND);
        let cpu = &mut rig.world.boards_mut()[0].cpu;
        cpu.write_register(ISPR2, 1 << 4).expect("a register");
    }
    let counters = [0, 1].map(|board| rig.link_report(board, 0).counters);
    let losses = counters.map(|counters| (counters.damaged, counters.resent, counters.timeouts));
    assert_eq!(losses, [(0, 0, 0); 2]);
    rig.assert_healthy();
}
