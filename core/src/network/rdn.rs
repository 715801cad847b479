//! Recursive Dual-Net, `rdn(BASE,k)`, and its first level under the names it had before: the dual-cube `dualcube(n)` is
//! `rdn(hypercube(n-1),1)`, the biswapped network `bsw(BASE)` is `rdn(BASE,1)`.
//!
//! Y. Li, S. Peng, W. Chu, Recursive Dual-Net: A New Universal Network for Supercomputers of the Next Generation.
//! Y. Li, S. Peng, Dual-Cubes: A New Interconnection Network for High-Performance Computer Clusters, ICS 2000.
//! W. Xiao, W. Chen, M. He, W. Wei, B. Parhami, Biswapped Networks and Their Topological Properties, SNPD 2007.
//!
//! Level 0 is the base. Level k is two sets of clusters, each cluster a level k-1; a node is a triple (type, cluster,
//! node), and besides its links within the cluster it has one to the node of the other type with cluster and node
//! exchanged. Ports: those of the base, then the cross links from level 1 up.

use core::fmt;

use heapless::Vec;

use crate::arith::{MAX_NODES, Number, Vertex, div_rem, div_rem_short, fits_short, wide};
use crate::expr_writer::{ExprWriter, WriteExpr};
use crate::graph::{Base, Kind};
use crate::limits::{MAX_BITS, MAX_LEVELS};
use crate::network::expression::{BrokenRule, Reader};
use crate::topology::{Rule, Topology};

/// A Recursive Dual-Net over a base graph.
///
/// Routing is exact in O(k) and one step of the base, and it is the paper's own algorithm. Distances take O(2^k), since they
/// split at every level. Neither needs memory beyond the level sizes.
///
/// ```
/// use hopwise_core::{Network, Rule};
/// let network: Network = "rdn(ring(3),2)".parse()?;
/// // The paper's example: from (0,(0,0,0),(0,0,0)) to (1,(1,2,2),(0,2,2)) in 8 hops.
/// let (from, to) = (0, 18 * 18 + 17 * 18 + 8);
/// assert_eq!(network.distance(from, to)?, Some(8));
/// assert_eq!(network.address(to)?.to_string(), "(1,(1,2,2),(0,2,2))");
/// assert_eq!(network.next_hop(from, to, Rule::Exact)?, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rdn {
    base: Base,
    /// The nodes of level 0, 1, .. k; the rest is unused.
    sizes: [Number; MAX_LEVELS + 1],
    levels: u8,
    name: Name,
    /// Whether all nodes fit 32 bits.
    is_short: bool,
}

/// The word with which a network was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Name {
    RecursiveDualNet,
    DualCube,
    Biswapped,
}

/// A node of some level as the paper's triple.
#[derive(Clone, Copy)]
struct Triple {
    kind: Number,
    cluster: Vertex,
    node: Vertex,
}

impl Triple {
    /// `size` is that of a cluster.
    #[inline]
    fn split(id: Vertex, size: Number) -> Self {
        let half = size * size;
        let (kind, rest) = if id >= half { (1, id - half) } else { (0, id) };
        let (cluster, node) = div_rem(rest, size);
        Triple { kind, cluster, node }
    }

    #[inline]
    fn join(self, size: Number) -> Vertex {
        (self.kind * size + self.cluster) * size + self.node
    }

    /// The other end of the cross link.
    fn cross(self) -> Self {
        Triple {
            kind: 1 - self.kind,
            cluster: self.node,
            node: self.cluster,
        }
    }

    fn same_cluster(self, other: Self) -> bool {
        self.kind == other.kind && self.cluster == other.cluster
    }
}

/// The role of a port in a broadcast.
enum Branch {
    /// A cross link that forwards it; the lower the level, the higher the priority.
    Cross { send_priority: u64 },
    /// A link of the base, in which the broadcast comes from `source`.
    Base { node: Vertex, port: Number, source: Vertex },
}

impl Rdn {
    pub(crate) fn parse(reader: &mut Reader<'_>) -> Option<Self> {
        reader.open("BASE of rdn(BASE,k)")?;
        let base = reader.base("BASE of rdn(BASE,k)")?;
        let levels = reader.next_number("k of rdn(BASE,k)", 0, Number::MAX)?;
        let network = Rdn::new(base, levels).or_else(|| reader.refuse("k of rdn(BASE,k)", BrokenRule::TooManyNodes))?;
        reader.close("k of rdn(BASE,k)")?;
        Some(network)
    }

    pub(crate) fn parse_dualcube(reader: &mut Reader<'_>) -> Option<Self> {
        const BITS: &str = "n of dualcube(n)";
        let bits = reader.first_number(BITS, 2, Number::from(MAX_BITS) + 1)?;
        let base = Base::hypercube(bits as u8 - 1);
        let network = Rdn::new(base, 1).or_else(|| reader.refuse(BITS, BrokenRule::TooManyNodes))?;
        reader.close(BITS)?;
        Some(Rdn {
            name: Name::DualCube,
            ..network
        })
    }

