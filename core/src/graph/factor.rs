//! How nodes are joined along one dimension.

/// How the nodes `0..n` along one axis are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Factor {
    /// Each with the next, and the last with the first. Port 0 leads to +1, port 1 to -1; a ring of two has one link.
    Ring,
    /// Each with the next. Port 0 leads to +1 where there is one, the other port to -1.
    Path,
    /// Every node with every other. Ports in ascending order of the neighbors.
    Complete,
}
