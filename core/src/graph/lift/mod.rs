//! Cyclic lifts, `lift(m,LINKS,LINKS,..)`: small graphs in which every node is replaced by a cycle of m.
//!
//! A node is an orbit, written as a letter, and a place from 0 to m - 1: `b3`. Rotating all orbits by one place is a symmetry, so
//! a link is written once for all places. The lists are those of orbit a, b, ..; in the list of orbit i, `c5` joins place x of i
//! with place x + 5 of c, for every x modulo m, and `c` is `c0`. `lift(5,a1b,b2)` is the Petersen graph: an outer cycle, spokes,
//! and an inner cycle of steps of two.
//!
//! The number of a node is orbit * m + place. Ports are the links in the order in which they are written, at both ends; a link of an
//! orbit with itself leads forward, then back.
//!
//! # Routing
//!
//! A shortest path depends only on the two orbits and on the difference of the places. Instead of a table of k * N entries, a
//! breadth-first search from the destination is run on demand, in which all places of an orbit advance in one rotation of a word. It takes
//! two bits per node, and nothing is stored.

#[cfg(feature = "names")]
mod names;
mod parse;
mod search;

use core::fmt;

use super::Graph;
use crate::arith::{Number, Vertex, count_step, div_rem_short, sub_mod, wide, wrap};
use crate::expr_writer::ExprWriter;
#[cfg(feature = "names")]
pub(crate) use names::WORDS;
use search::Search;

/// Maximum number of orbits, one for each letter.
pub(crate) const MAX_ORBITS: u8 = 26;

/// Maximum number of 32-place words in a set of nodes, each orbit beginning a new one: enough for 1,024 nodes in any number of orbits.
pub(crate) const MAX_WORDS: usize = 64;

/// The places in a word.
const WORD: usize = 32;

/// Maximum number of bits of a place or a shift.
const SHIFT_BITS: u32 = 11;

/// Maximum number of bytes of the encoded links: with the other fields, what a base graph has room for besides its kind.
const LINK_BYTES: usize = 37;

/// Maximum number of links that fit; the worst case is a graph of many orbits of two nodes.
const MAX_LINKS: usize = 64;

/// Maximum number of places in an orbit.
const MAX_PLACES: Number = 1 << SHIFT_BITS;

/// A cyclic lift. Made by parsing, which checks that its links fit and join all nodes.
///
/// The links are bits, from the lowest of the first byte: a 0, the other orbit and the shift for each link, a 1 where the list of
/// an orbit ends. Both numbers have as many bits as they need in this lift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lift {
    /// Places less one in the low [`SHIFT_BITS`], orbits less one above.
    size: [u8; 2],
    links: [u8; LINK_BYTES],
}

/// A link of one orbit with another or itself, at every place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct OrbitLink {
    from: u8,
    to: u8,
    /// From place x to place x + shift.
    shift: u16,
}

/// A node as its orbit and its place there.
type Place = (Number, Number);

/// The number of bits that distinguish `count` values.
const fn width(count: u32) -> u32 {
    u32::BITS - (count.saturating_sub(1)).leading_zeros()
}

impl Lift {
    /// Without links yet, for at least one place and one orbit.
    fn empty(places: u16, orbits: u8) -> Self {
        let size = places.saturating_sub(1) | u16::from(orbits.saturating_sub(1)) << SHIFT_BITS;
        Lift {
            size: size.to_le_bytes(),
            links: [0xff; LINK_BYTES],
        }
    }

    /// The nodes of an orbit, m.
    #[inline]
    fn m(&self) -> Number {
        Number::from(u16::from_le_bytes(self.size) & ((1 << SHIFT_BITS) - 1)) + 1
    }

    #[inline]
    fn k(&self) -> Number {
        Number::from(u16::from_le_bytes(self.size) >> SHIFT_BITS) + 1
    }

    /// The nodes of an orbit, m.
    pub fn places(&self) -> u64 {
        wide(self.m())
    }

    /// The number of orbits, k.
    pub fn orbits(&self) -> u64 {
        wide(self.k())
    }

    /// The links in the order in which they are written: an orbit, the other orbit, and the shift.
    pub fn links(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.orbit_links()
            .map(|link| (u64::from(link.from), u64::from(link.to), u64::from(link.shift)))
    }

