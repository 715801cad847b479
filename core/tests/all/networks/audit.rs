//! Every guarantee of a network: on all pairs of its nodes if it is small.

use crate::support::*;

/// A network built out: the neighbors of every node, in the order of the ports.
pub(super) struct Graph {
    pub(super) neighbors: Vec<Vec<Node>>,
}

impl Graph {
    pub(super) fn of(network: &Network) -> Graph {
        let nodes = 0..network.nodes();
        Graph {
            neighbors: nodes.map(|node| network.neighbors(node).unwrap().collect()).collect(),
        }
    }

    /// The length of a shortest path from every node to one.
    pub(super) fn hops_to(&self, dest: Node) -> Vec<u64> {
        let mut hops = vec![u64::MAX; self.neighbors.len()];
        hops[dest as usize] = 0;
        let mut reached = vec![dest];
        let mut at = 0;
        while let Some(&node) = reached.get(at) {
            at += 1;
            for &near in &self.neighbors[node as usize] {
                if hops[near as usize] == u64::MAX {
                    hops[near as usize] = hops[node as usize] + 1;
                    reached.push(near);
                }
            }
        }
        hops
    }
}

/// Links lead back, to other nodes, once each; and ports have no gaps.
fn audit_links(network: &Network, graph: &Graph) {
    for (node, near) in (0..).zip(&graph.neighbors) {
        let degree = network.degree(node).unwrap();
        assert_eq!(near.len() as u64, degree, "{network}: node {node}");
        assert_eq!(network.neighbor(node, degree), Ok(None), "{network}: node {node}");
        for (port, &neighbor) in (0..).zip(near) {
            assert_ne!(neighbor, node, "{network}: a link to itself");
            assert_eq!(
                network.neighbor(node, port),
                Ok(Some(neighbor)),
                "{network}: node {node}"
            );
            assert_eq!(
                network.port_to(node, neighbor),
                Ok(Some(port)),
                "{network}: node {node}"
            );
            assert!(
                graph.neighbors[neighbor as usize].contains(&node),
                "{network}: the link from {node} to {neighbor} does not lead back"
            );
        }
        let mut sorted = near.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(
            sorted.len(),
            near.len(),
            "{network}: node {node} has two links to a neighbor"
        );
        assert_eq!(network.port_to(node, node), Ok(None), "{network}: node {node}");
        assert_eq!(network.check(node), Ok(node));
    }
    let nodes = network.nodes();
    assert!(
        network.degree(nodes).is_err() && network.check(nodes).is_err(),
        "{network}"
    );
}

/// How many hops a rule takes from every node to `dest`.
fn lengths(network: &Network, graph: &Graph, dest: Node, rule: Rule) -> Vec<u64> {
    let mut lengths = vec![None; graph.neighbors.len()];
    lengths[dest as usize] = Some(0);
    for from in 0..network.nodes() {
        let mut route = Vec::new();
        let mut here = from;
        while lengths[here as usize].is_none() {
            assert!(
                route.len() < graph.neighbors.len(),
                "{network}: {rule:?} goes round and round from {from} to {dest}"
            );
            route.push(here);
            let next = network.next_hop(here, dest, rule).unwrap();
            assert!(
                graph.neighbors[here as usize].contains(&next),
                "{network}: {rule:?} from {here} to {dest} by {next}, which is not a neighbor"
            );
            here = next;
        }
        let mut length = lengths[here as usize].unwrap_or(0);
        for &node in route.iter().rev() {
            length += 1;
            lengths[node as usize] = Some(length);
        }
    }
    lengths.into_iter().flatten().collect()
}

fn audit_routes(network: &Network, graph: &Graph, dest: Node) {
    let hops = graph.hops_to(dest);
    assert!(hops.iter().all(|&hops| hops < u64::MAX), "{network} is not connected");
    let exact = lengths(network, graph, dest, Rule::Exact);
    let paper = lengths(network, graph, dest, Rule::Paper);
    for here in 0..network.nodes() {
        let at = here as usize;
        let method = network.method(here, dest, Rule::Exact).unwrap();
        if method == Method::Shortest {
            assert_eq!(exact[at], hops[at], "{network}: the route from {here} to {dest}");
        }
        assert!(exact[at] >= hops[at] && paper[at] >= hops[at]);
        match network.distance(here, dest).unwrap() {
            Some(distance) => assert_eq!(distance, hops[at], "{network}: from {here} to {dest}"),
            None => assert_ne!(method, Method::Shortest, "{network}: from {here} to {dest}"),
        }
        assert!(
            exact[at] <= network.longest_route(Rule::Exact),
            "{network}: from {here} to {dest}"
        );
        assert!(
            paper[at] <= network.longest_route(Rule::Paper),
            "{network}: from {here} to {dest}"
        );
    }
    let from = (dest + 1) % network.nodes();
    let next = network.next_hop(from, dest, Rule::Exact).unwrap();
    let port = network.next_port(from, dest, Rule::Exact);
    assert_eq!(port, network.port_to(from, next), "{network}: {from} to {dest}");
    assert_eq!(network.next_hop(dest, dest, Rule::Exact), Ok(dest));
    assert_eq!(network.next_hop(dest, dest, Rule::Paper), Ok(dest));
    assert_eq!(network.next_port(dest, dest, Rule::Exact), Ok(None));
    assert_eq!(network.distance(dest, dest).unwrap().unwrap_or(0), 0);
}

