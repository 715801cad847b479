//! Hierarchies of one base graph, `folded(BASE,n)`, `root-folded(BASE,n)` and `flooded(BASE,n)`.
//!
//! G. E. Jan, Y.-S. Hwang, M.-B. Lin, D. Liang, Novel Hierarchical Interconnection Networks for High-Performance
//! Multicomputer Systems (there over the Heawood graph; earlier work has them over the Petersen graph).
//!
//! A node is n digits (V_{n-1},..,V_0), each a node of the base; a link changes one digit along an edge of the base. The
//! three differ in where there is a link:
//!
//! - folded: everywhere. It is the Cartesian power of the base.
//! - root-folded: a digit has links only where all digits below it are 0. Every node of the outermost copy of the base is
//!   the root, number 0, of a network of n-1 digits.
//! - flooded: the part of root-folded in which a 0 below the first digit is followed by zeros only. Every node that is new at
//!   one stage is the root of one more copy of the base at the next.
//!
//! In the last two, copies of the base hang together at single nodes, like the blocks of a tree: one chain
//! of copies joins any two, and a path is shortest if it is so within each copy.
//!
//! Ports: digit by digit from the first (outermost), for each the ports of the base.

use core::fmt;

use crate::arith::{MAX_NODES, Number, Vertex, div_rem, wide};
use crate::expr_writer::{ExprWriter, WriteExpr};
use crate::graph::Base;
use crate::limits::LOOKAHEAD;
use crate::network::expression::{BrokenRule, Reader};
use crate::topology::{Rule, Topology};

/// A hierarchy of copies of a base graph.
///
/// Routing is exact and follows the paper's order: in `folded` the differing digits from the first; in the others, out of
/// the inner copies to the copy that holds both nodes, through it, and in again. (As printed, the paper's algorithm also
/// goes to the root of that copy, which makes routes of 6n hops, longer than its diameter of 6n - 3.)
/// Next hop and distance take O(n) and one step of the base; no memory.
///
/// ```
/// use hopwise_core::{Network, Rule};
/// let network: Network = "root-folded(heawood,2)".parse()?;
/// assert_eq!(network.nodes(), 196);
/// assert_eq!(network.address(15)?.to_string(), "(1,1)");
/// assert_eq!(network.distance(15, 29)?, Some(3)); // (1,1) (1,0) (2,0) (2,1)
/// assert_eq!(network.next_hop(15, 29, Rule::Exact)?, 14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hierarchy {
    base: Base,
    linkage: Linkage,
    digits: u8,
    /// What one step of the first digit adds to a node's number.
    first_weight: Number,
}

/// The nodes at which a digit has links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// At all: `folded`.
    Folded,
    /// Where all digits below are 0: `root-folded`.
    RootFolded,
    /// The same, grown only from the newest nodes: `flooded`.
    Flooded,
}

impl Linkage {
    fn name(self) -> &'static str {
        match self {
            Linkage::Folded => "folded",
            Linkage::RootFolded => "root-folded",
            Linkage::Flooded => "flooded",
        }
    }
}

/// One digit of a node, and what is below it.
#[derive(Clone, Copy)]
struct Place {
    digit: Vertex,
    weight: Number,
    /// The numbers saved at values other than 0, since below a 0 there is nothing.
    saved: Number,
    /// What the digits below add to the node's number: 0 iff all of them are 0.
    below: Number,
}

impl Place {
    fn share(&self, digit: Vertex) -> Number {
        if digit == 0 {
            0
        } else {
            digit * self.weight - self.saved
        }
    }

    fn replace(&self, node: Vertex, digit: Vertex) -> Vertex {
        node - self.share(self.digit) + self.share(digit)
    }
}

/// The next move of a packet: a digit and the value it moves toward.
struct Move {
    place: Place,
    target: Vertex,
}

impl Hierarchy {
    pub(crate) fn parse_folded(reader: &mut Reader<'_>) -> Option<Self> {
        Hierarchy::parse(Linkage::Folded, reader)
    }

    pub(crate) fn parse_root_folded(reader: &mut Reader<'_>) -> Option<Self> {
        Hierarchy::parse(Linkage::RootFolded, reader)
    }

    pub(crate) fn parse_flooded(reader: &mut Reader<'_>) -> Option<Self> {
        Hierarchy::parse(Linkage::Flooded, reader)
    }

