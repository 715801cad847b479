//! Swapped networks, by Yeh and Parhami.

mod emulation;
mod growth;

use hopwise_core::{Network, Rule};

use super::claim::Case;
use super::{
    Claim, Claims, How, Measurement, Paper, Run, base, built, diameter, diameters, network, routed, searched,
    searched_diameter,
};
use crate::base::Formulas;
use crate::graph::Graph;
use crate::stretch::Stretch;

pub(super) const MEASUREMENTS: &[Measurement] = &[
    equations,
    farthest_nodes,
    recursive_routing,
    diameter_links,
    named_subclasses,
    hypercube_nuclei,
    hcn_diameter,
    emulation::ascend,
    emulation::single_dimension,
    emulation::all_port,
    complete_nuclei,
    growth::optimal_diameter,
    mesh_nuclei,
    three_levels,
    one_link_a_pair,
    partly_linked,
];

fn claim(text: &str) -> Claim {
    Claim::at(Paper::Swapped, text)
}

/// Levels, and nuclei with which a network of them is within reach of a search of all pairs.
const SMALL: [(u32, &str); 4] = [
    (1, "hypercube(3)"),
    (
        2,
        "hypercube(1) hypercube(2) hypercube(3) hypercube(4) complete(4) complete(5) path(4) ring(5) petersen mesh(3,3) \
         ghc(3,2) nstar(4)",
    ),
    (3, "hypercube(1) hypercube(2) complete(3) path(3) ring(5)"),
    (4, "hypercube(1)"),
];

