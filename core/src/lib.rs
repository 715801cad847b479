//! Routing in recursively built networks, from addresses alone.
//!
//! A node knows its own address and the expression of its network, nothing else. From that and a packet's destination it
//! computes the next hop; from that and a broadcast's source, whom to pass it on to; and which buffers to use so
//! that finite ones never deadlock. Nothing is stored per node or per destination, nothing is learned, nothing is
//! allocated: the same code serves 18 boards and 2^63 nodes. Programs for boards do without the feature `huge-networks`: a network then
//! has at most 2^31 nodes. Those that must be small do without the feature `all-networks` too and name the families they need, such
//! as `rdn`.
//!
//! # The tour of a packet
//!
//! Bytes come in on a cable and leave on another. Each room uses only those named after it:
//!
//! - [`router`]: takes a packet in, delivers it, forwards it, passes a broadcast on, confirms, and answers for the node;
//! - [`endpoint`]: what is at the end of a cable and no router: a computer, or a board without configuration;
//! - [`link`]: one cable: who is at the other end, and packets in order, once each;
//! - [`wire`]: every byte that leaves a board, as typed forms;
//! - [`network`]: where a packet goes: one file a family, the language in which networks are written, and [`Network`], which is any of
//!   them;
//! - [`graph`]: the small graphs that networks are built from, such as rings, tori and hypercubes;
//! - [`limits`]: every fixed capacity.
//!
//! ```
//! use hopwise_core::{Network, Rule};
//!
//! let network: Network = "re(ring(4),complete(3),3)".parse()?;
//! // At node 0, for node 100: through which port?
//! assert_eq!(network.next_port(0, 100, Rule::Exact)?, Some(2));
//! // At node 0, a broadcast of its own: through which ports, in which order?
//! let ports: Vec<_> = network.fanout(0, 0)?.map(|(port, _)| port).collect();
//! assert_eq!(ports, [1, 3, 2, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No function here panics, whatever it is given: a text that is no network gives a [`ParseError`], a node that does not
//! exist [`NoSuchNode`]. There is no recursion, and every loop has a bound.

#![no_std]
#![forbid(unsafe_code)]
// What families share is there whether or not one that uses it is built.
#![cfg_attr(not(feature = "all-networks"), allow(dead_code))]

#[cfg(test)]
extern crate std;

mod arith;
pub mod endpoint;
pub mod graph;
pub mod limits;
pub mod link;
pub mod network;
pub mod router;
mod service;
mod topology;
pub mod wire;

pub use graph::Base;
pub use network::expression::ParseError;
pub use network::{Family, Network};
pub use topology::{Method, NoSuchNode, Node, Port, Rule, Tree};
