//! Routing in recursively built networks, from addresses alone.
//!
//! From its own address and the destination, a node computes the next hop; from a broadcast's source, which neighbors to forward to; from an
//! operation, its part in a collective. Nothing is stored per node or per destination, nothing is learned, nothing is allocated: the same
//! code serves 18 boards and 2^63 nodes.
//!
//! # Concepts
//!
//! - A **network** is a graph, written as an [expression](network::expression) such as `rdn(ring(3),1)`: a family, the small graph it is built
//!   from, and its parameters. The expression alone determines the whole network.
//! - **Nodes** are numbered from 0 ([`Node`]). The literature writes them as digits, which [`Network::address`] prints.
//! - **Ports** number the links of a node from 0, without gaps ([`Port`]).
//! - A **routing function** ([`Rule`]) gives the **next hop**: the neighbor that a node sends a packet to. [`Rule::Exact`] follows a shortest
//!   path wherever one can be computed in the available memory, and [`Method`] says whether it could; [`Rule::Paper`] follows the paper that
//!   defined the network.
//! - The **fan-out** of a broadcast is the set of neighbors that a node forwards it to. Together the fan-outs form a spanning tree: every
//!   node receives the broadcast exactly once.
//! - A **virtual channel** is a class of buffers. A packet changes it along its route so that full buffers never wait for each other in a cycle.
//!
//! # Modules
//!
//! - [`network`]: [`Network`] is any of the families, each in a file of its own, parsed from an [expression](network::expression). It
//!   computes the port toward a destination, the fan-out of a broadcast, and the distance between two nodes. Its
//!   [virtual channels](network::virtual_channels) keep store-and-forward free of deadlock.
//! - [`graph`]: the small graphs that families are built from, such as rings, tori and hypercubes.
//! - [`collective`]: reductions, sorts and other collectives: which node sends what to which, round by round, again from addresses alone.
//! - [`limits`]: every fixed capacity, by name.
//!
//! The crate computes and does nothing else. `hopwise-node` is the state machine of a node around it: wire format, links, router.
//!
//! Nodes and ports have 64 bits in the API ([`Node`], [`Port`]). Networks compute with 64 bits too, or, without the feature
//! `huge-networks`, with 32, as boards do: enough for 2^31 nodes in half the code. Programs that must be small turn off the feature
//! `all-networks` and name the families they need, such as `rdn`, and the feature `reasons`, which has a [`ParseError`] say what is wrong.
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
//! No function panics on any input: a text that is not a network gives a [`ParseError`], a node that does not exist [`NoSuchNode`].
//! There is no recursion, and no query takes more steps than [`limits`] states.

#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(
    not(feature = "all-networks"),
    allow(
        dead_code,
        unused_variables,
        reason = "the code that families share is compiled whether or not a family that uses it is"
    )
)]
#![cfg_attr(
    not(feature = "huge-networks"),
    allow(
        clippy::unnecessary_cast,
        clippy::useless_conversion,
        reason = "numbers have 64 bits with the feature"
    )
)]

#[cfg(any(test, feature = "tables"))]
extern crate std;

/// Compiles the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod arith;
pub mod collective;
mod expr_writer;
pub mod graph;
pub mod limits;
mod named;
pub mod network;
#[cfg(test)]
mod steps;
mod topology;

pub use graph::Base;
pub use network::expression::ParseError;
pub use network::{Family, Network};
pub use topology::{Method, NoSuchNode, Node, Port, Rule, Tree};
