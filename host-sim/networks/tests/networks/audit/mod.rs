//! Everything a network guarantees, held against its built-out graph. Each failure names the expression.

use hopwise_core::{Family, Method, Network, Node, Rule, Tree};
use hopwise_networks::broadcast::Broadcast;
use hopwise_networks::buffer_classes;
use hopwise_networks::dependency::{self, Scheme};
use hopwise_networks::distances::hops_from;
use hopwise_networks::figures::Figures;
use hopwise_networks::graph::Graph;
use hopwise_networks::routes::RoutesTo;
use rayon::prelude::*;

/// All pairs are routed up to this size; in larger networks all routes to some destinations.
const ALL_PAIRS: usize = 3_000;

/// The same where every hop is a search.
const ALL_SEARCHED_PAIRS: usize = 300;

/// Broadcasts of every node are followed up to this size; in larger networks those of some.
const ALL_SOURCES: usize = 1_100;

/// Channel-dependency graphs of all routes are built up to this size.
const ALL_DEPENDENCIES: usize = 1_100;

pub(crate) fn network(expression: &str) -> Network {
    let network: Network = expression
        .parse()
        .unwrap_or_else(|error| panic!("{expression}: {error}"));
    network.with_search_memory(usize::MAX)
}

/// Every guarantee of the networks of up to [`MAX_AUDITED`](crate::MAX_AUDITED) nodes; there must be one. One that is alone may be larger.
pub(crate) fn audit_all(expressions: Vec<&str>) {
    let (mut audited, alone) = (0, expressions.len() == 1);
    for expression in expressions {
        let nodes = network(expression).nodes();
        if alone || crate::MAX_AUDITED.is_none_or(|most| nodes <= most) {
            audit(expression);
            audited += 1;
        }
    }
    assert!(audited > 0, "all networks are too large for this run");
}

/// Every guarantee of a network small enough to build out.
pub(crate) fn audit(expression: &str) {
    let network = network(expression);
    let graph = Graph::build(&network).unwrap();
    links(&network, &graph);
    figures(&network);
    let searching = matches!(network.family(), Family::Re(re) if !re.routes_by_walk());
    let (all_pairs, some) = if searching {
        (ALL_SEARCHED_PAIRS, 4)
    } else {
        (ALL_PAIRS, 20)
    };
    sample(&graph, all_pairs, some).par_bridge().for_each(|dest| {
        let hops = hops_from(&graph, dest);
        routes(&network, &graph, dest, &hops);
    });
    sample(&graph, ALL_SOURCES.min(all_pairs), some)
        .par_bridge()
        .for_each(|source| broadcast(&network, &graph, source));
    if graph.nodes() <= ALL_DEPENDENCIES.min(all_pairs) {
        deadlock_free(&network, &graph);
    }
}

/// All nodes, or `some` spread over a network of more than `all`.
fn sample(graph: &Graph, all: usize, some: usize) -> impl Iterator<Item = usize> {
    let step = if graph.nodes() <= all {
        1
    } else {
        graph.nodes() / some + 1
    };
    (0..graph.nodes()).step_by(step)
}

/// Links lead both ways, to different nodes, and ports and neighbors name each other.
fn links(network: &Network, graph: &Graph) {
    for node in sample(graph, 50_000, 20).map(|node| node as Node) {
        let ports = network.degree(node).unwrap();
        for port in 0..ports {
            let neighbor = network
                .neighbor(node, port)
                .unwrap()
                .expect("a port below the degree leads somewhere");
            assert_ne!(neighbor, node, "{network}: port {port} leads back");
            assert_eq!(
                network.port_to(node, neighbor),
                Ok(Some(port)),
                "{network}: {node} to {neighbor}"
            );
            assert!(
                network.port_to(neighbor, node).unwrap().is_some(),
                "{network}: {neighbor} has no link to {node}"
            );
        }
        assert_eq!(
            network.neighbor(node, ports),
            Ok(None),
            "{network}: node {node} has more ports than its degree"
        );
        assert_eq!(
            network.port_to(node, node),
            Ok(None),
            "{network}: node {node} is linked to itself"
        );
    }
}

/// The closed form, where there is one, tells what a search finds.
fn figures(network: &Network) {
    let found = Figures::by_search(network, |_, _| ()).unwrap();
    assert!(found.connected, "{network} is not connected");
    if let Some(formula) = Figures::by_formula(network) {
        assert_eq!(found.differences(&formula), Vec::<String>::new(), "{network}");
    }
    if let Some(diameter) = found.diameter {
        for rule in [Rule::Exact, Rule::Paper] {
            assert!(
                diameter <= network.longest_route(rule),
                "{network}: diameter {diameter} above the bound"
            );
        }
    }
}

