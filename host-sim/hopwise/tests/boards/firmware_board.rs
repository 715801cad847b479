//! One board by itself: configuration, LED, what survives a reset; and what the image costs.

use crate::firmware_support::{LED_STEP, Rig, config, firmware, port, sizes, told};
use hopwise_emulate::setup::configuration_slots;
use hopwise_emulator::time::{MILLISECOND, SECOND};
use hopwise_emulator::world::Action;
use hopwise_host::talk::{BoardRequest, Reply};
use hopwise_node::wire::{
    BoardConfig, BoardState, CONFIG_BYTES, Command, CommandResult, Pattern, Query, Status, Traffic,
};

#[test]
fn a_board_says_what_is_wrong_with_its_configuration() {
    let Some(firmware) = firmware() else { return };
    let mut damaged = config("ring(5)", 1);
    damaged[50] ^= 1;
    let cases = [
        ([0xff; CONFIG_BYTES], BoardState::NoConfig),
        (damaged, BoardState::BadConfig),
        (config("ring(5", 1), BoardState::BadNetwork),
        (config("ring(5)", 5), BoardState::BadAddress),
        (config("complete(7)", 0), BoardState::TooFewLinks),
    ];
    for (bytes, expected) in cases {
        let mut rig = Rig::single(firmware, &bytes);
        rig.run_for(100 * MILLISECOND);
        let status = rig.status(0);
        assert_eq!((status.state, status.links), (expected, 5));
        assert_eq!(status.board, "nucleo-f446re");
        let line = format!("not part of a mesh: {expected:?}");
        assert!(rig.log().iter().any(|entry| entry.text == line), "{line}");
        // It says hello on its links, to be found by other boards without a config.
        assert!(rig.world.boards()[0].traffic(0).sent > 0, "{expected:?}");
        let broadcast = BoardRequest::command(0, &Command::Broadcast(b"x"));
        assert_eq!(rig.ask_one::<CommandResult>(broadcast), CommandResult::NotConfigured);
    }
}

#[test]
fn a_board_is_configured_over_its_serial_port_and_forgets_when_told() {
    let Some(firmware) = firmware() else { return };
    let mut rig = Rig::single(firmware, &[0xff; CONFIG_BYTES]);
    let fast = rig.rhythm();
    assert!(["*.", ".*"].map(|pair| pair.repeat(8)).contains(&fast), "{fast}");
    let refused = config("complete(7)", 0);
    let write = BoardRequest::command(0, &Command::WriteConfig(&refused));
    assert_eq!(rig.ask_one::<CommandResult>(write), CommandResult::BadConfig);
    let wanted = config("path(2)", 0);
    rig.command(0, &Command::WriteConfig(&wanted));
    rig.run_for(3 * SECOND);
    assert_eq!(rig.world.boards()[0].resets(), 1);
    let status = rig.status(0);
    let found = (status.state, status.card.reset_cause);
    assert_eq!(found, (BoardState::Configured, 3), "by software");
    assert_eq!(rig.identity(0).neighbors, 1);
    let stored = rig.ask(&[BoardRequest::command(0, &Command::ReadConfig)]).remove(0);
    assert_eq!(stored, Some(Reply::Response(wanted.to_vec())));
    // It waits for its neighbor: one flash a second, once the packets of the requests have passed.
    rig.run_for(SECOND);
    let waiting = rig.rhythm();
    assert_eq!(waiting.matches('*').count(), 2, "{waiting}");
    rig.command(0, &Command::WriteConfig(&[0xff; CONFIG_BYTES]));
    rig.run_for(3 * SECOND);
    assert_eq!(rig.status(0).state, BoardState::NoConfig);
}

#[test]
fn slots_that_hold_no_whole_config_are_damaged() {
    let Some(firmware) = firmware() else { return };
    let mut rig = Rig::single(firmware, &config("path(2)", 0));
    let slots = configuration_slots(&firmware.image).expect("slots");
    // Of the seal.
    let torn = rig.world.boards_mut()[0].write_flash(slots + CONFIG_BYTES as u32 + 4, &[0xff; 4]);
    assert_eq!(torn, Ok(()));
    rig.run_for(100 * MILLISECOND);
    assert_eq!(rig.status(0).state, BoardState::BadConfig);
}

