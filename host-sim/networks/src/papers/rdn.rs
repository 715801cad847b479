//! Recursive Dual-Net, by Li, Peng and Chu.

use hopwise_core::{Network, Rule, Tree};

use super::claim::Case;
use super::{
    Claim, Claims, How, Measurement, Paper, Run, Verdict, base, built, diameters, network, node_at, regular_degree,
    routed, searched, shortest_cycle,
};
use crate::base::Formulas;
use crate::bisection::{self, cut_size};
use crate::broadcast::Broadcast;
use crate::graph::Graph;
use crate::isomorphism::{TooLong, unlike_node_0};
use crate::levels::Levels;
use crate::papers::CannotMeasure;
use crate::profile::cost_ratio;

pub(super) const MEASUREMENTS: &[Measurement] = &[
    symmetry,
    theorem_1,
    bisection_width,
    table_1,
    table_2,
    node_numbers,
    cross_edges,
    worked_route,
    theorem_2,
    algorithm_2,
    theorem_3,
];

/// Bases with all nodes alike, small enough for all pairs at level 1 and some at level 2.
const SMALL: &[(&str, u64)] = &[
    ("ring(3)", 1),
    ("ring(3)", 2),
    ("ring(4)", 1),
    ("ring(4)", 2),
    ("ring(5)", 1),
    ("ring(5)", 2),
    ("complete(4)", 1),
    ("hypercube(3)", 1),
    ("torus(3,3)", 1),
    ("petersen", 1),
    ("heawood", 1),
    ("torus(5,5)", 1),
];

fn claim(text: &str) -> Claim {
    Claim::at(Paper::Rdn, text)
}

/// 2^k D + 2^(k+1) - 2.
fn grown(base: u64, levels: u64) -> u64 {
    (base << levels) + (2 << levels) - 2
}

/// (2m)^(2^k).
fn doubled(nodes: u64, levels: u64) -> u64 {
    (2 * nodes).pow(1 << levels)
}

fn symmetry(_: &Run) -> Claims {
    let mut alike = Vec::new();
    let mut unlike = None;
    for expression in "rdn(ring(3),1) rdn(ring(4),1) rdn(complete(4),1) rdn(ring(3),2)".split(' ') {
        let (_, graph) = built(expression)?;
        match unlike_node_0(&graph) {
            Ok(None) => alike.push(expression),
            Ok(Some(node)) => unlike = Some(format!("{expression}: nothing carries node 0 to node {node}")),
            Err(TooLong) => unlike = Some(format!("{expression}: too long to find out")),
        }
    }
    let alike = alike.join(", ");
    let nodes = claim("Abstract: RDN is node symmetric (over a symmetric base)")
        .so(How::Exhaustive, unlike.is_none())
        .measured(format!("a renumbering carries node 0 to every other node in {alike}"))
        .except(unlike);
    let (network, graph) = built("rdn(ring(3),1)")?;
    let shortest_cycles = graph.edge_list().map(|(u, v)| (shortest_cycle(&graph, u, v), u, v));
    let mut shortest_cycles: Vec<_> = shortest_cycles.collect();
    shortest_cycles.sort_unstable();
    let (least, most) = (shortest_cycles[0], shortest_cycles[shortest_cycles.len() - 1]);
    let edge = |(length, u, v): (u32, usize, usize)| format!("link {u}-{v} lies on a cycle of {length}");
    let edges = claim("Abstract: RDN is edge symmetric")
        .so(How::Counted, least.0 == most.0)
        .measured(format!(
            "{network}: shortest cycles through a link have {} to {} links",
            least.0, most.0
        ))
        .except((least.0 != most.0).then(|| format!("{}, {} and none shorter", edge(least), edge(most))));
    Ok(vec![nodes, edges])
}

