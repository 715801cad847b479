//! Networks held against breadth-first search, golden figures and the papers, family by family. Larger networks are in the
//! target `networks-long`: `cargo test -p hopwise-networks --test networks-long`.

mod audit;
mod exhaustive;
mod golden;
mod huge;
mod papers;
mod random;
mod recognition;
mod steps;
mod stretch;
mod virtual_channels;

/// Every guarantee is held against a search in networks of up to so many nodes.
const MAX_AUDITED: Option<u64> = Some(200);
