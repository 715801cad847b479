//! The router, with room for the packets of so many links.

/// The links to neighbors, and the one to the host.
pub(crate) type Router<const PORTS: usize> = hopwise_node::router::Router<PORTS>;
