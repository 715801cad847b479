use std::path::Path;
use std::process::Command;

use hopwise_testing::not_tested;

use crate::running::{Running, new_app};
use crate::support::Folder;

/// What a file of its tests says, all of which must pass. `None` if there is no Python.
fn tests(file: &str, ports: &str) -> Option<String> {
    if Command::new("python3").arg("--version").output().is_err() {
        not_tested("no python3, so the Python package was not run.");
        return None;
    }
    let package = Path::new("../../python").canonicalize().expect("the package");
    let tests = Command::new("python3")
        .args(["-B", "-m", "unittest", "discover", "-v", "-s", "tests", "-p", file])
        .current_dir(&package)
        .env("PYTHONPATH", &package)
        .env("HOPWISE", env!("CARGO_BIN_EXE_hopwise"))
        .env("HOPWISE_PORTS", ports)
        .output()
        .expect("python3 starts");
    let said = String::from_utf8_lossy(&tests.stderr).into_owned();
    assert!(tests.status.success(), "{said}");
    if said.contains("skipped") {
        not_tested("no pandas or no matplotlib, so the notebook was not run.");
    }
    Some(said)
}

#[test]
fn it_talks_with_boards() {
    let Some(app) = new_app() else { return };
    let folder = Folder::new("python");
    let running = Running::start(&folder, "ring(3)", &app.elf);
    let said = tests("test_mesh.py", &running.ports.join(":"));
    let Some(said) = said else { return };
    assert!(said.contains("Ran 11 tests"), "{said}");
}

#[test]
fn it_survives_a_broken_bridge() {
    let Some(said) = tests("test_broken_bridge.py", "") else {
        return;
    };
    assert!(said.contains("Ran 6 tests"), "{said}");
}

/// Experiments as tables; where pandas and matplotlib are, its notebook plots one.
#[test]
fn it_runs_experiments() {
    let said = tests("test_experiment.py", "");
    let Some(said) = said else { return };
    assert!(said.contains("Ran 3 tests"), "{said}");
}
