//! What needs neither the command nor firmware.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

mod capture;
mod clocks;
mod mesh;
mod probe_logs;
mod probe_rs;
mod wiring;

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hopwise-rig-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// A program in the language of the shell, which answers for probe-rs.
    fn program(&self, text: &str) -> String {
        let path = self.0.join("probe-rs");
        let version = "case \"$*\" in --version) echo 'probe-rs 0.32.0 (git commit: none)'; exit;; esac";
        std::fs::write(&path, format!("#!/bin/sh\n{version}\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        // Until a program that was just started elsewhere has let go of the file, it cannot be run.
        while let Err(error) = Command::new(&path).arg("--version").stdout(Stdio::null()).status() {
            assert_eq!(error.kind(), std::io::ErrorKind::ExecutableFileBusy);
        }
        path.to_str().unwrap().into()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap_or_default()
    }

    fn files(&self) -> Vec<String> {
        let files = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = files
            .map(|file| file.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
