//! Numbers on a board: networks answer the same whether they compute with 32 bits or with 64.

use std::path::Path;
use std::process::Command;

#[path = "../../../../core/narrow/src/sums.rs"]
mod sums;

#[test]
fn thirty_two_bits_give_the_same_answers() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../core/narrow/Cargo.toml");
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--release", "--locked", "--manifest-path"])
        .arg(&manifest)
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("narrow"),
        )
        .output()
        .expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = printed.lines().collect();
    let (too_large, lines) = lines.split_last().expect("lines");
    let expected: Vec<String> = sums::EXPRESSIONS
        .iter()
        .map(|expression| format!("{expression} {}", sums::sum(expression)))
        .collect();
    assert!(
        expected.iter().all(|line| !line.contains("byte ")),
        "not a network: {expected:#?}"
    );
    assert_eq!(lines, expected);
    assert!(
        too_large.ends_with("must be at most 31"),
        "32 bits are not enough: {too_large}"
    );
}