fn theorem_1(run: &Run) -> Claims {
    let (mut nodes, mut degrees, mut diameters) = (Vec::new(), Vec::new(), Vec::new());
    for &(expression, levels) in SMALL {
        let base = base(expression)?;
        let figures = searched(run, &format!("rdn({expression},{levels})"))?;
        let case = |said: u64, found: u64| Case::new(&figures.expression, said, found);
        nodes.push(case(doubled(base.nodes(), levels) / 2, figures.nodes));
        let degree = base.degree_range().0 + levels;
        degrees.push(case(degree, regular_degree(&figures, degree)));
        diameters.push(case(grown(base.diameter(), levels), super::diameter(&figures)?));
    }

    Ok(vec![
        claim("Theorem 1: RDN(m,k) has (2m)^(2^k)/2 nodes").exactly(How::Counted, &nodes),
        claim("Theorem 1: it is regular of degree d0 + k").exactly(How::Counted, &degrees),
        claim("Theorem 1: its diameter is 2^k D0 + 2^(k+1) - 2").exactly(How::AllPairs, &diameters),
    ])
}

/// The halves that the paper overlooks: nodes of type 0 by the half of the cluster that their node number lies in, those of type
/// 1 by that of their cluster number. Then no cross link is cut.
fn halves_by_cluster(expression: &str, levels: u64) -> Result<Vec<bool>, CannotMeasure> {
    let cluster = built(&format!("rdn({expression},{})", levels - 1))?.1;
    let half = bisection::best_cut(&cluster);
    let size = cluster.nodes();
    let side = |node: usize| {
        let (kind, rest) = (node / (size * size), node % (size * size));
        half[if kind == 0 { rest % size } else { rest / size }]
    };
    Ok((0..2 * size * size).map(side).collect())
}

fn bisection_width(run: &Run) -> Claims {
    let mut cases = Vec::new();
    for (expression, levels) in [
        ("ring(3)", 1),
        ("ring(4)", 1),
        ("ring(6)", 1),
        ("complete(4)", 1),
        ("ring(3)", 2),
    ] {
        let name = format!("rdn({expression},{levels})");
        (run.progress)(&name);
        let (_, graph) = built(&name)?;
        let said = doubled(base(expression)?.nodes(), levels).div_ceil(8);
        let side = halves_by_cluster(expression, levels)?;
        let halves = side.iter().filter(|&&side| side).count() * 2 == side.len();
        let found = bisection::bounds(&graph).map_or(u64::MAX, |bounds| bounds.most);
        let cut = found.min(cut_size(&graph, &side));
        let found = if halves { cut } else { found };
        cases.push(Case::new(name, said, found));
    }
    // A cut with fewer links refutes an equality, and "at most" is not what a bisection width states.
    let mut general = claim("Theorem 1: the bisection bandwidth is ceil((2m)^(2^k)/8)")
        .exactly(How::BestCut, &cases[1..])
        .no_bound();
    general.measured = format!("links of the best cut into halves: {}", general.measured);
    let example = claim("Section 2: the bisection bandwidth of RDN(3,1) is 5").exactly(How::Exhaustive, &cases[..1]);
    Ok(vec![general, example])
}

fn table_1(run: &Run) -> Claims {
    let torus = |(x, y, z): (u64, u64, u64)| (format!("torus({x},{y},{z})"), (x + y + z) / 2);
    let even = [(4, 4, 4), (4, 6, 8), (8, 8, 8), (2, 4, 6)].map(torus);
    let odd = [(3, 3, 3), (5, 5, 5), (3, 4, 5)].map(torus);
    let cubes = (2..=10).map(|n| (format!("hypercube({n})"), n));
    let cycles = (3..=10).map(|n| (format!("ccc({n})"), 2 * n));
    let dual = (2..=6).map(|n| (format!("dualcube({n})"), 2 * n));
    let wk = [(3, 2), (3, 5), (4, 3), (4, 5), (5, 3), (8, 3)];
    let wk = wk.map(|(n, t)| (format!("wk({n},{t})"), (1 << t) - 1));
    Ok(vec![
        claim("Table 1: the diameter of a 3D torus x*y*z is (x+y+z)/2 (even sizes)")
            .exactly(How::AllPairs, &diameters(run, even)?),
        claim("Table 1: the same (odd sizes, rounded down)").exactly(How::AllPairs, &diameters(run, odd)?),
        claim("Table 1: the diameter of the n-cube is n").exactly(How::AllPairs, &diameters(run, cubes)?),
        claim("Table 1: the diameter of CCC(n) is 2n").exactly(How::AllPairs, &diameters(run, cycles)?),
        claim("Table 1: the diameter of WK(n,t) is 2^t - 1").exactly(How::AllPairs, &diameters(run, wk)?),
        claim("Table 1: the diameter of DC(n) = RDN(2^(n-1),1) is 2n").exactly(How::AllPairs, &diameters(run, dual)?),
    ])
}

