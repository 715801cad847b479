//! Routing in recursively built networks, from addresses alone.
//!
//! A node knows its own address and the expression of its network, nothing else. From that and a packet's destination it
//! computes the next hop; from that and a broadcast's source, whom to pass it on to. Nothing is stored per node or per
//! destination, nothing is learned, nothing is allocated: the same code serves 18 boards and 2^63 nodes.
//!
//! # The tour of a packet
//!
//! 1. Bytes come off a cable. [`wire`] has every byte that leaves a board as a typed form: here a frame, and in it a packet.
//! 2. [`link`] is one end of a cable: it puts the bytes of a frame together, checks it, drops what came twice, acknowledges, and
//!    sends again what the other end has missed.
//! 3. [`router`] takes the packet: for this node it goes to the application or to the node's own services, for another one it
//!    waits for the link that leads on, a broadcast for several.
//! 4. [`network`] says who is next: [`Network`] is any of the families, each in a file of its own, over the small graphs of
//!    [`graph`] that they are built from, such as rings, tori and hypercubes.
//! 5. Then back: the router gives the packet to that link, the link writes it as a frame, and bytes go out.
//!
//! [`collective`] is what nodes do together, a reduction or a sort: who sends what to whom, round by round, again from addresses alone. It
//! uses network and graph and nothing else.
//!
//! [`clock`] is the time that all nodes agree on: links carry what neighbours say of it, and the router tells it to whoever asks.
//!
//! Beside the router stands [`endpoint`]: one link that asks and answers, for a computer, or for a board without a configuration.
//! [`key`] has the secrets of a mesh, with which links prove who they are, and [`authority`] who may change a board.
//! [`store`] is what a board keeps in its flash, [`boot`] which of its two images it starts with, [`update`] how it gets the next one. [`limits`] has every fixed capacity. Arrows go one way: router and endpoint use link, link uses wire; the router uses network,
//! network uses graph.
//!
//! Nodes and ports have 64 bits everywhere ([`Node`], [`Port`]). Networks compute with 64 too, or, without the feature
//! `huge-networks`, with 32: enough for 2^31 nodes in half the code, as programs for boards do. Those that must be small do
//! without the feature `all-networks` and name the families they need, such as `rdn`.
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
//! exist [`NoSuchNode`]. There is no recursion, and no question takes more steps than [`limits`] states.

#![no_std]
#![forbid(unsafe_code)]
// What families share is there whether or not one that uses it is built.
#![cfg_attr(not(feature = "all-networks"), allow(dead_code))]

#[cfg(any(test, feature = "tables"))]
extern crate std;

mod arith;
pub mod authority;
pub mod boot;
pub mod cipher;
pub mod clock;
pub mod collective;
pub mod endpoint;
pub mod graph;
pub mod key;
pub mod limits;
pub mod link;
pub mod network;
pub mod router;
mod service;
#[cfg(test)]
mod steps;
pub mod store;
mod topology;
pub mod update;
pub mod wire;

pub use graph::Base;
pub use network::expression::ParseError;
pub use network::{Family, Network};
pub use topology::{Method, NoSuchNode, Node, Port, Rule, Tree};