    fn parse(linkage: Linkage, reader: &mut Reader<'_>) -> Option<Self> {
        let (base_name, digits_name) = match linkage {
            Linkage::Folded => ("BASE of folded(BASE,n)", "n of folded(BASE,n)"),
            Linkage::RootFolded => ("BASE of root-folded(BASE,n)", "n of root-folded(BASE,n)"),
            Linkage::Flooded => ("BASE of flooded(BASE,n)", "n of flooded(BASE,n)"),
        };
        reader.open(base_name)?;
        let base = reader.base(base_name)?;
        if base.nodes() < 3 {
            return reader.refuse(base_name, BrokenRule::AtLeastNodes(3));
        }
        let digits = reader.next_number(digits_name, 1, Number::MAX)?;
        let mut network = Hierarchy {
            base,
            linkage,
            digits: 1,
            first_weight: 1,
        };
        // Ends after at most 62 digits: each at least doubles the weight.
        for _ in 1..digits {
            let inner = network.first_weight;
            network.first_weight = match linkage {
                Linkage::Folded | Linkage::RootFolded => inner.checked_mul(base.nodes()),
                Linkage::Flooded => inner.checked_mul(base.nodes() - 1).map(|outer| outer + 1),
            }
            .filter(|&weight| weight <= MAX_NODES)
            .or_else(|| reader.refuse(digits_name, BrokenRule::TooManyNodes))?;
            network.digits += 1;
        }
        reader.product(network.first_weight, base.nodes(), digits_name)?;
        reader.close(digits_name)?;
        Some(network)
    }

    /// The base graph.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// The nodes at which a digit has links.
    pub fn linkage(&self) -> Linkage {
        self.linkage
    }

    /// The number of digits, n.
    pub fn digits(&self) -> u64 {
        u64::from(self.digits)
    }

    /// The digits of a node, the first (outermost) first.
    fn places(&self, node: Vertex) -> impl Iterator<Item = Place> + use<> {
        let (digits, size, flooded) = (self.digits, self.base.nodes(), self.linkage == Linkage::Flooded);
        let (mut rest, mut weight) = (node, self.first_weight);
        (0..digits).map(move |index| {
            let saved = if flooded && index > 0 { weight - 1 } else { 0 };
            let (digit, below) = match rest {
                0 => (0, 0),
                rest => div_rem(rest + saved, weight),
            };
            let place = Place {
                digit,
                weight,
                saved,
                below,
            };
            rest = below;
            weight = if flooded {
                div_rem(weight - 1, size - 1).0
            } else {
                div_rem(weight, size).0
            };
            place
        })
    }

    /// The digits that have links at a node.
    fn linked_places(&self, node: Vertex) -> impl Iterator<Item = Place> + use<> {
        let linkage = self.linkage;
        let most = if linkage == Linkage::Flooded { 2 } else { usize::MAX };
        self.places(node)
            .filter(move |place| linkage == Linkage::Folded || place.below == 0)
            .take(most)
    }

    /// The digit that a port belongs to, counted from the first, and the port's number in the base.
    fn place_of_port(&self, node: Vertex, mut port: Number) -> Option<(Place, Number)> {
        for place in self.linked_places(node) {
            let degree = self.base.degree(place.digit);
            if port < degree {
                return Some((place, port));
            }
            port -= degree;
        }
        None
    }

    /// The next move; `None` at the destination.
    fn next_move(&self, here: Vertex, dest: Vertex) -> Option<Move> {
        let mut places = self.places(here);
        let mut wanted = self.places(dest);
        let (place, target) = loop {
            let (place, target) = (places.next()?, wanted.next()?.digit);
            if place.digit != target {
                break (place, target);
            }
        };
        if self.linkage == Linkage::Folded || place.below == 0 {
            return Some(Move { place, target });
        }
        // Out of the copy through its root. The innermost nonzero digit is the first with nothing below it.
        let place = places.find(|place| place.below == 0)?;
        Some(Move { place, target: 0 })
    }

    /// The node at which a broadcast of `source` enters the copy of the base in which `here` has the links of `place`; `None` if it
    /// does not use that copy.
    fn entry(&self, here: Vertex, place: &Place, source: Vertex) -> Option<Vertex> {
        for (own, origin) in self.places(here).zip(self.places(source)) {
            if own.weight == place.weight {
                return Some(origin.digit);
            }
            if own.digit != origin.digit {
                return (self.linkage != Linkage::Folded).then_some(0);
            }
        }
        None
    }

    /// The sending order in which every node serves the copy with the largest subtree first.
    ///
    /// In `folded` a node reached through a digit forwards through it and those before it, so the last digit has the largest
    /// subtree. In the others, the path out of the copy comes first, since all the rest is behind it; then the outer copies, which
    /// have inner ones at every node.
    fn order(&self, here: Vertex, place: &Place, port: Number, entry: Vertex, within: u64) -> u64 {
        if self.digits == 1 {
            return within;
        }
        // With two digits or more the base has fewer than 2^32 nodes, so its priorities fit.
        let within = within.min((1 << 40) - 1);
        let index = self
            .places(here)
            .take_while(|other| other.weight != place.weight)
            .count() as Number;
        let rank = match self.linkage {
            Linkage::Folded => index,
            _ if self.leads_out(place, port, entry, index) => Number::from(self.digits),
            _ => Number::from(self.digits) - 1 - index,
        };
        wide(rank) << 40 | within
    }