/// Nodes, degree, diameter and CR.
type Row = (u64, u64, u64, f64);

/// What Table 2 says of each network, which is given as it is called there and as an expression.
const TABLE_2: [(&str, &str, Row); 8] = [
    ("3D-torus", "torus(128,128,128)", (2_097_152, 6, 192, 9.43)),
    ("WK(8,7)", "wk(8,7)", (2_097_152, 8, 127, 6.43)),
    ("21-cube", "hypercube(21)", (2_097_152, 21, 21, 2.00)),
    ("CCC(17)", "ccc(17)", (2_228_224, 3, 34, 1.75)),
    ("DC(11)", "dualcube(11)", (2_097_152, 11, 22, 1.57)),
    ("RDN(5^2,2)", "rdn(torus(5,5),2)", (3_125_000, 6, 22, 1.30)),
    ("RDN(3^3,2)", "rdn(torus(3,3,3),2)", (4_251_528, 8, 18, 1.18)),
    ("RDN(5,3)", "rdn(ring(5),3)", (50_000_000, 5, 30, 1.37)),
];

/// Nodes, largest degree and diameter of a network of millions of nodes.
///
/// The corners of a WK-recursive network are alike, its other nodes are not. No pair is farther apart than two corners if the path
/// of every node to any corner of its part is no longer than a corner's: then two parts and the link between them bound it.
fn large(run: &Run, expression: &str) -> Result<(u64, u64, u64), CannotMeasure> {
    if expression != "wk(8,7)" {
        let figures = searched(run, expression)?;
        return Ok((figures.nodes, figures.degree_max, super::diameter(&figures)?));
    }
    let (whole, part) = (network(expression)?, network("wk(8,6)")?);
    (run.progress)(expression);
    let from_corner = |network: &Network| Levels::search(network.unchecked(), 0, |_| ());
    let (least, most) = (from_corner(&whole)?.farthest(), 2 * from_corner(&part)?.farthest() + 1);
    if least != most {
        return Err(super::no_formula(expression));
    }
    let degree = (0..whole.nodes()).map(|node| whole.unchecked().degree(node)).max();
    Ok((whole.nodes(), degree.unwrap_or(0), least))
}

fn table_2(run: &Run) -> Claims {
    let mut rows = Vec::new();
    let mut ratios = Vec::new();
    for (name, expression, said) in TABLE_2 {
        let (nodes, degree, diameter) = large(run, expression)?;
        let ratio = cost_ratio(nodes, degree, diameter);
        ratios.push((ratio, name));
        let figures =
            |(nodes, degree, diameter, ratio)| format!("{nodes} nodes, degree {degree}, D {diameter}, CR {ratio:.2}");
        let [says, measured] = [said, (nodes, degree, diameter, ratio)].map(figures);
        rows.push(
            claim(&format!("Table 2: {name}: {says}"))
                .so(How::SingleSource, says == measured)
                .except((says != measured).then(|| format!("{expression}: {measured}")))
                .measured(measured),
        );
    }
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let order = ratios.iter().map(|(ratio, name)| format!("{name} {ratio:.2}"));
    let order: Vec<String> = order.collect();
    let are_best = ratios[..3].iter().all(|(_, name)| name.starts_with("RDN"));
    rows.push(
        claim("Section 3: the RDNs beat all others of Table 2 by cost ratio, and RDN(3^3,2) is the best")
            .so(How::SingleSource, are_best && ratios[0].1 == "RDN(3^3,2)")
            .measured(format!("by CR: {}", order.join(", "))),
    );
    Ok(rows)
}