    /// 32 bits of the links from a place; past the end every list ends.
    fn bits_at(&self, place: u32) -> u32 {
        let first = place as usize / 8;
        let byte = |at: usize| u32::from(self.links.get(first + at).copied().unwrap_or(0xff)) << (8 * at);
        (byte(0) | byte(1) | byte(2)) >> (place % 8)
    }

    /// The link at a cursor, which is advanced past it; `None` at the end.
    #[inline(never)]
    fn link_at(&self, cursor: &mut Cursor) -> Option<OrbitLink> {
        let orbits = self.k() as u32;
        while u32::from(cursor.from) < orbits {
            count_step();
            let bits = self.bits_at(cursor.bit) >> 1;
            let is_end = self.bits_at(cursor.bit) & 1 == 1;
            cursor.bit += 1;
            if is_end {
                cursor.from += 1;
                continue;
            }
            let (orbit_bits, shift_bits) = (width(orbits), width(self.m() as u32));
            cursor.bit += orbit_bits + shift_bits;
            return Some(OrbitLink {
                from: cursor.from,
                to: (bits & ((1 << orbit_bits) - 1)) as u8,
                shift: (bits >> orbit_bits & ((1 << shift_bits) - 1)) as u16,
            });
        }
        None
    }

    fn orbit_links(&self) -> impl Iterator<Item = OrbitLink> + '_ {
        let mut cursor = Cursor::default();
        core::iter::from_fn(move || self.link_at(&mut cursor))
    }

    /// Whether the set of all nodes fits the memory of a search.
    fn fits(places: Number, orbits: u8) -> bool {
        (places as usize).div_ceil(WORD) * usize::from(orbits) <= MAX_WORDS
    }

    /// The cost of a search in units of 32 steps: every level visits both ends of every link, word by word.
    pub(crate) fn search_work(&self) -> Number {
        let words = 2 * self.orbit_links().count() as Number * self.m().div_ceil(WORD as Number);
        (self.diameter() * words / 32).max(1)
    }

    #[inline]
    fn split(&self, node: Vertex) -> Place {
        div_rem_short(node, self.m())
    }

    fn join(&self, (orbit, place): Place) -> Vertex {
        orbit * self.m() + place
    }

    /// A node as seen from another one's place.
    fn relative(&self, node: Vertex, origin: Vertex) -> Place {
        let ((orbit, place), (_, zero)) = (self.split(node), self.split(origin));
        (orbit, sub_mod(place, zero, self.m()))
    }

    pub(crate) fn write_expr<'a, 'b>(&self, out: &'a mut ExprWriter<'b>) -> &'a mut ExprWriter<'b> {
        out.text("lift(").number(self.places() as u32);
        let mut orbit = None;
        for link in self.orbit_links() {
            while orbit.is_none_or(|orbit| orbit < link.from) {
                out.text(",");
                orbit = Some(orbit.map_or(0, |orbit| orbit + 1));
            }
            out.text(str::from_utf8(&[b'a' + link.to]).unwrap_or_default());
            if link.shift > 0 {
                out.number(link.shift);
            }
        }
        out.text(")")
    }
}

impl OrbitLink {
    fn widened(self) -> (Number, Number, Number) {
        (self.from.into(), self.to.into(), self.shift.into())
    }
}

/// A position in the encoded links.
#[derive(Clone, Copy, Default)]
struct Cursor {
    bit: u32,
    /// The orbit whose list it is.
    from: u8,
}

/// The links of a lift, unpacked.
struct Links {
    list: [OrbitLink; MAX_LINKS],
    count: usize,
    m: Number,
}

impl Links {
    #[inline]
    fn of(lift: &Lift) -> Self {
        let mut links = Links {
            list: [OrbitLink::default(); MAX_LINKS],
            count: 0,
            m: lift.m(),
        };
        for (slot, link) in links.list.iter_mut().zip(lift.orbit_links()) {
            *slot = link;
            links.count += 1;
        }
        links
    }

    fn iter(&self) -> impl Iterator<Item = &OrbitLink> {
        self.list.iter().take(self.count)
    }

