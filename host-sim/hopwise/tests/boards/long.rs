//! Meshes of hundreds of emulated boards, of boards of every kind, and many power cuts: `cargo test -p hopwise --test boards-long -- --nocapture`, some minutes.

#[allow(dead_code, reason = "the tests of boards use the rest")]
mod doctor;
#[allow(dead_code, reason = "the tests of boards use the rest")]
mod firmware_busy;
#[allow(dead_code, reason = "the tests of boards use the rest")]
mod firmware_power;
#[allow(dead_code, reason = "the tests of boards use the rest")]
mod firmware_programs;
#[allow(dead_code, reason = "the tests of boards use the rest")]
mod firmware_support;
#[allow(dead_code, reason = "the tests of boards use the rest")]
mod kinds;
#[allow(dead_code, reason = "the tests of boards use the rest")]
mod next_hop;
#[allow(dead_code, reason = "the tests of boards use the rest")]
mod signed;
#[allow(dead_code, reason = "the tests of boards use the rest")]
mod update;
#[allow(dead_code, reason = "the tests of boards use the rest")]
mod update_cuts;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use firmware_power::Pace;
use hopwise_emulate::doctor::BoardFault;
use hopwise_emulator::time::{MICROSECOND, MILLISECOND};
use next_hop::a_next_hop_takes_at_most;
use update::{HostEnd, images};
use update_cuts::Tally;

#[test]
fn instructions_for_a_next_hop_among_648_boards() {
    a_next_hop_takes_at_most(150, "rdn(ring(3),2)");
}

#[test]
fn instructions_for_a_next_hop_among_1024_boards() {
    a_next_hop_takes_at_most(400, "re(ring(4),ring(4),4)");
}

/// One and a half times the wire, 2.2 s, and the slowest flash that there is: 4.0 s to erase, 4.7 s to write.
#[test]
fn eighteen_boards_get_an_image_through_the_mesh() {
    let Some(images) = images() else { return };
    let mut host_end = HostEnd::mesh(images, "rdn(ring(3),1)");
    let report = host_end.update(&images.package).expect("an update");
    println!("{report:?}");
    assert_eq!((report.boards, report.retries, report.bricked), (18, 0, 0));
    assert!(report.erase_seconds + report.transfer_seconds <= 12.0, "{report:?}");
}

#[test]
fn other_boards_use_an_external_clock_that_comes_late() {
    ["nucleo-g474re", "nucleo-h743zi"].map(|name| kinds::a_late_clock(name, 700_000, true));
}

/// A board each, with 200 power cuts.
#[test]
fn power_fails_two_thousand_times() {
    firmware_power::many_power_cuts(10);
}

#[test]
fn power_fails_on_boards_whose_flash_corrects_errors() {
    let [milliseconds, microseconds] = [MILLISECOND, MICROSECOND];
    for (name, cuts, written, erase, write) in [
        ("nucleo-g474re", 60, 1_200, 25, 3_000),
        ("nucleo-l476rg", 60, 1_200, 25, 3_000),
        // It erases 128 KiB.
        ("nucleo-h743zi", 20, 5_000, 1_000, 1_000),
    ] {
        println!("{name}");
        let pace = Pace {
            written: written * milliseconds,
            erase: erase * milliseconds,
            write: write * microseconds,
        };
        firmware_power::power_cuts_of(name, pace, cuts);
    }
}

#[test]
fn a_g474_with_one_bank_says_so_and_works() {
    kinds::one_bank_is_told("nucleo-g474re");
}

#[test]
fn the_doctor_knows_every_board() {
    for board in hopwise_emulator::boards::BOARDS.iter() {
        println!("{}", board.name);
        if let Some(found) = kinds::doctors_findings(board.name, &[]) {
            assert_eq!(found, [""; 0], "{}", board.name);
        }
    }
    if let Some(found) = kinds::doctors_findings("nucleo-g474re", &[BoardFault::OneBank]) {
        let said = |fault: &String| fault.starts_with("board: it says: option DBANK is 0");
        assert!(found.iter().any(said), "{found:?}");
    }
}

