//! Routing in recursively built networks, from addresses alone.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod arith;
pub mod graph;
pub mod limits;
pub mod network;
pub mod route;
mod topology;

pub use graph::Base;
pub use network::expression::ParseError;
pub use network::{Family, Network};
pub use topology::{Method, NoSuchNode, Node, Port, Rule, Topology, Tree};
