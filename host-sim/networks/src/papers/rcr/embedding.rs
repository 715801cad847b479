//! The embedded binary tree of Lemma 1, and the comparison of bisection widths.

use super::super::{Claims, How, Run, Verdict, built};
use super::{Cube, all, claim};
use crate::binary_tree::{self, BinaryTree};
use crate::bisection;

pub(super) fn lemma_1(run: &Run) -> Claims {
    let (mut found, mut open, mut wide) = (0, Vec::new(), None);
    let (mut longer, mut longest) = (0, None::<(u64, String)>);
    let cubes = all(128, 8).into_iter().filter(|cube| cube.r << cube.bits() >= 7);
    let cubes: Vec<Cube> = cubes.collect();
    let mut expansion: f64 = 1.0;
    for cube in &cubes {
        (run.progress)(&cube.name());
        let (_, graph) = built(&cube.name())?;
        match BinaryTree::embed(&graph, None) {
            Some(tree) => {
                found += 1;
                let (hops, steps) = (u64::from(tree.depth(&graph)), cube.broadcast_steps());
                longer += u64::from(hops > steps);
                let more = hops.saturating_sub(steps);
                if longest.as_ref().is_none_or(|(most, _)| more > *most) {
                    let name = cube.name();

                    longest = Some((more, format!("{name}: {hops} hops, {steps} steps")));
                }
            }
            None => open.push(cube.name()),
        }
        let tree = (1u64 << binary_tree::levels(graph.nodes())) - 1;
        let ratio = graph.nodes() as f64 / tree as f64;
        if ratio > expansion {
            expansion = ratio;
            wide = Some(format!("{}: {} nodes, the tree has {tree}", cube.name(), graph.nodes()));
        }
    }
    let all = cubes.len();
    Ok(vec![
        claim(
            "Lemma 1: the complete binary tree of floor(log2(N + 1)) levels can be embedded with dilation \
                 below three",
        )
        // Not finding one proves nothing.
        .judged(How::Found, Verdict::of_reading(open.is_empty()))
        .measured(format!(
            "dilation 2 or 1 found on {found} of {all} networks of 7 to 128 nodes"
        ))
        .except((!open.is_empty()).then(|| format!("none was found on {}", open.join(", ")))),
        claim("Lemma 1: the expansion is one")
            .so(How::Counted, wide.is_none())
            .measured(format!(
                "nodes of the network over those of the tree: up to {expansion:.2}"
            ))
            .except(wide),
        claim(
            "Theorem 2, by the tree: an edge of the tree is a step in the paper, and up to two hops: a \
                 reduction or broadcast along it (not in the paper)",
        )
        .judged(How::Found, Verdict::Finding)
        .measured(format!(
            "the way from the root of the tree that was found to the farthest node is longer than \
                 Theorem 2 has it on {longer} of {found} networks{}",
            longest.map_or_else(String::new, |(_, most)| format!(", at most on {most}"))
        )),
    ])
}

/// The table is lost; the sentence about it is not. Networks of the same size and degree are compared, of which CCC and COR are some.
pub(super) fn table_1_bisection(run: &Run) -> Claims {
    let (mut larger, mut equal, mut smaller) = (0, 0, Vec::new());
    for (other, k) in [
        ("ccc(3)", 1),
        ("ccc(4)", 1),
        ("ccc(5)", 1),
        ("cor(2,2)", 2),
        ("cor(2,3)", 2),
    ] {
        let (_, graph) = built(other)?;
        let Some(theirs) = bisection::bounds(&graph) else {
            continue;
        };
        let (nodes, degree) = (graph.nodes(), graph.degree_range());
        let same = |cube: &&Cube| cube.k == k && (cube.r << cube.bits()) as usize == nodes;
        for cube in all(256, 16).iter().filter(same) {
            (run.progress)(&cube.name());
            let (_, graph) = built(&cube.name())?;
            let Some(ours) = bisection::bounds(&graph).filter(|_| graph.degree_range() == degree) else {
                continue;
            };
            match ours.most.cmp(&theirs.most) {
                std::cmp::Ordering::Greater => larger += 1,
                std::cmp::Ordering::Equal => equal += 1,
                std::cmp::Ordering::Less => smaller.push(format!("{}: {ours}, {other}: {theirs}", cube.name())),
            }
        }
    }
    let themselves = || "CCC and COR are RCRs themselves".into();
    let example = smaller.first().cloned().unwrap_or_else(themselves);
    Ok(vec![
        claim(
            "Table 1: RCRs have larger bisection width than CCC and COR (the table is lost; \
             compared at the same size and degree)",
        )
        .judged(How::BestCut, Verdict::of_reading(smaller.is_empty() && equal == 0))
        .measured(format!(
            "against CCC and COR of the same size and degree larger on {larger}, equal on {equal}, \
             smaller on {} networks",
            smaller.len()
        ))
        .except(Some(example)),
    ])
}
