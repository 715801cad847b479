//! Programs of users outside the repository: `hopwise new-app`, and `--app` of the commands that run or flash images.

use std::path::Path;
use std::process::Command;

use hopwise_emulate::bench::{AppPort, Bench, SECOND};
use hopwise_testing::is_like;

use crate::book::blocks;
use crate::running::new_app;
use crate::support::{Folder, command, hopwise, json, quoted_words, refuses, words};

#[test]
fn a_program_comes_through_the_mesh() {
    let Some(app) = new_app() else { return };
    let repository = Path::new("../..").canonicalize().expect("the repository");
    let toolchain = Command::new(repository.join("tools/arm-target")).output();
    let toolchain = String::from_utf8(toolchain.expect("the tool starts").stdout).expect("text");
    let mut cargo = Command::new("cargo");
    cargo.arg("second-slot").current_dir(&app.folder);
    cargo.env("RUSTUP_TOOLCHAIN", toolchain.trim());
    cargo.env("CARGO_BUILD_BUILD_DIR", repository.join("target/firmware/build"));
    for variable in ["CARGO", "RUSTC", "RUSTFLAGS"] {
        cargo.env_remove(variable);
    }
    assert!(cargo.status().expect("cargo starts").success());
    let second = app
        .folder
        .join("target/second-slot/thumbv7em-none-eabihf/release/hello");
    let second = second.to_str().expect("UTF-8");
    let (status, report) = json(&words(
        "update path(2) --emulated --elf {} {} --json",
        &[&app.elf, second],
    ));
    assert_eq!((status, report["boards"].as_u64()), (0, Some(2)), "{report}");
    // One slot twice is no update.
    refuses(&format!(
        "update path(2) --emulated --elf {0} {0} => {0}: [..]",
        app.elf
    ));
}

/// What each prints is also in the test that comes with it.
#[test]
fn examples_do_what_they_say() {
    let Some(app) = new_app() else { return };
    for (example, network, board, line) in [
        ("sensors", "rdn(ring(3),1)", 0, "node 17 has 217 tenths of a degree"),
        ("requests", "ring(4)", 0, "node 2 runs for"),
        ("streams", "ring(4)", 3, "2000 of 2000 letters came back in capitals"),
        ("collectives", "ring(4)", 1, "the mean of 4 boards is 15"),
    ] {
        let folder = app.folder.with_file_name(example);
        let made = hopwise(&["new-app", folder.to_str().expect("UTF-8"), "--example", example]);
        assert!(made.status.success(), "{made:?}");
        let mut bench = Bench::of_app(&folder, network).unwrap_or_else(|error| panic!("{example}: {error}"));
        bench.run_for(4 * SECOND);
        assert!(bench.count_lines(board, line) >= 1, "{example}");
        bench.assert_healthy();
    }
    let own = app.folder.join("target/thumbv7em-none-eabihf/release/deps");
    assert!(!own.exists(), "what the firmware has compiled is shared");
    let mut bench = Bench::of_app(&app.elf, "ring(4)").expect("boards");
    bench.at("5s press 1").expect("an event");
    bench.at("5200ms release 1").expect("another");
    let look = |_| {
        bench.run_for(SECOND / 50);
        bench.led(3)
    };
    let led: Vec<Option<bool>> = (0..400).map(look).collect();
    let changes = |led: &[Option<bool>]| led.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let (slow, fast) = (changes(&led[50..200]), changes(&led[250..]));
    assert!((2..=4).contains(&slow) && fast >= 8, "{slow} and {fast}");
    assert_eq!(bench.count_lines(3, "the button of node 1 was pressed"), 1);
}

