//! Whether two graphs are the same up to the numbering of their nodes.
//!
//! The nodes of each graph are sorted into cells, by how many nodes and links there are at each distance, then by how many neighbors
//! they have in every cell. Where that leaves a choice, a node of the first graph gets a cell of its own, every node of that cell in the
//! second is tried for it, and both are sorted further (B. D. McKay, Practical graph isomorphism, Congressus Numerantium 30, 1981).
//! Sorting alone says nothing about graphs whose nodes are all alike.

use std::collections::VecDeque;

use super::distances::{UNREACHED, hops_from};
use super::graph::Graph;

/// Nodes and links looked at before a search gives up: a second or two.
const MAX_WORK: u64 = 200_000_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The image of each node of the first graph.
    Renumbering(Vec<usize>),
    Nothing,
    /// It would take too long to find out.
    GaveUp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// A graph whose nodes are sorted, to be compared with others.
pub struct Sorted {
    pub graph: Graph,
    /// The [`surroundings`] of each node.
    pub surroundings: Vec<u64>,
    cells: Cells,
}

impl Sorted {
    /// Sorts the nodes. With `alike` all are known to be alike, and surroundings are looked at from one only.
    ///
    /// Time O(N M) for N nodes and M links, or O(M log N) if all are alike.
    pub fn new(graph: Graph, alike: bool) -> Self {
        let node_0 = surroundings(&graph, 0);
        let of = |node| if alike { node_0 } else { surroundings(&graph, node) };
        let surroundings: Vec<u64> = (0..graph.nodes()).map(of).collect();
        let cells = Cells::new(&graph, &surroundings);
        Sorted {
            graph,
            surroundings,
            cells,
        }
    }

    /// Whether a node is the first in the order of its cell; all nodes that can be carried to each other are in one.
    pub fn is_first_of_cell(&self, node: usize) -> bool {
        self.cells.nodes[self.cells.cell[node] as usize] as usize == node
    }

    /// The same for all numberings of a graph, and as good as never for two graphs that sorting tells apart.
    pub fn fingerprint(&self) -> u64 {
        self.cells.trace
    }
}

/// A number for what is around a node: for each distance the nodes, the links among them, and the links outward.
pub fn surroundings(graph: &Graph, node: usize) -> u64 {
    let hops = hops_from(graph, node);
    let mut levels = Vec::new();
    for (node, &level) in hops.iter().enumerate().filter(|found| *found.1 != UNREACHED) {
        if levels.len() <= level as usize {
            levels.resize(level as usize + 1, [0u64; 3]);
        }
        let figures = &mut levels[level as usize];
        figures[0] += 1;
        for &near in graph.neighbors(node) {
            figures[1] += u64::from(hops[near as usize] == level);
            figures[2] += u64::from(hops[near as usize] > level);
        }
    }
    let mut number = 0;
    let figures = levels.as_flattened().iter();
    figures.for_each(|&figure| mix(&mut number, figure));
    number
}

fn mix(trace: &mut u64, figure: u64) {
    *trace = (*trace ^ figure).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    *trace ^= *trace >> 29;
}

/// Nodes in cells, which have an order that does not depend on the numbering.
#[derive(Clone)]
struct Cells {
    /// Cell by cell.
    nodes: Vec<u32>,
    /// For each node its place in `nodes`.
    place: Vec<u32>,
    /// For each node the place at which its cell begins, which is the cell's name.
    cell: Vec<u32>,
    /// The size of each cell, by name.
    size: Vec<u32>,
    /// A hash of everything that sorting saw, none of which depends on the numbering.
    trace: u64,
}

