//! The bisection width: how few links join two halves of a network.
//!
//! Exact for small graphs; for larger ones a lower bound from how evenly shortest paths load the links, and an upper bound from
//! the best cut that local search finds.

use rayon::prelude::*;

use super::graph::Graph;

/// Graphs up to this size are cut in every way that could be best.
const EXACT: usize = 32;
/// Larger graphs are not looked at: the bounds take time O(nodes * links).
pub const MAX_NODES: usize = 4096;

/// What is known of the bisection width: at least `least`, at most `most`, equal if it is known exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Bisection {
    /// No cut into halves has fewer links.
    pub least: u64,
    pub most: u64,
}

impl std::fmt::Display for Bisection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.least == self.most {
            write!(f, "{}", self.most)
        } else {
            write!(f, "{} to {}", self.least, self.most)
        }
    }
}

/// Bounds of the bisection width, halves of sizes that differ by at most one; `None` for graphs of more than [`MAX_NODES`].
pub fn bounds(graph: &Graph) -> Option<Bisection> {
    if graph.nodes() > MAX_NODES {
        return None;
    }
    let most = cut_size(graph, &best_cut(graph));
    if graph.nodes() <= EXACT {
        let most = exact(graph, most);
        return Some(Bisection { least: most, most });
    }
    let least = load_bound(graph).min(most);
    Some(Bisection { least, most })
}

pub fn cut_size(graph: &Graph, side: &[bool]) -> u64 {
    graph.edge_list().filter(|&(u, v)| side[u] != side[v]).count() as u64
}

/// A cut into halves with few links: local search from halves by number, by every way of reading the number as two digits, and
/// by distance from some nodes.
pub fn best_cut(graph: &Graph) -> Vec<bool> {
    let nodes = graph.nodes();
    let mut orders: Vec<Vec<usize>> = vec![(0..nodes).collect()];
    for divisor in (2..nodes).filter(|divisor| nodes.is_multiple_of(*divisor)) {
        let mut order: Vec<usize> = (0..nodes).collect();
        order.sort_by_key(|node| (node % divisor, *node));
        orders.push(order);
    }
    for root in (0..nodes).step_by(nodes.div_ceil(8)) {
        let hops = super::distances::hops_from(graph, root);
        let mut order: Vec<usize> = (0..nodes).collect();
        order.sort_by_key(|&node| (hops[node], node));
        orders.push(order);
    }
    // The cuts that are best to begin with are worth improving.
    let start = |order: Vec<usize>| {
        let mut side = vec![false; nodes];
        order[..nodes / 2].iter().for_each(|&node| side[node] = true);
        (cut_size(graph, &side), side)
    };
    let mut starts: Vec<(u64, Vec<bool>)> = orders.into_iter().map(start).collect();

    starts.sort_by_key(|start| start.0);
    starts.truncate(8);
    let improved = starts.into_par_iter().map(|(_, side)| improve(graph, side));
    improved
        .min_by_key(|side| cut_size(graph, side))
        .expect("there is always the cut by number")
}

/// Exchanges pairs of nodes across the cut as long as some series of exchanges makes it smaller.
///
/// B. W. Kernighan, S. Lin, An Efficient Heuristic Procedure for Partitioning Graphs, Bell System Technical Journal 49, 1970.
fn improve(graph: &Graph, mut side: Vec<bool>) -> Vec<bool> {
    loop {
        let before = cut_size(graph, &side);
        let after = one_pass(graph, &side);
        if cut_size(graph, &after) >= before {
            return side;
        }
        side = after;
    }
}

/// How many links less the cut would have if the node changed sides.
fn gain(graph: &Graph, side: &[bool], node: usize) -> i64 {
    let links = graph.neighbors(node).iter();
    let gain = |&other: &u32| if side[other as usize] == side[node] { -1 } else { 1 };
    links.map(gain).sum()
}

/// Exchanges best pair after best pair, each node once, and returns the best of the cuts on the way.
fn one_pass(graph: &Graph, start: &[bool]) -> Vec<bool> {
    let nodes = graph.nodes();
    let mut side = start.to_vec();
    let mut moved = vec![false; nodes];
    let mut gains: Vec<i64> = (0..nodes).map(|node| gain(graph, &side, node)).collect();
    let (mut total, mut best_total, mut best) = (0, 0, start.to_vec());
    for _ in 0..nodes / 2 {
        let best_of = |from: bool, gains: &[i64]| {
            let free = (0..nodes).filter(|&node| !moved[node] && side[node] == from);
            free.max_by_key(|&node| gains[node])
        };
        let Some(a) = best_of(true, &gains) else { break };
        // A link between the two stays cut: it counts for neither.
        let neighbors = || graph.neighbors(a).iter().map(|&near| near as usize);
        neighbors().for_each(|near| gains[near] -= 2);
        let b = best_of(false, &gains);
        neighbors().for_each(|near| gains[near] += 2);
        let Some(b) = b else { break };
        for node in [a, b] {
            total += gain(graph, &side, node);
            side[node] = !side[node];
            moved[node] = true;
            for &near in graph.neighbors(node) {
                gains[near as usize] = gain(graph, &side, near as usize);
            }
        }
        if total > best_total {
            best_total = total;
            best.copy_from_slice(&side);
        }
    }
    best
}

