//! Hierarchical networks of Heawood and Petersen graphs, by Jan, Hwang, Lin and Liang.

mod figure_9;
mod printed;

use hopwise_core::Tree;

use super::claim::Case;
use super::{
    Claim, Claims, How, Measurement, Paper, Run, Verdict, built, by_formula, diameter, network, routed, searched,
    shortest_cycle,
};
use crate::broadcast::Broadcast;
use crate::connectivity::disjoint_paths;
use crate::distances::hops_from;
use crate::graph::Graph;
use crate::isomorphism::{TooLong, unlike_first_link, unlike_node_0};
use crate::papers::CannotMeasure;

pub(super) const MEASUREMENTS: &[Measurement] = &[
    graph_properties,
    cycles,
    printed::basic_routing,
    printed::basic_broadcasting,
    symmetry,
    printed::root_folded_links,
    re_degrees,
    re_two,
    flooded,
    figure_9::nodes,
    figure_9::degrees,
    figure_9::diameters,
    figure_9::cost,
    broadcast_steps,
    routing_steps,
];

fn claim(text: &str) -> Claim {
    Claim::at(Paper::Heawood, text)
}

fn graph_properties(_: &Run) -> Claims {
    let (_, graph) = built("heawood")?;
    let (least, most) = graph.degree_range();
    let pairs = || (0..14).flat_map(|u| (0..u).map(move |v| (u, v)));
    let paths: Vec<usize> = pairs().map(|(u, v)| disjoint_paths(&graph, u, v)).collect();
    let farthest = (0..14).flat_map(|node| hops_from(&graph, node)).max().unwrap_or(0);
    let (nodes, links) = (graph.nodes(), graph.edges());
    let fewest = paths.iter().min().unwrap_or(&0);
    Ok(vec![
        claim("Definition 1: the Heawood graph has 14 nodes of three neighbors and 21 links")
            .so(How::Counted, (nodes, links, least, most) == (14, 21, 3, 3))
            .measured(format!("{nodes} nodes, {links} links, degrees {least} to {most}")),
        claim("Property 2: three paths join any pair, and the diameter is 3")
            .so(How::AllPairs, paths.iter().all(|&paths| paths == 3) && farthest == 3)
            .measured(format!("{fewest} disjoint paths for every pair; diameter {farthest}")),
    ])
}

fn six_cycles(graph: &Graph) -> Vec<Vec<usize>> {
    let mut paths: Vec<Vec<usize>> = (0..graph.nodes()).map(|node| vec![node]).collect();
    for _ in 1..6 {
        let longer = |path: &Vec<usize>| {
            let ends = graph.neighbors(path[path.len() - 1]).iter().map(|&next| next as usize);
            let fresh = ends.filter(|next| !path.contains(next));
            let longer = fresh.map(|next| [path.as_slice(), &[next]].concat());
            longer.collect::<Vec<_>>()
        };
        paths = paths.iter().flat_map(longer).collect();
    }
    paths.retain(|path| graph.linked(path[0], path[5]));
    paths
}

fn cycles(_: &Run) -> Claims {
    let (_, graph) = built("heawood")?;
    let shortest = graph.edge_list().map(|(u, v)| shortest_cycle(&graph, u, v));
    let girth = shortest.min().unwrap_or(0);
    let cycles = six_cycles(&graph);
    let mut on_one = 0;
    for (u, v) in (0..14).flat_map(|u| (0..u).map(move |v| (u, v))) {
        let apart = hops_from(&graph, u)[v] as usize;
        // Along the cycle in one direction; the other is what is left of six.
        let fits = |cycle: &Vec<usize>| cycle[0] == u && cycle[apart] == v;
        on_one += usize::from(cycles.iter().any(fits));
    }
    Ok(vec![
        claim("Property 3: the shortest cycle through any pair has length 6: paths of 1 and 5, 2 and 4, or 3 and 3")
            .so(How::AllPairs, girth == 6 && on_one == 91)
            .measured(format!(
                "shortest cycle {girth}; {on_one} of 91 pairs at distance d lie d and 6 - d apart on a cycle of six"
            )),
    ])
}