    pub(crate) fn parse_biswapped(reader: &mut Reader<'_>) -> Option<Self> {
        const BASE: &str = "BASE of bsw(BASE)";
        reader.open(BASE)?;
        let base = reader.base(BASE)?;
        let network = Rdn::new(base, 1).or_else(|| reader.refuse(BASE, BrokenRule::TooManyNodes))?;
        reader.close(BASE)?;
        Some(Rdn {
            name: Name::Biswapped,
            ..network
        })
    }

    /// `None` if it would have more than 2^63 nodes.
    pub(crate) fn new(base: Base, levels: Number) -> Option<Self> {
        let mut sizes = [0; MAX_LEVELS + 1];
        let mut size = base.nodes();
        for level in 0..=levels {
            *sizes.get_mut(usize::try_from(level).ok()?)? = size;
            if level < levels {
                size = size
                    .checked_mul(size)?
                    .checked_mul(2)
                    .filter(|&size| size <= MAX_NODES)?;
            }
        }
        Some(Rdn {
            base,
            sizes,
            levels: levels as u8,
            name: Name::RecursiveDualNet,
            is_short: fits_short(size),
        })
    }

    /// The base graph.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// How often the dual construction was applied, k.
    pub fn levels(&self) -> u64 {
        u64::from(self.levels)
    }

    #[inline]
    fn size(&self, level: u8) -> Number {
        self.sizes.get(usize::from(level)).copied().unwrap_or(0)
    }

    /// The levels from the highest down, each with the size of its clusters.
    #[inline]
    fn clusters(&self) -> impl Iterator<Item = (u8, Number)> + '_ {
        let sizes = self.sizes.iter().take(usize::from(self.levels)).enumerate().rev();
        sizes.map(|(below, &size)| (below as u8 + 1, size))
    }

    /// In the same cluster, go to the node; on the other side, go to the node linked with the destination's
    /// cluster; otherwise cross. The target is again a node of the level below.
    ///
    /// This is the hot path of every packet: no triples are made, and the shortest sufficient division is used.
    #[inline]
    fn next_by(&self, here: Vertex, dest: Vertex, divide: impl Fn(Number, Number) -> (Number, Number)) -> Vertex {
        let (mut from, mut to) = (here, dest);
        let clusters = self.sizes.get(..usize::from(self.levels)).unwrap_or_default();
        for &size in clusters.iter().rev() {
            // The clusters of type 0 are numbered from 0, those of type 1 from `size`.
            let (cluster, node) = divide(from, size);
            let (wanted_cluster, wanted_node) = divide(to, size);
            if cluster == wanted_cluster {
                (from, to) = (node, wanted_node);
                continue;
            }
            let is_first = cluster < size;
            let entry = if wanted_cluster < size {
                wanted_cluster
            } else {
                wanted_cluster - size
            };
            if is_first == (wanted_cluster < size) || node == entry {
                let crossed = if is_first {
                    (node + size) * size + cluster
                } else {
                    node * size + cluster - size
                };
                return here - from + crossed;
            }
            (from, to) = (node, entry);
        }
        here - from + self.base.step(from, to)
    }

    /// The role of a port in a broadcast of `source`.
    ///
    /// The paper's Algorithm 2, with the excluded senders corrected: within the source's cluster every node crosses; in
    /// a cluster of the other type every node but the one the broadcast entered by; in the other clusters of the source's
    /// type none, since these receive by their cross links, not from each other.
    fn branch(&self, here: Vertex, port: Number, source: Vertex) -> Option<Branch> {
        let (mut from, mut to) = (here, source);
        let own = self.base.degree(div_rem(here, self.size(0)).1);
        for (level, size) in self.clusters() {
            let (u, s) = (Triple::split(from, size), Triple::split(to, size));
            let crossing = port >= own && port - own + 1 == Number::from(level);
            let (crosses, origin) = if u.same_cluster(s) {
                (true, s.node)
            } else if u.kind != s.kind {
                (u.node != s.cluster, s.cluster)
            } else {
                return None;
            };
            if crossing {
                let send_priority = Number::from(self.levels - level);
                return crosses.then_some(Branch::Cross {
                    send_priority: wide(send_priority),
                });
            }
            (from, to) = (u.node, origin);
        }
        (port < own).then_some(Branch::Base {
            node: from,
            port,
            source: to,
        })
    }

    /// The send priority of a link of the base, above those of all cross links.
    fn before_cross(&self, send_priority: u64) -> u64 {
        send_priority.saturating_add(u64::from(self.levels))
    }
}

impl Topology for Rdn {
    fn nodes(&self) -> Number {
        self.size(self.levels)
    }