/// A lower bound: of a*b*2 ordered pairs across a cut into a and b nodes each sends one unit along its shortest paths in equal
/// parts; a link carries at most the largest load, which gives the minimum number of links cut.
///
/// T. Leighton, Introduction to Parallel Algorithms and Architectures, 1992, section 1.9. Loads as U. Brandes, A Faster
/// Algorithm for Betweenness Centrality, J. Math. Sociol. 25, 2001: O(nodes * links).
fn load_bound(graph: &Graph) -> u64 {
    let nodes = graph.nodes();
    let none = || vec![0f64; 2 * graph.edges()];
    let and_from = |mut load: Vec<f64>, source| {
        add_loads(graph, source, &mut load);
        load
    };
    let sum = |mut a: Vec<f64>, b: Vec<f64>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    let load = (0..nodes).into_par_iter().fold(none, and_from).reduce(none, sum);

    let both_ways = |node: usize, at: usize, other: usize| {
        let back = graph.neighbors(other).binary_search(&(node as u32));
        let back = back.expect("links go both ways");
        load[graph.first_link(node) + at] + load[graph.first_link(other) + back]
    };
    let links = (0..nodes).flat_map(|node| {
        let others = graph.neighbors(node).iter().enumerate();
        others.map(move |(at, &other)| (node, at, other as usize))
    });
    let sums = links.map(|(node, at, other)| both_ways(node, at, other));
    let largest = sums.fold(0f64, f64::max);
    let (a, b) = ((nodes / 2) as f64, nodes.div_ceil(2) as f64);
    // Rounding errors must not lift the bound.
    (2.0 * a * b / largest - 1e-6).ceil() as u64
}

/// Adds what one unit from `source` to every node puts on each link, by direction.
fn add_loads(graph: &Graph, source: usize, load: &mut [f64]) {
    let hops = super::distances::hops_from(graph, source);
    let mut order: Vec<usize> = (0..graph.nodes()).collect();
    order.sort_unstable_by_key(|&node| hops[node]);
    let mut paths = vec![0f64; graph.nodes()];
    paths[source] = 1.0;
    for &node in &order {
        for &next in graph.neighbors(node) {
            if hops[next as usize] == hops[node] + 1 {
                paths[next as usize] += paths[node];
            }
        }
    }
    let mut carried = vec![0f64; graph.nodes()];
    for &node in order.iter().rev() {
        for (at, &next) in graph.neighbors(node).iter().enumerate() {
            let next = next as usize;
            if hops[next] == hops[node] + 1 {
                let share = paths[node] / paths[next] * (1.0 + carried[next]);
                load[graph.first_link(node) + at] += share;
                carried[node] += share;
            }
        }
    }
}

/// The least cut, given that `known` links suffice: every way to give the nodes sides, in breadth-first order, as long as the
/// links already cut, and those that any choice for the rest must cut, are fewer than the best found.
fn exact(graph: &Graph, known: u64) -> u64 {
    let nodes = graph.nodes();
    let hops = super::distances::hops_from(graph, 0);
    let mut order: Vec<usize> = (0..nodes).collect();
    order.sort_by_key(|&node| hops[node]);
    let mut search = Exact {
        graph,
        order,
        side: vec![None; nodes],
        room: [nodes.div_ceil(2), nodes.div_ceil(2)],
        best: known,
    };
    search.place(0, 0);
    search.best
}

struct Exact<'a> {
    graph: &'a Graph,
    order: Vec<usize>,
    side: Vec<Option<bool>>,
    /// How many more nodes each side takes.
    room: [usize; 2],
    best: u64,
}

impl Exact<'_> {
    fn place(&mut self, depth: usize, cut: u64) {
        let Some(&node) = self.order.get(depth) else {
            self.best = self.best.min(cut);
            return;
        };
        // The first node's side is a matter of naming.
        let sides: &[bool] = if depth == 0 { &[false] } else { &[false, true] };
        for &side in sides {
            if self.room[usize::from(side)] == 0 {
                continue;
            }
            let cut = cut + self.links_to(node, !side);
            self.side[node] = Some(side);
            if cut + self.forced(depth + 1) < self.best {
                self.room[usize::from(side)] -= 1;
                self.place(depth + 1, cut);
                self.room[usize::from(side)] += 1;
            }
            self.side[node] = None;
        }
    }

    fn links_to(&self, node: usize, side: bool) -> u64 {
        let neighbors = self.graph.neighbors(node).iter();
        neighbors
            .filter(|&&other| self.side[other as usize] == Some(side))
            .count() as u64
    }

    /// Links that are cut whatever becomes of the nodes without a side.
    fn forced(&self, depth: usize) -> u64 {
        let rest = self.order[depth..].iter();
        rest.map(|&node| self.links_to(node, false).min(self.links_to(node, true)))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use hopwise_core::Network;
    use hopwise_testing::figures;

    use super::*;

    #[test]
    fn known_bisections_lie_within_the_bounds() {
        for (expression, known) in figures("bisections") {
            let known = known[0];
            let network: Network = expression.parse().unwrap();
            let found = bounds(&Graph::build(&network).unwrap()).unwrap();
            let is_between = found.least <= known && known <= found.most;
            assert!(is_between, "{expression}: {found}, not {known}");
            if network.nodes() <= EXACT as u64 || expression.starts_with("hypercube") {
                assert_eq!((found.least, found.most), (known, known), "{expression}");
            }
        }
    }
}
