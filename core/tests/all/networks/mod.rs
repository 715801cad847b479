//! Networks: what every family guarantees, against a search of the network built out.

mod audit;
mod golden;
#[cfg(feature = "huge-networks")]
mod huge;
mod parameters;
mod pinned;
mod steps;
#[cfg(feature = "tables")]
mod tables;
