//! What a network tells of itself as a whole: its parameters, its diameter, and whether all nodes see the same.

use hopwise_core::Family;
use hopwise_core::graph::Shape;

use super::guarantees::Graph;
use crate::support::*;

/// The parameters of a family, as programs ask for them.
fn parameters(network: &Network) -> String {
    match network.family() {
        Family::Base(base) => format!("{:?}", base.shape()),
        Family::Rdn(rdn) => format!("{} {}", rdn.base(), rdn.levels()),
        Family::Re(re) => {
            let phases = (0..re.phases()).map(|phase| format!("{} {:?}", re.frame(phase), re.pivots_of(phase)));
            let phases: Vec<_> = phases.collect();
            format!(
                "{} {} {} {}",
                re.unit(),
                phases.join(" "),
                re.routes_by_walk(),
                re.digits_are_alike()
            )
        }
        Family::Rcr(rcr) => format!("{} {} {}", rcr.window_bits(), rcr.word_bits(), rcr.ring()),
        Family::Wk(wk) => format!("{} {}", wk.nucleus(), wk.digits()),
        Family::Hypernet(hypernet) => format!("{} {}", hypernet.cube_bits(), hypernet.levels()),
        Family::Exchanged(exchanged) => format!("{} {}", exchanged.first_bits(), exchanged.second_bits()),
        Family::Hierarchy(hierarchy) => {
            let (base, digits) = (hierarchy.base(), hierarchy.digits());
            format!("{base} {:?} {digits}", hierarchy.linkage())
        }
        Family::Rsn(rsn) => {
            let (nucleus, levels) = (rsn.nucleus(), rsn.levels());
            format!("{nucleus} {levels} {} {}", rsn.is_of_cubes(), rsn.has_diameter_links())
        }
        Family::Hsn(hsn) => format!("{} {}", hsn.nucleus(), hsn.levels()),
        Family::Hcn3(hcn3) => format!("{}", hcn3.bits()),
        Family::PartialSwapped(swapped) => format!("{}", swapped.copy()),
        other => format!("{other:?}"),
    }
}

#[test]
fn families_tell_their_parameters() {
    for (expression, expected) in rows(include_str!("../../cases/parameters.txt")) {
        assert_eq!(parameters(&network(&expression)), expected, "{expression}");
    }
}

#[test]
fn a_lift_tells_its_links_as_they_are_written() {
    let network = network("lift(5,a1b,b2)");
    let Family::Base(base) = network.family() else {
        panic!("a base graph");
    };
    let Shape::Lift(lift) = base.shape() else {
        panic!("a lift");
    };
    assert_eq!((lift.places(), lift.orbits()), (5, 2));
    assert_eq!(lift.links().collect::<Vec<_>>(), [(0, 0, 1), (0, 1, 0), (1, 1, 2)]);
}

/// A diameter that is told is that of a search; where all nodes are said to be alike, each sees as many at each distance.
#[test]
fn diameters_and_symmetry_are_those_of_a_search() {
    let expressions = include_str!("../../golden/pinned.txt").lines();
    let mut known = 0;
    for expression in expressions.filter_map(|line| line.split(' ').next()) {
        let network = network(expression);
        if network.nodes() > 300 {
            continue;
        }
        let graph = Graph::of(&network);
        let profile = |node| {
            let mut hops = graph.hops_to(node);
            hops.sort_unstable();
            hops
        };
        let first = profile(0);
        let mut diameter = 0;
        let mut alike = true;
        for node in 0..network.nodes() {
            let profile = profile(node);
            diameter = diameter.max(profile.last().copied().unwrap_or(0));
            alike &= profile == first;
        }
        known += u32::from(network.diameter().is_some());
        let is_it = network.diameter().is_none_or(|told| told == diameter);
        assert!(is_it, "{expression}: {diameter}");
        assert!(alike || !network.vertex_transitive(), "{expression}");
        let unchecked = network.unchecked();
        assert_eq!(unchecked.nodes(), network.nodes());
        let (one, other) = (network.nodes() / 3, network.nodes() - 1);
        assert_eq!(unchecked.degree(one), network.degree(one).unwrap(), "{expression}");
        let found = unchecked.neighbor(one, 0);
        assert_eq!(found, network.neighbor(one, 0).unwrap(), "{expression}");
        let found = unchecked.port_to(one, other);
        assert_eq!(found, network.port_to(one, other).unwrap(), "{expression}");
        let found = unchecked.distance(one, other);
        assert_eq!(found, network.distance(one, other).unwrap(), "{expression}");
        for rule in [Rule::Exact, Rule::Paper] {
            let found = unchecked.next(one, other, rule);
            assert_eq!(found, network.next_hop(one, other, rule).unwrap());
            let found = unchecked.method(one, other, rule);
            assert_eq!(found, network.method(one, other, rule).unwrap());
        }
        for port in 0..=network.degree(one).unwrap() {
            let passes = network.fanout(one, other).unwrap().any(|(sent, _)| sent == port);
            let found = unchecked.passes_on(one, port, other);
            assert_eq!(found, passes, "{expression}: port {port}");
        }
    }
    assert!(known > 100, "{known}");
}
