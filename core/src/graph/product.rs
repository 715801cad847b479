//! Cartesian products of one-dimensional graphs: `torus`, `mesh` and `ghc`.
//!
//! A node is a digit per dimension, the first listed dimension least significant; a link changes one digit. Routing is
//! dimension order, the first dimension first, which is exact in any product.

use core::fmt;

use super::{Factor, Graph, Line};
use crate::arith::{Number, Vertex, div_rem};
use crate::limits::MAX_DIMENSIONS;

/// A product of lines, rings or complete graphs, without dimensions at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Product {
    sizes: [u32; MAX_DIMENSIONS],
    count: u8,
    pub(crate) factor: Factor,
}

impl Product {
    pub(crate) fn new(factor: Factor) -> Self {
        Product {
            sizes: [0; MAX_DIMENSIONS],
            count: 0,
            factor,
        }
    }

    /// Adds a dimension; `false` if there is no room.
    #[must_use]
    pub(crate) fn push(&mut self, size: u32) -> bool {
        match self.sizes.get_mut(usize::from(self.count)) {
            Some(slot) => {
                *slot = size;
                self.count += 1;
                true
            }
            None => false,
        }
    }

    /// The sizes of the dimensions, the least significant first.
    pub(crate) fn sizes(&self) -> &[u32] {
        self.sizes.get(..usize::from(self.count)).unwrap_or_default()
    }

    fn lines(&self) -> impl Iterator<Item = Line> + '_ {
        let line = |&size: &u32| Line {
            factor: self.factor,
            nodes: Number::from(size),
        };
        self.sizes().iter().map(line)
    }
}

/// One dimension of a node: its graph, the weight of its digit in the node's number, and the digit.
struct Axis {
    line: Line,
    stride: Number,
    digit: Number,
}

impl Axis {
    fn replace(&self, node: Vertex, digit: Number) -> Vertex {
        (node + digit * self.stride).wrapping_sub(self.digit * self.stride)
    }
}

impl Product {
    fn axes(&self, node: Vertex) -> impl Iterator<Item = Axis> + '_ {
        let mut stride: Number = 1;
        let mut rest = node;
        self.lines().map(move |line| {
            let (above, digit) = div_rem(rest, line.nodes);
            let axis = Axis { line, stride, digit };
            rest = above;
            stride = stride.wrapping_mul(line.nodes);
            axis
        })
    }

    /// Both nodes' digits, dimension by dimension.
    fn paired(&self, a: Vertex, b: Vertex) -> impl Iterator<Item = (Axis, Number)> + '_ {
        self.axes(a).zip(self.axes(b)).map(|(from, to)| (from, to.digit))
    }

    /// The dimension a port belongs to, and its number there.
    fn axis_of_port(&self, node: Vertex, mut port: Number) -> Option<(Axis, Number)> {
        for axis in self.axes(node) {
            let degree = axis.line.degree(axis.digit);
            if port < degree {
                return Some((axis, port));
            }
            port -= degree;
        }
        None
    }
}

/// A number that is higher for a higher dimension: it has the larger stride.
fn dimension(axis: &Axis) -> u64 {
    u64::from(axis.stride.checked_ilog2().unwrap_or(0))
}

impl Graph for Product {
    fn nodes(&self) -> Number {
        self.lines().map(|line| line.nodes).product()
    }

