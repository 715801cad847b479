//! Routing by distance alone.

use crate::topology::{Node, Number, Topology};

/// The lowest-numbered neighbour with a smaller distance to the destination; the node itself if it has none, as at the
/// destination. One distance a neighbour.
pub(crate) fn lowest_closer<T: Topology>(network: &T, here: Node, distance: impl Fn(Node) -> Number) -> Node {
    let now = distance(here);
    let neighbors = (0..network.degree(here)).filter_map(|port| network.neighbor(here, port));
    neighbors.filter(|&next| distance(next) < now).min().unwrap_or(here)
}