    /// Visits the ports of a node in order until `is_it` holds; returns that port's number, or the number of ports.
    #[inline(never)]
    fn find_port(&self, (orbit, place): Place, is_it: &mut dyn FnMut(Number, Place) -> bool) -> Number {
        let mut port = 0;
        for link in self.iter() {
            let (from, to, shift) = link.widened();
            let back = sub_mod(0, shift, self.m);
            // Half the way around an orbit and back are one link.
            let is_other_end = to == orbit && (from != to || back != shift);
            for (is_end, to, shift) in [(from == orbit, to, shift), (is_other_end, from, back)] {
                if !is_end {
                    continue;
                }
                if is_it(port, (to, wrap(place + shift, self.m))) {
                    return port;
                }
                port += 1;
            }
        }
        port
    }

    fn degree(&self, node: Place) -> Number {
        self.find_port(node, &mut |_, _| false)
    }

    /// Where a port of a node leads.
    fn across(&self, node: Place, port: Number) -> Option<Place> {
        let mut found = None;
        self.find_port(node, &mut |at, place| {
            found = (at == port).then_some(place);
            at == port
        });
        found
    }

    /// The number of neighbors of a node below another place.
    fn rank(&self, node: Place, other: Place) -> Number {
        let mut lower = 0;
        self.find_port(node, &mut |_, place| {
            lower += Number::from(place < other);
            false
        });
        lower
    }
}

impl Graph for Lift {
    fn nodes(&self) -> Number {
        self.k() * self.m()
    }

    fn degree(&self, node: Vertex) -> Number {
        Links::of(self).degree(self.split(node))
    }

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        let across = Links::of(self).across(self.split(node), port);
        across.map(|place| self.join(place))
    }

    fn port_to(&self, node: Vertex, neighbor: Vertex) -> Option<Number> {
        let (links, node, neighbor) = (Links::of(self), self.split(node), self.split(neighbor));
        let port = links.find_port(node, &mut |_, place| place == neighbor);
        (links.across(node, port) == Some(neighbor)).then_some(port)
    }

    fn rank(&self, node: Vertex, neighbor: Vertex) -> Number {
        Links::of(self).rank(self.split(node), self.split(neighbor))
    }

    /// Ranks all neighbors: no lift has more than about fifty.
    fn ranked(&self, node: Vertex, rank: Number) -> Option<Vertex> {
        let (links, node) = (Links::of(self), self.split(node));
        let port = links.find_port(node, &mut |_, place| links.rank(node, place) == rank);
        links.across(node, port).map(|place| self.join(place))
    }

    /// A port that leads closer. Which of several is taken depends on the orbits and the difference alone, and varies with the difference:
    /// that balances the load over all links and raises the throughput bound by a twelfth compared with taking the first.
    fn step(&self, here: Vertex, dest: Vertex) -> Vertex {
        let (orbit, turn) = self.split(dest);
        let from = self.relative(here, dest);
        match Search::from(self, orbit).reach(from).step(from) {
            Some((orbit, place)) => self.join((orbit, wrap(place + turn, self.m()))),
            None => here,
        }
    }

    fn hops(&self, from: Vertex, to: Vertex) -> Number {
        let (orbit, _) = self.split(to);
        Search::from(self, orbit).reach(self.relative(from, to)).levels()
    }

    fn diameter(&self) -> Number {
        (0..self.k())
            .map(|orbit| Search::from(self, orbit).reach_all().levels())
            .max()
            .unwrap_or(0)
    }

    fn farthest_from_zero(&self) -> Number {
        Search::from(self, 0).reach_all().levels()
    }

    fn largest_degree(&self) -> Number {
        (0..self.k())
            .map(|orbit| self.degree(orbit * self.m()))
            .max()
            .unwrap_or(0)
    }

    /// Proven for a single orbit only: rotating it takes any node to any other.
    fn vertex_transitive(&self) -> bool {
        self.k() == 1
    }

    /// An estimate: the depth of the tree or the steps of doubling, plus one.
    fn broadcast_steps(&self) -> Number {
        let doubling = Number::from(Number::BITS - self.nodes().leading_zeros());
        1 + doubling.max(self.diameter())
    }

    /// The steps of the subtree behind the port, each node there serving its children in the best order.
    fn send_priority(&self, here: Vertex, port: Number, source: Vertex) -> u64 {
        let (orbit, _) = self.split(source);
        let mut search = Search::from(self, orbit);
        wide(search.reach_all().steps_behind(self.relative(here, source), port))
    }

    fn write_address(&self, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (orbit, place) = self.split(node);
        write!(out, "{}{place}", char::from(b'a' + orbit as u8))
    }
}