impl Cells {
    /// The coarsest cells in which all nodes have the same color, and the same number of neighbors in every cell.
    fn new(graph: &Graph, colors: &[u64]) -> Self {
        let numbers: Vec<u32> = (0..graph.nodes() as u32).collect();
        let mut cells = Cells {
            place: numbers.clone(),
            cell: vec![0; numbers.len()],
            size: vec![numbers.len() as u32; numbers.len()],
            trace: 0,
            nodes: numbers.clone(),
        };
        let mut all = numbers;
        all.sort_unstable_by_key(|&node| colors[node as usize]);
        let news = cells.split(&all, |node| colors[node]);
        cells.refine(graph, news);
        cells
    }

    /// Splits nodes of one cell, sorted by a key, from the rest of it and by that key; the names of the cells that it falls into.
    fn split(&mut self, sorted: &[u32], key: impl Fn(usize) -> u64) -> Vec<usize> {
        let cell = self.cell[sorted[0] as usize] as usize;
        let size = self.size[cell] as usize;
        let mut begin = cell + size - sorted.len();
        let mut names = Vec::new();
        if begin > cell {
            names.push(cell);
            self.size[cell] = (begin - cell) as u32;
        }
        for same in sorted.chunk_by(|&a, &b| key(a as usize) == key(b as usize)) {
            mix(&mut self.trace, key(same[0] as usize));
            mix(&mut self.trace, begin as u64);
            names.push(begin);
            self.size[begin] = same.len() as u32;
            for (to, &node) in (begin..).zip(same) {
                let (from, other) = (self.place[node as usize], self.nodes[to]);
                self.nodes.swap(from as usize, to);
                self.place[other as usize] = from;
                self.place[node as usize] = to as u32;
                self.cell[node as usize] = begin as u32;
            }
            begin += same.len();
        }
        names
    }

    /// Gives a node a cell of its own, and sorts the others by it; how many nodes and links were looked at.
    fn single_out(&mut self, graph: &Graph, node: usize) -> u64 {
        self.split(&[node as u32], |_| 0);
        self.refine(graph, vec![self.cell[node] as usize])
    }

    /// Splits cells until all nodes of each have the same number of neighbors in every cell, knowing that only the given ones are news.
    fn refine(&mut self, graph: &Graph, news: Vec<usize>) -> u64 {
        let mut work = self.nodes.len() as u64;
        let mut is_news = vec![false; self.nodes.len()];
        news.iter().for_each(|&cell| is_news[cell] = true);
        let mut news = VecDeque::from(news);
        // For each node its neighbors in the cell that is looked at.
        let mut count = vec![0u32; self.nodes.len()];
        while let Some(by) = news.pop_front() {
            is_news[by] = false;
            let members = &self.nodes[by..by + self.size[by] as usize];
            let mut near: Vec<u32> = Vec::new();
            for &node in members.iter().flat_map(|&node| graph.neighbors(node as usize)) {
                if count[node as usize] == 0 {
                    near.push(node);
                }
                count[node as usize] += 1;
                work += 1;
            }
            near.sort_unstable_by_key(|&node| (self.cell[node as usize], count[node as usize]));
            mix(&mut self.trace, by as u64);
            let mut rest = &near[..];
            while let Some(&first) = rest.first() {
                let cell = self.cell[first as usize];
                let (own, others) = rest.split_at(rest.partition_point(|&node| self.cell[node as usize] == cell));
                rest = others;
                let was_news = is_news[cell as usize];
                let names = self.split(own, |node| u64::from(count[node]));
                // What is known of the whole and of all parts but one is known of that one (Hopcroft 1971).
                let largest = names.iter().copied().max_by_key(|&name| (self.size[name], name));
                for name in names.into_iter().filter(|&name| was_news || Some(name) != largest) {
                    if !std::mem::replace(&mut is_news[name], true) {
                        news.push_back(name);
                    }
                }
            }
            near.into_iter().for_each(|node| count[node as usize] = 0);
        }
        work
    }

    /// The smallest cell of several nodes, if there is one; of several the first.
    fn open(&self) -> Option<usize> {
        let next = |&name: &usize| Some(name + self.size[name] as usize).filter(|&name| name < self.nodes.len());
        let names = std::iter::successors(Some(0), next);
        let several = names.filter(|&name| self.size[name] > 1);
        several.min_by_key(|&name| self.size[name])
    }
}

