//! The API for programs on a mesh.
//!
//! A program is an async function that is given a [`Mesh`], a handle that can be copied. It is the same on a board,
//! where Hopwise's firmware runs it, and in the simulator, which runs it on thousands of nodes in virtual time:
//!
//! ```
//! use hopwise_app::{AppPort, Mesh};
//!
//! const TEMPERATURE: AppPort = AppPort(16);
//!
//! /// Sends a reading to node 0 every second.
//! async fn thermometer(mesh: Mesh<'_>, read: impl Fn() -> i16) {
//!     loop {
//!         let _ = mesh.send_confirmed(0, TEMPERATURE, &read().to_le_bytes()).await;
//!         mesh.sleep(1_000_000).await;
//!     }
//! }
//! ```
//!
//! - [`Mesh::send`], [`Mesh::send_confirmed`], [`Mesh::broadcast`] and [`Mesh::send_to_host`] send a message of up to
//!   [`MAX_MESSAGE`] bytes to an application, identified by its [port](AppPort);
//! - [`Mesh::receiver`] opens a port, and [`Receiver::recv`] waits for messages;
//! - [`Mesh::request`] sends a request to an application and waits for the response, [`Mesh::serve`] responds; both use types, in postcard
//!   format;
//! - [`Mesh::neighbors`] and [`Mesh::link_changes`] report links, [`Mesh::now`] is the mesh time, the same on all nodes, [`Mesh::uptime`]
//!   the local time; [`Mesh::sleep`] and [`Mesh::wait_until`] wait for one or the other;
//! - [`Mesh::watch`] has the board restart if the program hangs, [`Mesh::pause`] announces that the board stands still.
//!
//! Nothing is lost silently: where there is no room a call waits, or returns an error. Nothing is allocated: the parameters of [`Shared`]
//! are the capacities.
//!
//! The owner of the router, a board's firmware or the simulator, calls [`Shared::exchange`] after each change.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

/// Tests the examples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod board;
mod error;
mod exchange;
mod large;
mod links;
mod mailbox;
mod mesh;
mod message;
mod persistence;
mod queue;
mod receive;
mod request;
mod retry_timer;
mod send;
mod shared;
mod stream;
mod time;

pub use board::Pause;
pub use error::{OpenError, RequestError, SendError};
pub use exchange::Due;
pub use hopwise_core::{Network, Node};
pub use hopwise_node::limits::MAX_PAYLOAD as MAX_MESSAGE;
pub use hopwise_node::link::Micros;
pub use hopwise_node::router::Outcome;
pub use hopwise_node::wire::{AppPort, DropReason};
pub use large::{LargeError, LargeMessage, LargeReceiver, MAX_LARGE};
pub use links::{LinkChange, LinkChanges};
pub use mesh::Mesh;
pub use message::{Incoming, Neighbor, Service};
pub use receive::Receiver;
pub use request::Response;
pub use shared::{Clock, Shared};
pub use stream::{ConnectError, Listener, Stream, StreamError};
pub use time::Sleep;
