//! What a board does about tasks that hang, crashes that come again and again, a stack that is too small, and bytes that are damaged.

use crate::firmware_support::{Rig, config, firmware, port};
use hopwise_emulate::setup::LINKS;
use hopwise_emulator::chip::clocks::Hse;
use hopwise_emulator::time::{MILLISECOND, SECOND};
use hopwise_emulator::world::Action;
use hopwise_node::wire::{BoardState, CONFIG_BYTES, Command, Failure};

/// UDF, an instruction that is a fault.
const FAULT: [u8; 2] = [0x00, 0xde];
/// Clears bits of the interrupts that are enabled; interrupts 64 to 95.
const NVIC_ICER2: u32 = 0xe000_e188;
/// Of DMA2's stream 7, by which link 0 sends.
const SENT: u32 = 1 << (70 - 64);
/// The control register of DMA2's stream 5, by which link 0 receives.
const RECEIVES: u32 = 0x4002_6488;

/// The end of a frame is not told any more, and the port sends all the same: it is asked whether it is free whenever the node wakes.
#[test]
fn a_port_whose_interrupt_is_lost_goes_on() {
    let Some(mut rig) = Rig::configured() else { return };
    rig.run_for(500 * MILLISECOND);
    let sent = |rig: &Rig| rig.world.boards()[0].traffic(LINKS[0]).sent;
    let before = sent(&rig);
    rig.run_for(SECOND);
    let each_second = sent(&rig) - before;
    let cpu = &mut rig.world.boards_mut()[0].cpu;
    cpu.write_register(NVIC_ICER2, SENT).expect("a register");
    let before = sent(&rig);
    rig.run_for(4 * SECOND);
    assert!(sent(&rig) - before >= 3 * each_second && each_second > 0);
    assert_eq!(rig.world.boards()[0].resets(), 0);
    assert_eq!(rig.status(0).fault, None);
}

#[test]
fn a_board_whose_tasks_all_live_is_not_restarted() {
    let Some(firmware) = firmware() else { return };
    for config in [config("path(2)", 0), [0xff; CONFIG_BYTES]] {
        let mut rig = Rig::special(firmware, &config, |options| options.lsi = 47_000);
        rig.run_for(20 * SECOND);
        assert_eq!(rig.world.boards()[0].resets(), 0);
    }
}

#[test]
fn a_board_that_hangs_says_in_which_task() {
    let Some(mut rig) = Rig::configured() else { return };
    rig.run_for(100 * MILLISECOND);
    rig.command(0, &Command::Fail(Failure::Hang));
    rig.run_for(6 * SECOND);
    let status = rig.status(0);
    assert_eq!((status.state, status.card.reset_cause), (BoardState::Configured, 4));
    assert_eq!(status.fault.as_deref(), Some("task 18 hung"));
}

/// With the stack above the variables the overflow would be found in them, or not at all.
#[test]
fn a_stack_overflow_is_a_fault_at_once_and_the_next_start_says_so() {
    let Some(mut rig) = Rig::configured() else { return };
    rig.run_for(100 * MILLISECOND);
    let epoch = rig.identity(0).epoch;
    rig.command(0, &Command::Fail(Failure::StackOverflow));
    rig.run_for(500 * MILLISECOND);
    let status = rig.status(0);
    assert_eq!((status.state, status.card.reset_cause), (BoardState::Configured, 3));
    assert_eq!(status.fault.as_deref(), Some("stack overflow"));
    assert_eq!(rig.identity(0).epoch, epoch + 1, "what is kept is whole");
}

#[test]
fn a_board_that_crashes_again_and_again_leaves_its_configuration_alone() {
    let Some(mut rig) = Rig::configured() else { return };
    // Called by every tick of a node.
    let whole = rig.patch("router::Router", ">::catch_up", &FAULT);
    rig.run_for(3 * SECOND);
    assert_eq!(rig.world.boards()[0].resets(), 4, "and no more");
    let lines = rig.log_texts();
    assert!(lines.contains(&"not part of a mesh: CrashLoop".into()), "{lines:?}");
    let status = rig.status(0);
    assert_eq!(status.state, BoardState::CrashLoop);
    let fault = status.fault.unwrap_or_default();
    assert!(fault.starts_with("fault at "), "{fault}");
    rig.assert_rhythm("**..**..**..**..");
    // Neither time nor a restart ends it.
    rig.run_for(15 * SECOND);
    rig.command(0, &Command::Restart);
    rig.run_for(SECOND);
    assert_eq!(rig.status(0).state, BoardState::CrashLoop);
    // A new config does.
    rig.patch("router::Router", ">::catch_up", &whole);
    rig.command(0, &Command::WriteConfig(&config("path(2)", 0)));
    rig.run_for(3 * SECOND);
    assert_eq!(rig.status(0).state, BoardState::Configured);
}

#[test]
fn crashes_that_are_far_apart_are_not_a_loop() {
    let Some(mut rig) = Rig::configured() else { return };
    for crashes in 1..=5 {
        rig.run_for(11 * SECOND);
        rig.command(0, &Command::Fail(Failure::StackOverflow));
        rig.run_for(SECOND);
        assert_eq!(rig.world.boards()[0].resets(), crashes);
    }
    let lines = rig.log_texts();
    assert!(!lines.iter().any(|line| line.contains("CrashLoop")), "{lines:?}");
}

#[test]
fn a_missing_clock_is_shown_by_the_led() {
    let Some(firmware) = firmware() else { return };
    let mut rig = Rig::special(firmware, &config("path(2)", 0), |options| options.hse = Hse::Absent);
    rig.run_for(SECOND);
    rig.assert_rhythm("*.......*.....**");
}

#[test]
fn what_serial_ports_find_wrong_is_counted_by_link() {
    let Some(mut rig) = Rig::up("path(2)") else { return };
    let counted = |rig: &mut Rig, board: usize| {
        let counters = rig.link_report(board, 0).counters;
        (counters.framing_errors, counters.noise_errors, counters.overruns)
    };
    assert_eq!([0, 1].map(|board| counted(&mut rig, board)), [(0, 0, 0); 2]);
    let here = port(0, 0);
    let now = rig.world.now();
    // Enough of it that some of each is seen, whatever is drawn.
    rig.script(vec![
        (now, Action::Noise(here, 0.03)),
        (now + 4 * SECOND, Action::Quiet(here)),
    ]);
    rig.run_for(5 * SECOND);
    let seen = rig.world.boards()[0].traffic(LINKS[0]);
    let (framing, noise, overruns) = counted(&mut rig, 0);
    for (counted, seen) in [(framing, seen.framing_errors), (noise, seen.noise_errors)] {
        assert!(counted > 0 && u64::from(counted) <= seen, "{counted} of {seen}");
    }
    assert_eq!(overruns, 0);
    let found = counted(&mut rig, 1);
    assert_eq!(found, (0, 0, 0), "nothing was wrong in the other direction");
    // Nobody fetches what comes.
    let cpu = &mut rig.world.boards_mut()[1].cpu;
    cpu.write_register(RECEIVES, 0).expect("a register");
    rig.run_for(SECOND);
    let (framing, noise, overruns) = counted(&mut rig, 1);
    assert!(overruns > 0 && (framing, noise) == (0, 0), "{overruns}");
}
