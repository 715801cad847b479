//! Fuzz targets: whatever comes in, nothing panics, and what must hold holds.
//!
//! `cargo test -p hopwise-core --test fuzz` tries each with its corpus and with the same random bytes in every run; `tools/fuzz` with new
//! ones, and prints the input of a failure, made small, and the BOLERO_RANDOM_SEED that gives it again.

mod expressions;
#[path = "../all/expressions.rs"]
mod strategies;