/// Looks for a renumbering that carries `first` to `second`, and each pinned node of the first to its image.
///
/// What is found is checked link by link. The worst case is exponential; it ends after `MAX_WORK`.
pub fn search(first: &Sorted, second: &Sorted, pins: &[(usize, usize)]) -> Found {
    let (mut from, mut to) = (first.cells.clone(), second.cells.clone());
    if first.graph.nodes() != second.graph.nodes() || first.graph.edges() != second.graph.edges() {
        return Found::Nothing;
    }
    for pin in pins {
        from.single_out(&first.graph, pin.0);
        to.single_out(&second.graph, pin.1);
    }
    if from.trace != to.trace {
        return Found::Nothing;
    }
    // The cells of the first graph after each choice, which are the same whatever is tried in the second; and those of the second, with how
    // many nodes have been tried for the next.
    let mut fixed = vec![from];
    let mut tried = vec![(to, 0)];
    let mut work = 0;
    while let Some(depth) = tried.len().checked_sub(1) {
        let Some(open) = fixed[depth].open() else {
            let mut image = vec![0; first.graph.nodes()];
            let pairs = fixed[depth].nodes.iter().zip(&tried[depth].0.nodes);
            pairs.for_each(|(&from, &to)| image[from as usize] = to as usize);
            if is_renumbering(&first.graph, &second.graph, &image) {
                return Found::Renumbering(image);
            }
            tried.pop();
            continue;
        };
        if fixed.len() == tried.len() {
            let mut from = fixed[depth].clone();
            work += from.single_out(&first.graph, fixed[depth].nodes[open] as usize);
            fixed.push(from);
        }
        let (to, next) = &mut tried[depth];
        if *next == to.size[open] as usize {
            tried.pop();
            continue;
        }
        let mut further = to.clone();
        work += further.single_out(&second.graph, to.nodes[open + *next] as usize);
        *next += 1;
        if work > MAX_WORK {
            return Found::GaveUp;
        }
        if further.trace == fixed[depth + 1].trace {
            tried.push((further, 0));
        }
    }
    Found::Nothing
}

/// Whether the images of all links of `first`, each of another node, are the links of `second`.
pub fn is_renumbering(first: &Graph, second: &Graph, image: &[usize]) -> bool {
    let mut taken = vec![false; second.nodes()];
    image
        .iter()
        .all(|&to| taken.get_mut(to).is_some_and(|taken| !std::mem::replace(taken, true)))
        && (first.nodes(), first.edges(), image.len()) == (second.nodes(), second.edges(), second.nodes())
        && first.edge_list().all(|(u, v)| second.linked(image[u], image[v]))
}

/// Whether some renumbering makes the graphs equal; `None` if it would take too long to find out.
pub fn isomorphic(first: &Graph, second: &Graph) -> Option<bool> {
    let sorted = |graph: &Graph| Sorted::new(graph.clone(), false);
    match search(&sorted(first), &sorted(second), &[]) {
        Found::Renumbering(_) => Some(true),
        Found::Nothing => Some(false),
        Found::GaveUp => None,
    }
}

/// A node that no automorphism maps node 0 to, if there is one: then the graph is not vertex-transitive. `Err` if it would take too long
/// to decide.
pub fn unlike_node_0(graph: &Graph) -> Result<Option<usize>, TooLong> {
    let sorted = Sorted::new(graph.clone(), false);
    // Every automorphism says of all nodes where they can go: nodes that are carried to each other have one number.
    let mut alike: Vec<usize> = (0..graph.nodes()).collect();
    for to in 1..graph.nodes() {
        if alike[to] == alike[0] {
            continue;
        }
        match search(&sorted, &sorted, &[(0, to)]) {
            Found::Renumbering(image) => {
                for (node, to) in image.into_iter().enumerate() {
                    let (keep, drop) = (alike[node], alike[to]);
                    if keep != drop {
                        alike.iter_mut().filter(|at| **at == drop).for_each(|at| *at = keep);
                    }
                }
            }
            Found::Nothing => return Ok(Some(to)),
            Found::GaveUp => return Err(TooLong),
        }
    }
    Ok(None)
}

