//! Sweeps as numbered jobs: shared out, interrupted, resumed and merged, with the same table in the end.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::{TempDir, tempdir};

use crate::support::{command, words};

fn scratch() -> TempDir {
    tempdir().unwrap()
}

fn hopwise(folder: &Path, args: &[&str]) -> Command {
    let mut command = command(&[&["load"], args].concat());
    command.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    for variable in ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "PARALLEL_SEQ"] {
        command.env_remove(variable);
    }
    command
}

fn succeed(mut command: Command) {
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
}

const PLAN: &str =
    "rdn(ring(3),1) ring(8) --rates 0.02,0.1:0.3:0.1 --seeds 2 --cycles 10240 --most-cycles 10240 --saturation";
const JOBS: usize = 2 * 2 * 5;

fn merged(folder: &Path) -> (String, String) {
    succeed(hopwise(folder, &["merge", "load-jobs"]));
    let read = |name| std::fs::read_to_string(folder.join(name)).unwrap();
    let table = read("load.csv");
    assert!(read("load.svg").starts_with("<svg") && read("load.html").contains("</html>"));
    (table, read("load.json"))
}

fn finished(folder: &Path) -> usize {
    let jobs = std::fs::read_dir(folder.join("load-jobs")).unwrap();
    jobs.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        let name = name.to_string_lossy();
        name.starts_with("job-") && name.ends_with(".json")
    })
    .count()
}

#[test]
fn killed_and_resumed_gives_the_same_table() {
    let (straight, broken) = (scratch(), scratch());
    let (straight, broken) = (straight.path(), broken.path());
    succeed(hopwise(straight, &words(&format!("sweep {PLAN}"), &[])));
    let expected = merged(straight);
    assert_eq!(expected.0.lines().count(), 1 + JOBS);

    succeed(hopwise(broken, &words(&format!("plan {PLAN}"), &[])));
    // Members of an array, killed as soon as one has finished something.
    let mut members: Vec<_> = (1..=3)
        .map(|sequence: u32| {
            let mut command = hopwise(broken, &["work", "load-jobs", "--shards", "3"]);
            command.env("PARALLEL_SEQ", sequence.to_string()).spawn().unwrap()
        })
        .collect();
    let begun = Instant::now();
    while finished(broken) == 0 && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(2));
    }
    for member in &mut members {
        let _ = member.kill();
        let _ = member.wait();
    }
    let before = finished(broken);
    assert!(
        (1..JOBS).contains(&before),
        "{before} of {JOBS} jobs were done when the members were killed"
    );
    let unfinished = hopwise(broken, &["merge", "load-jobs"]).status().unwrap();
    assert_eq!(unfinished.code(), Some(1));

    // The same members again, as Kubernetes and Slurm would number them, and a last one without a number.
    for index in 0..2 {
        let mut command = hopwise(broken, &["work", "load-jobs", "--shards", "3"]);
        command.env("JOB_COMPLETION_INDEX", index.to_string());
        succeed(command);
    }
    succeed(hopwise(broken, &["work", "load-jobs"]));
    assert_eq!(merged(broken), expected);
}
