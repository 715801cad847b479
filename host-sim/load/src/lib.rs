//! Latency against load: a network of routers, cycle by cycle.
//!
//! One experiment simulates a network at a rate until its mean latency is known well enough:
//!
//! ```
//! use hopwise_core::Network;
//! use hopwise_language::Traffic;
//! use hopwise_load::measure::{self, Experiment};
//!
//! let network: Network = "torus(4,4)".parse()?;
//! let point = measure::run(&Experiment {
//!     traffic: Traffic::Uniform,
//!     rate: 0.1,
//!     ..Experiment::new(&network)
//! })?;

//! assert!(!point.saturated);
//! // A hop takes 5 cycles, entering and leaving the network 7; the rest is waiting for others.
//! assert!(point.latency_mean > 7.0 + 5.0 * point.hops_mean);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`parameters`]: how long the steps of a router take, and what it can hold;
//! - [`hopwise_language::Traffic`]: who sends to whom; `source`: when; [`schedule`]: both, of a trace or a collective;
//! - [`failures`]: links and routers that fail;
//! - `wiring`, `routes`: the network as numbered ports, and core's rules made ready for the inner loop;
//! - `engine`: the routers; `wheel`: events a few cycles ahead; `record`: what is written down;
//! - [`measure`]: one experiment, warmed up, measured and drained; [`watchdog`]: what a deadlock looks like;
//! - [`saturation`]: the highest load; [`settings`]: what a person says of an experiment.

mod bad;
mod engine;
pub mod failures;
pub mod measure;
pub mod parameters;
mod record;
mod routes;
pub mod saturation;
pub mod schedule;
pub mod settings;
mod source;
pub mod watchdog;
mod wheel;
mod wiring;

pub use bad::BadLoad;
pub use routes::RouteTable;