/// Every hop is a link, every route arrives within the bound, and the exact rule is as short as it says.
fn routes(network: &Network, graph: &Graph, dest: usize, shortest: &[u32]) {
    for rule in [Rule::Exact, Rule::Paper] {
        let routes = RoutesTo::follow(network, graph, dest, rule).unwrap_or_else(|fault| panic!("{fault}"));
        let bound = network.longest_route(rule);
        for (from, &hops) in routes.hops.iter().enumerate() {
            assert!(
                u64::from(hops) <= bound,
                "{network}: {from} to {dest} by {rule:?}: {hops} hops, more than {bound}"
            );
            if hops != shortest[from] {
                let method = network.method(from as Node, dest as Node, rule).unwrap();
                assert_ne!(
                    method,
                    Method::Shortest,
                    "{network}: {from} to {dest} by {rule:?}: {hops} hops"
                );
            }
        }
        if dest.is_multiple_of(16) {
            for (from, &next) in (0..).zip(&routes.next) {
                let port = network.next_port(from, dest as Node, rule).unwrap();
                let neighbor = port
                    .and_then(|port| network.neighbor(from, port).unwrap())
                    .unwrap_or(from);
                assert_eq!(
                    neighbor,
                    Node::from(next),
                    "{network}: {from} to {dest} by {rule:?}: port {port:?}"
                );
            }
        }
    }
    for (from, &hops) in shortest.iter().enumerate() {
        if let Some(distance) = network.distance(from as Node, dest as Node).unwrap() {
            assert_eq!(distance, u64::from(hops), "{network}: distance from {from} to {dest}");
        }
    }
}

/// Followed from node to node, a broadcast reaches everyone once by either tree; the one is no deeper than need be where
/// routes are shortest, the other no slower than the one.
fn broadcast(network: &Network, graph: &Graph, source: usize) {
    let follow = |tree| {
        let broadcast = Broadcast::follow(network, source as Node, tree);
        let name = format!("{network}: broadcast of {source} by {tree:?}");
        assert_eq!(broadcast.reached(), network.nodes(), "{name}");
        assert_eq!(broadcast.duplicates, 0, "{name}");
        assert_eq!(broadcast.sends(), network.nodes() - 1, "{name}");
        broadcast
    };
    let shallow = follow(Tree::LeastDepth);
    let farthest = u64::from(*hops_from(graph, source).iter().max().unwrap());
    if shallow.depth != farthest {
        let exact = |from: Node| network.method(from, source as Node, Rule::Exact) == Ok(Method::Shortest);
        assert!(
            !(0..network.nodes()).all(exact),
            "{network}: broadcast of {source} is {} deep",
            shallow.depth
        );
    }
    // The order of a tree in RE takes long to compute, and RE has one tree.
    if !matches!(network.family(), Family::Re(_)) {
        let (steps, most) = (follow(Tree::FewestSteps).one_port_steps(), shallow.one_port_steps());
        assert!(
            steps <= most,
            "{network}: broadcast of {source}: {steps} steps, {most} by the other tree"
        );
    }
}

/// With the network's buffer classes no link waits for itself, and the classes keep to their bound.
fn deadlock_free(network: &Network, graph: &Graph) {
    for rule in [Rule::Exact, Rule::Paper] {
        let found = dependency::build(network, graph, rule, Scheme::Network, |_| ()).unwrap();
        assert_eq!(found.cycle, None, "{network}: {rule:?} can deadlock");
        let bound = buffer_classes::count(network, rule);
        assert!(
            u64::from(found.classes) <= bound,
            "{network}: {} classes, more than {bound}",
            found.classes
        );
    }
    // The class that a node computes by itself is the one the graph was built with.
    let dest = graph.nodes() / 2;
    let routes = RoutesTo::follow(network, graph, dest, Rule::Exact).unwrap();
    if buffer_classes::counts_valleys(network) {
        for (from, &valleys) in routes.valleys().iter().enumerate() {
            let class = buffer_classes::class(network, from as Node, dest as Node, Rule::Exact);
            assert_eq!(class, Some(valleys.into()), "{network}: from {from} to {dest}");
        }
    }
}
