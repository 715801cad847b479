//! `cargo hopwise`: the demo by itself, everything else by the package `hopwise`.
#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_hopwise-launcher");

/// With a program in the place of cargo.
fn run(program: &Path, cargo: &str, words: &[&str]) -> Output {
    let output = Command::new(program).args(words).env("CARGO", cargo).output();
    output.expect("the program starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

#[test]
fn the_demo_needs_nothing_else() {
    let output = run(PROGRAM.as_ref(), "/nowhere/cargo", &["demo"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(text(&output.stderr), "");
    assert!(text(&output.stdout).contains("306 of 306 routes are shortest paths"));
}

#[test]
fn all_else_is_handed_over_word_for_word() {
    for words in [
        &[][..],
        &["--help"],
        &["demo", "--help"],
        &["emulate", "rdn(ring(3),1)", "--check"],
    ] {
        let output = run(PROGRAM.as_ref(), "echo", words);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let said = [&["run --profile quick --package hopwise --"], words]
            .concat()
            .join(" ");
        assert_eq!(text(&output.stdout), format!("{said}\n"));
    }
    let failed = run(PROGRAM.as_ref(), "false", &["topo", "ring(3)"]);
    assert_eq!(failed.status.code(), Some(1), "the exit status is passed on");
    let refused = run(PROGRAM.as_ref(), "/nowhere/cargo", &["topo", "ring(3)"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("hopwise: cannot run /nowhere/cargo: "));
}

#[test]
fn it_says_so_when_the_whole_command_has_to_be_built() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let program = folder.path().join("hopwise-demo");
    std::fs::hard_link(PROGRAM, &program).expect("a link");
    let said = |words| String::from_utf8(run(&program, "echo", words).stderr).expect("text");
    let sentence = said(&["topo", "ring(3)"]);
    assert!(sentence.starts_with("hopwise: ") && sentence.contains("now the whole command is"));
    assert_eq!(sentence.lines().count(), 1);
    std::fs::write(folder.path().join("hopwise"), "").expect("a file");
    assert_eq!(said(&["topo", "ring(3)"]), "");
}
