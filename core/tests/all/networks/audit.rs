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

/// Every guarantee.
pub(super) fn audit(expression: &str) {
    let network = network(expression);
    assert_eq!(network.to_string(), expression);
    let graph = Graph::of(&network);
    audit_links(&network, &graph);
    for node in sample(&network, ALL_DESTINATIONS, DESTINATIONS) {
        audit_routes(&network, &graph, node);
    }
    for node in sample(&network, ALL_SOURCES, SOURCES) {
        let (depth, _) = follow(&network, node, Tree::LeastDepth);
        assert!(depth <= network.longest_route(Rule::Exact), "{network}: from {node}");
        follow(&network, node, Tree::FewestSteps);
    }
}

macro_rules! audited {
    ($($name:ident: $($expression:literal),+;)+) => {$(
        #[test]
        fn $name() {
            for expression in [$($expression),+] {
                audit(expression);
            }
        }
    )+};
}

audited! {
    base_graphs: "ring(3)", "ring(8)", "path(2)", "path(5)", "complete(2)", "complete(5)", "star(2)", "star(5)",
        "hypercube(1)", "hypercube(4)", "folded-hypercube(2)", "folded-hypercube(3)", "folded-hypercube(6)", "torus(2)",
        "torus(2,2,6)", "torus(5,4)", "mesh(2,5,3)", "ghc(2,3,4)", "nstar(2)", "nstar(3)", "nstar(5)", "petersen", "heawood";
    recursive_dual_nets: "rdn(ring(3),0)", "rdn(ring(6),1)", "rdn(complete(2),2)", "rdn(path(3),2)", "rdn(star(4),1)",
        "rdn(torus(4,2),1)", "rdn(ghc(3,2),1)", "rdn(nstar(3),1)", "rdn(petersen,1)", "dualcube(2)", "dualcube(4)",
        "bsw(ring(5))", "bsw(mesh(3,2))";
    recursive_expansions_with_one_pivot: "re(ring(3),complete(3),1)", "re(ring(4),complete(3),3)", "re(ring(3),ring(3),3)",
        "re(complete(2),ring(5),5)", "re(complete(2),hypercube(3),4)", "re(ring(4),path(3),2)", "re(path(3),path(4),3)",
        "re(ring(5),star(4),2)", "re(complete(2),complete(2),4)", "re(complete(2),petersen,4)",
        "re([mesh(2,3),star(4)],mesh(3,2))", "re(complete(2),nstar(3),4)", "re(folded-hypercube(2),folded-hypercube(3),2)",
        "re(complete(2),complete(4),4)", "re(complete(2),path(6),5)", "re(complete(2),star(6),5)", "re(complete(2),ring(6),5)";
    recursive_expansions_with_pivot_sets: "re(ring(4),ring(8),1,sd)", "re(ring(4),ring(4),1,sd)", "re(ring(3),ring(4),2,sd)",
        "re(ring(3),complete(3),3,sd)", "re(complete(2),ring(6),3,sd)", "re(star(3),hypercube(3),2,sd)",
        "re(path(3),mesh(3,2),2,sd)", "re([ring(3),complete(2),path(3)],ring(5),sd)", "re([petersen,ring(3)],complete(4),sd)";
    recursive_cubes_of_rings: "rcr(1,5,4)", "rcr(2,5,2)", "rcr(3,4,2)", "rcr(2,3,1)", "rcr(3,7,1)", "rcr(4,2,3)", "rcr(2,7,2)",
        "rcr(3,2,1)", "rcr(1,9,3)", "rcr(0,2,0)", "rcr(2,2,0)", "rcr(2,9,1)", "rcr(1,6,5)", "rcr(1,11,4)", "ccc(3)", "ccc(4)",
        "ccc(5)", "ccc(6)", "cor(1,2)", "cor(1,3)", "cor(2,2)", "cor(2,3)", "cor(3,2)";
    clusters_joined_at_corners: "wk(2,1)", "wk(2,2)", "wk(2,7)", "wk(3,2)", "wk(3,4)", "wk(4,3)", "wk(5,3)", "wk(6,1)", "wk(12,2)",
        "symmetric-hypernet(1,1)", "symmetric-hypernet(1,6)", "symmetric-hypernet(2,2)", "symmetric-hypernet(2,4)",
        "symmetric-hypernet(3,1)", "symmetric-hypernet(3,2)", "symmetric-hypernet(4,2)";
    hypernets: "hypernet(1,1)", "hypernet(2,1)", "hypernet(2,2)", "hypernet(2,5)", "hypernet(3,2)", "hypernet(4,2)";
    exchanged_hypercubes: "exchanged-hypercube(1,1)", "exchanged-hypercube(1,3)", "exchanged-hypercube(4,2)",
        "exchanged-hypercube(3,3)", "exchanged-hypercube(2,5)";
    lifts: "lift(2,a1)", "lift(5,a1b,b2)", "lift(1,bcd,c,d)", "lift(2,a1b)", "lift(9,a1a4)", "lift(31,ba1,c5b3,c7)", "lift(32,bcd5,c3,d1d7)",
        "lift(33,b,b4b7)", "lift(64,a5b,b9)", "lift(70,b9b,b1b3)", "lift(8,c7b4c1,c2b4)",
        "lift(4,bc1,d2b1,c1,d2e,e2f,f1)";
    networks_of_lifts: "rdn(lift(5,a1b,b2),1)", "rdn(lift(1,b,c),2)", "bsw(lift(3,b,b1))", "re(lift(5,a1b,b2),complete(3),2)",
        "re(ring(3),lift(6,a1b,b1),2)", "re(lift(4,a1a2),lift(4,a1b,b1),1,sd)", "rsn(2,lift(8,a1b,b3))",
        "rsn(2,lift(5,a1b,b2),diameter)", "hsn(2,lift(7,bb1b3))", "folded(lift(3,a1b,b1),2)",
        "root-folded(lift(3,a1b,b1),3)", "flooded(lift(3,a1b,b1),3)";
    hierarchies: "folded(heawood,1)", "folded(heawood,2)", "folded(petersen,2)", "folded(ring(3),4)", "folded(path(4),3)",
        "folded(complete(6),2)", "root-folded(heawood,2)", "root-folded(petersen,2)", "root-folded(ring(3),4)",
        "root-folded(star(4),3)", "root-folded(path(3),4)", "flooded(heawood,2)", "flooded(ring(3),5)", "flooded(path(3),4)",
        "flooded(star(4),4)", "flooded(complete(5),3)", "flooded(ghc(3,2),3)";
    heawood_expansions: "re-heawood-2(2)", "re-heawood-2(2,one)";
    swapped_networks: "rsn(1,ring(5))", "rsn(1,petersen,diameter)", "rsn(2,hypercube(2))", "rsn(2,path(7))", "rsn(2,mesh(3,3))",
        "rsn(2,petersen)", "rsn(3,hypercube(2))", "rsn(3,star(4))", "rsn(4,complete(2))", "hfn(2)", "hfn(3)", "hfn(4)",
        "hcn(1)", "hcn(2)", "hcn(3)", "hcn(4)", "rsn(2,folded-hypercube(3),diameter)", "rsn(2,complete(2),diameter)",
        "rsn(2,complete(7),diameter)", "rsn(2,ring(9),diameter)", "rsn(2,path(9),diameter)", "rsn(2,star(8),diameter)",
        "rsn(2,mesh(3,4),diameter)", "rsn(2,torus(5,3),diameter)", "rsn(2,nstar(3),diameter)", "rsn(2,heawood,diameter)",
        "rsn(3,path(3),diameter)";
    hierarchical_swapped_networks: "hsn(2,ring(5))", "hsn(2,petersen)", "hsn(3,hypercube(2))", "hsn(3,path(4))", "hsn(3,star(4))",
        "hsn(4,path(3))", "hsn(6,complete(2))";
    three_level_hierarchical_cubic_networks: "hcn3(1)", "hcn3(2)", "hcn3(3)";
    the_partially_linked_swapped_network: "partial-swapped";
}

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