    /// Whether a port of an inner copy is on the path of a broadcast from the entry to the root.
    fn leads_out(&self, place: &Place, port: Number, entry: Vertex, index: Number) -> bool {
        let Some(child) = self.base.neighbor(place.digit, port).filter(|_| index > 0) else {
            return false;
        };
        let mut node = 0;
        for _ in 0..LOOKAHEAD {
            if node == child || node == entry {
                break;
            }
            node = self.base.step(node, entry);
        }
        node == child && node != entry
    }
}

impl Topology for Hierarchy {
    fn nodes(&self) -> Number {
        self.first_weight * self.base.nodes()
    }

    fn degree(&self, node: Vertex) -> Number {
        self.linked_places(node)
            .map(|place| self.base.degree(place.digit))
            .sum()
    }

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        let (place, port) = self.place_of_port(node, port)?;
        Some(place.replace(node, self.base.neighbor(place.digit, port)?))
    }

    fn port_to(&self, node: Vertex, neighbor: Vertex) -> Option<Number> {
        let mut before = 0;
        for place in self.linked_places(node) {
            // Only this digit may differ, so the neighbor's number determines its value.
            let other = self.places(neighbor).find(|other| other.weight == place.weight)?;
            if other.digit != place.digit {
                let port = self.base.port_to(place.digit, other.digit)?;
                return (place.replace(node, other.digit) == neighbor).then_some(before + port);
            }
            before += self.base.degree(place.digit);
        }
        None
    }

    fn next(&self, here: Vertex, dest: Vertex, _rule: Rule) -> Vertex {
        self.next_move(here, dest).map_or(here, |Move { place, target, .. }| {
            place.replace(here, self.base.step(place.digit, target))
        })
    }

    fn distance(&self, from: Vertex, to: Vertex) -> Option<Number> {
        let pairs = self.places(from).zip(self.places(to));
        let mut apart = false;
        Some(
            pairs
                .map(|(a, b)| {
                    let by_root = apart && self.linkage != Linkage::Folded;
                    apart |= a.digit != b.digit;
                    if by_root {
                        self.base.hops(a.digit, 0) + self.base.hops(0, b.digit)
                    } else {
                        self.base.hops(a.digit, b.digit)
                    }
                })
                .sum(),
        )
    }

    /// n D in `folded`; otherwise D across the first digit and, on both sides, the largest distance from node 0 in the base for each of the
    /// other digits.
    fn known_diameter(&self) -> Option<Number> {
        let (digits, across) = (Number::from(self.digits), self.base.diameter());
        Some(match self.linkage {
            Linkage::Folded => digits * across,
            _ => across + 2 * (digits - 1) * self.base.farthest_from_zero(),
        })
    }

    /// The degrees tell the nodes apart if only some have links at all digits.
    fn vertex_transitive(&self) -> bool {
        self.base.vertex_transitive() && (self.linkage == Linkage::Folded || self.digits == 1)
    }

    fn write_address(&self, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, place) in self.places(node).enumerate() {
            out.write_str(if index == 0 { "(" } else { "," })?;
            self.base.write_address(place.digit, out)?;
        }
        out.write_str(")")
    }

    fn passes_on_directly(&self, here: Vertex, port: Number, source: Vertex) -> Option<bool> {
        let passes = || {
            let (place, port) = self.place_of_port(here, port)?;
            let entry = self.entry(here, &place, source)?;
            Some(self.base.passes_on(place.digit, port, entry))
        };
        Some(passes().unwrap_or(false))
    }

    fn send_priority(&self, here: Vertex, port: Number, source: Vertex) -> u64 {
        let send_priority = || {
            let (place, port) = self.place_of_port(here, port)?;
            let entry = self.entry(here, &place, source)?;
            let within = self.base.send_priority(place.digit, port, entry);
            Some(self.order(here, &place, port, entry, within))
        };
        send_priority().unwrap_or(0)
    }

    /// The base's own tree of fewest steps in every copy, n times its steps in `folded`; but the tree of least depth on the path out of the
    /// inner copies, since all the rest waits for that.
    fn fewest_steps_send_priority(&self, here: Vertex, port: Number, source: Vertex) -> Option<u64> {
        let (place, port) = self.place_of_port(here, port)?;
        let entry = self.entry(here, &place, source)?;
        let inner = place.weight != self.first_weight;
        let within = if self.linkage != Linkage::Folded && inner && entry != 0 {
            self.base
                .passes_on(place.digit, port, entry)
                .then(|| self.base.send_priority(place.digit, port, entry))
        } else {
            self.base.fewest_steps_send_priority(place.digit, port, entry)
        };
        Some(self.order(here, &place, port, entry, within?))
    }

    fn serves_in_fewest_steps(&self, here: Vertex, port: Number, source: Vertex) -> bool {
        self.fewest_steps_send_priority(here, port, source).is_some()
    }
}

impl WriteExpr for Hierarchy {
    fn write_expr(&self, out: &mut ExprWriter<'_>) {
        out.text(self.linkage.name()).text("(").part(&self.base);
        out.text(",").number(self.digits).text(")");
    }
}
