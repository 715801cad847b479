//! What probe-rs is given against what its versions take, and how programs are found and ended.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use hopwise_testing::Folder;
use rustix::process::{Pid, test_kill_process};

use crate::probe_rs::{Call, OLDEST, Program, Unfit, Version, Word, end_all};

/// Written by `tools/probe-rs`.
const TABLE: &str = include_str!("../../probe-rs-options.txt");

type Table = BTreeMap<Version, BTreeMap<&'static str, BTreeSet<&'static str>>>;

fn table() -> Table {
    let mut table = Table::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let version = Version::read(&format!("probe-rs {}", words.next().unwrap())).unwrap();
        let subcommand = words.next().unwrap();
        table.entry(version).or_default().insert(subcommand, words.collect());
    }
    table
}

fn objections(words: &[Word]) -> Vec<String> {
    let mut objections = Vec::new();
    for (version, subcommands) in table() {
        let command = words.iter().find_map(|word| match word {
            Word::Command(name) => Some(*name),
            _ => None,
        });
        let options = command.and_then(|name| subcommands.get(name));
        if let (Some(name), None) = (command, options) {
            objections.push(format!("{version} has no {name}"));
            continue;
        }

        for word in words {
            let (Word::Flag(option) | Word::Setting(option, _)) = word else {
                continue;
            };
            // Every program of this kind tells its version.
            if options.map_or(*option == "--version", |options| options.contains(option)) {
                continue;
            }
            objections.push(format!("{version} {} takes no {option}", command.unwrap_or("")));
        }
    }
    objections
}

#[test]
fn every_version_takes_every_option_that_is_given() {
    for call in Call::samples() {
        assert_eq!(objections(&call.words()), [""; 0], "{call:?}");
    }
    let mut versions = table().into_keys();
    assert_eq!(versions.next(), Some(OLDEST), "older ones were not tried");
}

#[test]
fn options_that_a_version_does_not_take_are_found() {
    let words = |command, option| [Word::Command(command), Word::Flag(option)];
    assert_eq!(objections(&words("attach", "--no-catch-reset")), [""; 0]);
    // For another subcommand, one that never was, none.
    for (command, option) in [
        ("reset", "--verify"),
        ("attach", "--no-catch-bus-fault"),
        ("attach", "--"),
    ] {
        assert_eq!(objections(&words(command, option)).len(), table().len(), "{option}");
    }
    assert_eq!(objections(&[Word::Command("flash")]).len(), table().len());
    assert_eq!(objections(&[Word::Flag("--quiet")]).len(), table().len());
}

#[test]
fn boards_are_written_with_verification_and_watched_without_halting_them() {
    for call in Call::samples() {
        let words = call.words();
        let [writes, watches] = [["download"; 2], ["attach", "run"]]
            .map(|names| names.iter().any(|name| words.contains(&Word::Command(name))));
        assert_eq!(writes, words.contains(&Word::Flag("--verify")), "{call:?}");
        for option in ["--no-catch-reset", "--no-catch-hardfault"] {
            assert_eq!(watches, words.contains(&Word::Flag(option)), "{call:?}");
        }
    }
}

#[test]
fn what_cargo_runs_is_one_of_the_calls() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../firmware/.cargo/config.toml");
    let settings: toml::Table = std::fs::read_to_string(file).unwrap().parse().unwrap();
    let runner = settings["target"]["thumbv7em-none-eabihf"]["runner"].as_str().unwrap();
    let run = Call::Run("STM32F446RE").arguments();
    let words: Vec<&str> = run.iter().map(|word| word.to_str().unwrap()).collect();
    assert_eq!(runner, format!("probe-rs {}", words.join(" ")));
}

