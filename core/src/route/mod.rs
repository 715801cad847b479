//! Routing machinery that families share.
//!
//! Where a packet goes is decided by the family, in its implementation of [`Topology`](crate::Topology). Here is what
//! several of them need for it: the shortest walk that visits a set of places, the links between
//! clusters ahead, and the [fan-out](Fanout) of a broadcast.

pub(crate) mod closer;
pub(crate) mod crossings;
mod fanout;
pub(crate) mod walk;

pub use fanout::Fanout;
