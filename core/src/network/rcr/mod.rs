//! Recursive Cube of Rings, `rcr(k,r,j)`, and the networks it generalizes: the Cube of Rings `cor(k,r)` and the
//! Cube-Connected Cycles `ccc(n)`.
//!
//! Y. Sun, P. Y. S. Cheung, X. Lin, Recursive Cube of Rings: A New Topology for Interconnection Networks, IEEE TPDS 11(3),
//! 2000.
//!
//! A node [A;b] is a word of m = k + j bits and a place on a ring of r. Ring links change the place; a cube link flips one
//! of the k bits in the window of the place, and from one place to the next the window moves on by k bits, cyclically.
//! `cor(k,r)` is `rcr(k,r,k(r-1))` with the windows counted from bit 0 instead of bit -k, and `ccc(n)` is `cor(1,n)`.
//!
//! Ports: the ring at +1 and at -1 (one of them for r = 2, none for r = 1), then the bits of the window from the lowest.

mod order;

use core::cmp::Ordering;
use core::fmt;

use crate::arith::{MAX_NODES, Number, Vertex, bits, div_rem, ones, sub_mod, wide, wrap};
use crate::expr_writer::{ExprWriter, WriteExpr};
use crate::graph::{Graph, Line};
use crate::limits::MAX_BITS;
use crate::network::expression::{BrokenRule, Reader};
use crate::topology::{Rule, Topology};

/// A Recursive Cube of Rings.
///
/// The distance is the number of differing bits plus the shortest walk on the ring that visits a window of each; a
/// walk is a stretch of the ring left and right of the start, covered with at most two reversals. The exact routing function flips
/// the needed bits of the current window, lowest bit first, then steps along a shortest walk, +1 on a tie.
/// The paper's routing function (hop-plane, in our reading: its figure is lost) steps to the nearest place with a needed bit.
/// O(m/k) time, a few words for each window in reach.
///
/// ```
/// use hopwise_core::{Network, Rule};
/// let network: Network = "rcr(2,2,2)".parse()?;
/// assert_eq!(network.address(11)?.to_string(), "[0101;1]");
/// assert_eq!(network.distance(0, 11)?, Some(3));
/// assert_eq!(network.next_hop(0, 11, Rule::Exact)?, 8); // bit 2 is in the window of place 0
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rcr {
    /// Bits in a window, k.
    window: u8,
    /// Bits in all, m = k + j.
    bits: u8,
    /// Places on the ring, r.
    ring: Number,
    name: Name,
}

/// The word with which a network was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Name {
    RecursiveCubeOfRings,
    CubeOfRings,
    CubeConnectedCycles,
}

/// Maximum number of windows in reach on one side before all bits are covered: the bits take at most 63 windows, and the ring's wrap,
/// where the windows need not fit together, can break off one such run.
const MAX_REACH: usize = 128;

/// Enough for all networks whose bits take at most 16 windows.
const SHORT_REACH: usize = 32;

struct RingWalk {
    hops: Number,
    /// One such walk begins with a step of +1.
    begins_up: bool,
}

impl RingWalk {
    /// The shorter of the two; on a tie, a walk that may begin as either does.
    #[inline]
    fn or(self, other: RingWalk) -> RingWalk {
        match other.hops.cmp(&self.hops) {
            Ordering::Less => other,
            Ordering::Greater => self,
            Ordering::Equal => RingWalk {
                begins_up: self.begins_up || other.begins_up,
                ..self
            },
        }
    }
}

/// The end of a walk relative to its start: places up or places down. The other one is 0.
struct Ending {
    up: Number,
    down: Number,
}

impl Rcr {
    pub(crate) fn parse(reader: &mut Reader<'_>) -> Option<Self> {
        const CUBE: &str = "k of rcr(k,r,j)";
        const RING: &str = "r of rcr(k,r,j)";
        const MORE: &str = "j of rcr(k,r,j)";
        let window = reader.first_number(CUBE, 0, MAX_BITS.into())?;
        let ring = reader.next_number(RING, 1, MAX_NODES)?;
        let more = reader.next_number(MORE, 0, Number::MAX)?;
        if window == 0 && more > 0 {
            return reader.refuse(MORE, BrokenRule::NoCubeLinks);
        }
        let bits = window.saturating_add(more);
        if bits > Number::from(MAX_BITS) {
            return reader.refuse(MORE, BrokenRule::TooManyNodes);
        }
        if reader.product(ring, 1 << bits, RING)? == 1 {
            return reader.refuse(RING, BrokenRule::OneNode);
        }
        let covered = ring.saturating_mul(window);
        if covered < bits {
            return reader.refuse(RING, BrokenRule::Disconnected(wide(bits - covered)));
        }
        reader.close(MORE)?;
        Some(Rcr {
            window: window as u8,
            bits: bits as u8,
            ring,
            name: Name::RecursiveCubeOfRings,
        })
    }

