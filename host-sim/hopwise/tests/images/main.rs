//! The images other than the one that most tests run: of every board, of every family alone, and with more in the log.
//!
//! Each is built here, so these run only when asked for: `cargo test -p hopwise --test images -- --nocapture`.

#[allow(dead_code, reason = "the tests of boards use the rest")]
#[path = "../boards/firmware_support/mod.rs"]
mod firmware_support;

use firmware_support::{Firmware, Rig, build, firmware, load, sizes, stock};
use hopwise_emulate::firmware;
use hopwise_emulator::time::{MILLISECOND, SECOND};
use hopwise_host::talk::{BoardRequest, Reply};
use hopwise_node::wire::{BoardConfig, BoardState, Command, CommandResult, Query, Status, UartClock};
use hopwise_rig::boards::{KINDS, Uart};

/// Builds an image that stays until the tests end; `None` if there is no ARM compiler.
fn built(firmware: &firmware::Firmware<'_>) -> Option<&'static Firmware> {
    load(build(firmware)).map(|firmware| &*Box::leak(Box::new(firmware)))
}

/// Every family, with the KiB of flash of an image that has it alone beside the base graphs.
const FAMILIES: [(&str, usize); 11] = [
    ("rdn", 160),
    ("rcr", 160),
    ("rsn", 160),
    ("re", 172),
    ("wk", 160),
    ("hypernet", 160),
    ("exchanged", 160),
    ("hierarchy", 160),
    ("hsn", 160),
    ("hcn3", 160),
    ("partial-swapped", 163),
];

#[test]
fn images_of_one_family_keep_their_budgets() {
    let families = FAMILIES
        .iter()
        .map(|(family, budget)| (std::slice::from_ref(family), *budget));
    for (families, budget) in std::iter::once((&[][..], 154)).chain(families) {
        let firmware = built(&stock().with_families(families));
        let Some(firmware) = firmware else { return };
        let (flash, ram) = sizes(&firmware.image);
        let name = families.first().unwrap_or(&"none");
        println!("base graphs and {name}: {flash} bytes of flash, {ram} bytes of RAM");
        assert!(flash <= budget * 1024, "{families:?}: {flash} bytes of flash");
    }
}

/// The crate that `hopwise new-app` writes, for a user who knows nothing of this repository but where it is.
/// As in a release: in an empty folder, without cargo.
#[test]
fn the_command_brings_the_firmware_of_the_default_board() {
    let root = std::path::Path::new("../..").canonicalize().expect("the repository");
    let run = |program: &std::path::Path, arguments: &[&str], change: &dyn Fn(&mut std::process::Command)| {
        let mut command = std::process::Command::new(program);
        change(command.args(arguments));
        let output = command.output().expect("the program starts");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    };
    run(&root.join("tools/images"), &["nucleo-f446re"], &|_| {});
    let build = ["build", "--package", "hopwise", "--target-dir", "target/prebuilt"];
    run("cargo".as_ref(), &build, &|command| {
        command
            .current_dir(&root)
            .env("HOPWISE_PREBUILT", root.join("target/images"));
    });
    let empty = tempfile::tempdir().expect("a folder");
    let hopwise = root.join("target/prebuilt/debug/hopwise");
    let emulate = ["emulate", "rdn(ring(3),1)", "--check"];
    run(&hopwise, &emulate, &|command| {
        command
            .env_clear()
            .env("XDG_CACHE_HOME", empty.path())
            .current_dir(&empty);
    });
    assert!(empty.path().join("hopwise/nucleo-f446re.elf").is_file());
}

#[test]
fn the_tests_of_a_new_program_pass() {
    if firmware().is_none() {
        return;
    }
    let around = std::env::temp_dir().join(format!("hopwise-new-app-tests-{}", std::process::id()));
    std::fs::create_dir_all(&around).expect("a folder");
    let folder = around.join("hello");
    let hopwise = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hopwise"));
        command.args(args).arg(&folder).output().expect("the command starts")
    };
    let made = hopwise(&["new-app"]);
    assert!(made.status.success(), "{made:?}");
    let shared = std::path::Path::new("../../target/firmware/build").canonicalize();
    let tests = std::process::Command::new("cargo")
        .arg("emulated")
        .current_dir(&folder)
        .env("CARGO_BUILD_BUILD_DIR", shared.expect("the firmware has been built"))
        // Where the compiler for ARM is not rustup's.
        .env(
            "HOPWISE_REPO",
            std::path::Path::new("../..").canonicalize().expect("the repository"),
        )
        .env_remove("CARGO")
        .env_remove("RUSTC")
        .output()
        .expect("cargo starts");
    let said = String::from_utf8_lossy(&tests.stdout);
    let errors = String::from_utf8_lossy(&tests.stderr);
    assert!(tests.status.success() && said.contains("2 passed"), "{said}\n{errors}");
    for board in KINDS.iter().map(|kind| kind.name) {
        // In a network of a family that is not built by default as well.
        let network = if board == KINDS[0].name { "wk(2,2)" } else { "path(2)" };
        let emulated = hopwise(&["emulate", network, "--for", "1500ms", "--board", board, "--app"]);
        let log = String::from_utf8_lossy(&emulated.stdout);
        assert!(
            emulated.status.success() && log.contains("hello from node 1"),
            "{board}: {log}\n{}",
            String::from_utf8_lossy(&emulated.stderr)
        );
    }
    std::fs::remove_dir_all(around).expect("a folder that goes");
}

