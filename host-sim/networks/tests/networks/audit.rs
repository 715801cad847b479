//! Everything a network guarantees, held against its built-out graph. Each failure names the expression.

#[path = "../../../../core/tests/all/networks/guarantees.rs"]
mod guarantees;

use hopwise_core::{Family, Network, Node, Rule};
use hopwise_networks::buffer_classes;
use hopwise_networks::dependency::{self, Scheme};
use hopwise_networks::figures::Figures;
use hopwise_networks::graph::Graph;
use hopwise_networks::routes::RoutesTo;
use rayon::prelude::*;

/// All pairs are routed up to this size; in larger networks all routes to some destinations.
const ALL_PAIRS: u64 = 3_000;

/// The same where every hop is a search.
const ALL_SEARCHED_PAIRS: u64 = 300;

/// Broadcasts of every node are followed up to this size; in larger networks those of some.
const ALL_SOURCES: u64 = 1_100;

/// Channel-dependency graphs of all routes are built up to this size.
const ALL_DEPENDENCIES: u64 = 1_100;

pub(crate) fn network(expression: &str) -> Network {
    let network: Result<Network, _> = expression.parse();
    let network = network.unwrap_or_else(|error| panic!("{expression}: {error}"));
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

pub(crate) fn audit(expression: &str) {
    let network = network(expression);
    let (graph, built) = (guarantees::Graph::of(&network), Graph::build(&network).unwrap());
    guarantees::audit_links(&network, &graph);
    figures(&network);
    let searching = matches!(network.family(), Family::Re(re) if !re.routes_by_walk());
    let (some_pairs, all) = ((ALL_SEARCHED_PAIRS, 4), (ALL_PAIRS, 20));
    let (all_pairs, some) = if searching { some_pairs } else { all };
    let sample = |all| {
        let nodes = network.nodes();
        let step = if nodes <= all { 1 } else { nodes / some + 1 };
        (0..network.nodes()).step_by(step as usize).par_bridge()
    };
    sample(all_pairs).for_each(|dest| guarantees::audit_routes(&network, &graph, dest));
    sample(ALL_SOURCES.min(all_pairs)).for_each(|source| guarantees::audit_broadcast(&network, &graph, source));
    if network.nodes() <= ALL_DEPENDENCIES.min(all_pairs) {
        deadlock_free(&network, &built);
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
            let bound = network.longest_route(rule);
            assert!(diameter <= bound, "{network}: diameter {diameter} above the bound");
        }
    }
}

/// With the network's buffer classes no link waits for itself, and the classes keep to their bound.
fn deadlock_free(network: &Network, graph: &Graph) {
    for rule in [Rule::Exact, Rule::Paper] {
        let found = dependency::build(network, graph, rule, Scheme::Network, |_| ()).unwrap();
        assert_eq!(found.cycle, None, "{network}: {rule:?} can deadlock");
        let bound = buffer_classes::count(network, rule);
        let classes = u64::from(found.classes);
        assert!(classes <= bound, "{network}: {classes} classes, more than {bound}");
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