    pub(crate) fn parse_cor(reader: &mut Reader<'_>) -> Option<Self> {
        const CUBE: &str = "k of cor(k,r)";
        const RING: &str = "r of cor(k,r)";
        let window = reader.first_number(CUBE, 1, Number::MAX)?;
        let ring = reader.next_number(RING, 2, Number::MAX)?;
        let network = Rcr::with_disjoint_windows(reader, window, ring, RING)?;
        reader.close(RING)?;
        Some(network)
    }

    pub(crate) fn parse_ccc(reader: &mut Reader<'_>) -> Option<Self> {
        const RING: &str = "n of ccc(n)";
        let ring = reader.first_number(RING, 3, Number::MAX)?;
        let network = Rcr::with_disjoint_windows(reader, 1, ring, RING)?;
        reader.close(RING)?;
        Some(Rcr {
            name: Name::CubeConnectedCycles,
            ..network
        })
    }

    /// A Cube of Rings: every bit is in the window of exactly one place.
    fn with_disjoint_windows(
        reader: &mut Reader<'_>,
        window: Number,
        ring: Number,
        parameter: &'static str,
    ) -> Option<Self> {
        let bits = reader.product(window, ring, parameter)?;
        if bits > Number::from(MAX_BITS) {
            return reader.refuse(parameter, BrokenRule::TooManyNodes);
        }
        reader.product(ring, 1 << bits, parameter)?;
        Some(Rcr {
            window: window as u8,
            bits: bits as u8,
            ring,
            name: Name::CubeOfRings,
        })
    }

    /// Bits in the window of a place, k.
    pub fn window_bits(&self) -> u64 {
        u64::from(self.window)
    }

    /// Bits of a node's word, k + j.
    pub fn word_bits(&self) -> u64 {
        u64::from(self.bits)
    }

    /// Places on the ring, r.
    pub fn ring(&self) -> u64 {
        wide(self.ring)
    }

    #[inline]
    fn split(&self, node: Vertex) -> (Number, Number) {
        div_rem(node, self.ring)
    }

    #[inline]
    fn join(&self, word: Number, place: Number) -> Vertex {
        word * self.ring + place
    }

    /// The bits that have a cube link at a place.
    #[inline]
    fn window_at(&self, place: Number) -> Number {
        self.window_from(self.window_start(place))
    }

    /// The first bit of a place's window, (b k - k) mod m; b k in a Cube of Rings.
    #[inline]
    fn window_start(&self, place: Number) -> Number {
        let (word, window) = (Number::from(self.bits), Number::from(self.window));
        let (_, turn) = div_rem(place, word);
        let first = match self.name {
            Name::RecursiveCubeOfRings => word - window,
            Name::CubeOfRings | Name::CubeConnectedCycles => 0,
        };
        div_rem(turn * window + first, word).1
    }

    /// The window whose first bit is `start`.
    #[inline]
    fn window_from(&self, start: Number) -> Number {
        let straight = ones(Number::from(self.window)) << start;
        let wrapped = ones(Number::from(self.window)) >> (Number::from(self.bits) - start).min(MAX_BITS.into());
        (straight | wrapped) & ones(Number::from(self.bits))
    }