fn node_numbers(_: &Run) -> Claims {
    let network = network("rdn(ring(3),1)")?;
    let node = node_at(&network, "(1,1,2)");
    Ok(vec![
        claim("Section 4: the ID of node (1,1,2) in RDN(3,1) is 14")
            .so(How::Exhaustive, node == Some(14))
            .measured(format!("rdn(ring(3),1): (1,1,2) is node {}", node.unwrap_or(u64::MAX))),
    ])
}

fn cross_edges(_: &Run) -> Claims {
    let (network, graph) = built("rdn(ring(3),1)")?;
    // Links within the rings as they are, and cross links between equal cluster and node numbers.
    let rings = graph.edge_list().filter(|(u, v)| u / 3 == v / 3);
    let printed = Graph::from_edges(graph.nodes(), rings.chain((0..9).map(|low| (low, low + 9))));
    let parts = printed.parts();
    Ok(vec![
        claim("Section 4: (u,v) is a cross edge iff u0 != v0, u1 = v1 and u2 = v2")
            .so(How::AsPrinted, parts == 1)
            .measured(format!(
                "built so, {network} falls into {parts} parts; with the numbers exchanged it is one"
            ))
            .except((parts > 1).then(|| "cluster i of type 0 meets only cluster i of type 1".into())),
    ])
}

fn worked_route(_: &Run) -> Claims {
    let network = network("rdn(ring(3),2)")?;
    let find = |wanted: &str| node_at(&network, wanted).unwrap_or(0);
    let (from, to) = (find("(0,(0,0,0),(0,0,0))"), find("(1,(1,2,2),(0,2,2))"));
    let mut path = vec![from];
    while path[path.len() - 1] != to && path.len() < 100 {
        path.push(network.unchecked().next(path[path.len() - 1], to, Rule::Paper));
    }
    let by_way_of = |wanted: &str| path.contains(&find(wanted));
    let crossed = by_way_of("(0,(0,0,0),(1,2,2))") && by_way_of("(1,(1,2,2),(0,0,0))");
    let hops = path.len() as u64 - 1;
    let distance = network.unchecked().distance(from, to);
    let apart = distance.unwrap_or(u64::MAX);
    Ok(vec![
        claim(
            "Fig. 7: RDN(3,2), (0,(0,0,0),(0,0,0)) to (1,(1,2,2),(0,2,2)): crosses from (0,(0,0,0),(1,2,2)) to \
             (1,(1,2,2),(0,0,0))",
        )
        .so(How::AsPrinted, crossed && distance == Some(hops))
        .measured(format!("{hops} hops by nodes {path:?}; the distance is {apart}")),
    ])
}

fn theorem_2(run: &Run) -> Claims {
    let mut longest = Vec::new();
    let (mut pairs, mut shortest) = (0, 0);
    for &(expression, levels) in SMALL {
        let (network, found) = routed(run, &format!("rdn({expression},{levels})"))?;

        pairs += found.pairs;
        shortest += found.shortest;
        let said = grown(base(expression)?.diameter(), levels);
        longest.push(Case::new(network, said, found.longest));
    }
    let mut row =
        claim("Theorem 2: Algorithm 1 routes in at most 2^k D0 + 2^(k+1) - 2 steps").at_most(How::AllPairs, &longest);
    row.measured = format!(
        "longest route {}; {shortest} of {pairs} routes are shortest paths",
        row.measured
    );
    Ok(vec![row])
}

/// Algorithm 2 as printed: how often each node receives.
struct Printed {
    sizes: Vec<usize>,
    received: Vec<u32>,
}

impl Printed {
    fn send(&mut self, to: usize) {
        self.received[to] += 1;
    }

