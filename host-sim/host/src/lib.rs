//! Programs on a host: a mesh of boards, through the serial port of any of them.
//!
//! [`Mesh`] has the same calls as on boards, but blocking:
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use hopwise_host::{AppPort, DEFAULT_BAUD, Mesh};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mesh = Mesh::open("/dev/ttyACM0", DEFAULT_BAUD)?;
//! println!("{} through node {}", mesh.network(), mesh.board());
//!
//! mesh.send(5, AppPort(16), b"on")?;
//! println!("{:?}", mesh.send_confirmed(5, AppPort(16), b"off")?);
//! let doubled: u32 = mesh.request(5, AppPort(17), &21_u32)?;
//! assert_eq!(doubled, 42);
//!
//! let mut news = mesh.receiver(AppPort(16));
//! while let Some(message) = news.recv(Duration::from_secs(10))? {
//!     println!("node {} says {:?}", message.source, message.bytes);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A host receives what boards send with `send_to_host`, and [serves](Mesh::serve) what they request with `request_host`.
//!
//! One program has the port at a time. [`bridge`] gives access to others, in any language: lines of JSON, at a loopback socket or a pipe.
//!
//! - [`host_port`]: the host's end of the link, without I/O, and so for emulated boards as well;
//! - [`serial_line`]: a real port with it; a thread that owns it executes the calls of all clones of [`Mesh`];
//! - [`talk`]: requests to nodes through any of several boards.

/// Tests the examples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The kind of board that a node in a process says it is.
pub const PROCESS: &str = "process";

mod authorized_commands;
pub mod bridge;
mod error;
pub mod host_port;
mod mesh;
pub mod mesh_check;
mod node_requests;
mod random;
pub mod serial_line;
pub mod talk;
#[cfg(unix)]
pub mod terminal;
mod worker;

pub use error::{NoConnection, NoResponse, RequestError, SendError, SendResult, TooLong, check_length};
pub use hopwise_node::authority::MeshKeys;
pub use hopwise_node::key::Key;
pub use hopwise_node::wire::{AppPort, DEFAULT_BAUD, DropReason};
pub use host_port::{Incoming, PendingRequest};
pub use mesh::{Ended, Mesh, RESPONSE_TIMEOUT, Receiver};
pub use node_requests::NodeState;
pub use random::random_bytes;
