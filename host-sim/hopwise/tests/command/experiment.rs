//! Experiments that cannot run in part, and that another machine reruns.

use hopwise_testing::{Folder, rows};

use crate::support::{command, like};

const PLAN: &str = include_str!("experiment.toml");

/// Runs an experiment, which ends with a status and says something, in one sentence if it fails.
#[track_caller]
fn run(folder: &Folder, line: &str, said: &str) {
    let mut command = command(&["experiment"]);
    let command = command.args(line.split(' ')).current_dir(folder.folder());
    let output = command.output().unwrap();
    let all = String::from_utf8([output.stderr, output.stdout].concat()).unwrap();
    let (status, pattern) = said.split_once(' ').unwrap();
    assert_eq!(output.status.code(), status.parse().ok(), "{line}: {all}");
    let last = all.trim_end().lines().last().unwrap_or_default();
    like(if status == "0" { &all } else { last }, pattern);
}

fn folder() -> Folder {
    let folder = Folder::new("experiment");
    folder.write("plan.toml", PLAN);
    let nothing = PLAN.replace(", 'torus(4,4)'", "").replace("'uniform', ", "");
    folder.write("nothing.toml", &nothing);
    folder.write("mine.edges", "0 1\n1 2\n2 0\n");
    folder
}

#[test]
fn what_cannot_be_run_is_not_applicable() {
    let folder = folder();
    for (line, said) in rows(include_str!("infeasible.txt")) {
        run(&folder, &line, &said);
    }
    let table = folder.read("experiment.csv");
    like(&table, include_str!("experiment.csv"));
    like(&folder.read("experiment.json"), include_str!("experiment.json"));
    like(&folder.read("experiment.html"), "[..]Not applicable (n/a)[..]");
    // A graph that is another by now is another job.
    folder.write("mine.edges", "0 1\n1 2\n2 3\n3 4\n");
    run(&folder, "plan.toml", "0 [..]");
    assert_ne!(folder.read("experiment.csv"), table);
}

#[test]
fn an_archive_is_rerun_and_compared() {
    let (folder, other) = (folder(), Folder::new("verified"));
    run(&folder, "plan.toml --archive all.json", "0 [..]");
    let archive = folder.read("all.json");
    let verify = |text: &str, said: &str| {
        other.write("all.json", text);
        run(&other, "--verify all.json", said);
        assert_eq!(other.files(), ["all.json"], "nothing else is needed, and nothing left");
    };
    for (change, said) in rows(include_str!("experiment.txt")) {
        let (from, to) = change.split_once('|').unwrap();
        verify(&archive.replace(from, to), &said);
    }
    let damaged = "2 hopwise: all.json is no archive of an experiment, or is damaged: EOF [..]";
    for length in [0, archive.len() / 2, archive.len() - 3] {
        verify(&archive[..length], damaged);
    }
}