    /// Within the network of `level` levels that begins at `offset`. Only who has the message sends it.
    fn broadcast(&mut self, level: usize, offset: usize, source: usize) {
        if level == 0 {
            let others = (0..self.sizes[0]).filter(|&node| node != source);
            others.for_each(|node| self.send(offset + node));
            return;
        }
        let size = self.sizes[level - 1];
        let id = |kind: usize, cluster: usize, node: usize| offset + (kind * size + cluster) * size + node;
        let (kind, rest) = (source / (size * size), source % (size * size));
        let (cluster, node) = (rest / size, rest % size);
        self.broadcast(level - 1, id(kind, cluster, 0), node);
        let reached: Vec<usize> = (0..size)
            .filter(|&u| u == node || self.received[id(kind, cluster, u)] > 0)
            .collect();
        for &u in &reached {
            self.send(id(1 - kind, u, cluster));
        }
        for &u in &reached {
            self.broadcast(level - 1, id(1 - kind, u, 0), cluster);
        }
        // All nodes of the other type but those in the cluster of the source's own neighbor.
        for other in (0..size).filter(|&other| other != node) {
            for v in 0..size {
                if self.received[id(1 - kind, other, v)] > 0 {
                    self.send(id(kind, v, other));
                }
            }
        }
    }
}

fn algorithm_2(_: &Run) -> Claims {
    let mut found = Vec::new();
    let mut verdict = Verdict::Holds;
    let mut corrected = Vec::new();
    for (sizes, name) in [(vec![3, 18], "rdn(ring(3),1)"), (vec![3, 18, 648], "rdn(ring(3),2)")] {
        let nodes = sizes[sizes.len() - 1];
        let levels = sizes.len() - 1;
        let mut printed = Printed {
            sizes,
            received: vec![0; nodes],
        };
        printed.broadcast(levels, 0, 0);
        let missed = printed.received[1..].iter().filter(|&&times| times == 0).count();
        let repeats = printed.received[1..].iter().map(|&times| times.saturating_sub(1));
        let again: u32 = repeats.sum::<u32>() + printed.received[0];
        found.push(format!(
            "{name}: {missed} of {nodes} nodes never receive it, {again} copies come again"
        ));
        if missed > 0 || again > 0 {
            verdict = Verdict::False;
        }
        let network = network(name)?;
        let broadcast = Broadcast::follow(&network, 0, Tree::LeastDepth);
        let (reached, again) = (broadcast.reached(), broadcast.duplicates);
        corrected.push(format!("{name}: {reached} of {nodes}, {again} again"));
    }
    Ok(vec![
        claim("Algorithm 2: every node receives the message exactly once")
            .judged(How::AsPrinted, verdict)
            .measured(format!(
                "{}. With the entry node of each cluster left out instead: {}",
                found.join("; "),
                corrected.join("; ")
            ))
            .except((verdict == Verdict::False).then(|| found[0].clone())),
    ])
}

fn theorem_3(run: &Run) -> Claims {
    let steps = |expression: &str| -> Result<u64, CannotMeasure> {
        (run.progress)(expression);
        let network = network(expression)?;
        let from_each =
            (0..network.nodes()).map(|source| Broadcast::follow(&network, source, Tree::LeastDepth).one_port_steps());
        Ok(from_each.max().unwrap_or(0))
    };
    let mut cases = Vec::new();
    for (expression, levels) in [
        ("ring(3)", 1),
        ("ring(3)", 2),
        ("ring(4)", 1),
        ("ring(5)", 1),
        ("ring(5)", 2),
        ("heawood", 1),
    ] {
        let name = format!("rdn({expression},{levels})");
        cases.push(Case::new(&name, grown(steps(expression)?, levels), steps(&name)?));
    }
    let theorem =
        claim("Theorem 3: one-port broadcast takes at most 2^k B0 + 2^(k+1) - 2 steps").at_most(How::AllPairs, &cases);
    let first = Case::new("rdn(ring(3),1)", 6u64, cases[0].found);
    let small = claim("Fig. 8: broadcast takes 6 steps in RDN(3,1)").exactly(How::AllPairs, &[first]);
    let second = Case::new("rdn(ring(3),2)", 14u64, cases[1].found);
    let large = claim("Fig. 8: broadcast takes 14 steps in RDN(3,2)").exactly(How::AllPairs, &[second]);
    Ok(vec![theorem, small, large])
}
