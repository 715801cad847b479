//! Exchanged hypercubes, `exchanged-hypercube(s,t)`.
//!
//! P. K. K. Loh, W. J. Hsu, Y. Pan, The Exchanged Hypercube, IEEE TPDS 16(9), 2005.
//!
//! A hypercube of s + t + 1 bits with about half of its links removed. A node is s bits a, t bits b and a last bit c that every
//! node can flip; where c is 0 the bits of a can be flipped, where it is 1 those of b. `exchanged-hypercube(n,n)`
//! is the dual-cube `dualcube(n+1)` in another numbering.
//!
//! Ports: the bit c, then the bits that can be flipped here, from the lowest.

use core::fmt;

use crate::arith::{Number, Vertex, bits, ones, wide};
use crate::expr_writer::{ExprWriter, WriteExpr};
use crate::limits::MAX_BITS;
use crate::network::expression::{BrokenRule, Reader};
use crate::topology::{Rule, Topology};

/// An exchanged hypercube.
///
/// The bits that differ cost one hop each; so does c if it differs, and if it does not but bits of the other side do, it
/// has to be flipped twice. The route flips the bits of this side, lowest first, then c, then those of the other side.
/// O(1) time, no memory.
///
/// ```
/// use hopwise_core::{Network, Rule};
/// let network: Network = "exchanged-hypercube(1,2)".parse()?;
/// assert_eq!(network.address(0b1_01_0)?.to_string(), "(1,01,0)");
/// assert_eq!(network.distance(0b0_00_0, 0b1_01_0)?, Some(4));
/// assert_eq!(network.next_hop(0b0_00_0, 0b1_01_0, Rule::Exact)?, 0b1_00_0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Exchanged {
    /// Bits that can be flipped where c is 0, s.
    first: u8,
    /// Bits that can be flipped where c is 1, t.
    second: u8,
}

impl Exchanged {
    pub(crate) fn parse(reader: &mut Reader<'_>) -> Option<Self> {
        const FIRST: &str = "s of exchanged-hypercube(s,t)";
        const SECOND: &str = "t of exchanged-hypercube(s,t)";
        let first = reader.first_number(FIRST, 1, MAX_BITS.into())?;
        let second = reader.next_number(SECOND, 1, MAX_BITS.into())?;
        if first + second >= Number::from(MAX_BITS) {
            return reader.refuse(SECOND, BrokenRule::TooManyNodes);
        }
        reader.close(SECOND)?;
        Some(Exchanged {
            first: first as u8,
            second: second as u8,
        })
    }

    /// Bits that can be flipped where the last bit is 0, s.
    pub fn first_bits(&self) -> u64 {
        u64::from(self.first)
    }

    /// Bits that can be flipped where the last bit is 1, t.
    pub fn second_bits(&self) -> u64 {
        u64::from(self.second)
    }

    /// The bits besides c that can be flipped at a node.
    fn own(&self, node: Vertex) -> Number {
        if node & 1 == 0 {
            ones(Number::from(self.first)) << (self.second + 1)
        } else {
            ones(Number::from(self.second)) << 1
        }
    }
}

impl Topology for Exchanged {
    fn nodes(&self) -> Number {
        1 << (self.first + self.second + 1)
    }

    fn degree(&self, node: Vertex) -> Number {
        1 + Number::from(self.own(node).count_ones())
    }

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        match port.checked_sub(1) {
            None => Some(node ^ 1),
            Some(place) => {
                let bit = bits(wide(self.own(node))).nth(usize::try_from(place).ok()?)?;
                Some(node ^ 1 << bit)
            }
        }
    }

    fn next(&self, here: Vertex, dest: Vertex, _rule: Rule) -> Vertex {
        let differing = here ^ dest;
        let own = differing & self.own(here);
        if own != 0 {
            here ^ (own & own.wrapping_neg())
        } else if differing != 0 {
            here ^ 1
        } else {
            here
        }
    }

    fn distance(&self, from: Vertex, to: Vertex) -> Option<Number> {
        let differing = from ^ to;
        // Where c is equal, the remaining ones outside this side's bits are those of the other side.
        let there_and_back = differing & 1 == 0 && differing & !self.own(from) != 0;
        Some(Number::from(differing.count_ones()) + 2 * Number::from(there_and_back))
    }

    /// The source flips c first, since the longest path is behind it: to the other side and back. Elsewhere c comes last, after the
    /// bits from the highest: s + t + 2 steps, the depth of the tree.
    fn send_priority(&self, here: Vertex, port: Number, source: Vertex) -> u64 {
        if port == 0 && here == source {
            u64::MAX
        } else {
            wide(port)
        }
    }

    /// All bits but the last differ, and that is flipped twice.
    fn known_diameter(&self) -> Option<Number> {
        Some(Number::from(self.first) + Number::from(self.second) + 2)
    }

    /// Flipping bits of a and b is a symmetry; exchanging the sides is one only if they are of the same size.
    fn vertex_transitive(&self) -> bool {
        self.first == self.second
    }

    fn write_address(&self, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, second) = (usize::from(self.first), usize::from(self.second));
        let (a, b) = (node >> (second + 1), node >> 1 & ones(Number::from(self.second)));
        write!(out, "({a:0>first$b},{b:0>second$b},{})", node & 1)
    }
}

impl WriteExpr for Exchanged {
    fn write_expr(&self, out: &mut ExprWriter<'_>) {
        out.text("exchanged-hypercube(").number(self.first);
        out.text(",").number(self.second).text(")");
    }
}
