//! Broadcast trees for senders that can send one copy a step.
//!
//! Each step at most doubles the number of nodes that know, so n nodes take at least ceil(log2 n) steps. Hypercubes reach
//! that with their tree of least depth; complete graphs do with a binomial tree, the Petersen and the Heawood graph with a
//! schedule found by search. Products tell one dimension after the other. All other graphs keep the tree of least depth.

use super::{Base, Kind, product};
use crate::arith::{Number, Vertex, sub_mod};
use crate::topology::Topology;

/// For every node, who tells it and in which step, if node 0 broadcasts. Node 0 is told by nobody, in step 0.
type Schedule<const N: usize> = [(u8, u8); N];

/// 4 steps for 14 nodes; the tree of least depth takes 5.
const HEAWOOD: Schedule<14> = [
    (0, 0),
    (0, 1),
    (1, 2),
    (2, 3),
    (3, 4),
    (6, 4),
    (1, 3),
    (8, 4),
    (9, 3),
    (0, 2),
    (9, 4),
    (2, 4),
    (13, 4),
    (0, 3),
];

/// 4 steps for 10 nodes; the tree of least depth takes 5.
const PETERSEN: Schedule<10> = [
    (0, 0),
    (0, 1),
    (1, 2),
    (2, 3),
    (0, 2),
    (0, 3),
    (1, 3),
    (2, 4),
    (3, 4),
    (4, 3),
];

impl Base {
    /// [`Topology::fewest_steps_urgency`].
    pub(super) fn quickest(&self, here: Vertex, port: Number, source: Vertex) -> Option<u64> {
        let child = self.neighbor(here, port).filter(|&child| child != source)?;
        match &self.0 {
            Kind::Line(factor, n) => factor.quickest(*n, here, port, source),
            Kind::Product(factor, sizes) => product::quickest(*factor, sizes, here, port, source),
            Kind::Heawood => scheduled(&HEAWOOD, here, child, |node| heawood_as_from_zero(node, source)),
            Kind::Petersen => scheduled(&PETERSEN, here, child, |node| petersen_as_from_zero(node, source)),
            _ => self
                .passes_on(here, port, source)
                .then(|| self.urgency(here, port, source)),
        }
    }
}

fn scheduled<const N: usize>(
    schedule: &Schedule<N>,
    here: Vertex,
    child: Vertex,
    as_from_zero: impl Fn(Vertex) -> Vertex,
) -> Option<u64> {
    let (teller, step) = *schedule.get(as_from_zero(child) as usize)?;
    (Number::from(teller) == as_from_zero(here)).then_some(N as u64 - u64::from(step))
}

/// A symmetry of the graph that carries the source to node 0: a rotation by an even number, or a reflection.
fn heawood_as_from_zero(node: Vertex, source: Vertex) -> Vertex {
    if source.is_multiple_of(2) {
        sub_mod(node, source, 14)
    } else {
        sub_mod(source, node, 14)
    }
}

/// The same: the outer and the inner cycle exchanged if the source is on the inner one, then a rotation of both.
fn petersen_as_from_zero(node: Vertex, source: Vertex) -> Vertex {
    let exchanged = |node: Vertex| if node < 5 { 5 + node * 2 % 5 } else { (node - 5) * 2 % 5 };
    let (node, source) = if source < 5 {
        (node, source)
    } else {
        (exchanged(node), exchanged(source))
    };
    if node < 5 {
        sub_mod(node, source, 5)
    } else {
        5 + sub_mod(node - 5, source, 5)
    }
}