/// As its reader does: paste a program, run the command, compare what it prints.
#[test]
fn the_tutorial_prints_what_it_shows() {
    let Some(app) = new_app() else { return };
    let folder = app.folder.with_file_name("tutorial");
    let made = hopwise(&["new-app", folder.to_str().expect("UTF-8")]);
    assert!(made.status.success(), "{made:?}");
    // Where the compiler for ARM is not rustup's.
    let repository = Path::new("../..").canonicalize().expect("the repository");
    let mut programs = 0;
    for (kind, text) in blocks(include_str!("../../../../docs/tutorial.md")) {
        if kind == "rust" {
            std::fs::write(folder.join("src/program.rs"), text).expect("a file");
            programs += 1;
            continue;
        }
        let (line, shown) = text.split_once('\n').expect("a command and its output");
        let arguments = quoted_words(line.strip_prefix("$ hopwise ").expect("a command of ours"));
        let output = command(&arguments)
            .current_dir(&folder)
            .env("HOPWISE_REPO", &repository)
            .output();
        let output = output.expect("the command starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !said.contains("warning"), "{line}: {said}");
        let printed = String::from_utf8(output.stdout).expect("text");
        let mut lines = printed.lines();
        for expected in shown.lines() {
            let is_there = lines.any(|line| is_like(line, &format!("[..] {expected}  [..]")));
            assert!(is_there, "{line} does not print '{expected}' then, but\n{printed}");
        }
    }
    assert_eq!(programs, 3);
}

#[test]
fn a_bench_tests_a_program() {
    let Some(app) = new_app() else { return };
    let mut bench = Bench::of_app(&app.elf, "ring(4)").expect("boards");
    // The cable between nodes 0 and 1.
    bench.at("2s cut 0.0").expect("an event");
    bench.at("2500ms reset 3").expect("another");
    bench.run_for(2 * SECOND + SECOND / 4);
    for node in 0..4 {
        assert_eq!(bench.count_lines(node, "hello from node"), 2, "node {node}");
        let doubled: u32 = bench.request(0, node as u64, AppPort(17), &21_u32).expect("a response");
        assert_eq!(doubled, 42);
    }
    let heard = bench.messages(0);
    let of_three = heard
        .iter()
        .filter(|message| (message.source, &message.bytes[..]) == (3, b"hello"));
    assert_eq!((heard.len(), of_three.count()), (8, 2));
    let unserved = bench
        .request::<_, u32>(0, 1, AppPort(99), &21_u32)
        .expect_err("nobody serves it");
    assert_eq!(unserved.to_string(), "the response is Some(PortUnreachable)");
    let late = bench.at("1s plug 0.0").expect_err("that is over").to_string();
    assert!(late.starts_with("1 s is over: it is 2."), "{late}");
    assert!(bench.led(2).is_some());
    bench.at("3s plug 0.0").expect("an event");
    bench.run_for(SECOND);
    let links = |bench: &mut Bench, what: &str| bench.count_lines(0, what);
    let found = bench.world.boards()[3].resets();
    assert_eq!(found, 1, "once, though there were more events since");
    assert!(links(&mut bench, "LinkDown") >= 1 && links(&mut bench, "LinkUp") >= 3);
    bench.assert_healthy();
    assert!(Bench::of_app(&app.elf, "ring(4").is_err());
    assert!(Bench::of_app_on("nucleo-f401re", &app.elf, "ring(4)").is_err());
}

#[test]
fn what_is_no_program_for_these_boards_is_refused() {
    let Some(app) = new_app() else { return };
    let folder = Folder::new("no-app");
    let image = std::fs::read(&app.elf).expect("the image");
    // The same image with another word in its table of symbols.
    let altered = |name: &str, from: &[u8], to: &[u8]| {
        let place = image.windows(from.len()).rposition(|window| window == from);
        let at = place.expect("a symbol");
        let mut image = image.clone();
        image[at..at + to.len()].copy_from_slice(to);
        let path = folder.path(name);
        std::fs::write(&path, image).expect("a file");
        path
    };
    let other = altered("other", b"_board_nucleo_f446re", b"_board_nucleo_f411re");
    let without = altered("without", b"_configuration_slots", b"_configuration_slotz");
    let text = folder.write("text", "no image\n");
    refuses(&format!(
        r#"
        emulate ring(3) --app {other} => {other} is an image for nucleo-f411re, and the board is a nucleo-f446re
        emulate ring(3) --app {without} => {without} is not built on hopwise-firmware: it has no place for the configuration
        emulate ring(3) --app {text} => {text}: [..]
        emulate ring(3) --app /nowhere => /nowhere: there is neither a crate nor an image: a crate is a folder with a Cargo.toml, `hopwise new-app` writes one
        "#
    ));
    let broken = folder.path("broken");
    std::fs::create_dir(&broken).expect("a folder");
    folder.write("broken/Cargo.toml", "[package]\n");
    let output = hopwise(&["emulate", "ring(3)", "--app", &broken]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    let last = format!("hopwise: {broken} does not build; cargo says why above");
    assert_eq!(said.lines().last(), Some(last.as_str()), "{said}");
}
