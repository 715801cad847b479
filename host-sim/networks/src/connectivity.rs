//! How many nodes must fail before a graph falls apart.

use super::graph::Graph;

/// The least number of nodes whose removal leaves the rest in parts, or a single node.
///
/// By Menger's theorem the least, over pairs of nodes without a link, of the paths between them that share no other node; one
/// end can be kept to the first few nodes, since a least set of nodes to remove cannot hold them all. O(n c^2 e) for
/// connectivity c. S. Even, An Algorithm for Determining Whether the Connectivity of a Graph is at Least k, SIAM J. Comput.
/// 4(3), 1975.
pub fn vertex_connectivity(graph: &Graph) -> usize {
    let nodes = graph.nodes();
    let mut flow = Flow::new(graph);
    let mut least = nodes - 1;
    let mut from = 0;
    while from <= least && from < nodes {
        for to in (0..nodes).filter(|&to| to != from && !graph.linked(from, to)) {
            least = least.min(flow.disjoint_paths(from, to, least));
        }
        from += 1;
    }
    least
}

/// Paths from one node to another, not linked to it, that share no node in between.
pub fn disjoint_paths(graph: &Graph, from: usize, to: usize) -> usize {
    Flow::new(graph).disjoint_paths(from, to, usize::MAX)
}

/// The graph with every node split into an entry 2v and an exit 2v+1, all arcs of capacity one. Arc 2i+1 is arc 2i backwards.
struct Flow {
    arcs: Vec<Vec<usize>>,
    heads: Vec<usize>,
    free: Vec<bool>,
}

impl Flow {
    fn new(graph: &Graph) -> Flow {
        let mut flow = Flow {
            arcs: vec![Vec::new(); 2 * graph.nodes()],
            heads: Vec::new(),
            free: Vec::new(),
        };
        for node in 0..graph.nodes() {
            flow.add(2 * node, 2 * node + 1);
            for &neighbor in graph.neighbors(node) {
                flow.add(2 * node + 1, 2 * neighbor as usize);
            }
        }
        flow
    }

    fn add(&mut self, from: usize, to: usize) {
        for (tail, head) in [(from, to), (to, from)] {
            self.arcs[tail].push(self.heads.len());
            self.heads.push(head);
            self.free.push(false);
        }
    }

    /// At most `enough` are looked for.
    fn disjoint_paths(&mut self, from: usize, to: usize, enough: usize) -> usize {
        for (arc, free) in self.free.iter_mut().enumerate() {
            *free = arc % 2 == 0;
        }
        let mut paths = 0;
        while paths < enough && self.augment(2 * from + 1, 2 * to) {
            paths += 1;
        }
        paths
    }

    /// One more path, if there is one: depth-first, over free arcs only.
    fn augment(&mut self, source: usize, sink: usize) -> bool {
        let mut came_by = vec![None; self.arcs.len()];
        let mut waiting = vec![source];
        while let Some(place) = waiting.pop() {
            for &arc in &self.arcs[place] {
                let head = self.heads[arc];
                if self.free[arc] && head != source && came_by[head].is_none() {
                    came_by[head] = Some(arc);
                    waiting.push(head);
                }
            }
        }
        let mut place = sink;
        while let Some(arc) = came_by[place] {
            self.free[arc] = false;
            self.free[arc ^ 1] = true;
            place = self.heads[arc ^ 1];
        }
        place == source
    }
}

#[cfg(test)]
mod tests {
    use hopwise_core::Network;
    use hopwise_testing::figures;

    use super::*;

    #[test]
    fn known_connectivities() {
        for (expression, known) in figures("connectivities") {
            let network: Network = expression.parse().unwrap();
            let found = vertex_connectivity(&Graph::build(&network).unwrap());
            assert_eq!([found as u64], known[..], "{expression}");
        }
    }
}
