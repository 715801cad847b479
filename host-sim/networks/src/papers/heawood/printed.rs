//! The paper's algorithms and definitions, executed as printed.

use super::super::{Claims, How, Run, built};
use super::claim;
use crate::broadcast::Broadcast;
use crate::distances::hops_from;
use crate::graph::Graph;
use hopwise_core::Tree;

fn plus(x: usize) -> usize {
    (x + 1) % 14
}

fn minus(x: usize) -> usize {
    (x + 13) % 14
}

fn distance(x: usize) -> usize {
    if x % 2 == 1 { (x + 5) % 14 } else { (x + 9) % 14 }
}

/// Where the algorithm moves its place, and whether it forwards the message there.
fn routing_step(graph: &Graph, here: usize, dest: usize) -> (usize, bool) {
    if graph.linked(here, dest) {
        return (dest, true);
    }
    let options = [plus(here), minus(here), distance(here)];
    match options.into_iter().find(|&option| graph.linked(option, dest)) {
        Some(option) => (option, true),
        None => (plus(here), false),
    }
}

pub(in super::super) fn basic_routing(_: &Run) -> Claims {
    let (_, graph) = built("heawood")?;
    let (mut lost, mut example, mut longest, mut shortest) = (0, None, 0, 0);
    let pairs = (0..14).flat_map(|from| (0..14).map(move |dest| (from, dest)));
    for (from, dest) in pairs.filter(|(a, b)| a != b) {
        let (mut here, mut steps, mut forwarded) = (from, 0, true);
        while here != dest && steps < 14 {
            let (next, sent) = routing_step(&graph, here, dest);
            forwarded &= sent;
            here = next;
            steps += 1;
        }
        longest = longest.max(steps);
        shortest += usize::from(steps == hops_from(&graph, from)[dest] as usize);
        if !forwarded {
            lost += 1;
            example.get_or_insert(format!(
                "from {from} to {dest} the last else moves S but not the message"
            ));
        }
    }
    Ok(vec![
        claim("Basic-Routing: any message arrives within three steps")
            .so(How::AsPrinted, lost == 0 && longest <= 3)
            .measured(format!(
                "the message is left behind on {lost} of 182 pairs; if the last else forwards it too, \
             at most {longest} steps, \
             {shortest} of 182 shortest"
            ))
            .except(example),
    ])
}

pub(in super::super) fn basic_broadcasting(_: &Run) -> Claims {
    let (network, _) = built("heawood")?;
    let source = 0;
    let (p1, m1, d1) = (plus(source), minus(source), distance(source));
    let first = [p1, m1, d1];
    let second = [minus(p1), distance(p1), plus(m1), distance(m1), minus(d1), plus(d1)];
    let (m2, d2) = (minus(p1), distance(p1));
    // The last line names a node that is not defined; we read it as the one that sends.
    let third = [plus(m2), distance(m2), plus(d2), minus(d2)];
    let sent: Vec<usize> = [&first[..], &second, &third].concat();
    let back = sent.iter().filter(|&&node| node == source).count();
    let mut reached = sent.clone();
    reached.push(source);
    reached.sort_unstable();
    reached.dedup();
    let trees = [Tree::LeastDepth, Tree::FewestSteps].map(|tree| Broadcast::follow(&network, source as u64, tree));
    Ok(vec![
        claim("Basic-Broadcasting: the message reaches all nodes along a spanning tree")
            .so(How::AsPrinted, reached.len() == 14 && back == 0)
            .measured(format!(
                "{} of 14 nodes, {} copies, {back} of them back to the source. Trees that reach all 14: \
             depth {} in {} one-port steps, depth {} in {}",
                reached.len(),
                sent.len(),
                trees[0].depth,
                trees[0].one_port_steps(),
                trees[1].depth,
                trees[1].one_port_steps()
            ))
            .except(Some(format!("from node 0 only {reached:?} have it"))),
    ])
}

pub(in super::super) fn root_folded_links(_: &Run) -> Claims {
    let (_, base) = built("heawood")?;
    let (_, right) = built("root-folded(heawood,2)")?;
    // Every digit but the one that changes is 0.
    let links = base.edge_list().flat_map(|(a, b)| [(a, b), (14 * a, 14 * b)]);
    let printed = Graph::from_edges(196, links);
    let parts = printed.parts();
    Ok(vec![
        claim("Definition 3: a link of a root-folded network changes one digit, and all other digits are 0")
            .so(How::AsPrinted, parts == 1)
            .measured(format!(
                "n = 2: {} links, {parts} parts; with only the digits below set to 0, {} links and {} part",
                printed.edges(),
                right.edges(),
                right.parts()
            ))
            .except((parts > 1).then(|| "node (1,1) has no link at all".into())),
    ])
}
