//! `hopwise sim` from the outside. The promises of delivery are held in the crate of the simulator.

mod command;

use std::process::{Command, Output};

fn hopwise(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hopwise"))
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .args(args)
        .output()
        .expect("the command starts")
}

/// What a command prints that ends well.
fn printed(args: &[&str]) -> String {
    let output = hopwise(args);
    assert!(
        output.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}
