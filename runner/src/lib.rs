//! A node on any async serial ports and any clock.
//!
//! The router of `hopwise-core` decides everything about packets; this provides I/O and timers, and does what a node does besides: it answers a
//! host, keeps its configuration, takes new images, runs programs, and notices when a part of it hangs. A board's firmware, a process on a host
//! and another chip are shells around it. What a shell provides:
//!
//! - [`Platform`]: the time, and a place for images or none;
//! - serial ports: anything that implements `embedded_io_async::Write`, and `embedded_io_async::Read`, in [`PlainRx`], or [`LinkRx`] where the
//!   driver knows more;
//! - the flash for the configuration, as a [`Store`](hopwise_node::store::Store), and what else it has of [`Upkeep`]: watchdog, LED;
//! - an executor. Each of the methods of [`Runner`] that never return is a task of its own, or part of one.
//!
//! A module uses only those below it:
//!
//! - `housekeeping`: what is done regularly, and what the board does to itself; `led`: what the LED shows;
//! - `driver`: the tasks that share one router;
//! - `mesh`: a node with a configuration; `unconfigured`: one without;
//! - `answer`: what both reply to a host's commands; `about`: what a board knows about itself;
//! - `next_image`: new firmware; `configuration`: what a page says; `programs`: what runs on the node besides; `traffic`: packets of its own;
//!   `observer`: events, for log and LED;
//! - `platform`, `serial`: what the shell provides.
#![no_std]
#![forbid(unsafe_code)]
#![allow(
    async_fn_in_trait,
    reason = "whoever implements these traits runs them on one executor"
)]

#[macro_use]
mod fmt;
mod about;
mod answer;
mod configuration;
mod driver;
mod housekeeping;
mod led;
mod mesh;
mod next_image;
mod observer;
mod platform;
mod programs;
mod serial;
mod task;
mod traffic;
mod unconfigured;

pub use about::{Board, PROGRAM, Trouble};
pub use driver::Runner;
pub use housekeeping::Restart;
pub use mesh::MakePrograms;
pub use platform::{NoImages, Platform, Upkeep};
pub use programs::Programs;
pub use serial::{Arrival, LinkRx, PlainRx};
pub use task::Task;