/// What people are told to type.
#[test]
fn the_guide_names_subcommands_that_are_there() {
    let guide = include_str!("../../../../docs/rig.md");
    let told = guide.split("`probe-rs ").skip(1).map(|text| {
        let end = text.find(|letter: char| !letter.is_ascii_lowercase()).unwrap();
        &text[..end]
    });
    let told: BTreeSet<&str> = told.collect();
    assert!(told.len() >= 3, "{told:?}");
    for (version, subcommands) in table() {
        for name in &told {
            assert!(subcommands.contains_key(name), "{version} has no {name}");
        }
    }
}

#[test]
fn versions_are_read_and_compared() {
    let read = |text| Version::read(text);
    let found = read("probe-rs 0.32.0 (git commit: crates.io)\n");
    assert_eq!(found, Some(Version([0, 32, 0])));
    assert_eq!(read("probe-rs 1.0.2-alpha.1"), Some(Version([1, 0, 2])));
    let others = "|probe-rs|probe-rs |cargo 1.90.0|probe-rs 0.32|probe-rs 0.32.0.1|probe-rs a.b.c";
    for other in others.split('|') {
        assert_eq!(read(other), None, "{other}");
    }
    assert!(Version([0, 9, 9]) < Version([0, 10, 0]) && OLDEST < Version([1, 0, 0]));
    assert_eq!(OLDEST.to_string().matches('.').count(), 2);
}

#[test]
fn a_program_that_is_not_fit_is_refused_with_one_sentence() {
    let folder = Folder::new("unfit");
    let fit = folder.stand_in("exit 3");
    assert!(Program::find(&fit).is_ok());
    let refusal = |name: &str| Program::find(name).unwrap_err().to_string();
    let why = "there is no program '/no/such/probe-rs': https://probe.rs says how";
    assert!(refusal("/no/such/probe-rs").starts_with(why));

    let of = |version: &str| {
        std::fs::write(&fit, format!("#!/bin/sh\necho '{version}'\n")).unwrap();
        loop {
            match Program::find(&fit) {
                Err(Unfit::DoesNotStart { error, .. }) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {}
                found => return found.unwrap_err().to_string(),
            }
        }
    };
    let expected = format!("'{fit}' is not probe-rs: it does not say which version it has");
    assert_eq!(of("something 1.2.3"), expected);
    let advice = "is needed: cargo install probe-rs-tools --locked";
    let expected = format!("'{fit}' has version 0.24.0, and {OLDEST} or a newer one {advice}");
    assert_eq!(of("probe-rs 0.24.0 (git commit: 1234567)"), expected);

    std::fs::set_permissions(&fit, PermissionsExt::from_mode(0o644)).unwrap();
    assert!(refusal(&fit).contains("ermission denied"), "{}", refusal(&fit));
}

/// A program that is ready when there is a file of that name.
fn started(folder: &Folder, name: &str, text: &str) -> Child {
    let path = folder.folder().join(name);
    let text = format!("{text}\n: > {}\nwhile :; do sleep 0.02; done", path.display());
    // A shell does not catch what whoever started the tests has it ignore.
    let shell = ["--default-signal=INT,TERM", "sh", "-c", &text];
    let child = Command::new("env").args(shell).spawn().unwrap();
    let begin = Instant::now();
    while !path.exists() {
        assert!(begin.elapsed() < Duration::from_secs(20), "{name} does not start");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn programs_are_asked_before_they_are_killed() {
    let folder = Folder::new("asked");
    let said = |name: &str, signal: &str| {
        let file = folder.folder().join("said");
        format!("trap 'echo {name} {signal} >> {}; exit' {signal}", file.display())
    };
    let polite = started(&folder, "polite", &said("polite", "INT"));
    let slow = started(&folder, "slow", &format!("trap '' INT; {}", said("slow", "TERM")));
    let deaf = started(&folder, "deaf", "trap '' INT TERM");
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let process = Pid::from_child(&deaf);
    let begin = Instant::now();
    end_all(vec![slow, deaf, polite, gone]);
    assert!(begin.elapsed() < Duration::from_secs(10));
    assert_eq!(folder.read("said"), "polite INT\nslow TERM\n");
    assert!(test_kill_process(process).is_err(), "it is killed in the end");
}