    /// The windows at +1, +2, .. from a place, or with `up` false at -1, -2, ..
    #[inline]
    fn windows_from(&self, place: Number, up: bool) -> impl Iterator<Item = Number> + '_ {
        let word = Number::from(self.bits);
        let mut place = place;
        let mut start = self.window_start(place);
        // Only the wrap of the ring needs a division: elsewhere the window moves by k.
        core::iter::from_fn(move || {
            if up {
                place += 1;
                start = wrap(start + Number::from(self.window), word);
                if place == self.ring {
                    place = 0;
                    start = self.window_start(0);
                }
            } else if place == 0 {
                place = self.ring - 1;
                start = self.window_start(place);
            } else {
                place -= 1;
                start = sub_mod(start, Number::from(self.window), word);
            }
            Some(self.window_from(start))
        })
    }

    fn ring_walk(&self, place: Number, end: Number, needed: Number) -> RingWalk {
        if needed == 0 {
            return RingWalk {
                hops: Line::ring(self.ring).hops(place, end),
                begins_up: Line::ring(self.ring).step(place, end) == wrap(place + 1, self.ring),
            };
        }
        if usize::from(self.bits) <= SHORT_REACH / 2 * usize::from(self.window) {
            self.ring_walk_within::<SHORT_REACH>(place, end, needed)
        } else {
            self.ring_walk_within::<MAX_REACH>(place, end, needed)
        }
    }

    /// The shortest walk on the ring from `place` to `end` through a window of every needed bit.
    ///
    /// A walk covers the places from `left` below its start to `right` above it. For each `right` the least `left` that covers
    /// the rest is found by letting `right` shrink while `left` grows.
    fn ring_walk_within<const REACH: usize>(&self, place: Number, end: Number, needed: Number) -> RingWalk {
        let (uncovered, mut right) = self.uncovered_above::<REACH>(place, needed);
        let ahead = sub_mod(end, place, self.ring);
        let endings = [
            Ending { up: ahead, down: 0 },
            Ending {
                up: 0,
                down: self.ring - ahead,
            },
        ];
        let mut best = RingWalk {
            hops: Number::MAX,
            begins_up: false,
        };
        let mut left = 0;
        let mut covered_below = 0;
        let mut windows_below = self.windows_from(place, false);
        loop {
            let open = uncovered.get(right).copied().unwrap_or(0);
            while open & !covered_below != 0 && left < self.ring {
                covered_below |= windows_below.next().unwrap_or(0);
                left += 1;
            }
            for ending in &endings {
                best = best.or(self.walk_covering(left, right as Number, ending));
            }
            if right == 0 {
                return best;
            }
            right -= 1;
        }
    }

    /// The needed bits that the windows up to +0, +1, .. from a place do not cover, and the index of the last entry: there
    /// nothing is left, or the reach ends.
    #[inline]
    fn uncovered_above<const REACH: usize>(&self, place: Number, needed: Number) -> ([Number; REACH], usize) {
        let most = (self.ring - 1).min(REACH as Number - 1) as usize;
        let mut uncovered = [0; REACH];
        let mut rest = needed & !self.window_at(place);
        let mut last = 0;
        for (slot, window) in uncovered.iter_mut().zip(self.windows_from(place, true)).take(most + 1) {
            *slot = rest;
            if rest == 0 {
                break;
            }
            rest &= !window;
            last += 1;
        }
        (uncovered, last)
    }

    /// The walk that covers at least these numbers of places left and right of its start. The stretch beyond the end is covered twice, and
    /// so is the one on the other side. A walk of more than one turn is never the shortest: one turn covers all.
    #[inline]
    fn walk_covering(&self, left: Number, right: Number, ending: &Ending) -> RingWalk {
        let (left, right) = (ending.down.max(left), ending.up.max(right));
        let to_end = ending.up + ending.down;
        // The side without the end comes first. A full turn is the same in both directions.
        let begins_up = if ending.up > 0 {
            left == 0
        } else {
            right > 0 || ending.down == self.ring
        };
        RingWalk {
            hops: 2 * (left + right) - to_end,
            begins_up,
        }
    }

    /// The direction of the nearest place with a needed bit; ties go +1.
    fn up_to_nearest(&self, place: Number, needed: Number) -> bool {
        let ups = self.windows_from(place, true);
        let downs = self.windows_from(place, false);
        let mut windows = ups.zip(downs).take(MAX_REACH);
        let nearest = windows.find(|(up, down)| (up | down) & needed != 0);
        nearest.is_none_or(|(up, _)| up & needed != 0)
    }
}

impl Topology for Rcr {
    const HAS_PAPER_RULE: bool = true;

    fn nodes(&self) -> Number {
        self.ring << self.bits
    }