    fn degree(&self, node: Vertex) -> Number {
        self.axes(node).map(|axis| axis.line.degree(axis.digit)).sum()
    }

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        let (axis, port) = self.axis_of_port(node, port)?;
        Some(axis.replace(node, axis.line.neighbor(axis.digit, port)?))
    }

    #[inline]
    fn step(&self, here: Vertex, dest: Vertex) -> Vertex {
        for (axis, target) in self.paired(here, dest) {
            if axis.digit != target {
                return axis.replace(here, axis.line.step(axis.digit, target));
            }
        }
        here
    }

    fn hops(&self, from: Vertex, to: Vertex) -> Number {
        self.paired(from, to)
            .map(|(axis, target)| axis.line.hops(axis.digit, target))
            .sum()
    }

    fn diameter(&self) -> Number {
        self.lines().map(|line| line.diameter()).sum()
    }

    fn vertex_transitive(&self) -> bool {
        self.lines().all(|line| line.vertex_transitive())
    }

    fn largest_degree(&self) -> Number {
        self.lines().map(|line| line.largest_degree()).sum()
    }

    /// The digits, the first listed dimension first.
    fn write_address(&self, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, axis) in self.axes(node).enumerate() {
            write!(out, "{}{}", if place == 0 { "(" } else { "," }, axis.digit)?;
        }
        out.write_str(")")
    }

    fn port_to(&self, node: Vertex, neighbor: Vertex) -> Option<Number> {
        let mut before = 0;
        for (axis, digit) in self.paired(node, neighbor) {
            if axis.digit != digit {
                let same_elsewhere = axis.replace(node, digit) == neighbor;
                let port = axis.line.port_to(axis.digit, digit)?;
                return same_elsewhere.then_some(before + port);
            }
            before += axis.line.degree(axis.digit);
        }
        None
    }

    /// A digit weighs more than all before it: neighbors that lower a higher digit come first, those that raise it last.
    fn rank(&self, node: Vertex, neighbor: Vertex) -> Number {
        let mut rank = 0;
        let mut is_beyond = false;
        for (axis, digit) in self.paired(node, neighbor) {
            if digit == axis.digit && !is_beyond {
                rank += axis.line.degree(axis.digit);
                continue;
            }
            if digit < axis.digit {
                rank = 0;
            }
            is_beyond = true;
            rank += axis.line.rank(axis.digit, digit);
        }
        rank
    }

    /// Counted from the node itself, down or up, the lower dimensions come first.
    fn ranked(&self, node: Vertex, rank: Number) -> Option<Vertex> {
        let below = |axis: &Axis| axis.line.rank(axis.digit, axis.digit);
        let lower: Number = self.axes(node).map(|axis| below(&axis)).sum();
        let is_lower = rank < lower;
        let mut left = if is_lower { lower - 1 - rank } else { rank - lower };
        for axis in self.axes(node) {
            let below = below(&axis);
            let count = match is_lower {
                true => below,
                false => axis.line.degree(axis.digit) - below,
            };
            if left < count {
                let place = if is_lower { below - 1 - left } else { below + left };
                return Some(axis.replace(node, axis.line.ranked(axis.digit, place)?));
            }
            left -= count;
        }
        None
    }

    /// Dimensions add up, so each takes its own median.
    fn median(&self, points: [Vertex; 4]) -> Option<Vertex> {
        let [first, ..] = points;
        let median = self.axes(first).fold(0, |median, axis| {
            let digits = points.map(|point| div_rem(div_rem(point, axis.stride).0, axis.line.nodes).1);
            median + axis.line.median(digits).unwrap_or(0) * axis.stride
        });
        Some(median)
    }

    /// The highest dimension first, since the lower ones are served again at each node it leads to; within a dimension the
    /// longer arm first.
    fn send_priority(&self, here: Vertex, port: Number, source: Vertex) -> u64 {
        let Some((axis, port)) = self.axis_of_port(here, port) else {
            return 0;
        };
        let origin = self
            .axes(source)
            .find(|other| other.stride == axis.stride)
            .map_or(0, |other| other.digit);
        // Sizes fit 32 bits.
        dimension(&axis) << 32 | axis.line.send_priority(axis.digit, port, origin)
    }

    /// One dimension after the other, the highest first, each along the factor's own tree of fewest steps.
    fn fewest_steps_send_priority(&self, here: Vertex, port: Number, source: Vertex) -> Option<u64> {
        let child = self.neighbor(here, port)?;
        let (axis, port) = self.axis_of_port(here, port)?;
        let told_before = |(own, origin): &(Axis, Number)| own.stride != axis.stride && own.digit == *origin;
        let (own, origin) = self.paired(here, source).find(|pair| !told_before(pair))?;
        if own.stride != axis.stride || child == source {
            return None;
        }
        let within = axis.line.fewest_steps_send_priority(axis.digit, port, origin)?;
        Some(dimension(&axis) << 32 | within)
    }

    /// The sum over the dimensions, an estimate.
    fn broadcast_steps(&self) -> Number {
        self.lines().map(|line| line.broadcast_steps()).sum()
    }
}