#[test]
fn a_mesh_of_each_kind_of_board() {
    for board in hopwise_emulator::boards::BOARDS.iter() {
        println!("{}", board.name);
        kinds::a_mesh_of_one_kind(board.name);
    }
}

#[test]
fn a_ring_with_boards_of_every_kind() {
    let boards = hopwise_emulator::boards::BOARDS.iter();
    let names: Vec<&str> = boards.map(|board| board.name).collect();
    kinds::a_ring_of_many_kinds(&names);
}

#[test]
fn full_links_of_other_boards() {
    for (name, least, is_slow) in [
        ("nucleo-f401re", 0.85, false),
        ("nucleo-f411re", 0.85, false),
        ("nucleo-g474re", 0.9, false),
        ("nucleo-h743zi", 0.9, false),
        ("nucleo-l476rg", 0.5, true),
    ] {
        kinds::full_links(name, least, is_slow);
    }
}

#[test]
fn a_torn_slot_does_not_stop_newer_boards() {
    // The beginning of the second slot for the configuration, and what is written at once.
    for (name, address, bytes) in [
        ("nucleo-g474re", 0x0807_f000, 8),
        ("nucleo-l476rg", 0x080f_f000, 8),
        ("nucleo-h743zi", 0x081e_0000, 32),
    ] {
        kinds::a_torn_word_stops_nothing(name, address, bytes);
    }
}

/// The clocks of 128 boards, before and after the root fails, against the emulator's true time.
#[test]
fn a_hundred_and_twenty_eight_boards_agree_on_the_time() {
    for (expression, failure) in [("torus(8,16)", "0"), ("rdn(ring(8),1)", "0-1")] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hopwise"));
        command.args(["clock", expression, "--boards", "emulated", "--threads", "2"]);
        let output = command.args(["--fail", failure]).output().expect("the command starts");
        println!("{}", String::from_utf8_lossy(&output.stdout));
        assert!(output.status.success(), "{expression}: {output:?}");
    }
}

/// Nineteen boards alone and a pair of boards, each with 50 power cuts during updates, on two threads.
#[test]
fn power_fails_a_thousand_times_during_updates() {
    const SEEDS: u64 = 20;
    const PAIRS: u64 = 1;
    let (next, tally) = (AtomicU64::new(0), Mutex::new(Tally::default()));
    let take_turns = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= SEEDS {
                return;
            }
            let tallied = update_cuts::power_cuts((seed >= SEEDS - PAIRS).then_some("path(2)"), seed, 50);
            tally.lock().expect("the other thread is well").add(&tallied);
        }
    };
    std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(take_turns))));
    tally.into_inner().expect("both threads are well").assert_all(50);
}

/// The F446 does that too, among the tests of boards.
#[test]
fn other_boards_take_only_what_their_owner_has_signed() {
    for kind in ["nucleo-h743zi", "nucleo-g474re"] {
        signed::only_what_the_owner_has_signed(kind);
    }
}

/// Boards of every kind, by the command: its boot loader, both its slots, and its flash.
#[test]
fn every_kind_of_board_is_updated() {
    for board in hopwise_emulator::boards::BOARDS.iter() {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hopwise"));
        command.args(["update", "path(2)", "--emulated", "--rolling", "--json"]);
        command.args(["--board", board.name]);
        let output = command.output().expect("the command starts");
        let said = String::from_utf8_lossy(&output.stdout);
        println!("{}: {said}", board.name);
        kinds::flashing_empties_the_log(board.name);
        assert!(output.status.success(), "{}: {output:?}", board.name);
        let report: serde_json::Value = serde_json::from_str(&said).expect("JSON");
        let found = (&report["boards"], &report["bricked"]);
        assert_eq!(found, (&2.into(), &0.into()), "{}", board.name);
        // Two sectors of the H743 take 2 to 4 seconds if 64 bits are erased at once, and 4 to 8 with the 8 that embassy leaves.
        let seconds = report["erase_seconds"].as_f64().expect("a number");
        assert!(board.name != "nucleo-h743zi" || seconds < 4.1, "{seconds}");
    }
}
