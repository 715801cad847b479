//! How the routes of a network use its links and virtual channels.

use hopwise_core::{Network, Rule};

use crate::graph::Graph;
use crate::routes::RoutesTo;

const MAX_NODES: u64 = 512;

/// The combined load of all routes of the exact routing function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// Lanes that the routers of boards use: one more than a route turns between rising and falling numbers.
    pub virtual_channels: u64,
    /// Packets that a node can make in a cycle, for all others alike, until some link is always busy. A simulation finds less.
    pub saturation: f64,
}

impl Usage {
    /// Follows the routes between all nodes. `None` if there are too many.
    pub fn of(network: &Network) -> Option<Usage> {
        if network.nodes() > MAX_NODES {
            return None;
        }
        let graph = Graph::build(network).ok()?;
        let nodes = graph.nodes();
        let mut loads = vec![0u64; 2 * graph.edges()];
        let mut virtual_channels = 0;
        for dest in 0..nodes {
            let RoutesTo { next, hops, .. } = RoutesTo::follow(network, &graph, dest, Rule::Exact).ok()?;
            // From far to near: a node hands on what it has and what it was handed.
            let mut order: Vec<usize> = (0..nodes).filter(|&node| node != dest).collect();
            order.sort_by_key(|&node| std::cmp::Reverse(hops[node]));
            let mut carried = vec![1u64; nodes];
            for &node in &order {
                let to = next[node] as usize;
                let port = graph.neighbors(node).binary_search(&next[node]).ok()?;
                loads[graph.first_link(node) + port] += carried[node];
                carried[to] += carried[node];
            }
            let mut turns = vec![0u64; nodes];
            for &node in order.iter().rev() {
                let to = next[node] as usize;
                let is_turn = to != dest && (to > node) != (next[to] as usize > to);
                turns[node] = turns[to] + u64::from(is_turn);
                virtual_channels = virtual_channels.max(turns[node] + 1 + u64::from(to < node));
            }
        }
        let most = loads.into_iter().max()?;
        Some(Usage {
            virtual_channels,
            saturation: (nodes as f64 - 1.0) / most as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usage_of_graphs_that_can_be_counted_by_hand() {
        let usage = |expression: &str| Usage::of(&expression.parse().expect("a network")).expect("it is small");
        // Every link carries the packets of one pair each way.
        assert_eq!(usage("complete(5)").saturation, 4.0);
        // Over the middle link of a path of 4 go 2 x 2 of the routes.
        let found = usage("path(4)");
        assert_eq!((found.virtual_channels, found.saturation), (2, 3.0 / 4.0));
        // A ring turns at the wrap.
        assert_eq!(usage("ring(5)").virtual_channels, 3);
    }
}
