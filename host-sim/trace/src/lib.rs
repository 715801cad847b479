//! Traces read back: what every node of a mesh recorded, whether simulated, emulated or real.
//!
//! - [`mod@line`]: one line of a trace; [`reader`]: all of them, one after the other;
//! - [`history`]: packets with their hops, and what happened at the ends of cables;
//! - [`report`]: delivery, latency, paths, cables and drops in figures.
//!
//! The format is written by [`sim::trace`](hopwise_sim::trace).

pub mod history;
pub mod line;
pub mod reader;
pub mod report;