fn small() -> impl Iterator<Item = (u32, &'static str)> {
    let of_levels = |(levels, nuclei): (_, &'static str)| nuclei.split(' ').map(move |nucleus| (levels, nucleus));
    SMALL.into_iter().flat_map(of_levels)
}

/// N_1^(2^(l-1)), equation 1.
fn size(nucleus: u64, levels: u32) -> u64 {
    nucleus.pow(1 << (levels - 1))
}

/// 2^(l-1) (D + 1) - 1, equation 5, and with it the bound of equation 4.
fn farthest(nucleus: u64, levels: u32) -> u64 {
    (nucleus + 1) * (1 << (levels - 1)) - 1
}

fn equations(run: &Run) -> Claims {
    let (mut nodes, mut degrees, mut diameters) = (Vec::new(), Vec::new(), Vec::new());
    let (mut levels_wrong, mut irregular) = (0, None);
    for (levels, nucleus) in small() {
        let graph = base(nucleus)?;
        let found = searched(run, &format!("rsn({levels},{nucleus})"))?;
        let case = |said: u64, found_figure: u64| Case::new(&found.expression, said, found_figure);
        nodes.push(case(size(graph.nodes(), levels), found.nodes));
        degrees.push(case(graph.degree_range().1 + u64::from(levels) - 1, found.degree_max));
        diameters.push(case(farthest(graph.diameter(), levels), diameter(&found)?));
        let depth = |nodes: u64| (nodes as f64).log2().log2();
        let by_size = depth(found.nodes) - depth(graph.nodes()) + 1.0;
        levels_wrong += u32::from((by_size - f64::from(levels)).abs() > 1e-9);
        if found.degree_min < found.degree_max && levels > 1 && irregular.is_none() {
            irregular = Some(format!("{} leaders have degree {}", found.expression, found.degree_min));
        }
    }

    let mut degree = claim("Eq. 3: the node degree is d_1 + l - 1 (the largest)").exactly(How::Counted, &degrees);
    if let Some(leaders) = irregular {
        degree.measured = format!("{}; not of every node: in {leaders}", degree.measured);
    }
    Ok(vec![
        claim("Eq. 1: RSN(l,G) has N_1^(2^(l-1)) nodes").exactly(How::Counted, &nodes),
        claim("Eq. 2: l = log2 log2 N - log2 log2 N_1 + 1")
            .so(How::Counted, levels_wrong == 0)
            .measured(format!("differs on {levels_wrong} of {} networks", nodes.len())),
        degree,
        claim("Eq. 5: without diameter links the diameter is 2^(l-1) (D_G + 1) - 1").exactly(How::AllPairs, &diameters),
    ])
}

fn farthest_nodes(_: &Run) -> Claims {
    let mut cases = Vec::new();
    for (levels, nucleus) in [
        (2, "hypercube(3)"),
        (3, "hypercube(2)"),
        (3, "path(3)"),
        (4, "hypercube(1)"),
        (5, "complete(3)"),
    ] {
        let graph = base(nucleus)?;
        let network = network(&format!("rsn({levels},{nucleus})"))?;
        let whole = Network::from(graph);
        let nodes = graph.nodes();
        let pairs = (0..nodes).flat_map(|x| (0..nodes).map(move |y| (x, y)));
        let apart = |&(x, y): &(u64, u64)| whole.unchecked().distance(x, y) == Some(graph.diameter());
        let (x, y) = pairs.clone().find(apart).unwrap_or((0, 0));
        let repeated = |digit: u64| (0..1u32 << (levels - 1)).fold(0, |id, _| id * nodes + digit);
        let distance = network.unchecked().distance(repeated(x), repeated(y));
        let distance = distance.unwrap_or(u64::MAX);
        cases.push(Case::new(network, farthest(graph.diameter(), levels), distance));
    }
    Ok(vec![
        claim("Section 2.5: if X and Y are D_G apart in the nucleus, XX..X and YY..Y are 2^(l-1) (D_G + 1) - 1 apart")
            .exactly(How::ClosedForm, &cases),
    ])
}

fn recursive_routing(run: &Run) -> Claims {
    let mut cases = Vec::new();
    let mut longer = Vec::new();
    let mut example = None;
    for (levels, nucleus) in small().filter(|(levels, _)| *levels > 1) {
        let name = format!("rsn({levels},{nucleus})");
        let (_, found) = routed(run, &name)?;
        let said = farthest(base(nucleus)?.diameter(), levels);
        cases.push(Case::new(&name, said, found.longest));
        if found.longer() > 0 {
            let share = 100.0 * found.longer() as f64 / found.pairs as f64;
            longer.push(format!("{name} {share:.0}%"));
            let pair = found.worst;
            example.get_or_insert(format!(
                "{name}: {} to {} takes {}, distance {}",
                pair.from, pair.to, pair.hops, pair.distance
            ));
        }
    }
    let all = cases.len();
    let (count, names) = (longer.len(), longer.join(", "));
    Ok(vec![
        claim("Eq. 4: recursive routing takes at most 2^(l-1) T(1) + 2^(l-1) - 1 steps").at_most(How::AllPairs, &cases),
        claim("Section 2.5: recursive routing does not always take shortest paths (the paper only bounds it)")
            .so(How::AllPairs, !longer.is_empty())
            .measured(format!(
                "some pairs take longer paths on {count} of {all} networks: {names}"
            ))
            .except(example)
            .finding(),
    ])
}

fn diameter_links(run: &Run) -> Claims {
    let (mut mean, mut hops, mut same) = (0, 0, Vec::new());
    let mut all = 0;
    for (levels, nucleus) in small().filter(|(levels, _)| *levels > 1) {
        let plain = searched(run, &format!("rsn({levels},{nucleus})"))?;
        let linked = searched(run, &format!("rsn({levels},{nucleus},diameter)"))?;
        all += 1;
        mean += u32::from(linked.distance_sum < plain.distance_sum);
        hops += u32::from(linked.diameter < plain.diameter);
        if linked.diameter == plain.diameter {
            same.push(plain.expression);
        }
    }
    let degree = searched(run, "rsn(2,hypercube(3),diameter)")?.degree_max;
    Ok(vec![
        claim(
            "Section 2.1: diameter links shorten the average distance and, in most cases, the \
             diameter, at the same degree",
        )
        .so(How::AllPairs, mean == all && 2 * hops > all)
        .measured(format!(
            "mean distance smaller on {mean}, diameter on {hops} of {all} networks (not on {}); \
             degree still {degree} for Q3",
            same.first().map_or("none", String::as_str)
        )),
    ])
}

fn named_subclasses(_: &Run) -> Claims {
    let mut rows = Vec::new();
    for (text, pairs) in [
        (
            "Section 2.2: HCN(n,n) is RSN(2,Q_n) with diameter links",
            [
                ("hcn(2)", "rsn(2,hypercube(2),diameter)"),
                ("hcn(3)", "rsn(2,hypercube(3),diameter)"),
            ],
        ),
        (
            "Section 2.2: HFN(n,n) is RSN(2,FQ_n)",
            [
                ("hfn(2)", "rsn(2,folded-hypercube(2))"),
                ("hfn(3)", "rsn(2,folded-hypercube(3))"),
            ],
        ),
    ] {
        let mut equal = Vec::new();
        for (name, expression) in pairs {
            equal.push((name, built(name)?.1.edge_list().eq(built(expression)?.1.edge_list())));
        }
        let same = equal.iter().filter(|(_, equal)| *equal);
        let same: Vec<&str> = same.map(|(name, _)| *name).collect();
        rows.push(
            claim(text)
                .so(How::Counted, equal.iter().all(|(_, equal)| *equal))
                .measured(format!("link by link equal: {}", same.join(", "))),
        );
    }
    let mut degrees = Vec::new();
    for n in 2..=5u64 {
        // In terms of log2 N = 2n.
        for (name, said) in [(format!("hcn({n})"), n + 1), (format!("hfn({n})"), n + 2)] {
            let most = built(&name)?.1.degree_range().1;
            degrees.push(Case::new(name, said, most as u64));
        }
    }
    rows.push(
        claim("Introduction: HCNs have node degree log2(N)/2 + 1, HFNs log2(N)/2 + 2").exactly(How::Counted, &degrees),
    );
    Ok(rows)
}

fn hypercube_nuclei(run: &Run) -> Claims {
    let said = |(levels, n): (u32, u64)| {
        let bits = n << (levels - 1);
        // (1 + 1/n) log2 N - 1.
        (format!("rsn({levels},hypercube({n}))"), bits + bits / n - 1)
    };
    let networks = [(2, 1), (2, 2), (2, 3), (2, 4), (2, 5), (3, 1), (3, 2), (3, 3), (4, 1)];
    let cases = diameters(run, networks.map(said))?;
    let (_, graph) = built("rsn(3,hypercube(2))")?;
    let hops = searched_diameter(run, "rsn(3,hypercube(2))")?;
    let degree = graph.degree_range().1 as u64;
    let nodes = graph.nodes();
    Ok(vec![
        claim("Section 3.1: RSN(l,Q_n) has diameter (1 + 1/n) log2 N - 1").exactly(How::AllPairs, &cases),
        claim("Section 3.1: l = 3: N = 2^(4n), degree n + 2, diameter log2 N + 3")
            .so(How::AllPairs, (graph.nodes(), degree, hops) == (1 << 8, 4, 11))
            .measured(format!("n = 2: {nodes} nodes, degree {degree}, diameter {hops}")),
    ])
}

fn hcn_diameter(run: &Run) -> Claims {
    let (mut said, mut exact) = (Vec::new(), Vec::new());
    for n in 1..=if run.long { 7u64 } else { 6 } {
        let expression = format!("hcn({n})");
        let found = searched_diameter(run, &expression)?;
        said.push(Case::new(&expression, n + n / 2 + 1, found));
        exact.push(Case::new(&expression, n + (n + 1) / 3 + 1, found));
    }

    Ok(vec![
        claim("Section 3.1: HCN(n,n) is routed in no more than n + floor(n/2) + 1 steps").at_most(How::AllPairs, &said),
        claim("Section 3.1 exact: its diameter is n + floor((n+1)/3) + 1 (not in the paper)")
            .exactly(How::AllPairs, &exact)
            .finding(),
    ])
}

fn complete_nuclei(run: &Run) -> Claims {
    let (mut degrees, mut diameters, mut cubes) = (Vec::new(), Vec::new(), Vec::new());
    let mut printed = Vec::new();
    for (levels, n) in [(2u32, 3u64), (2, 4), (2, 5), (2, 8), (3, 3), (3, 4), (3, 5)] {
        let expression = format!("rsn({levels},complete({n}))");
        let found = searched(run, &expression)?;
        let hops = diameter(&found)?;
        degrees.push(Case::new(&expression, n + u64::from(levels) - 2, found.degree_max));
        // N_1 + log2 log2 N - log2 log2 N_1 - 2, one less than N_1 + l - 2.
        printed.push(Case::new(&expression, n + u64::from(levels) - 3, found.degree_max));
        diameters.push(Case::new(&expression, (1u64 << levels) - 1, hops));
        if n >= 4 {
            let bits = (found.nodes as f64).log2().ceil() as u64;
            cubes.push(Case::new(&expression, bits - 1, hops));
        }
    }

    Ok(vec![
        claim("Section 4.1: RSN(l,K) has node degree N_1 + l - 2").exactly(How::Counted, &degrees),
        claim("Section 4.1: that is N_1 + log2 log2 N - log2 log2 N_1 - 2").exactly(How::Counted, &printed),
        claim("Section 4.1: its diameter is no more than 2^l - 1").at_most(How::AllPairs, &diameters),
        claim("Section 4.1: for N_1 >= 4 its diameter is below a hypercube's of the same size")
            .at_most(How::AllPairs, &cubes),
    ])
}

fn mesh_nuclei(_: &Run) -> Claims {
    let mut cases = Vec::new();
    for (levels, mesh, dimensions) in [
        (2u64, "mesh(3,3)", 2),
        (3, "mesh(3,3)", 2),
        (2, "mesh(3,3,3)", 3),
        (3, "path(3)", 1),
    ] {
        let expression = format!("rsn({levels},{mesh})");
        let most = built(&expression)?.1.degree_range().1;
        cases.push(Case::new(&expression, levels + 2 * dimensions - 1, most as u64));
    }
    Ok(vec![
        claim("Section 4.3: over an n-D mesh the node degree is l + 2n - 1").exactly(How::Counted, &cases),
    ])
}

/// The links between every two parts of `size` consecutive nodes: the fewest and the most.
fn links_between(graph: &Graph, size: usize) -> (usize, usize) {
    let parts = graph.nodes() / size;
    let mut counts = vec![0usize; parts * parts];
    for (u, v) in graph.edge_list().filter(|(u, v)| u / size != v / size) {
        counts[u / size * parts + v / size] += 1;
    }
    let pairs = (0..parts).flat_map(|a| (a + 1..parts).map(move |b| (a, b)));
    let counts = pairs.map(|(a, b)| counts[a * parts + b]);
    (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0))
}

