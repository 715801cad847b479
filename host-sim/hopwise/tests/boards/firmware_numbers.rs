//! Numbers on a board: networks answer the same whether they compute with 32 bits or with 64, and divisions are right.

use std::path::Path;
use std::process::Command;

#[path = "../../../../core/narrow/src/sums.rs"]
mod sums;

#[path = "../../../../firmware/src/division.rs"]
mod division;

#[test]
fn a_board_divides_64_bits_as_a_host_does() {
    // Numbers of every length, with every few bits at their ends: what is just below, at and above each power of two.
    let numbers: Vec<u64> = (0..64)
        .flat_map(|place| [1_u64 << place, u64::MAX >> place, 0xb504_f333_f9de_6484 >> place])
        .flat_map(|number| [number - 1, number, number.wrapping_add(1)])
        .chain([1_000, 9_999_999_999, 10_000_000_000])
        .collect();
    for &number in &numbers {
        for &divisor in numbers.iter().filter(|&&divisor| divisor > 0) {
            let expected = (number / divisor, number % divisor);
            assert_eq!(division::divide(number, divisor), expected, "{number} / {divisor}");
        }
    }
}

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
