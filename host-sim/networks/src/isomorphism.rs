//! Whether two graphs are the same up to the numbering of their nodes, by search.

use super::graph::Graph;

/// Candidates looked at before the search gives up.
const MAX_CANDIDATES: u64 = 20_000_000;

const NOWHERE: usize = usize::MAX;

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The image of each node of the first graph.
    Renumbering(Vec<usize>),
    /// There is none.
    Nothing,
    /// It would take too long to find out.
    GaveUp,
}

/// The search would take too long to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// Looks for a renumbering that carries `first` to `second`, and each pinned node of the first to its image.
///
/// The nodes are placed breadth-first from the first pinned one, of which there must be one, each at a free neighbor of its predecessor's image that has the right
/// links to all nodes placed before. Small symmetric graphs seldom go back far; the worst case is exponential.
pub fn search(first: &Graph, second: &Graph, pins: &[(usize, usize)]) -> Found {
    let (from, to) = pins[0];
    let order = breadth_first(first, from);
    if first.nodes() != second.nodes() || first.edges() != second.edges() || order.len() != first.nodes() {
        return Found::Nothing;
    }
    let mut image = vec![NOWHERE; first.nodes()];
    let mut taken = vec![false; second.nodes()];
    let mut looked_at = 0;
    // For each node placed or being placed, the candidates tried so far.
    let mut tried = vec![0usize];
    while let Some(&skip) = tried.last() {
        let depth = tried.len() - 1;
        let (node, before) = order[depth];
        if image[node] != NOWHERE {
            taken[image[node]] = false;
            image[node] = NOWHERE;
        }
        let root = [to as u32];
        let candidates = before.map_or(&root[..], |before| second.neighbors(image[before]));
        looked_at += candidates.len() as u64;
        if looked_at > MAX_CANDIDATES {
            return Found::GaveUp;
        }
        let pinned = |candidate| pins.iter().all(|pin| (pin.0 == node) == (pin.1 == candidate));
        let fits = |candidate: usize| {
            !taken[candidate] && pinned(candidate) && same_links(first, second, &image, &taken, node, candidate)
        };
        let Some(chosen) = (skip..candidates.len()).find(|&at| fits(candidates[at] as usize)) else {
            tried.pop();
            continue;
        };
        tried[depth] = chosen + 1;
        image[node] = candidates[chosen] as usize;
        taken[image[node]] = true;
        if tried.len() == order.len() {
            return Found::Renumbering(image);
        }
        tried.push(0);
    }
    Found::Nothing
}

/// Whether some renumbering makes the graphs equal; `None` if it would take too long to find out.
pub fn isomorphic(first: &Graph, second: &Graph) -> Option<bool> {
    let mut gave_up = false;
    for to in 0..second.nodes() {
        match search(first, second, &[(0, to)]) {
            Found::Renumbering(_) => return Some(true),
            Found::GaveUp => gave_up = true,
            Found::Nothing => {}
        }
    }
    if gave_up { None } else { Some(false) }
}

/// A node that no automorphism maps node 0 to, if there is one: then the graph is not vertex-transitive. `Err` if it would take too long
/// to decide.
pub fn unlike_node_0(graph: &Graph) -> Result<Option<usize>, TooLong> {
    for to in 1..graph.nodes() {
        match search(graph, graph, &[(0, to)]) {
            Found::Renumbering(_) => {}
            Found::Nothing => return Ok(Some(to)),
            Found::GaveUp => return Err(TooLong),
        }
    }
    Ok(None)
}

/// A neighbor of node 0 to which no automorphism that fixes node 0 maps its first neighbor, if there is one. If there is none
/// and the graph is vertex-transitive, it is edge-transitive as well.
pub fn unlike_first_link(graph: &Graph) -> Result<Option<usize>, TooLong> {
    let first = graph.neighbors(0)[0] as usize;
    for &other in &graph.neighbors(0)[1..] {
        match search(graph, graph, &[(0, 0), (first, other as usize)]) {
            Found::Renumbering(_) => {}
            Found::Nothing => return Ok(Some(other as usize)),
            Found::GaveUp => return Err(TooLong),
        }
    }
    Ok(None)
}

/// The nodes by distance from the root, each with the node it was reached from.
fn breadth_first(graph: &Graph, root: usize) -> Vec<(usize, Option<usize>)> {
    let mut seen = vec![false; graph.nodes()];
    let mut order = vec![(root, None)];
    seen[root] = true;
    let mut next = 0;
    while let Some(&(node, _)) = order.get(next) {
        for &neighbor in graph.neighbors(node) {
            if !std::mem::replace(&mut seen[neighbor as usize], true) {
                order.push((neighbor as usize, Some(node)));
            }
        }
        next += 1;
    }
    order
}

/// Whether `candidate` is linked to the images of those, and only those, neighbors of `node` that were placed already.
fn same_links(first: &Graph, second: &Graph, image: &[usize], taken: &[bool], node: usize, candidate: usize) -> bool {
    let placed = || {
        let images = first.neighbors(node).iter().map(|&neighbor| image[neighbor as usize]);
        images.filter(|&at| at != NOWHERE)
    };
    let taken_near = second.neighbors(candidate).iter().filter(|&&at| taken[at as usize]);
    first.neighbors(node).len() == second.neighbors(candidate).len()
        && placed().all(|at| second.linked(candidate, at))
        && placed().count() == taken_near.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopwise_core::Network;

    fn graph(expression: &str) -> Graph {
        let network: Network = expression.parse().unwrap();
        Graph::build(&network).unwrap()
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
