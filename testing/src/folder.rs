//! Files of a test's own.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that is removed in the end.
pub struct Folder(PathBuf);

impl Folder {
    /// An empty one; the name is for people.
    pub fn new(name: &str) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("hopwise-{name}-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).expect("a folder");
        Folder(path)
    }

    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Where a file of it is.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a path in UTF-8").into()
    }

    /// Writes a file, and returns where it is.
    pub fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.join(name), text).expect("a file");
        self.path(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap_or_default()
    }

    /// The names of its files, in order.
    pub fn files(&self) -> Vec<String> {
        let files = std::fs::read_dir(&self.0).expect("a folder");
        let name = |file: std::io::Result<std::fs::DirEntry>| file.expect("a file").file_name();
        let mut names: Vec<String> = files.map(|file| name(file).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// A mesh file of the default board, with more lines at its end.
    pub fn mesh(&self, name: &str, network: &str, more: &str) -> String {
        let text = format!("network = \"{network}\"\nboard = \"nucleo-f446re\"\n{more}");
        self.write(name, &text)
    }

    /// A program in the language of the shell that answers for probe-rs.
    pub fn stand_in(&self, text: &str) -> String {
        let version = "case \"$*\" in --version) echo 'probe-rs 0.32.0 (git commit: none)'; exit;; esac";
        self.program("probe-rs", &format!("{version}\n{text}"))
    }

    /// A program in the language of the shell.
    pub fn program(&self, name: &str, text: &str) -> String {
        let path = self.write(name, &format!("#!/bin/sh\n{text}\n"));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("a program");
        // Until a program that was just started elsewhere has let go of the file, it cannot be run.
        let try_out = || {
            Command::new(&path)
                .arg("--version")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
        };
        while let Err(error) = try_out() {
            assert_eq!(error.kind(), std::io::ErrorKind::ExecutableFileBusy);
        }
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
