//! The command, files in a folder of their own, and the firmware for emulated boards.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use hopwise_emulate::firmware::{CannotBuildFirmware, Firmware};
use hopwise_emulate::repository::Repository;
use hopwise_rig::boards::DEFAULT;
pub(crate) use hopwise_testing::Folder;
use hopwise_testing::{is_like, not_tested};
use serde_json::Value;

/// The firmware of the default board. If there is no ARM compiler that is said on the terminal, even where tests are quiet.
pub(crate) fn elf() -> Option<&'static str> {
    static ELF: OnceLock<Option<PathBuf>> = OnceLock::new();
    let repository = Repository::at(Path::new("../..")).expect("tests run in the folder of their crate");
    let path = ELF.get_or_init(
        || match Firmware::new(DEFAULT).build(&repository, |line| eprintln!("{line}")) {
            Ok(path) => Some(path),
            Err(CannotBuildFirmware::NoCompiler) => {
                not_tested(
                    "no ARM core library, so the firmware was not built and not run. Run tools/arm-target once.",
                );
                None
            }
            Err(error) => panic!("{error}"),
        },
    );
    path.as_ref().map(|path| path.to_str().expect("a path in UTF-8"))
}

pub(crate) fn command(args: &[impl AsRef<std::ffi::OsStr>]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hopwise"));
    command.args(args);
    command
}

pub(crate) fn hopwise(args: &[&str]) -> Output {
    command(args).output().expect("the command starts")
}

/// What it prints, if it ends well.
pub(crate) fn printed(args: &[&str]) -> String {
    let output = hopwise(args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {said}");
    String::from_utf8(output.stdout).expect("text")
}

/// Exit status and the JSON that was printed.
pub(crate) fn json(args: &[&str]) -> (i32, Value) {
    let output = hopwise(args);
    let status = output.status.code().expect("an exit status");
    let value = serde_json::from_slice(&output.stdout);
    let value = value.unwrap_or_else(|error| panic!("{args:?}: {error}, {output:?}"));
    (status, value)
}

/// A text is as this pattern says, in which `[..]` stands for any text.
#[track_caller]
pub(crate) fn like(text: &str, pattern: &str) {
    assert!(is_like(text, pattern), "not {pattern}: {text}");
}

/// The JSON that it prints, if it ends well.
pub(crate) fn printed_json(args: &[&str]) -> Value {
    serde_json::from_str(&printed(args)).expect("one JSON object")
}

/// Simulates; the trace is in the file, and the simulator's own account is returned.
pub(crate) fn simulate(trace: &str, args: &[&str]) -> Value {
    printed_json(&[&["sim"], args, &["--json", "--trace", trace]].concat())
}
