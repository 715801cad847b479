//! `hopwise emulate` from the outside: figures, determinism, refusals.

#[path = "../../emulator/tests/support/mod.rs"]
#[allow(dead_code)]
mod support;

use std::path::Path;
use std::process::{Command, Output};

fn emulate(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hopwise"))
        .arg("emulate")
        .args(arguments)
        .output()
        .expect("hopwise")
}

fn figures(elf: &Path, arguments: &[&str]) -> serde_json::Value {
    let elf = elf.to_str().expect("a path");
    let output = emulate(&[&["ring(4)", "--elf", elf, "--for", "300ms", "--json"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn figures_have_their_keys_and_are_the_same_every_time() {
    let Some(elf) = support::elf() else { return };
    let first = figures(&elf, &["--seed", "5", "--drift", "50"]);
    assert_eq!(first["boards"], 4);
    assert_eq!(first["virtual_seconds"], 0.3);
    assert_eq!((&first["faults"], &first["uart_overruns"]), (&0.into(), &0.into()));
    assert_eq!(first["unmodelled"], serde_json::json!([]));
    assert!(first["wall_seconds"].as_f64() > Some(0.0) && first["instructions"].as_u64() > Some(1000));
    assert_eq!(first["log_lines"], 4);
    let hash = |arguments: &[&str]| figures(&elf, arguments)["state_hash"].clone();
    assert_eq!(
        first["state_hash"],
        hash(&["--seed", "5", "--drift", "50", "--threads", "2"])
    );
    assert_ne!(first["state_hash"], hash(&["--seed", "6", "--drift", "50"]));
}

#[test]
fn the_log_is_decoded_with_its_place() {
    let Some(elf) = support::elf() else { return };
    let elf = elf.to_str().expect("a path");
    let output = emulate(&["ring(3)", "--elf", elf, "--for", "50ms", "--boards", "2"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next().expect("a line");
    assert!(
        line.contains("   2 info  board is up: 0 frames at 115200 baud  main.rs:"),
        "{line}"
    );
    assert_eq!(text.matches("board is up").count(), 1, "{text}");
}

#[test]
fn bad_input_is_refused_in_one_sentence() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let file = file.to_str().expect("a path");
    for (arguments, sentence) in [
        (
            ["ring(4)", "--elf", "/nowhere"],
            "hopwise: /nowhere: No such file or directory (os error 2)\n".to_string(),
        ),
        (
            ["ring(4)", "--elf", file],
            format!("hopwise: {file}: no ELF file: Unsupported ELF header\n"),
        ),
    ] {
        let output = emulate(&arguments);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(String::from_utf8_lossy(&output.stderr), sentence);
    }
}
