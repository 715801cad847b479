//! The partially linked swapped network of the paper's example, `partial-swapped`.
//!
//! C.-H. Yeh, B. Parhami, Swapped Networks, section 5.2: 16 copies of `rsn(3,hypercube(2))`. A node has 12 bits: the copy t
//! in bits 11..8, and within it the cluster m, bits 7..4, and the node, bits 3..0. The link of level 4 exchanges t and m, and
//! only nodes with bit 0 clear have it.
//!
//! Ports: those within the copy, then the link of level 4 where there is one.

use core::fmt;

use crate::arith::{Number, Vertex, count_step};
use crate::expr_writer::{ExprWriter, WriteExpr};
use crate::network::Rsn;
use crate::network::expression::Reader;
use crate::topology::{Rule, Topology, lowest_closer};

/// The partially linked network of 4096 nodes.
///
/// A shortest path takes at most two links of level 4, and none within a copy: every order of three or more swaps of that
/// level is matched by an order with fewer, in the digits it can reach and the gates it has to pass. So from
/// (t,m,n) to (t',m',n') the distance is the least of D(mn,t'z) + 1 + D(tz,m'n') over the gates z, the 8 even nodes, and
/// D(mn,uz) + 1 + D(tz,t'w) + 1 + D(uw,m'n') over two gates and the 16 clusters u; D is the distance in
/// `rsn(3,hypercube(2))`. The next hop is the lowest-numbered neighbor that is one closer.
/// The paper's routing function takes one link of level 4, through the gate next to the node.
///
/// ```
/// use hopwise_core::{Network, Rule};
/// let network: Network = "partial-swapped".parse()?;
/// assert_eq!(network.nodes(), 4096);
/// assert_eq!(network.next_hop(0x120, 0x210, Rule::Exact)?, 0x210);
/// assert_eq!(network.distance(0x121, 0x211)?, Some(3)); // an odd node has no gate
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PartialSwapped {
    copy: Rsn,
}

const COPY_NODES: Number = 256;

/// Nodes of a cluster with bit 0 clear.
const GATES: [Vertex; 8] = [0, 2, 4, 6, 8, 10, 12, 14];

/// (copy, node within it).
fn split(node: Vertex) -> (Vertex, Vertex) {
    (node / COPY_NODES, node % COPY_NODES)
}

/// The other end of the link of level 4.
fn across(node: Vertex) -> Option<Vertex> {
    let (t, m) = (node >> 8, node >> 4 & 15);
    (node & 1 == 0 && t != m).then_some(m << 8 | t << 4 | node & 15)
}

/// Distances in `rsn(2,hypercube(2))`: computing a step would otherwise repeat the same few of them thousands of times.
const IN_CLUSTER: [[u8; 16]; 16] = {
    let mut table = [[0; 16]; 16];
    let mut pair = 0;
    while pair < 256 {
        let (from, to) = (pair >> 4, pair & 15);
        let (a, b, c, e) = (from >> 2, from & 3, to >> 2, to & 3);
        let (one, two) = (bits(b ^ c) + bits(a ^ e) + 1, bits(a ^ c) + bits(b ^ e) + 2);
        table[from][to] = if a == c {
            bits(b ^ e)
        } else if one < two {
            one
        } else {
            two
        };
        pair += 1;
    }
    table
};

const fn bits(word: usize) -> u8 {
    word.count_ones() as u8
}

/// The distance in `rsn(3,hypercube(2))`.
fn within(from: Vertex, to: Vertex) -> Number {
    count_step();
    let in_cluster = |from: Vertex, to: Vertex| {
        let row = IN_CLUSTER.get(from as usize);
        Number::from(row.and_then(|row| row.get(to as usize)).copied().unwrap_or(u8::MAX))
    };
    let ((a, b), (c, e)) = ((from >> 4, from & 15), (to >> 4, to & 15));
    if a == c {
        in_cluster(b, e)
    } else {
        (in_cluster(b, c) + in_cluster(a, e) + 1).min(in_cluster(a, c) + in_cluster(b, e) + 2)
    }
}

impl PartialSwapped {
    pub(crate) fn parse(_: &mut Reader<'_>) -> Option<Self> {
        Some(PartialSwapped { copy: Rsn::OF_SQUARES })
    }

    /// What the network has 16 copies of.
    pub fn copy(&self) -> &Rsn {
        &self.copy
    }

    /// The minimum over the gates, and over the clusters in between: 272 distances within a copy.
    fn hops(from: Vertex, to: Vertex) -> Number {
        let ((t, start), (t_end, end)) = (split(from), split(to));
        if t == t_end {
            return within(start, end);
        }
        let gates = |cluster: Vertex| GATES.map(|gate| cluster << 4 | gate);
        let one = gates(t_end)
            .into_iter()
            .zip(gates(t))
            .map(|(leave, arrive)| within(start, leave) + 1 + within(arrive, end))
            .min();
        let between = gates(t).map(|arrive| gates(t_end).map(|leave| within(arrive, leave)));
        let two = (0..16).filter_map(|cluster| {
            let first = gates(cluster).map(|gate| within(start, gate));
            let last = gates(cluster).map(|gate| within(gate, end));
            let from_gate = between.iter().zip(first).filter_map(|(row, first)| {
                let rest = row.iter().zip(last).map(|(middle, last)| middle + last).min()?;
                Some(first + rest + 2)
            });
            from_gate.min()
        });
        two.chain(one).min().unwrap_or(Number::MAX)
    }
}

impl Topology for PartialSwapped {
    const HAS_PAPER_RULE: bool = true;

    fn nodes(&self) -> Number {
        16 * COPY_NODES
    }

    fn degree(&self, node: Vertex) -> Number {
        self.copy.degree(split(node).1) + Number::from(across(node).is_some())
    }

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        let (copy, within) = split(node);
        match port.checked_sub(self.copy.degree(within)) {
            None => Some(copy * COPY_NODES + self.copy.neighbor(within, port)?),
            Some(0) => across(node),
            Some(_) => None,
        }
    }

    fn next(&self, here: Vertex, dest: Vertex, rule: Rule) -> Vertex {
        if rule == Rule::Exact {
            return lowest_closer(self, here, |node| Self::hops(node, dest));
        }
        let ((t, within), (t_end, end)) = (split(here), split(dest));
        // The cluster linked with the destination's copy, entered where it is first reached, and the adjacent gate there.
        let target = if t == t_end {
            end
        } else if within >> 4 != t_end {
            t_end << 4 | within >> 4
        } else if within & 1 == 1 {
            within ^ 1
        } else {
            return across(here).unwrap_or(here);
        };
        t * COPY_NODES + self.copy.next(within, target, Rule::Paper)
    }

    fn distance(&self, from: Vertex, to: Vertex) -> Option<Number> {
        Some(Self::hops(from, to))
    }

    fn longest_route(&self, rule: Rule) -> Number {
        match rule {
            Rule::Exact => 18,
            // To the other cluster, the gate, across, and within the copy.
            Rule::Paper => 6 + 2 + 11,
        }
    }

    fn known_diameter(&self) -> Option<Number> {
        Some(self.longest_route(Rule::Exact))
    }

    fn write_address(&self, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "({:04b},{:04b},{:04b})", node >> 8, node >> 4 & 15, node & 15)
    }
}

impl WriteExpr for PartialSwapped {
    fn write_expr(&self, out: &mut ExprWriter<'_>) {
        out.text("partial-swapped");
    }
}
