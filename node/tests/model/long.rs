//! The states of `model`, further: `cargo test -p hopwise-node --test model-long -- --nocapture --test-threads 1`.

mod end;
mod machine;
mod scenarios;

const FURTHER: usize = 1;