fn symmetry(run: &Run) -> Claims {
    (run.progress)("folded(heawood,2)");
    let (_, graph) = built("folded(heawood,2)")?;
    let (nodes, links) = (unlike_node_0(&graph), unlike_first_link(&graph));
    let so = nodes == Ok(None) && links == Ok(None);
    let word = |found: &Result<Option<usize>, TooLong>| match found {
        Ok(None) => "to every other".to_string(),
        Ok(Some(node)) => format!("not to node {node}"),
        Err(TooLong) => "too long to find out".into(),
    };
    Ok(vec![
        claim("Section 3.1: folded Heawood networks are node symmetric and edge symmetric")
            .so(How::Exhaustive, so)
            .measured(format!(
                "folded(heawood,2): a renumbering carries node 0 {}, its first link {}",
                word(&nodes),
                word(&links)
            )),
    ])
}

fn re_degrees(_: &Run) -> Claims {
    let (_, graph) = built("re(heawood,heawood,2)")?;
    let (least, most) = graph.degree_range();
    let six: Vec<usize> = (0..14).filter(|&place| graph.neighbors(place).len() == 6).collect();
    let mut most_nodes = 0;
    for n in 2..=20u64 {
        // Up to n = 15 a place of the unit serves at most one phase.
        if let Ok((_, 6, _)) = by_formula(&format!("re(heawood,heawood,{})", n - 1)) {
            most_nodes = n;
        }
    }
    Ok(vec![
        claim("Section 3.3: the degree of each node of an RE Heawood network is 6")
            .so(How::Counted, least == most && most == 6)
            .measured(format!("re(heawood,heawood,2): degrees {least} to {most}"))
            .except(
                (least != most).then(|| format!("node 13 has {} links; 6 is the maximum", graph.neighbors(13).len())),
            ),
        claim("Section 3.3.1: nodes with address i, 0 <= i <= n, have 6 links")
            .so(How::Counted, six.len() == 4)
            .measured(format!("n = 3: places {six:?} of the unit have 6 links"))
            .except((six.len() != 4).then(|| "Definition 4 joins addresses 0 to n - 2 only".into())),
        claim("Section 3.3: RE Heawood networks have up to 14^n nodes, n <= 15")
            .so(How::ClosedForm, most_nodes == 15)
            .measured(format!("the largest degree is 6 up to n = {most_nodes}")),
        printed_diameter()?,
    ])
}

/// The diameter as the broadcasting algorithm states it; Fig. 9 has 6n - 3.
fn printed_diameter() -> Result<Claim, CannotMeasure> {
    let mut equal = true;
    let mut below = true;
    for n in 2..=15u64 {
        let diameter = by_formula(&format!("re(heawood,heawood,{})", n - 1))?.2;
        equal &= diameter == 6 * n + 3;
        below &= diameter <= 6 * n + 3;
    }
    let smallest = by_formula("re(heawood,heawood,1)")?.2;
    Ok(
        claim("Section 3.3.2: the diameter of an RE Heawood network is 6n + 3 (in its broadcasting algorithm)")
            .judged(How::ClosedForm, Verdict::of_equality(equal, below))
            .measured(format!(
                "n = 2: {smallest}; n = 2 to 15: {}",
                if below { "never above" } else { "above for some" }
            ))
            .except((!equal).then(|| format!("{smallest} for n = 2, not 15; Fig. 9 has 6n - 3"))),
    )
}

fn re_two(run: &Run) -> Claims {
    let mut found = Vec::new();
    let mut smaller = true;
    for n in 2..=3u64 {
        let single = diameter(&searched(run, &format!("re(heawood,heawood,{})", n - 1))?)?;
        let all = diameter(&searched(run, &format!("re-heawood-2({n},all)"))?)?;
        let one = diameter(&searched(run, &format!("re-heawood-2({n},one)"))?)?;
        smaller &= all <= single;
        found.push(format!(
            "n = {n}: {all} with all links at each port, {one} with one, {single} in RE Heawood"
        ));
    }
    let mut degrees = Vec::new();
    for reading in ["one", "all"] {
        let network = network(&format!("re-heawood-2(15,{reading})"))?;
        let degrees_of = (0..14).map(|place| network.unchecked().degree(place));
        let most = degrees_of.max().unwrap_or(0);
        degrees.push(most);
    }
    Ok(vec![
        claim("Definition 5: RE Heawood II joins nodes n-2 and (n-2) +- 3 of the subnetworks to a Heawood network")
            .judged(How::AllPairs, if smaller { Verdict::Ambiguous } else { Verdict::False })
            .measured(format!("diameters {}", found.join("; ")))
            .except(Some(
                "the definition does not say which port takes which link of the upper Heawood graph".into(),
            )),
        claim("Fig. 7: a node of RE Heawood II is linked in at most three other dimensions")
            .so(How::Counted, degrees[0] == 6)
            .measured(format!(
                "n = 15: largest degree {} with one link a port, {} with all",
                degrees[0], degrees[1]
            )),
    ])
}

