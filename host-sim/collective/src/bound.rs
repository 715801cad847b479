//! The fewest rounds that are possible, and those that were published.

use hopwise_core::collective::{Operation, Ports};
use hopwise_core::graph::Shape;
use hopwise_core::{Base, Family, Network, Node};
use hopwise_networks::bisection;
use hopwise_networks::figures::Figures;
use hopwise_networks::graph::Graph;

/// Cuts are searched for in networks of up to so many nodes; in larger ones the halves by number are taken.
const SEARCH_CUTS: usize = 256;

/// What a lower bound depends on besides the network.
pub struct Work<'a> {
    pub operation: Operation,
    pub ports: Ports,
    pub root: Node,
    /// By node, where its value goes, if it goes to one node only.
    pub permutation: Option<&'a [Option<Node>]>,
    /// The most values that one message carried.
    pub values_max: u64,
}

/// No schedule with messages of that size takes fewer rounds.
///
/// A value takes a round for each hop to the farthest node that needs it. With one port the number of nodes that know of a value at
/// most doubles in a round, and each tells its neighbors but one. And where halves of the nodes have to exchange values, as in an all-to-all exchange or, at worst, in
/// a sort, all of them go over the links between the halves.
pub fn lower_bound(network: &Network, graph: &Graph, work: &Work) -> u64 {
    let nodes = network.nodes();
    let farthest = |node: Node| {
        let hops = hopwise_networks::distances::hops_from(graph, node as usize);
        hops.iter().copied().max().map_or(0, u64::from)
    };
    let diameter = || {
        let known = network.diameter();
        let searched = || Figures::by_search(network, |_, _| ()).ok()?.diameter;
        known.or_else(searched).unwrap_or_else(|| farthest(0))
    };
    let hops = match (work.operation, work.permutation) {
        (Operation::Permute | Operation::Shift, Some(to)) => longest_way(graph, to),
        (Operation::Broadcast | Operation::Reduce | Operation::Gather | Operation::Scatter, _) => farthest(work.root),
        _ => diameter(),
    };
    let telling = match (work.ports, work.operation) {
        (Ports::All, _) | (_, Operation::Permute | Operation::Shift) => 0,
        (Ports::One, Operation::Broadcast | Operation::Reduce | Operation::Gather | Operation::Scatter) => {
            telling(graph, work.root as usize)
        }
        (Ports::One, Operation::Scan) => telling(graph, 0),
        (Ports::One, _) => {
            let fewest = (0..graph.nodes()).min_by_key(|&node| graph.neighbors(node).len());
            fewest.map_or(0, |node| telling(graph, node))
        }
    };
    let half = nodes / 2;
    let crossing = match work.operation {
        Operation::AllToAll => half * (nodes - half),
        Operation::Sort => half,
        _ => 0,
    };
    let cut = if crossing > 0 { smallest_cut(graph) } else { 1 };
    let over_cut = crossing.div_ceil(cut.max(1) * work.values_max.max(1));
    hops.max(telling).max(over_cut)
}

/// The rounds until all nodes know what one does, if each can tell all nodes, though only as many as it has neighbors, one in a round, and those
/// with the most neighbors are told first.
fn telling(graph: &Graph, root: usize) -> u64 {
    let mut others: Vec<usize> = (0..graph.nodes()).filter(|&node| node != root).collect();
    others.sort_by_key(|&node| graph.neighbors(node).len());
    let mut untold = vec![graph.neighbors(root).len()];
    let mut rounds = 0;
    while !others.is_empty() && untold.iter().any(|&left| left > 0) {
        for teller in 0..untold.len() {
            if let Some(left) = untold[teller].checked_sub(1)
                && let Some(told) = others.pop()
            {
                untold[teller] = left;
                untold.push(graph.neighbors(told).len().saturating_sub(1));
            }
        }
        rounds += 1;
    }
    rounds
}

/// The most hops that a value goes.
pub fn longest_way(graph: &Graph, to: &[Option<Node>]) -> u64 {
    let hops = |(from, to): (usize, &Option<Node>)| {
        let way = |to: Node| hopwise_networks::distances::hops_from(graph, from)[to as usize];
        to.map_or(0, |to| u64::from(way(to)))
    };
    to.iter().enumerate().map(hops).max().unwrap_or(0)
}

/// The links of a cut into halves, the best that was found.
fn smallest_cut(graph: &Graph) -> u64 {
    let by_number: Vec<bool> = (0..graph.nodes()).map(|node| node < graph.nodes() / 2).collect();
    let plain = bisection::cut_size(graph, &by_number);
    if graph.nodes() > SEARCH_CUTS {
        return plain;
    }
    plain.min(bisection::cut_size(graph, &bisection::best_cut(graph)))
}

fn cube_bits(base: &Base) -> Option<u64> {
    match base.shape() {
        Shape::Hypercube(bits) | Shape::FoldedHypercube(bits) => Some(u64::from(bits)),
        _ => None,
    }
}

/// The rounds in which, by its paper, a swapped network emulates a step along a dimension of a hypercube, a generalized one or a mesh:
/// 2l - 1, for all of them.
pub fn published_step(network: &Network) -> Option<u64> {
    let Family::Rsn(rsn) = network.family() else {
        return None;
    };
    let shape = rsn.nucleus().shape();
    let has_dimensions = matches!(shape, Shape::Line(..) | Shape::Product(..) | Shape::Hypercube(_));
    has_dimensions.then(|| 2 * rsn.levels() - 1)
}

/// The rounds that the network's paper gives, if it does. `base_rounds` is what the operation takes on the base graph alone.
///
/// - Dual-nets: one-port broadcast 2^k B(0) + 2^(k+1) - 2 (Theorem 3); prefix 2^k T(0) + 2^(k+1) - 2 (the same authors, later).
/// - Swapped networks over cubes of n bits: ascend 2^(l-1) n + 2^l, and 2l - 1 for a step of a hypercube, of which a bitonic
///   sorter has m (m + 1) / 2, m = 2^(l-1) n.
/// - Cubes of rings: all-port broadcast k + j + ceil(log2 r) + floor(r/2) (Theorem 2).
pub fn published(network: &Network, operation: Operation, ports: Ports, base_rounds: Option<u64>) -> Option<u64> {
    match network.family() {
        Family::Rdn(rdn) => {
            let levels = rdn.levels();
            let fits = match operation {
                Operation::Broadcast => ports == Ports::One,
                Operation::Scan | Operation::ExclusiveScan => true,
                _ => false,
            };
            let base = base_rounds.filter(|_| fits)?;
            Some((base << levels) + (2 << levels) - 2)
        }
        Family::Rsn(rsn) => {
            let (levels, bits) = (rsn.levels(), cube_bits(rsn.nucleus())?);
            let all = bits << (levels - 1);
            match operation {
                Operation::Fft => Some(all + (1 << levels)),
                Operation::Sort => Some(all * (all + 1) / 2 * (2 * levels - 1)),
                _ => None,
            }
        }
        Family::Rcr(rings) if operation == Operation::Broadcast && ports == Ports::All => {
            let ring = rings.ring();
            Some(rings.word_bits() + u64::from(ring.next_power_of_two().ilog2()) + ring / 2)
        }
        _ => None,
    }
}