/// What the image of a board may take, in KiB. A slot for images is 192 KiB on the F4, which has the least, and images grow in the field:
/// what is left is for later. The H7 has 2 MiB, and more code of embassy's around its clocks.
fn budget(board: &str) -> usize {
    match board {
        "nucleo-h743zi" => 195,
        _ => 190,
    }
}

/// Bytes that come in two milliseconds at the fastest rate of a port.
fn ring_bytes(uart: &Uart) -> u32 {
    let clock = UartClock {
        hertz: uart.clock,
        low_power: uart.is_low_power(),
    };
    clock.fastest() / 5_000
}

#[test]
fn every_board_has_an_image_that_fits() {
    for board in KINDS.iter().map(|kind| kind.name) {
        let Some(firmware) = built(&firmware::Firmware::new(board)) else {
            return;
        };
        let (flash, ram) = sizes(&firmware.image);
        println!("{board}: {flash} bytes of flash, {ram} bytes of RAM");
        let kind = hopwise_rig::boards::kind(board).expect("a kind of board");
        let rest = ram.saturating_sub(kind.uarts().map(ring_bytes).sum());
        assert!(
            rest <= 33 * 1024,
            "{board}: {ram} bytes of static RAM, {rest} without receive rings"
        );
        let budget = budget(board);
        assert!(
            flash <= budget * 1024,
            "{board}: {flash} bytes of flash, at most {budget} KiB"
        );
        // Whoever flashes it knows where its configuration goes.
        let slots = ["_configuration_slots", "_slot_bytes"].map(|name| firmware.image.address_of(name));
        assert_eq!(slots, [Some(kind.slots), Some(kind.slot_bytes)], "{board}");
    }
}

#[test]
fn an_image_without_the_family_of_a_network_says_so() {
    let firmware = built(&stock().with_families(&["rdn"]));
    let Some(firmware) = firmware else { return };
    let cases = [
        ("rcr(2,2,1)", BoardState::NotInImage),
        // Not even a network where its family is there, but that cannot be told.
        ("rcr(2,2", BoardState::NotInImage),
        ("rcx(2,2,1)", BoardState::BadNetwork),
        ("rdn(ring(3),1)", BoardState::Configured),
    ];
    for (expression, expected) in cases {
        let config = BoardConfig::new(expression, 0).expect("a config").write();
        let mut rig = Rig::single(firmware, &config);
        rig.run_for(100 * MILLISECOND);
        let status: Status = rig.ask_one(BoardRequest::command(0, &Command::Status));
        assert_eq!(status.state, expected, "{expression}");
        if expected == BoardState::NotInImage {
            let lines: Vec<String> = rig.log().into_iter().map(|line| line.text).collect();
            let says_so = lines.iter().any(|line| line == "not part of a mesh: NotInImage");
            assert!(says_so, "{lines:?}");
            let command = BoardRequest::command(0, &Command::WriteConfig(&config));
            assert_eq!(rig.ask_one::<CommandResult>(command), CommandResult::NotInImage);
        }
    }
}

#[test]
fn the_level_of_the_log_is_chosen_when_an_image_is_built() {
    let (Some(usual), Some(all)) = (firmware(), built(&stock().with_log_level("trace"))) else {
        return;
    };
    for (firmware, frames) in [(usual, false), (all, true)] {
        let mut rig = Rig::new(firmware, "path(2)");
        rig.wait_for_links(SECOND);
        let ping = BoardRequest::new(0, 1, Query::Ping);
        assert!(matches!(rig.ask(&[ping])[..], [Some(Reply::Response(_))]));
        let lines: Vec<String> = rig.log().into_iter().map(|line| line.text).collect();
        let has = |event: &str| lines.iter().any(|line| line.starts_with(event));
        assert!(has("LinkUp"), "{lines:?}");
        for event in ["Sent", "Received", "Forwarded", "Delivered"] {
            assert_eq!(has(event), frames, "{event} in {lines:?}");
        }
        // Not all that is asked of healthy boards: embassy logs the clocks it sets before there is one to tell the time by.
        assert!(rig.world.boards().iter().all(|board| board.faults().is_empty()));
    }
}
