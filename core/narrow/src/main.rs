//! What networks answer when they compute with 32 bits, as on a board: a line for each expression of [`sums::EXPRESSIONS`].

mod sums;

fn main() {
    assert_eq!(hopwise_core::Number::BITS, 32, "built with wide numbers");
    for expression in sums::EXPRESSIONS {
        println!("{expression} {}", sums::sum(expression));
    }
    println!("{} {}", sums::TOO_LARGE, sums::sum(sums::TOO_LARGE));
}
