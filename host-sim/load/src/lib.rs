//! Latency against load: a network of routers, cycle by cycle.
//!
//! - [`parameters`]: how long the steps of a router take, and what it can hold;
//! - [`traffic`]: who sends to whom; `source`: when;
//! - `wiring`, `routes`: the network as numbered ports, and core's rules made ready for the inner loop;
//! - `engine`: the routers; `wheel`: events a few cycles ahead; `record`: what is written down;
//! - [`measure`]: one experiment, warmed up, measured and drained; [`watchdog`]: what a deadlock looks like;
//! - [`saturation`]: the highest load; [`sweep`]: many experiments as numbered jobs; [`report`], [`plot`]: what they found;
//! - [`study`]: the papers' networks against torus and hypercube.

mod engine;
pub mod measure;
pub mod parameters;
pub mod plot;
mod record;
pub mod report;
mod routes;
pub mod saturation;
mod source;
pub mod study;
pub mod sweep;
pub mod traffic;
pub mod watchdog;
mod wheel;
mod wiring;
