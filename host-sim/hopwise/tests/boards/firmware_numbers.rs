//! Numbers on a board: divisions are right.

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
