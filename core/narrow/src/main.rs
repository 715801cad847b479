//! What networks answer when they compute with 32 bits, as on a board: a line for each expression of [`sums::EXPRESSIONS`],
//! and how one that is too large is refused.

mod sums;

/// A network that 32 bits cannot number.
const TOO_LARGE: &str = "hypercube(32)";

fn main() {
    assert_eq!(hopwise_core::Number::BITS, 32, "built with wide numbers");
    for expression in sums::EXPRESSIONS {
        println!("{expression} {}", sums::sum(expression));
    }
    println!("{} {}", TOO_LARGE, sums::sum(TOO_LARGE));
}