    fn degree(&self, node: Vertex) -> Number {
        self.base.degree(div_rem(node, self.size(0)).1) + Number::from(self.levels)
    }

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        let (_, inner) = div_rem(node, self.size(0));
        let own = self.base.degree(inner);
        if port < own {
            return Some(node - inner + self.base.neighbor(inner, port)?);
        }
        let level = port - own + 1;
        if level > Number::from(self.levels) {
            return None;
        }
        let whole = self.size(level as u8);
        let cluster = self.size(level as u8 - 1);
        let (_, within) = div_rem(node, whole);
        Some(node - within + Triple::split(within, cluster).cross().join(cluster))
    }

    fn port_to(&self, node: Vertex, neighbor: Vertex) -> Option<Number> {
        let ((cluster, inner), (other_cluster, other)) = (div_rem(node, self.size(0)), div_rem(neighbor, self.size(0)));
        if cluster == other_cluster {
            return self.base.port_to(inner, other);
        }
        let own = self.base.degree(inner);
        (own..own + Number::from(self.levels)).find(|&port| self.neighbor(node, port) == Some(neighbor))
    }

    fn next(&self, here: Vertex, dest: Vertex, _rule: Rule) -> Vertex {
        if self.is_short {
            self.next_by(here, dest, div_rem_short)
        } else {
            self.next_by(here, dest, div_rem)
        }
    }

    fn distance(&self, from: Vertex, to: Vertex) -> Option<Number> {
        // Each pair of a level becomes one or two pairs of the level below: at most one waits per level.
        let mut waiting = Vec::<(u8, Vertex, Vertex), MAX_LEVELS>::new();
        let mut hops = 0;
        let mut pair = Some((self.levels, from, to));
        while let Some((level, a, b)) = pair {
            pair = if level == 0 {
                hops += self.base.hops(a, b);
                waiting.pop()
            } else {
                let size = self.size(level - 1);
                let (u, v) = (Triple::split(a, size), Triple::split(b, size));
                let (first, second, crossings) = match (u.kind == v.kind, u.cluster == v.cluster) {
                    (true, true) => ((u.node, v.node), None, 0),
                    (true, false) => ((u.node, v.node), Some((u.cluster, v.cluster)), 2),
                    (false, _) => ((u.node, v.cluster), Some((u.cluster, v.node)), 1),
                };
                hops += crossings;
                if let Some((a, b)) = second {
                    waiting.push((level - 1, a, b)).ok()?;
                }
                Some((level - 1, first.0, first.1))
            };
        }
        Some(hops)
    }

    /// 2^k D + 2^(k+1) - 2 over a base of diameter D.
    fn known_diameter(&self) -> Option<Number> {
        let level = |hops: Number, _| hops.saturating_mul(2).saturating_add(2);
        Some((0..self.levels).fold(self.base.diameter(), level))
    }

    fn vertex_transitive(&self) -> bool {
        self.base.vertex_transitive()
    }

    fn write_address(&self, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The remaining output: nodes by level, and the number of brackets that close after each.
        let mut waiting = Vec::<(u8, Vertex, usize), MAX_LEVELS>::new();
        let mut item = Some((self.levels, node, 0));
        while let Some((level, id, closing)) = item {
            item = if level == 0 {
                self.base.write_address(id, out)?;
                for _ in 0..closing {
                    out.write_str(")")?;
                }
                if !waiting.is_empty() {
                    out.write_str(",")?;
                }
                waiting.pop()
            } else {
                let triple = Triple::split(id, self.size(level - 1));
                write!(out, "({},", triple.kind)?;
                waiting
                    .push((level - 1, triple.node, closing + 1))
                    .map_err(|_| fmt::Error)?;
                Some((level - 1, triple.cluster, 0))
            };
        }
        Ok(())
    }

    fn passes_on_directly(&self, here: Vertex, port: Number, source: Vertex) -> Option<bool> {
        Some(match self.branch(here, port, source) {
            Some(Branch::Cross { .. }) => true,
            Some(Branch::Base { node, port, source }) => self.base.passes_on(node, port, source),
            None => false,
        })
    }

    /// The links of the base first, then the cross links from low to high: 2^k B + 2^(k+1) - 2 steps over a base that
    /// takes B (Theorem 3).
    fn send_priority(&self, here: Vertex, port: Number, source: Vertex) -> u64 {
        match self.branch(here, port, source) {
            Some(Branch::Cross { send_priority }) => send_priority,
            Some(Branch::Base { node, port, source }) => self.before_cross(self.base.send_priority(node, port, source)),
            None => 0,
        }
    }

    /// The same with the base's own tree of fewest steps.
    fn fewest_steps_send_priority(&self, here: Vertex, port: Number, source: Vertex) -> Option<u64> {
        match self.branch(here, port, source)? {
            Branch::Cross { send_priority } => Some(send_priority),
            Branch::Base { node, port, source } => {
                let send_priority = self.base.fewest_steps_send_priority(node, port, source)?;
                Some(self.before_cross(send_priority))
            }
        }
    }

    fn serves_in_fewest_steps(&self, here: Vertex, port: Number, source: Vertex) -> bool {
        self.fewest_steps_send_priority(here, port, source).is_some()
    }
}

impl WriteExpr for Rdn {
    fn write_expr(&self, out: &mut ExprWriter<'_>) {
        match (self.name, &self.base.0) {
            (Name::DualCube, Kind::Hypercube(cube)) => out.text("dualcube(").number(cube.bits + 1),
            (Name::Biswapped, _) => out.text("bsw(").part(&self.base),
            _ => out.text("rdn(").part(&self.base).text(",").number(self.levels),
        }
        .text(")");
    }
}