    fn degree(&self, _node: Vertex) -> Number {
        self.ring.min(3) - 1 + Number::from(self.window)
    }

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        let (word, place) = self.split(node);
        let ring_ports = self.ring.min(3) - 1;
        if port < ring_ports {
            return Some(self.join(word, Line::ring(self.ring).neighbor(place, port)?));
        }
        let bit = bits(wide(self.window_at(place))).nth(usize::try_from(port - ring_ports).ok()?)?;
        Some(self.join(word ^ 1 << bit, place))
    }

    fn next(&self, here: Vertex, dest: Vertex, rule: Rule) -> Vertex {
        let ((word, place), (wanted, end)) = (self.split(here), self.split(dest));
        let needed = word ^ wanted;
        let here_needed = needed & self.window_at(place);
        if here_needed != 0 {
            return self.join(word ^ (here_needed & here_needed.wrapping_neg()), place);
        }
        let up = match rule {
            _ if needed == 0 => return self.join(word, Line::ring(self.ring).step(place, end)),
            Rule::Exact => self.ring_walk(place, end, needed).begins_up,
            Rule::Paper => self.up_to_nearest(place, needed),
        };
        self.join(
            word,
            if up {
                wrap(place + 1, self.ring)
            } else {
                sub_mod(place, 1, self.ring)
            },
        )
    }

    fn distance(&self, from: Vertex, to: Vertex) -> Option<Number> {
        let ((word, place), (wanted, end)) = (self.split(from), self.split(to));
        let needed = word ^ wanted;
        Some(Number::from(needed.count_ones()) + self.ring_walk(place, end, needed).hops)
    }

    fn longest_route(&self, rule: Rule) -> Number {
        let word = Number::from(self.bits);
        match (rule, self.known_diameter()) {
            (Rule::Exact, Some(diameter)) => diameter,
            // A full turn covers everything and returns; then at most half the ring.
            (Rule::Exact, None) => word + self.ring + self.ring / 2,
            // Each bit is at most half the ring away.
            (Rule::Paper, _) => word + (word + 1) * (self.ring / 2),
        }
    }

    /// The largest distance, where a closed form is proven: if the windows fit together at the wrap.
    ///
    /// With q = ceil(m/k) windows to cover all bits, a walk that covers them and ends e places on takes g(e) hops one way,
    /// g(r-e) the other; g(t) = t if t >= q-1, else 2(q-1) - t.
    fn known_diameter(&self) -> Option<Number> {
        if !self.vertex_transitive() {
            return None;
        }
        let word = Number::from(self.bits);
        if self.ring == 1 {
            return Some(word);
        }
        let windows = if self.window == 0 {
            1
        } else {
            word.div_ceil(Number::from(self.window))
        };
        let one_way = |places: Number| {
            if places + 1 >= windows {
                places
            } else {
                2 * (windows - 1) - places
            }
        };
        // Past the windows both directions only diverge, so the middle is the worst of the rest.
        let middle = self.ring / 2;
        let ends = (0..=middle.min(2 * windows)).chain([middle]);
        ends.map(|end| one_way(end).min(one_way(self.ring - end)))
            .max()
            .map(|walk| word + walk)
    }

    /// If the windows fit together at the wrap, rotating the ring and the word together is a symmetry; flipping bits always
    /// is one.
    fn vertex_transitive(&self) -> bool {
        let (word, window) = (Number::from(self.bits), Number::from(self.window));
        self.ring == 1 || word == 0 || div_rem(div_rem(self.ring, word).1 * window, word).1 == 0
    }

    fn write_address(&self, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, place) = self.split(node);
        match self.bits {
            0 => write!(out, "[;{place}]"),
            bits => write!(out, "[{word:0>0$b};{place}]", usize::from(bits)),
        }
    }

    fn send_priority(&self, here: Vertex, port: Number, source: Vertex) -> u64 {
        self.child_urgency(here, port, source)
    }
}

impl WriteExpr for Rcr {
    fn write_expr(&self, out: &mut ExprWriter<'_>) {
        match self.name {
            Name::RecursiveCubeOfRings => {
                out.text("rcr(").number(self.window).text(",").number(self.ring);
                out.text(",").number(self.bits - self.window)
            }
            Name::CubeOfRings => out.text("cor(").number(self.window).text(",").number(self.ring),
            Name::CubeConnectedCycles => out.text("ccc(").number(self.ring),
        }
        .text(")");
    }
}
