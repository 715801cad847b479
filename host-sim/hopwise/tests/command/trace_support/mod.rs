//! Traces to look at, and the command that looks at them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A folder for files, removed in the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// An empty one.
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hopwise-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// The path of a file in it.
    pub(crate) fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.join(name), text).unwrap();
        self.file(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the command at the root of the repository.
pub(crate) fn hopwise(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hopwise"))
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .args(args)
        .output()
        .expect("the command starts")
}

/// What it prints, if it ends well.
pub(crate) fn printed(args: &[&str]) -> String {
    let output = hopwise(args);
    assert!(
        output.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The one sentence with which bad input is refused.
pub(crate) fn refused(args: &[&str]) -> String {
    let output = hopwise(args);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    assert!(output.stdout.is_empty(), "{args:?}");
    let sentence = String::from_utf8(output.stderr).unwrap();
    assert_eq!(sentence.lines().count(), 1, "{sentence}");
    sentence.trim_end().into()
}

/// Simulates; the trace is in the file, and the simulator's own account is returned.
pub(crate) fn simulate(trace: &str, args: &[&str]) -> Value {
    let all = [&["sim"], args, &["--json", "--trace", trace]].concat();
    serde_json::from_str(&printed(&all)).unwrap()
}
