//! Tests in Python, which must be there: of the package, and of the command, whose scripts are in `scripts`.

use std::path::Path;
use std::process::Command;

use hopwise_testing::not_tested;

use crate::running::{Running, new_app};
use crate::support::{Folder, elf};

const PACKAGE: &str = "../../python";

/// Runs a file of tests, all of which must pass, and returns what they said.
fn tests(folder: &str, file: &str, variables: &[(&str, String)]) -> String {
    let folder = Path::new(folder).canonicalize().expect("the tests");
    let package = Path::new(PACKAGE).canonicalize().expect("the package");
    let tests = Command::new("python3")
        .args(["-B", "-m", "unittest", "discover", "-v", "-s"])
        .arg(&folder)
        .args(["-p", file])
        .current_dir(&folder)
        .env("PYTHONPATH", &package)
        .env("HOPWISE", env!("CARGO_BIN_EXE_hopwise"))
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .output()
        .expect("python3 starts");
    let said = String::from_utf8_lossy(&tests.stderr).into_owned();
    assert!(tests.status.success() && !said.contains("Ran 0 tests"), "{said}");
    for line in said.lines().filter(|line| line.contains(" skipped ")) {
        not_tested(line);
    }
    said
}

/// Runs a script beside this file, which has the firmware of the default board if there is a compiler for ARM.
pub(crate) fn follow_script(name: &str, variables: &[(&str, String)]) {
    let image = elf().map(|image| ("HOPWISE_TEST_IMAGE", image.to_string()));
    let variables: Vec<_> = variables.iter().cloned().chain(image).collect();
    tests("tests/command/scripts", &format!("test_{name}.py"), &variables);
}

macro_rules! scripts {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                follow_script(stringify!($name), &[]);
            }
        )*
    };
}

scripts!(bench book bridge capture files flash processes report rules);

#[test]
fn it_talks_with_boards() {
    let Some(app) = new_app() else { return };
    let folder = Folder::new("python");
    let running = Running::start(&folder, "ring(3)", &app.elf);
    let ports = [("HOPWISE_PORTS", running.ports.join(":"))];
    let said = tests(&format!("{PACKAGE}/tests"), "test_mesh.py", &ports);
    assert!(said.contains("Ran 11 tests"), "{said}");
}

/// Experiments as tables; where pandas and matplotlib are, its notebook plots one.
#[test]
fn it_survives_broken_bridges_and_runs_experiments() {
    for (file, count) in [("test_broken_bridge.py", 6), ("test_experiment.py", 3)] {
        let said = tests(&format!("{PACKAGE}/tests"), file, &[]);
        assert!(said.contains(&format!("Ran {count} tests")), "{said}");
    }
}