/// A neighbor of node 0 to which no automorphism that fixes node 0 maps its first neighbor, if there is one. If there is none
/// and the graph is vertex-transitive, it is edge-transitive as well.
pub fn unlike_first_link(graph: &Graph) -> Result<Option<usize>, TooLong> {
    let sorted = Sorted::new(graph.clone(), false);
    let first = graph.neighbors(0)[0] as usize;
    for &other in &graph.neighbors(0)[1..] {
        match search(&sorted, &sorted, &[(0, 0), (first, other as usize)]) {
            Found::Renumbering(_) => {}
            Found::Nothing => return Ok(Some(other as usize)),
            Found::GaveUp => return Err(TooLong),
        }
    }
    Ok(None)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use hopwise_core::Network;
    use hopwise_testing::Random;

    pub(crate) fn graph(expression: &str) -> Graph {
        let network: Network = expression.parse().unwrap();
        Graph::build(&network).unwrap()
    }

    /// The graph of these edges with its nodes in another order.
    pub(crate) fn shuffled(nodes: usize, edges: impl Iterator<Item = (usize, usize)>, random: &mut Random) -> Graph {
        let mut numbers: Vec<usize> = (0..nodes).collect();
        for at in 1..nodes {
            numbers.swap(at, random.below(at as u64 + 1) as usize);
        }
        Graph::from_edges(nodes, edges.map(|(u, v)| (numbers[u], numbers[v])))
    }

    /// Two graphs of 16 nodes in which any two neighbors have two common ones, and any two others too: sorting alone sees no difference.
    #[test]
    fn graphs_that_sorting_cannot_tell_apart() {
        let apart = |u: usize, v: usize| ((u / 4 + 4 - v / 4) % 4, (u + 16 - v) % 4);
        let joined = |steps: &[(usize, usize)]| {
            let pairs = (0..256).map(|pair| (pair / 16, pair % 16));
            Graph::from_edges(16, pairs.filter(|&(u, v)| steps.contains(&apart(u, v))))
        };
        let shrikhande = Sorted::new(joined(&[(1, 0), (0, 1), (1, 1)]), false);
        let rook = Sorted::new(graph("ghc(4,4)"), false);
        assert_eq!(shrikhande.fingerprint(), rook.fingerprint());
        assert_eq!(search(&shrikhande, &rook, &[]), Found::Nothing);
        assert_eq!(unlike_node_0(&shrikhande.graph), Ok(None));
    }

    #[test]
    fn equal_graphs_are_found_and_different_ones_told_apart() {
        assert_eq!(isomorphic(&graph("torus(4,4)"), &graph("hypercube(4)")), Some(true));
        let found = isomorphic(&graph("rcr(1,4,3)"), &graph("re(complete(2),ring(4),4)"));
        assert_eq!(found, Some(true));
        assert_eq!(isomorphic(&graph("torus(3,6)"), &graph("torus(2,3,3)")), Some(false));
        // Two graphs with 10 nodes of degree 3.
        assert_eq!(isomorphic(&graph("petersen"), &graph("torus(5,2)")), Some(false));
    }

    #[test]
    fn nodes_that_differ_are_told_apart() {
        assert_eq!(unlike_node_0(&graph("petersen")), Ok(None));
        assert_eq!(unlike_node_0(&graph("rdn(ring(3),1)")), Ok(None));
        assert_eq!(unlike_node_0(&graph("path(4)")), Ok(Some(1)));
        assert_eq!(unlike_first_link(&graph("heawood")), Ok(None));
        assert_eq!(unlike_first_link(&graph("torus(3,5)")), Ok(Some(3)));
    }
}
