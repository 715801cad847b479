//! A copy of the command outside the repository: it knows no path of the sources but the one it is told.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::rig_support::{Folder, elf};

/// The root of this repository: tests run in the folder of their crate.
fn repository() -> PathBuf {
    Path::new("../..").canonicalize().expect("the repository")
}

fn copied(folder: &Folder) -> Command {
    let copy = folder.folder().join("hopwise");
    std::fs::copy(env!("CARGO_BIN_EXE_hopwise"), &copy).expect("a copy");
    let mut command = Command::new(copy);
    command.current_dir(folder.folder()).env_remove("HOPWISE_REPO");
    command.args(["emulate", "ring(3)", "--for", "1ms", "--json"]);
    command
}

fn refused(output: &Output, sentence: &str) {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        format!("hopwise: {sentence}\n")
    );
}

#[test]
fn a_copied_binary_says_what_to_do_if_there_is_no_repository() {
    let folder = Folder::new("repository-none");
    let output = copied(&folder).output().expect("the command starts");
    refused(
        &output,
        "the firmware is built from Hopwise's repository: run this inside it, or say where it is with --repo PATH or \
         HOPWISE_REPO, or give a built image with --elf",
    );
    let wrong = folder.folder().to_str().expect("a path in UTF-8");
    let sentence = format!("{wrong} is not Hopwise's repository: it has no firmware/Cargo.toml of hopwise-firmware");
    let output = copied(&folder).args(["--repo", wrong]).output();
    refused(&output.expect("the command starts"), &sentence);
    let output = copied(&folder).env("HOPWISE_REPO", wrong).output();
    refused(&output.expect("the command starts"), &sentence);
}

#[test]
fn a_copied_binary_finds_the_repository_that_it_is_told() {
    // Built here, so that the copy has nothing to build.
    let compiler = elf().is_some();
    let folder = Folder::new("repository-told");
    let run = |command: &mut Command| {
        let output = command.output().expect("the command starts");
        if compiler {
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            let figures: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
            assert_eq!(figures["boards"], 3);
            assert_eq!(
                String::from_utf8_lossy(&output.stderr),
                "",
                "an image that is up to date is quiet"
            );
        } else {
            refused(&output, "there is no compiler for ARM: run tools/arm-target once");
        }
    };
    run(copied(&folder).arg("--repo").arg(repository()));
    run(copied(&folder).env("HOPWISE_REPO", repository()));
    run(copied(&folder).current_dir(repository().join("docs")));
}
