//! What takes long: every guarantee of the networks of `exhaustive` and of the golden file, whatever their size.
//! `cargo test -p hopwise-networks --test networks-long`; the target `networks` has the smaller ones.

mod audit;
mod exhaustive;
mod golden;

/// Every guarantee is held against a search in networks of any size.
const MAX_AUDITED: Option<u64> = None;
