//! The guarantees of routing from addresses, checked against breadth-first search: every route, every broadcast, and no deadlock.

use hopwise_core::{Network, Node, Rule, Tree};

use super::broadcast::Broadcast;
use super::dependency::{self, Scheme};
use super::distances::hops_from;
use super::graph::Graph;
use super::routes::{RouteFault, RoutesTo};

/// Totals over all pairs and all sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Ordered pairs of different nodes.
    pub pairs: u64,
    /// Pairs whose route is a shortest path.
    pub shortest: u64,
    /// How many routes have how many hops.
    pub by_hops: Vec<u64>,
    /// Broadcasts, one from every node.
    pub broadcasts: u64,
    /// Broadcasts that reach every node exactly once.
    pub complete: u64,
    /// Broadcasts that are as shallow as possible.
    pub least_depth: u64,
    /// Steps of the longest broadcast if a node sends one copy a step.
    pub most_steps: u64,
    pub classes: u32,
    /// Whether no buffers wait for each other in a cycle.
    pub acyclic: bool,
}

impl Audit {
    /// Routes every pair and broadcasts from every node, by the exact rule.
    pub fn of(network: &Network, graph: &Graph) -> Result<Audit, RouteFault> {
        let mut audit = Audit::default();
        for node in 0..graph.nodes() {
            let distances = hops_from(graph, node);
            audit.add_routes(&RoutesTo::follow(network, graph, node, Rule::Exact)?, &distances);
            audit.add_broadcast(network, node as Node, &distances);
        }
        let found = dependency::build(network, graph, Rule::Exact, Scheme::Network, |_| ())?;
        audit.classes = found.classes;
        audit.acyclic = found.cycle.is_none();
        Ok(audit)
    }

    pub fn passed(&self) -> bool {
        self.pairs == self.shortest
            && self.broadcasts == self.complete
            && self.broadcasts == self.least_depth
            && self.acyclic
    }

    fn add_routes(&mut self, routes: &RoutesTo, distances: &[u32]) {
        for (&hops, &distance) in routes.hops.iter().zip(distances).filter(|pair| *pair.1 > 0) {
            self.pairs += 1;
            self.shortest += u64::from(hops == distance);
            let hops = hops as usize;
            self.by_hops.resize(self.by_hops.len().max(hops + 1), 0);
            self.by_hops[hops] += 1;
        }
    }

    fn add_broadcast(&mut self, network: &Network, source: Node, distances: &[u32]) {
        let broadcast = Broadcast::follow(network, source, Tree::LeastDepth);
        let farthest = distances.iter().max().copied().unwrap_or(0);
        self.broadcasts += 1;
        self.complete += u64::from(broadcast.reached() == network.nodes() && broadcast.duplicates == 0);
        self.least_depth += u64::from(broadcast.depth == u64::from(farthest));
        self.most_steps = self.most_steps.max(broadcast.one_port_steps());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_of_18_nodes_keeps_its_guarantees_and_a_lie_is_seen() {
        let network: Network = "rdn(ring(3),1)".parse().expect("a network");
        let graph = Graph::build(&network).expect("a small network");
        let audit = Audit::of(&network, &graph).expect("sound routes");
        assert!(audit.passed(), "{audit:?}");
        assert_eq!((audit.pairs, audit.broadcasts), (18 * 17, 18));
        assert_eq!(audit.by_hops.iter().sum::<u64>(), audit.pairs);
        let lies: [fn(&mut Audit); 4] = [
            |audit| audit.shortest = 305,
            |audit| audit.complete = 17,
            |audit| audit.least_depth = 17,
            |audit| audit.acyclic = false,
        ];
        for change in lies {
            let mut lie = audit.clone();
            change(&mut lie);
            assert!(!lie.passed(), "{lie:?}");
        }
    }
}