fn three_levels(_: &Run) -> Claims {
    let mut found = Vec::new();
    let mut so = true;
    for n in 1..=3u32 {
        let (network, graph) = built(&format!("hcn3({n})"))?;
        let (least, most) = links_between(&graph, 1 << (2 * n));
        let degree = graph.degree_range().1;
        so &= least == 1 << n && most == 1 << n && degree == n as usize + 2;
        let swapped = |node: usize| {
            let digit = |at: u32| node >> (n * at) & ((1 << n) - 1);
            digit(0) << (2 * n) | digit(1) << n | digit(2)
        };
        so &= (0..graph.nodes()).all(|node| swapped(node) == node || graph.linked(node, swapped(node)));
        found.push(format!(
            "{network}: {least} to {most} links a pair of modules, degree {degree}"
        ));
    }
    let (_, plain) = built("hsn(3,hypercube(2))")?;
    let (_, cubic) = built("hcn3(2)")?;
    let inside = plain.edge_list().all(|(u, v)| cubic.linked(u, v));
    Ok(vec![
        claim(
            "Section 5.1: 3-HCN: every two of its N^(1/3) modules have N^(1/3) links, X'X''X''' - \
             X'''X''X'; degree log2(N)/3 + 2",
        )
        .so(How::Counted, so)
        .measured(found.join("; ")),
        claim("Section 5.1: 3-HCNs are hierarchical swapped networks (with diameter links)")
            .so(How::Counted, inside)
            .measured(format!(
                "hsn(3,hypercube(2)) has {} links, all in hcn3(2): {inside}; hcn3(2) has {}",
                plain.edges(),
                cubic.edges()
            )),
    ])
}

