//! The paper's two algorithms carried out as they are printed, on the network of Fig. 2: nodes and units are counted from 1, one
//! pivot a phase.

use super::super::{Claims, How, Run, built};
use super::claim;
use crate::graph::Graph;

/// Frame size, unit size and phases of Fig. 2.
const FRAME: usize = 4;
const UNIT: usize = 3;
const PHASES: u32 = 3;
const NODES: usize = UNIT * FRAME.pow(PHASES);
const EXPRESSION: &str = "re(ring(4),complete(3),3)";

/// The digit of node `i`, from 1, that stands for phase `phase`, from 1.
fn digit(i: usize, phase: u32) -> usize {
    (i - 1) / (UNIT * FRAME.pow(phase - 1)) % FRAME
}

pub(in super::super) fn relln(_: &Run) -> Claims {
    let (_, graph) = built(EXPRESSION)?;
    let printed_digit = |i: usize, j: u32| (i - 1) / (FRAME * FRAME.pow(j)) % FRAME;
    let mut addresses: Vec<(usize, Vec<usize>)> = (1..=NODES)
        .map(|i| ((i - 1) % UNIT, (0..PHASES).map(|j| printed_digit(i, j)).collect()))
        .collect();
    addresses.sort_unstable();
    addresses.dedup();
    let astray = (1..=NODES).filter(|i| i / UNIT * UNIT != (i - 1) / UNIT * UNIT).count();
    let built = Graph::from_edges(NODES, printed_links());
    let same = built.edge_list().eq(graph.edge_list());
    let (digits, links) = (addresses.len(), built.edges());
    Ok(vec![
        claim("RELLN, line 3: digit j+1 of node i is 1 + floor((i-1)/(n_f n_f^j)) mod n_f")
            .so(How::AsPrinted, digits == NODES)
            .measured(format!("Fig. 2's {NODES} nodes get {digits} different addresses"))
            .except(
                (digits != NODES).then(|| "the unit's size must stand for the first n_f: (i-1)/(n_u n_f^j)".into()),
            ),
        claim("RELLN, unit links: the links of node i within its unit are shifted by floor(i/n_u) n_u")
            .so(How::AsPrinted, astray == 0)
            .measured(format!("{astray} of {NODES} nodes get neighbors in another unit"))
            .except(
                (astray > 0).then(|| format!("node {UNIT}, the last of the first unit; it must be floor((i-1)/n_u)")),
            ),
        claim("RELLN, phase loop: the loop over phases makes the links between units (pivot 1 + (i-1) mod n_u)")
            .so(How::AsPrinted, same)
            .measured(format!(
                "{links} links, degree up to {}; {EXPRESSION} has {} and {}",
                built.degree_range().1,
                graph.edges(),
                graph.degree_range().1
            ))
            .except((!same).then(|| {
                format!(
                    "the pivot must follow the phase j, not the node i, and all copies: {} parts",
                    built.parts()
                )
            })),
    ])
}

/// The links within units as they should be, and those between units as the loop makes them: for every node i its own place in
/// the unit as pivot, and in phase j only the first copy.
fn printed_links() -> Vec<(usize, usize)> {
    let mut links = Vec::new();
    for unit in (0..NODES).step_by(UNIT) {
        links.extend((0..UNIT).flat_map(|a| (0..a).map(move |b| (unit + a, unit + b))));
    }
    let ring = (0..FRAME).map(|a| (a, (a + 1) % FRAME));
    for (alpha, beta) in ring {
        for j in 0..PHASES {
            let copy = UNIT * FRAME.pow(j);
            // Over all i, the pivots are all places.
            links.extend((0..copy).map(|place| (alpha * copy + place, beta * copy + place)));
        }
    }
    links
}

pub(in super::super) fn routrcn(_: &Run) -> Claims {
    let pairs = || {
        let all = (1..=NODES).flat_map(|x| (1..=NODES).map(move |y| (x, y)));
        all.filter(|(x, y)| x != y)
    };
    // The highest phase in which they differ.
    let top = |x: usize, y: usize| (1..=PHASES).rev().find(|&phase| digit(x, phase) != digit(y, phase));
    let unit_pairs = pairs().filter(|&(x, y)| top(x, y).is_none()).count();
    // The printed target lies in the unit of y; the frame walk of phase m changes digit m only.
    let unreachable = |(x, y): (usize, usize)| {
        top(x, y).is_some_and(|m| (1..=PHASES).any(|phase| phase != m && digit(x, phase) != digit(y, phase)))
    };
    let lost = pairs().filter(|&pair| unreachable(pair)).count();
    let all = pairs().count();
    let example = pairs().find(|&pair| unreachable(pair));
    let in_one = pairs().find(|&(x, y)| top(x, y).is_none());
    Ok(vec![
        claim("ROUTRCN, frame walk: the walk in the frame of phase m ends at the pivot of y's own unit")
            .so(How::AsPrinted, lost == 0)
            .measured(format!(
                "{EXPRESSION}: for {lost} of {all} pairs the walk does not lead there"
            ))
            .except(example.map(|(x, y)| format!("nodes {x} to {y}; the target must be ss + (t-s) n_u n_f^(m-1)"))),
        claim("ROUTRCN: every message arrives (there is no case for m = 0)")
            .so(How::AsPrinted, unit_pairs == 0)
            .measured(format!(
                "{EXPRESSION}: {unit_pairs} of {all} pairs lie in one unit; m is 0 and it calls itself again"
            ))
            .except(in_one.map(|(x, y)| format!("nodes {x} to {y}"))),
    ])
}