/// Everyone is told once: how many hops and how many steps of one copy each it takes until all are.
pub(super) fn follow(network: &Network, source: Node, tree: Tree) -> (u64, u64) {
    let mut told = vec![None; network.nodes() as usize];
    told[source as usize] = Some((0, 0));
    let mut waiting = vec![source];
    let mut at = 0;
    while let Some(&here) = waiting.get(at) {
        at += 1;
        let (depth, step) = told[here as usize].unwrap_or((0, 0));
        for (place, (port, child)) in (1..).zip(network.fanout_by(here, source, tree).unwrap()) {
            assert_eq!(network.neighbor(here, port), Ok(Some(child)), "{network}");
            let before = told[child as usize].replace((depth + 1, step + place));
            assert_eq!(
                before, None,
                "{network}: {child} is told twice of a broadcast of {source}"
            );
            if tree == Tree::LeastDepth {
                let back = network.next_hop(child, source, Rule::Exact);
                assert_eq!(
                    back,
                    Ok(here),
                    "{network}: {child} is told by another than it answers through"
                );
            }
            waiting.push(child);
        }
    }
    assert!(
        told.iter().all(Option::is_some),
        "{network}: not everyone is told of a broadcast of {source}"
    );
    let told = told.into_iter().flatten();
    told.fold((0, 0), |(depth, step), (d, s)| (depth.max(d), step.max(s)))
}

/// In networks of up to so many nodes routes to all of them are followed, in larger ones to some.
const ALL_DESTINATIONS: u64 = 64;
const DESTINATIONS: u64 = 12;
/// The same for the sources of broadcasts.
const ALL_SOURCES: u64 = 40;
const SOURCES: u64 = 6;

/// All nodes of a small network, and some of a large one, the last among them.
fn sample(network: &Network, most: u64, some: u64) -> impl Iterator<Item = Node> {
    let nodes = network.nodes();
    // Of a very large one fewer, so that it is not most of the work.
    let some = some.min(20_000 / nodes).max(2);
    let step = if nodes <= most { 1 } else { nodes / some };
    (0..nodes).rev().step_by(step as usize)
}

/// Larger networks are left to the tests of hopwise-networks.
const MAX_NODES: u64 = 700;

/// Every guarantee of those that are not too large, of which there must be one. One that is alone may be larger.
pub(super) fn audit_all(expressions: Vec<&str>) {
    let (mut audited, alone) = (0, expressions.len() == 1);
    for expression in expressions {
        let network = network(expression);
        assert_eq!(network.to_string(), expression);
        if alone || network.nodes() <= MAX_NODES {
            audit(&network);
            audited += 1;
        }
    }
    assert!(audited > 0, "all networks are too large");
}

fn audit(network: &Network) {
    let graph = Graph::of(network);
    audit_links(network, &graph);
    for node in sample(network, ALL_DESTINATIONS, DESTINATIONS) {
        audit_routes(network, &graph, node);
    }
    for node in sample(network, ALL_SOURCES, SOURCES) {
        let (depth, _) = follow(network, node, Tree::LeastDepth);
        assert!(depth <= network.longest_route(Rule::Exact), "{network}: from {node}");
        follow(network, node, Tree::FewestSteps);
    }
}

hopwise_testing::audit_groups!(audit_all);

/// Where only a distance is defined, the next hop is the lowest-numbered neighbor that is closer.
#[test]
fn the_lowest_numbered_closer_neighbor() {
    for expression in [
        "wk(3,4)",
        "wk(4,3)",
        "wk(9,2)",
        "hypernet(2,4)",
        "hypernet(3,3)",
        "symmetric-hypernet(2,4)",
        "symmetric-hypernet(3,2)",
        "symmetric-hypernet(3,3)",
    ] {
        let network = network(expression);
        let graph = Graph::of(&network);
        for dest in 0..network.nodes() {
            let hops = graph.hops_to(dest);
            for here in (0..network.nodes()).filter(|&here| here != dest) {
                let near = graph.neighbors[here as usize].iter();
                let closer = near.filter(|&&node| hops[node as usize] < hops[here as usize]).min();
                let next = network.next_hop(here, dest, Rule::Exact).ok();
                assert_eq!(next.as_ref(), closer, "{expression}: {here} to {dest}");
            }
        }
    }
}
