//! Cartesian products of one-dimensional graphs: `torus`, `mesh` and `ghc`.
//!
//! A node is a digit per dimension, the first listed dimension least significant; a link changes one digit. Routing is
//! dimension order, the first dimension first, which is exact in any product.

use core::fmt;

use crate::arith::{Number, Vertex, div_rem, wide};
use crate::graph::Factor;
use crate::limits::MAX_DIMENSIONS;

/// The sizes of up to [`MAX_DIMENSIONS`] dimensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dimensions {
    sizes: [u32; MAX_DIMENSIONS],
    count: u8,
}

impl Dimensions {
    /// Adds a dimension; `false` if there is no room.
    #[must_use]
    pub fn push(&mut self, size: u32) -> bool {
        match self.sizes.get_mut(usize::from(self.count)) {
            Some(slot) => {
                *slot = size;
                self.count += 1;
                true
            }
            None => false,
        }
    }

    /// The sizes, the least significant first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Number> + '_ {
        self.sizes
            .iter()
            .take(usize::from(self.count))
            .map(|&size| Number::from(size))
    }
}

/// One dimension of a node: the size, the weight of its digit in the node's number, and the digit.
struct Axis {
    size: Number,
    stride: Number,
    digit: Number,
}

impl Axis {
    /// The node with this digit replaced.
    fn replace(&self, node: Vertex, digit: Number) -> Vertex {
        (node + digit * self.stride).wrapping_sub(self.digit * self.stride)
    }
}

fn axes(sizes: &Dimensions, node: Vertex) -> impl Iterator<Item = Axis> + '_ {
    let mut stride: Number = 1;
    let mut rest = node;
    sizes.iter().map(move |size| {
        let (above, digit) = div_rem(rest, size);
        let axis = Axis { size, stride, digit };
        rest = above;
        stride = stride.wrapping_mul(size);
        axis
    })
}

/// Both nodes' digits, dimension by dimension.
fn paired(sizes: &Dimensions, a: Vertex, b: Vertex) -> impl Iterator<Item = (Axis, Number)> + '_ {
    axes(sizes, a).zip(axes(sizes, b)).map(|(from, to)| (from, to.digit))
}

pub(super) fn nodes(sizes: &Dimensions) -> Number {
    sizes.iter().product()
}

pub(super) fn degree(factor: Factor, sizes: &Dimensions, node: Vertex) -> Number {
    axes(sizes, node).map(|axis| factor.degree(axis.size, axis.digit)).sum()
}

pub(super) fn neighbor(factor: Factor, sizes: &Dimensions, node: Vertex, port: Number) -> Option<Vertex> {
    let (axis, port) = axis_of_port(factor, sizes, node, port)?;
    Some(axis.replace(node, factor.neighbor(axis.size, axis.digit, port)?))
}

/// The dimension a port belongs to, and its number there.
fn axis_of_port(factor: Factor, sizes: &Dimensions, node: Vertex, mut port: Number) -> Option<(Axis, Number)> {
    for axis in axes(sizes, node) {
        let degree = factor.degree(axis.size, axis.digit);
        if port < degree {
            return Some((axis, port));
        }
        port -= degree;
    }
    None
}

pub(super) fn port_to(factor: Factor, sizes: &Dimensions, node: Vertex, neighbor: Vertex) -> Option<Number> {
    let mut before = 0;
    for (axis, digit) in paired(sizes, node, neighbor) {
        if axis.digit != digit {
            let same_elsewhere = axis.replace(node, digit) == neighbor;
            let port = factor.port_to(axis.size, axis.digit, digit)?;
            return same_elsewhere.then_some(before + port);
        }
        before += factor.degree(axis.size, axis.digit);
    }
    None
}

#[inline]
pub(super) fn next(factor: Factor, sizes: &Dimensions, here: Vertex, dest: Vertex) -> Vertex {
    for (axis, target) in paired(sizes, here, dest) {
        if axis.digit != target {
            return axis.replace(here, factor.next(axis.size, axis.digit, target));
        }
    }
    here
}

pub(super) fn distance(factor: Factor, sizes: &Dimensions, from: Vertex, to: Vertex) -> Number {
    paired(sizes, from, to)
        .map(|(axis, target)| factor.distance(axis.size, axis.digit, target))
        .sum()
}

/// Dimensions add up, so each takes its own median.
pub(super) fn median(factor: Factor, sizes: &Dimensions, points: [Vertex; 4]) -> Vertex {
    let [first, ..] = points;
    axes(sizes, first).fold(0, |median, axis| {
        let digits = points.map(|point| div_rem(div_rem(point, axis.stride).0, axis.size).1);
        median + factor.median(axis.size, digits) * axis.stride
    })
}

pub(super) fn diameter(factor: Factor, sizes: &Dimensions) -> Number {
    sizes.iter().map(|size| factor.diameter(size)).sum()
}

pub(super) fn distance_sum(factor: Factor, sizes: &Dimensions) -> Option<u128> {
    let nodes = u128::from(nodes(sizes));
    sizes.iter().try_fold(0u128, |sum, size| {
        let copies = nodes / u128::from(size);
        sum.checked_add(factor.distance_sum(size)?.checked_mul(copies)?.checked_mul(copies)?)
    })
}

/// The highest dimension first, since everything below it is served again at each node it leads to; within one, the
/// longer arm first.
pub(super) fn urgency(factor: Factor, sizes: &Dimensions, here: Vertex, port: Number, source: Vertex) -> u64 {
    let Some((axis, port)) = axis_of_port(factor, sizes, here, port) else {
        return 0;
    };
    let origin = axes(sizes, source)
        .find(|other| other.stride == axis.stride)
        .map_or(0, |other| other.digit);
    // Sizes fit 32 bits.
    dimension(&axis) << 32 | wide(factor.arm(axis.size, origin, axis.digit, port))
}

/// One dimension after the other, the highest first, each along the factor's own tree of fewest steps.
pub(super) fn quickest(factor: Factor, sizes: &Dimensions, here: Vertex, port: Number, source: Vertex) -> Option<u64> {
    let (axis, port) = axis_of_port(factor, sizes, here, port)?;
    let told_before = |(own, origin): &(Axis, Number)| own.stride != axis.stride && own.digit == *origin;
    let (own, origin) = paired(sizes, here, source).find(|pair| !told_before(pair))?;
    if own.stride != axis.stride {
        return None;
    }
    let within = factor.quickest(axis.size, axis.digit, port, origin)?;
    Some(dimension(&axis) << 32 | within)
}

/// A number that is higher for a higher dimension: it has the larger stride.
fn dimension(axis: &Axis) -> u64 {
    u64::from(axis.stride.checked_ilog2().unwrap_or(0))
}

pub(super) fn buffer_classes(factor: Factor, sizes: &Dimensions) -> Number {
    sizes.iter().map(|size| factor.buffer_classes(size)).max().unwrap_or(1)
}

/// Dimension order cannot come back to a dimension, so the classes of the one being travelled are enough.
pub(super) fn buffer_class(factor: Factor, sizes: &Dimensions, here: Vertex, dest: Vertex) -> Number {
    paired(sizes, here, dest)
        .find(|(axis, target)| axis.digit != *target)
        .map_or(0, |(axis, target)| factor.buffer_class(axis.size, axis.digit, target))
}

/// The digits, the first listed dimension first.
pub(super) fn write_address(sizes: &Dimensions, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (place, axis) in axes(sizes, node).enumerate() {
        write!(out, "{}{}", if place == 0 { "(" } else { "," }, axis.digit)?;
    }
    out.write_str(")")
}