fn flooded(run: &Run) -> Claims {
    let mut leaves = Vec::new();
    let (mut only_six, mut averages) = (true, Vec::new());
    for n in 2..=4u32 {
        let expression = format!("flooded(heawood,{n})");
        (run.progress)(&expression);
        let (_, graph) = built(&expression)?;
        let degree = |node| graph.neighbors(node).len();
        let three = (0..graph.nodes()).filter(|&node| degree(node) == 3).count();
        only_six &= (0..graph.nodes()).all(|node| matches!(degree(node), 3 | 6));
        leaves.push(Case::new(&expression, 14 * 13u64.pow(n - 1), three as u64));
        averages.push(2.0 * graph.edges() as f64 / graph.nodes() as f64);
    }
    let mut degrees = claim("Section 3.5.1: the 14 * 13^(n-1) leaves have three neighbors, the others six")
        .exactly(How::Counted, &leaves);
    if !only_six {
        degrees.verdict = Verdict::False;
    }
    let printed = |n: i32| (3.0 * 14f64.powi(n - 1) + 6.0 * 14f64.powi(n)) / 14f64.powi(n);
    let last = averages[averages.len() - 1];
    let is_near = |mean: f64| (mean - 3.2).abs() < 0.05;

    let means: Vec<String> = averages.iter().map(|mean| format!("{mean:.3}")).collect();
    Ok(vec![
        degrees,
        claim("Section 3.5.1: the average degree is (3 * 14^(n-1) + 6 * 14^n) / 14^n, about 3.2")
            .so(How::Counted, is_near(printed(4)) && is_near(last))
            .measured(format!(
                "the printed quotient is {:.2} for every n; measured {}",
                printed(4),
                means.join(", ")
            ))
            .except(Some(
                "the powers are exchanged, and there are fewer nodes; the mean degree tends to 42/13".into(),
            )),
    ])
}

fn broadcast_steps(run: &Run) -> Claims {
    let mut cases = Vec::new();
    for n in 1..=3u64 {
        let network = network(&format!("folded(heawood,{n})"))?;
        (run.progress)(&network.to_string());
        let broadcast = Broadcast::follow(&network, 0, Tree::FewestSteps);
        let complete = broadcast.reached() == network.nodes() && broadcast.duplicates == 0;
        let steps = if complete { broadcast.one_port_steps() } else { u64::MAX };
        cases.push(Case::new(network, 4 * n, steps));
    }
    let row = claim(
        "Section 3.1.2: broadcasting in a folded Heawood network takes O(n) steps (one port: 4n, and 4 is the least for 14 \
         nodes)",
    );
    Ok(vec![row.at_most(How::SingleSource, &cases).growth()])
}

fn routing_steps(run: &Run) -> Claims {
    let mut rows = Vec::new();
    for (place, name, most) in [
        ("Section 3.1.2", "folded", (|n| 3 * n) as fn(u64) -> u64),
        ("Section 3.2.2", "root-folded", |n| 6 * n - 3),
        ("Section 3.5.2", "flooded", |n| 6 * n - 3),
    ] {
        let mut cases = Vec::new();
        for n in 1..=3 {
            let (network, found) = routed(run, &format!("{name}(heawood,{n})"))?;

            cases.push(Case::new(network, most(n), found.longest));
        }
        let text = format!(
            "{place}: routing in a {name} Heawood network takes O(n) steps (at most {name}'s diameter of Fig. 9)"
        );
        rows.push(claim(&text).at_most(How::AllPairs, &cases).growth());
    }
    Ok(rows)
}
