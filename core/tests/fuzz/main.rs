//! Fuzz targets: whatever comes in, nothing panics, and what must hold holds.
//!
//! `cargo test -p hopwise-core --test fuzz` runs each for a second, after its corpus; `tools/fuzz` for longer. A failure prints
//! its input, made small, and the BOLERO_RANDOM_SEED that gives it again.

mod expressions;
mod input;
