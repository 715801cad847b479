//! `hopwise collective` as a script sees it: keys, files, refusals.

use std::fs;

use tempfile::TempDir;

use crate::support::{printed, printed_json, words};

/// A folder that is gone with its value, and the paths of two files in it.
fn files(input: &str) -> (TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = |file: &str| folder.path().join(file).display().to_string();
    let (from, to) = (path("in"), path("out"));
    fs::write(&from, input).unwrap();
    (folder, from, to)
}

/// What the nodes hold after an operation on these values.
fn held(op: &str, extra: &[&str]) -> Vec<String> {
    let (_folder, input, output) = files("5\n3\n-1\n8\n");
    let given = [op, &input, &output];
    let mut args = words("collective ring(4) --op {} --input {} --output {} --json", &given);
    args.extend(extra);
    assert_eq!(printed_json(&args)["correct"], true);
    let text = fs::read_to_string(output).unwrap();
    text.lines().map(str::to_string).collect()
}

#[test]
fn every_node_holds_what_it_should() {
    assert_eq!(held("sort", &[]), ["-1", "3", "5", "8"]);
    assert_eq!(held("scan", &[]), ["5", "8", "7", "15"]);
    assert_eq!(held("exclusive-scan", &[]), ["0", "5", "8", "7"]);
    assert_eq!(held("all-reduce", &[]), ["15"; 4]);
    assert_eq!(held("all-reduce", &["--operator", "min"]), ["-1"; 4]);
    assert_eq!(held("reduce", &["--root", "2"]), ["5", "3", "15", "8"]);
    assert_eq!(held("broadcast", &["--root", "3", "--blocks", "5"]), ["8"; 4]);
    assert_eq!(held("gather", &[]), ["5 3 -1 8", "3", "-1", "8"]);
    assert_eq!(held("scatter", &[]), ["5", "3", "-1", "8"]);
    assert_eq!(held("all-gather", &[]), ["5 3 -1 8"; 4]);
    assert_eq!(held("all-to-all", &[]), ["5 3 -1 8", "6 4 0 9", "7 5 1 10", "8 6 2 11"]);
    assert_eq!(held("barrier", &[]), ["4"; 4]);
    assert_eq!(held("shift", &["--dimension", "0"]), ["8", "5", "3", "-1"]);
    let seen = held("reduce", &["--tree", "binary", "--root", "1"]);
    assert_eq!(seen, ["5", "15", "-1", "8"]);
    let mut permuted = held("permute", &["--seed", "7"]);
    permuted.sort();
    assert_eq!(permuted, ["-1", "3", "5", "8"]);
    let terms = held("fft", &[]);
    let parts = |line: &String| {
        line.split(' ')
            .map(|part| part.parse::<f64>().unwrap())
            .collect::<Vec<_>>()
    };
    let expected = [[15.0, 0.0], [6.0, 5.0], [-7.0, 0.0], [6.0, -5.0]];
    for (term, expected) in terms.iter().zip(expected) {
        let parts = parts(term);
        let mut pairs = parts.iter().zip(expected);
        let near = pairs.all(|(found, expected)| (found - expected).abs() < 1e-9);
        assert!(near, "{terms:?}");
    }
}

#[test]
fn the_tables_of_the_documentation_are_up_to_date() {
    let printed = printed(&["collective", "--markdown"]);
    let written = include_str!("../../../../docs/collectives.md");
    let (_, tables) = written.split_once("# Rounds of every family").unwrap();
    let from = tables.find("## All ports").unwrap();
    for (written, printed) in tables[from..].trim().lines().zip(printed.trim().lines()) {
        assert_eq!(written, printed);
    }
    assert_eq!(tables[from..].trim().lines().count(), printed.trim().lines().count());
}
