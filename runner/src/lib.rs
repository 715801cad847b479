//! A node on any async serial ports and any clock.
//!
//! The router of `hopwise-node` decides everything about packets; this crate provides I/O and timers, and the rest of a node: it serves a
//! host, keeps its config, takes new images, runs programs, and detects hangs. A board's firmware, a process on a host
//! and ports to other chips are shells around it. A shell provides:
//!
//! - [`Platform`]: the time, and optionally flash for images;
//! - serial ports: anything that implements `embedded_io_async::Read` and `Write`, or [`SerialPorts`], which costs less and knows more;
//! - the flash for the config, as a [`Store`](hopwise_node::store::Store), and optional parts of [`Upkeep`]: watchdog, LED;
//! - an executor. Each of the methods of [`Runner`] that never return is a task of its own, or part of one.
//!
//! A module uses only those below it:
//!
//! - `housekeeping`: periodic work; `led`: the LED;
//! - `driver`: the tasks that share one router;
//! - `mesh`: a node with a config; `unconfigured`: one without;
//! - `response`: responses to a host's commands; `about`: the state of a board;
//! - `next_image`: new firmware; `configuration`: validation of a config; `programs`: user programs; `traffic`: generated packets;
//!   `observer`: events, for log and LED;
//! - `platform`, `serial`: what the shell provides.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![allow(
    async_fn_in_trait,
    reason = "whoever implements these traits runs them on one executor"
)]

#[macro_use]
mod fmt;
mod about;
mod configuration;
mod driver;
mod housekeeping;
mod led;
mod mesh;
mod next_image;
mod observer;
mod platform;
mod programs;
mod response;
mod serial;
mod task;
mod traffic;
mod unconfigured;

pub use about::{Board, FaultText, PROGRAM};
pub use driver::Runner;
pub use housekeeping::Restart;
pub use mesh::MakePrograms;
pub use platform::{NoImages, Platform, Upkeep};
pub use programs::Programs;
pub use serial::{Arrival, PortEvents, SerialPorts};
pub use task::Task;
