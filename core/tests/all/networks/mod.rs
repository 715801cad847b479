//! Networks: what every family guarantees, against a search of the network built out.

mod audit;
#[cfg(feature = "huge-networks")]
mod descend;
mod golden;
mod guarantees;
#[cfg(feature = "huge-networks")]
mod huge;
mod parameters;
mod pinned;
mod steps;
#[cfg(feature = "tables")]
mod tables;
