//! The command, files in a folder of their own, and the firmware for emulated boards.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use hopwise_emulate::firmware::{CannotBuildFirmware, Firmware};
use hopwise_emulate::repository::Repository;
use hopwise_rig::boards::DEFAULT;
pub(crate) use hopwise_testing::Folder;
use hopwise_testing::{is_like, not_tested, rows};
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

/// The words of a command line; each `{}` is the next of those that are given.
pub(crate) fn words<'a>(line: &'a str, given: &[&'a str]) -> Vec<&'a str> {
    let mut given = given.iter();
    let mut next = || *given.next().expect("one for each {}");
    let words = line.split_whitespace();
    words.map(|word| if word == "{}" { next() } else { word }).collect()
}

/// The words of a command line; quotes hold blanks together.
pub(crate) fn quoted_words(line: &str) -> Vec<&str> {
    let parts = line.split('\'').enumerate();
    let words = parts.flat_map(|(place, part)| match place % 2 {
        0 => part.split_whitespace().collect(),
        _ => vec![part],
    });
    words.collect()
}

/// What it prints, if it ends well.
pub(crate) fn printed(args: &[&str]) -> String {
    let output = hopwise(args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {said}");
    String::from_utf8(output.stdout).expect("text")
}

/// What it prints and what it says, if a check fails.
pub(crate) fn failed(args: &[&str]) -> (String, String) {
    let output = hopwise(args);
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("text"));
    assert_eq!(output.status.code(), Some(1), "{args:?}: {out}{err}");
    (out, err)
}

/// Exit status and the JSON that was printed.
pub(crate) fn json(args: &[&str]) -> (i32, Value) {
    let output = hopwise(args);
    let status = output.status.code().expect("an exit status");
    let value = serde_json::from_slice(&output.stdout);
    let value = value.unwrap_or_else(|error| panic!("{args:?}: {error}, {output:?}"));
    (status, value)
}

/// What is said of a command that was refused and has printed nothing.
pub(crate) fn rejected(args: &[&str]) -> String {
    let output = hopwise(args);
    let said = String::from_utf8(output.stderr).expect("text");
    let found = (output.status.code(), output.stdout);
    assert_eq!(found, (Some(2), vec![]), "{args:?}: {said}");
    said
}

/// Command lines that are refused, one a line, each with `=>` and the sentence. In it `[..]` stands for any text; a word with spaces is in
/// quotes.
pub(crate) fn refuses(table: &str) {
    for (line, expected) in rows(table) {
        let said = rejected(&quoted_words(&line));
        let is_it = said.lines().count() == 1 && is_like(said.trim_end(), &format!("hopwise: {expected}"));
        assert!(is_it, "{line}: {said}");
    }
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