/// The host is at board 0 and writes a config of board 1.
#[test]
fn a_config_that_comes_over_the_mesh_is_kept_only_if_someone_says_so() {
    let Some(firmware) = firmware() else { return };
    for keep in [false, true] {
        // Without keys nobody could write it from there.
        let mut rig = Rig::keyed(firmware, "path(3)").linked();
        let before = rig.identity(1);
        // It still is where it was; its neighbors cannot tell.
        let renamed = BoardConfig {
            name: "other".try_into().expect("a name"),
            ..BoardConfig::new("path(3)", 1).expect("a config")
        };
        rig.have_done(told(0, 1, &Command::WriteConfig(&renamed.write())));
        rig.run_for(5 * SECOND);
        let status: Status = rig.ask_one(told(0, 1, &Command::Status));
        assert_eq!((status.on_trial, status.card.name.as_str()), (true, "other"));
        if keep {
            rig.have_done(told(0, 1, &Command::KeepConfig));
            rig.run_for(SECOND);
            let status: Status = rig.ask_one(told(0, 1, &Command::Status));
            assert!(!status.on_trial);
        }
        rig.run_for(62 * SECOND);
        let status: Status = rig.ask_one(told(0, 1, &Command::Status));
        let name = if keep { "other" } else { "" };
        assert_eq!((status.on_trial, status.card.name.as_str()), (false, name));
        // It started for the new config, and once more if it went back.
        let starts = if keep { 1 } else { 2 };
        assert_eq!(rig.identity(1).epoch, before.epoch + starts);
        assert_eq!(rig.world.boards()[1].resets(), u64::from(starts));
    }
}

#[test]
fn the_led_is_steady_when_all_links_are_up() {
    let Some(mut rig) = Rig::up("path(2)") else { return };
    rig.run_for(LED_STEP);
    assert_eq!(rig.rhythm(), "****************");
}

#[test]
fn the_led_tells_of_a_wrong_cable() {
    let Some(mut rig) = Rig::of("ring(6)") else { return };
    rig.script(vec![(MILLISECOND, Action::Swap(port(0, 0), port(3, 0)))]);
    rig.run_for(SECOND);
    rig.assert_rhythm("*.*.*...........");
}

#[test]
fn the_led_flickers_while_packets_pass() {
    let Some(mut rig) = Rig::up("path(2)") else { return };
    let traffic = Traffic::new(50, 0, Pattern::Neighbors, 20);
    rig.command(0, &Command::StartTraffic(traffic));
    rig.run_for(LED_STEP);
    rig.assert_rhythm("*.*.*.*.*.*.*.*.");
}

#[test]
fn a_fault_is_kept_over_the_reset_and_reported() {
    let Some(mut rig) = Rig::configured() else { return };
    // UDF, at the beginning of a function that runs for each packet.
    rig.patch("router::forwarding", ">::go", &[0x00, 0xde]);
    rig.run_for(100 * MILLISECOND);
    rig.log();
    rig.ask(&[BoardRequest::new(0, 0, Query::Ping)]);
    let lines = rig.log_texts();
    assert!(rig.world.boards()[0].resets() >= 1);
    let says_so = lines.iter().any(|line| line.ends_with("started by Software"));
    assert!(says_so, "{lines:?}");
    let begin = "before the restart: fault at ";
    assert!(lines.iter().any(|line| line.starts_with(begin)), "{lines:?}");
}

#[test]
fn the_first_hello_comes_within_50_ms() {
    let Some(mut rig) = Rig::configured() else { return };
    while rig.world.boards()[0].traffic(0).sent == 0 {
        assert!(rig.world.now() < 50 * MILLISECOND, "no hello");
        rig.world.run_until(rig.world.now() + MILLISECOND / 10);
    }
    let milliseconds = rig.world.now() as f64 / MILLISECOND as f64;
    println!("first hello after {milliseconds:.1} ms");
}

#[test]
fn a_board_without_a_config_sleeps_most_of_the_time() {
    let Some(mut rig) = Rig::stock_single(&[0xff; CONFIG_BYTES]) else {
        return;
    };
    rig.run_for(SECOND);
    let before = rig.world.boards()[0].cpu.instructions;
    rig.run_for(SECOND);
    let instructions = rig.world.boards()[0].cpu.instructions - before;
    assert!(instructions < 2_000_000, "{instructions} in a second");
}

#[test]
fn a_running_board_has_stack_to_spare() {
    let rig = Rig::of("rdn(ring(3),1)");
    let Some(mut rig) = rig else { return };
    let report = rig.check();
    assert!(report.passed(), "{:#?}", report.findings);
    // The probe goes through the stack a little at a time.
    rig.run_for(3 * SECOND);
    let free = rig.identity(0).card.stack_free;
    println!("{free} bytes of stack were never used");
    assert!(free > 30 * 1024, "{free}");
}

#[test]
fn the_image_keeps_its_budgets() {
    let Some(firmware) = firmware() else { return };
    let (flash, ram) = sizes(&firmware.image);
    println!("nucleo-f446re: {flash} bytes of flash, {ram} bytes of RAM");
    // 9 KiB of them are receive rings: two milliseconds at the fastest rate of each port.
    assert!(ram <= 38 * 1024, "{ram} bytes of static RAM");
    assert!(flash <= 182 * 1024, "{flash} bytes of flash");
}
