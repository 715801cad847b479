//! What every network guarantees of one node, against a search of the network built out. The tests of hopwise-networks have it too.

use hopwise_core::{Family, Method, Network, Node, Rule, Tree};

/// A network built out: the neighbors of every node, in the order of the ports.
pub(crate) struct Graph {
    pub(crate) neighbors: Vec<Vec<Node>>,
}

impl Graph {
    pub(crate) fn of(network: &Network) -> Graph {
        let nodes = 0..network.nodes();
        Graph {
            neighbors: nodes.map(|node| network.neighbors(node).unwrap().collect()).collect(),
        }
    }

    /// The length of a shortest path from every node to one.
    pub(crate) fn hops_to(&self, dest: Node) -> Vec<u64> {
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
pub(crate) fn audit_links(network: &Network, graph: &Graph) {
    for (node, near) in (0..).zip(&graph.neighbors) {
        let degree = network.degree(node).unwrap();
        assert_eq!(near.len() as u64, degree, "{network}: node {node}");
        assert_eq!(network.neighbor(node, degree), Ok(None), "{network}: node {node}");
        for (port, &neighbor) in (0..).zip(near) {
            assert_ne!(neighbor, node, "{network}: a link to itself");
            let found = (network.neighbor(node, port), network.port_to(node, neighbor));
            assert_eq!(found, (Ok(Some(neighbor)), Ok(Some(port))), "{network}: node {node}");
            let leads_back = graph.neighbors[neighbor as usize].contains(&node);
            assert!(leads_back, "{network}: from {node} to {neighbor} and not back");
        }
        let mut sorted = near.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let seen = sorted.len();
        assert_eq!(seen, near.len(), "{network}: node {node} has two links to a neighbor");
        assert_eq!(network.port_to(node, node), Ok(None), "{network}: node {node}");
        assert_eq!(network.check(node), Ok(node));
    }
    let nodes = network.nodes();
    let is_refused = network.degree(nodes).is_err() && network.check(nodes).is_err();
    assert!(is_refused, "{network}");
}

/// How many hops a rule takes from every node to `dest`.
fn lengths(network: &Network, graph: &Graph, dest: Node, rule: Rule) -> Vec<u64> {
    let mut lengths = vec![None; graph.neighbors.len()];
    lengths[dest as usize] = Some(0);
    for from in 0..network.nodes() {
        let mut route = Vec::new();
        let mut here = from;
        while lengths[here as usize].is_none() {
            let may_arrive = route.len() < graph.neighbors.len();
            assert!(may_arrive, "{network}: {rule:?} goes round from {from} to {dest}");
            route.push(here);
            let next = network.next_hop(here, dest, rule).unwrap();
            let is_linked = graph.neighbors[here as usize].contains(&next);
            assert!(is_linked, "{network}: {rule:?} from {here} to {dest} by {next}");
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

/// Every route to a node arrives within the bound, and is as short as it says; ports lead where next hops do.
pub(crate) fn audit_routes(network: &Network, graph: &Graph, dest: Node) {
    let hops = graph.hops_to(dest);
    assert!(hops.iter().all(|&hops| hops < u64::MAX), "{network} is not connected");
    for rule in [Rule::Exact, Rule::Paper] {
        let lengths = lengths(network, graph, dest, rule);
        for (here, (&length, &hops)) in (0..).zip(lengths.iter().zip(&hops)) {
            let what = || format!("{network}: {rule:?} from {here} to {dest}: {length} hops, {hops} at least");
            let is_shortest = network.method(here, dest, rule) == Ok(Method::Shortest);
            assert!(length == hops || length > hops && !is_shortest, "{}", what());
            assert!(length <= network.longest_route(rule), "{}", what());
            match network.distance(here, dest).unwrap() {
                Some(distance) => assert_eq!(distance, hops, "{}", what()),
                None => assert!(rule == Rule::Paper || !is_shortest, "{}", what()),
            }
            if dest.is_multiple_of(16) || here == (dest + 1) % network.nodes() {
                let port = network.next_port(here, dest, rule).unwrap();
                let next = port.map_or(Ok(Some(here)), |port| network.neighbor(here, port));
                assert_eq!(next, network.next_hop(here, dest, rule).map(Some), "{}", what());
            }
        }
        assert_eq!(network.next_hop(dest, dest, rule), Ok(dest));
    }
    assert_eq!(network.next_port(dest, dest, Rule::Exact), Ok(None));
    assert_eq!(network.distance(dest, dest).unwrap().unwrap_or(0), 0);
}

/// Everyone is told once: how many hops and how many steps of one copy each it takes until all are.
pub(crate) fn follow(network: &Network, source: Node, tree: Tree) -> (u64, u64) {
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
            let is_first = before.is_none();
            assert!(is_first, "{network}: {child} is told twice of a broadcast of {source}");
            if tree == Tree::LeastDepth {
                let back = network.next_hop(child, source, Rule::Exact);
                let answers = back == Ok(here);
                assert!(answers, "{network}: {child} is told by another than it answers through");
            }
            waiting.push(child);
        }
    }
    let all_told = told.iter().all(Option::is_some);
    assert!(all_told, "{network}: not everyone is told of a broadcast of {source}");
    let told = told.into_iter().flatten();
    told.fold((0, 0), |(depth, step), (d, s)| (depth.max(d), step.max(s)))
}

/// A broadcast is no deeper than need be where routes are shortest; the tree of fewest steps is no slower than it.
pub(crate) fn audit_broadcast(network: &Network, graph: &Graph, source: Node) {
    let (depth, most) = follow(network, source, Tree::LeastDepth);
    assert!(depth <= network.longest_route(Rule::Exact), "{network}: from {source}");
    if Some(&depth) != graph.hops_to(source).iter().max() {
        let exact = |from: Node| network.method(from, source, Rule::Exact) == Ok(Method::Shortest);
        let all_exact = (0..network.nodes()).all(exact);
        assert!(!all_exact, "{network}: broadcast of {source} is {depth} deep");
    }
    // The order of a tree in RE takes long to compute, and RE has one tree.
    if !matches!(network.family(), Family::Re(_)) {
        let (_, steps) = follow(network, source, Tree::FewestSteps);
        let what = format!("{network}: broadcast of {source}");
        assert!(steps <= most, "{what}: {steps} steps, {most} by the other tree");
    }
}