fn one_link_a_pair(_: &Run) -> Claims {
    let mut rows = Vec::new();
    for (text, networks) in [
        (
            "Section 2.1: RSN: every two clusters of a level have one link",
            &[("rsn(2,hypercube(3))", 8), ("rsn(3,hypercube(2))", 16)][..],
        ),
        (
            "Section 5.2: WK-recursive: every two copies have exactly one link",
            &[("wk(4,3)", 16), ("wk(5,4)", 125)][..],
        ),
        (
            "Section 5.2: symmetric hypernet: every two copies have exactly one link",
            &[("symmetric-hypernet(2,3)", 16), ("symmetric-hypernet(3,3)", 64)][..],
        ),
        (
            "Section 5.2: hypernet: 2^(1-l) N copies, every two with exactly one link",
            &[("hypernet(3,2)", 8), ("hypernet(4,2)", 16)][..],
        ),
    ] {
        let mut found = Vec::new();
        let mut so = true;
        for &(expression, size) in networks {
            let (_, graph) = built(expression)?;
            let (least, most) = links_between(&graph, size);
            so &= (least, most) == (1, 1);
            let copies = graph.nodes() / size;
            found.push(format!("{expression}: {copies} copies, {least} to {most} links a pair"));
        }
        rows.push(claim(text).so(How::Counted, so).measured(found.join("; ")));
    }
    let mut sizes = Vec::new();
    for (n, levels) in [(3u64, 2u32), (4, 2), (4, 3), (5, 3)] {
        let expression = format!("hypernet({n},{levels})");
        // N_l = 2^(1-l) N_(l-1)^2.
        let said = (2..=levels).fold(n, |bits, level| 2 * bits + 1 - u64::from(level));
        sizes.push(Case::new(&expression, 1u64 << said, network(&expression)?.nodes()));
    }
    rows.push(claim("Section 5.2: an l-level hypernet has 2^(1-l) N_(l-1)^2 nodes").exactly(How::Counted, &sizes));
    Ok(rows)
}

fn partly_linked(run: &Run) -> Claims {
    let (network, graph) = built("partial-swapped")?;
    let upper = |node: usize| {
        let mut near = graph.neighbors(node).iter();
        near.any(|&other| other as usize >> 8 != node >> 8)
    };
    let without = (0..graph.nodes()).filter(|&node| !upper(node)).count();
    let share = 100.0 * without as f64 / graph.nodes() as f64;
    let figures = searched(run, "partial-swapped")?;
    let routed = Stretch::measure(&network, &graph, Rule::Paper)?;
    Ok(vec![
        claim("Section 5.2: 16 copies of RSN(3,Q_2), level-4 links where x_0 = 0: about half the nodes have none")
            .so(How::Counted, (40.0..60.0).contains(&share))
            .measured(format!("{without} of {} nodes, {share:.0}%", graph.nodes())),
        claim("Section 5.2: nodes without a level-4 link reach one within the nucleus: the network is connected")
            .so(How::AllPairs, graph.parts() == 1)
            .measured(format!(
                "diameter {}; routes by way of such a neighbor are {:.2} times as long as shortest \
                 paths on average, {:.2} at worst",
                diameter(&figures)?,
                routed.mean(),
                routed.worst.ratio()
            )),
    ])
}
