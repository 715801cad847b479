//! Recursive Expansion, `re(FRAME,UNIT,r[,sk|sd])` and `re([F1,F2,..],UNIT[,sk|sd])`.
//!
//! H. Shen, R. J. Back, Construction of Large-Size Interconnection Networks with High Performance, Networks 23, 1993.
//!
//! A node is a position in the unit and a digit per phase, each digit a node of that phase's frame. Links of the unit
//! change the position; a frame link of phase i changes digit i only, and only nodes at the pivot of the phase have one.
//! With `sk` (fewest hops) a phase has one pivot, position (i-1) mod n_u. With `sd` (fewest links a node) the last phases
//! spread their frame links over a set of pivots, and crossing one can change the position too.
//!
//! Ports: those of the unit, then for each phase with a pivot here, from the first, its frame links.

mod heawood;
mod order;
mod phase;
mod search;
mod walk;

use core::fmt;

use crate::arith::{MAX_NODES, Number, Vertex, div_rem, div_rem_short, fits_short, wide, wrap};
use crate::expr_writer::{ExprWriter, WriteExpr};
use crate::graph::Base;
use crate::limits::{self, BOARD_SEARCH_WORDS, MAX_FRAMES};
use crate::network::expression::{BrokenRule, Reader};
use crate::topology::{Method, Rule, Topology};
use phase::{Phase, Pivots, nearest};
use walk::{Needed, Walk};

const MAX_UNIT: Number = limits::MAX_UNIT as Number;

/// A network made by Recursive Expansion.
///
/// With one pivot per phase (`sk`) the distance is the sum of the digits' distances in their frames plus the shortest
/// walk in the unit through the pivots of all differing digits. Each hop of the exact routing function lowers it
/// by one: at a needed pivot, a frame step of the lowest phase; otherwise the lowest-numbered closer neighbor in the unit.
/// The paper's routing function serves the phases from the highest down.
///
/// Time O(r) to find the digits, plus the walk: O(pivots) on ring, path, star and complete units, a
/// bit-parallel search on others. That search needs 2 n_u 2^A bits for A needed pivots; if it does not fit the available
/// [memory](crate::Network::with_search_memory), the nearest needed pivot is served first
/// ([`Method::NearestPivot`]), at most (A+1) times the unit's diameter plus the frame hops. With pivot sets (`sd`) the
/// differing digits are searched together ([`Method::DigitSearch`]), or, if that does not fit, served in the paper's
/// order ([`Method::Paper`]).
///
/// `re-heawood-2(n)` is an expansion with three pivots per phase. With all links at each, the walk visits one of the three; with
/// one link at each, the search over the differing digits is exact. It takes 2 * 14^(A+1) bits for A of them: 2 fit a
/// board, 4 a host; with more, the paper's order is used (measured for n = 4 with the memory of a board, all
/// routes to 6 nodes: 1.18 times the hops on average, at most twice).
///
/// ```
/// use hopwise_core::{Network, Rule};
/// let network: Network = "re(ring(4),complete(3),3)".parse()?;
/// assert_eq!(network.nodes(), 192);
/// assert_eq!(network.address(100)?.to_string(), "(2,0,1;1)"); // digits x3,x2,x1; position
/// assert_eq!(network.distance(0, 100)?, Some(5));
/// assert_eq!(network.next_hop(0, 100, Rule::Exact)?, 3); // digit 1 is changed here, at position 0
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Re {
    unit: Base,
    /// One for all phases if `same`, else one each.
    frames: [Base; MAX_FRAMES],
    same: bool,
    phases: u8,
    choice: Choice,
    /// Positions from one pivot set to the next; 1 or more.
    pivot_stride: u8,
    /// The nodes of the unit and of the frames, which every hop asks for.
    unit_nodes: u8,
    frame_nodes: [Number; MAX_FRAMES],
    /// Whether all nodes fit 32 bits.
    is_short: bool,
    /// Words of memory that a search may take.
    memory: u32,
}

/// The distribution of frame links over pivots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Choice {
    /// One pivot a phase, `sk`.
    OnePivot,
    /// Pivot sets for the last phases, `sd`.
    PivotSets,
    /// Three pivots a phase, each with all links: `re-heawood-2(n,all)`.
    EveryPort,
    /// Three pivots a phase, each with one link: `re-heawood-2(n,one)`.
    OnePort,
}

impl Re {
    pub(crate) fn parse(reader: &mut Reader<'_>) -> Option<Self> {
        const FRAME: &str = "FRAME of re(FRAME,UNIT,r)";
        const FRAMES: &str = "F of re([F1,F2,..],UNIT)";
        const UNIT: &str = "UNIT of re(FRAME,UNIT,r)";
        const PHASES: &str = "r of re(FRAME,UNIT,r)";
        const PIVOTS: &str = "the pivot choice of re(..)";
        reader.open(FRAME)?;
        let listed = reader.accept(b'[');
        let first = reader.base(if listed { FRAMES } else { FRAME })?;
        let mut frames = [first; MAX_FRAMES];
        let mut count = 1;
        while listed && reader.accept(b',') {
            let frame = reader.base(FRAMES)?;
            let slot = frames
                .get_mut(count)
                .or_else(|| reader.refuse(FRAMES, BrokenRule::AtMostItems(MAX_FRAMES as u64)))?;
            *slot = frame;
            count += 1;
        }
        if listed {
            reader.expect(b']', FRAMES, "followed by ',' or ']'")?;
        }
        reader.comma(UNIT)?;
        let unit = reader.base(UNIT)?;
        if !(2..=MAX_UNIT).contains(&unit.nodes()) {
            return reader.refuse(UNIT, BrokenRule::UnitSize);
        }
        let same = frames.iter().take(count).all(|frame| *frame == first);
        let phases = if listed {
            count as Number
        } else {
            reader.next_number(PHASES, 1, Number::MAX)?
        };
        let mut network = Re {
            unit,
            frames,
            same,
            phases: 0,
            choice: Choice::OnePivot,
            pivot_stride: 1,
            unit_nodes: unit.nodes() as u8,
            frame_nodes: frames.map(|frame| frame.nodes()),
            is_short: false,
            memory: BOARD_SEARCH_WORDS as u32,
        };
        let mut nodes = unit.nodes();
        for phase in 0..phases {
            // Ends after at most 62 phases: every frame has two nodes or more.
            nodes = reader.product(
                nodes,
                network.frame_of(phase as usize).nodes(),
                if listed { FRAMES } else { PHASES },
            )?;
        }
        network.phases = phases as u8;
        network.is_short = fits_short(nodes);
        if reader.accept(b',') {
            network.choice = match reader.word() {
                "sk" => Choice::OnePivot,
                "sd" => Choice::PivotSets,
                _ => return reader.refuse(PIVOTS, BrokenRule::Expected("sk or sd")),
            };
        }
        reader.close(PIVOTS)?;
        network.pivot_stride = (0..phases).map(|phase| network.pivot_count(phase)).max().unwrap_or(1) as u8;
        Some(network)
    }

    /// The frame of a phase, counted from 0.
    pub fn frame(&self, phase: u64) -> &Base {
        self.frame_of(phase as usize)
    }

    #[inline]
    fn frame_of(&self, phase: usize) -> &Base {
        let index = if self.same { 0 } else { phase };
        self.frames.get(index).unwrap_or(&self.unit)
    }

    #[inline]
    fn frame_nodes(&self, phase: usize) -> Number {
        let index = if self.same { 0 } else { phase };
        self.frame_nodes.get(index).copied().unwrap_or(1)
    }

    #[inline]
    fn positions(&self) -> Number {
        Number::from(self.unit_nodes)
    }

    /// The unit.
    pub fn unit(&self) -> &Base {
        &self.unit
    }

    /// The number of phases, r.
    pub fn phases(&self) -> u64 {
        u64::from(self.phases)
    }

    /// Whether every pivot of a phase has all its frame links, so that exact routing is a walk through pivots.
    pub fn routes_by_walk(&self) -> bool {
        self.pivot_stride == 1 && self.choice != Choice::OnePort
    }

    /// Whether a crossing keeps the position. Digits that are right then never need to change.
    fn keeps_position(&self) -> bool {
        self.pivot_stride == 1
    }

    /// Whether every phase has exactly one pivot.
    fn one_pivot_a_phase(&self) -> bool {
        self.keeps_position() && matches!(self.choice, Choice::OnePivot | Choice::PivotSets)
    }

    /// Whether nodes of the same position are equivalent: an automorphism maps any one to any other.
    pub fn digits_are_alike(&self) -> bool {
        // The colors of the Heawood graph's edges are preserved by rotations by even numbers and by reflections that exchange
        // even and odd, so its nodes are equivalent even with one link at each port.
        self.keeps_position() && (0..usize::from(self.phases)).all(|phase| self.frame_of(phase).vertex_transitive())
    }

    /// The positions that have all frame links of a phase, counted from 0, as a set; `None` if its links are distributed.
    pub fn pivots_of(&self, phase: u64) -> Option<u64> {
        match self.pivots(phase as Number) {
            Pivots::Each(positions) => Some(positions),
            _ => None,
        }
    }

    /// Sets the memory that a search may take, in words.
    pub(crate) fn set_search_words(&mut self, words: usize) {
        self.memory = words.min(u32::MAX as usize) as u32;
    }

    /// The first phase that may have several pivots.
    fn first_spread_phase(&self) -> Number {
        let (rounds, _) = div_rem(Number::from(self.phases) - 1, self.unit.nodes());
        match self.choice {
            Choice::PivotSets => rounds * self.unit.nodes(),
            _ => Number::from(self.phases),
        }
    }

    fn pivot_count(&self, phase: Number) -> Number {
        let first = self.first_spread_phase();
        if phase < first {
            return 1;
        }
        let (room, _) = div_rem(self.unit.nodes(), Number::from(self.phases) - first);
        room.min(self.frame_of(phase as usize).largest_degree())
    }

    fn pivots(&self, phase: Number) -> Pivots {
        match self.choice {
            Choice::EveryPort => return heawood::every_port(phase),
            Choice::OnePort => return heawood::one_port(phase),
            Choice::OnePivot | Choice::PivotSets => {}
        }
        let first = self.first_spread_phase();
        let (head, count) = if self.pivot_stride == 1 || phase < first {
            (div_rem(phase, self.unit.nodes()).1, 1)
        } else {
            let head = (phase - first) * Number::from(self.pivot_stride);
            (head, self.pivot_count(phase))
        };
        match count {
            1 => Pivots::Each(1 << head),
            _ => Pivots::Dealt { head, count },
        }
    }

    fn position(&self, node: Vertex) -> Vertex {
        div_rem(node, self.unit.nodes()).1
    }

    /// The phases of a node from the first.
    fn phases_of(&self, node: Vertex) -> impl Iterator<Item = Phase<'_>> {
        let (mut rest, _) = div_rem(node, self.unit.nodes());
        let mut weight = self.unit.nodes();
        (0..Number::from(self.phases)).map(move |index| {
            let frame = self.frame_of(index as usize);
            let nodes = frame.nodes();
            let (above, digit) = div_rem(rest, nodes);
            let phase = Phase {
                frame,
                weight,
                digit,
                pivots: self.pivots(index),
            };
            rest = above;
            // Past the last phase the weight is the number of nodes, which may not fit; it is not used there.
            weight = weight.wrapping_mul(nodes);
            phase
        })
    }

    /// The phases in which two nodes differ, from the first, each with the digit wanted.
    #[inline]
    fn differing(&self, from: Vertex, to: Vertex) -> impl Iterator<Item = (Phase<'_>, Vertex)> {
        let positions = self.unit.nodes();
        let (mut here, mut there) = (div_rem(from, positions).0, div_rem(to, positions).0);
        let mut weight = positions;
        let mut index = 0;
        let mut head = 0;
        core::iter::from_fn(move || {
            // Once the remainders are equal, so are all digits in them.
            while here != there {
                let frame = self.frame_of(index as usize);
                let nodes = frame.nodes();
                let (here_above, digit) = div_rem(here, nodes);
                let (there_above, wanted) = div_rem(there, nodes);
                let pivots = if self.one_pivot_a_phase() {
                    Pivots::Each(1 << head)
                } else {
                    self.pivots(index)
                };
                let phase = Phase {
                    frame,
                    weight,
                    digit,
                    pivots,
                };
                (here, there) = (here_above, there_above);
                weight = weight.wrapping_mul(nodes);
                index += 1;
                head = wrap(head + 1, positions);
                if digit != wanted {
                    return Some((phase, wanted));
                }
            }
            None
        })
    }

    /// The remaining walk in the unit.
    fn walk(&self, from: Vertex, to: Vertex) -> Walk<'_> {
        let mut needed = Needed::default();
        for (phase, wanted) in self.differing(from, to) {
            needed.add(phase.exits_to(wanted));
        }
        self.walk_by(self.position(from), self.position(to), needed)
    }

    fn walk_by(&self, from: Vertex, to: Vertex, needed: Needed) -> Walk<'_> {
        Walk {
            graph: &self.unit,
            from,
            to,
            needed,
            memory: self.memory as usize,
        }
    }

    /// With one pivot per phase: a frame step of the lowest differing phase whose pivot is here, otherwise a step in the unit on the
    /// shortest walk through the needed pivots.
    ///
    /// This is the hot path of every packet: no phases are made, and the shortest sufficient division is used.
    #[inline]
    fn next_by_pivots(
        &self,
        here: Vertex,
        dest: Vertex,
        divide: impl Fn(Number, Number) -> (Number, Number),
    ) -> Vertex {
        let positions = self.positions();
        let (mut digits, position) = divide(here, positions);
        let (mut wanted_digits, end) = divide(dest, positions);
        let mut weight = positions;
        let mut phase = 0;
        let mut pivot = 0;
        let mut needed = 0u64;
        // Once the remainders are equal, so are all digits in them.
        while digits != wanted_digits {
            let size = self.frame_nodes(phase);
            let (above, digit) = divide(digits, size);
            let (wanted_above, wanted) = divide(wanted_digits, size);
            if digit != wanted {
                if pivot == position {
                    let next = self.frame_of(phase).step(digit, wanted);
                    return (here + next * weight).wrapping_sub(digit * weight);
                }
                needed |= 1 << pivot;
            }
            (digits, wanted_digits) = (above, wanted_above);
            weight = weight.wrapping_mul(size);
            phase += 1;
            pivot = wrap(pivot + 1, positions);
        }
        here - position + self.unit_step_by(position, end, needed)
    }

    /// A step in the unit toward a position, through the needed ones.
    #[inline]
    fn unit_step_by(&self, from: Vertex, to: Vertex, needed: u64) -> Vertex {
        if needed == 0 {
            return self.unit.step(from, to);
        }
        match walk::step_by_formula(&self.unit, from, to, needed) {
            Some(next) => next,
            None => self.unit_step(from, to, Needed::places(needed)),
        }
    }

    fn next_exact(&self, here: Vertex, dest: Vertex) -> Vertex {
        let position = self.position(here);
        let mut needed = Needed::default();
        for (phase, wanted) in self.differing(here, dest) {
            let pivots = phase.exits_to(wanted);
            if pivots >> position & 1 == 1 {
                return phase.replace(here, phase.frame.step(phase.digit, wanted));
            }
            needed.add(pivots);
        }
        here - position + self.unit_step(position, self.position(dest), needed)
    }

    /// A step in the unit toward a position, through the needed ones.
    fn unit_step(&self, from: Vertex, to: Vertex, needed: Needed) -> Vertex {
        if needed.is_empty() {
            return self.unit.step(from, to);
        }
        let walk = self.walk_by(from, to, needed);
        walk.step()
            .unwrap_or_else(|| self.towards_nearest(from, walk.needed.anywhere()))
    }

    /// A step toward the nearest of a set of positions.
    fn towards_nearest(&self, position: Vertex, positions: u64) -> Vertex {
        nearest(&self.unit, position, positions).map_or(position, |pivot| self.unit.step(position, pivot))
    }

    /// The phases from the highest down; within one, along the frame's own route.
    fn next_paper(&self, here: Vertex, dest: Vertex) -> Vertex {
        let position = self.position(here);
        let exits = match self.differing(here, dest).last() {
            None => 1 << self.position(dest),
            Some((phase, wanted)) => {
                let digit = phase.frame.step(phase.digit, wanted);
                let exits = phase.exits_to(digit);
                if exits >> position & 1 == 1 {
                    return phase.cross(here, position, digit);
                }
                exits
            }
        };
        here - position + self.towards_nearest(position, exits)
    }
}

impl Topology for Re {
    fn nodes(&self) -> Number {
        let frames = (0..Number::from(self.phases)).map(|phase| self.frame_of(phase as usize).nodes());
        frames
            .fold(self.unit.nodes(), |nodes, frame| nodes.wrapping_mul(frame))
            .min(MAX_NODES)
    }

    fn degree(&self, node: Vertex) -> Number {
        let position = self.position(node);
        self.unit.degree(position)
            + self
                .phases_of(node)
                .map(|phase| phase.links_at(position))
                .sum::<Number>()
    }

    fn neighbor(&self, node: Vertex, mut port: Number) -> Option<Vertex> {
        let position = self.position(node);
        let own = self.unit.degree(position);
        if port < own {
            return Some(node - position + self.unit.neighbor(position, port)?);
        }
        port -= own;
        for phase in self.phases_of(node) {
            let links = phase.links_at(position);
            if port < links {
                let (digit, entry) = phase.crossing(position, port)?;
                return Some(phase.replace(node, digit) - position + entry);
            }
            port -= links;
        }
        None
    }

    fn port_to(&self, node: Vertex, neighbor: Vertex) -> Option<Number> {
        let positions = self.unit.nodes();
        let ((digits, position), (other_digits, other)) = (div_rem(node, positions), div_rem(neighbor, positions));
        if digits == other_digits {
            return self.unit.port_to(position, other);
        }
        let mut port = self.unit.degree(position);
        for (phase, other) in self.phases_of(node).zip(self.phases_of(neighbor)) {
            if phase.digit != other.digit {
                port += phase.link_to(other.digit)?;
                return (self.neighbor(node, port) == Some(neighbor)).then_some(port);
            }
            port += phase.links_at(position);
        }
        None
    }

    fn next(&self, here: Vertex, dest: Vertex, rule: Rule) -> Vertex {
        if here == dest {
            return here;
        }
        match rule {
            Rule::Exact if self.one_pivot_a_phase() && self.is_short => self.next_by_pivots(here, dest, div_rem_short),
            Rule::Exact if self.one_pivot_a_phase() => self.next_by_pivots(here, dest, div_rem),
            Rule::Exact if self.routes_by_walk() => self.next_exact(here, dest),
            Rule::Exact => self
                .search(here, dest)
                .map_or_else(|| self.next_paper(here, dest), |found| found.next),
            Rule::Paper => self.next_paper(here, dest),
        }
    }

    fn distance(&self, from: Vertex, to: Vertex) -> Option<Number> {
        if !self.keeps_position() {
            return None;
        }
        if !self.routes_by_walk() {
            return self.search(from, to).map(|found| found.hops);
        }
        let frame_hops: Number = self
            .differing(from, to)
            .map(|(phase, wanted)| phase.frame.hops(phase.digit, wanted))
            .sum();
        Some(frame_hops + self.walk(from, to).length()?)
    }

    fn longest_route(&self, rule: Rule) -> Number {
        let phases = Number::from(self.phases);
        let across = self.unit.diameter();
        let frame_hops = (0..phases).map(|phase| self.frame_of(phase as usize).diameter());
        if !self.routes_by_walk() {
            // At most one path across the unit before every frame hop.
            return frame_hops
                .map(|hops| hops.saturating_mul(across + 1))
                .fold(across, Number::saturating_add);
        }
        let visits = match rule {
            Rule::Exact => phases.min(self.unit.nodes()),
            Rule::Paper => phases,
        };
        frame_hops.fold(across * (visits + 1), Number::saturating_add)
    }

    fn write_address(&self, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("(")?;
        for index in (0..usize::from(self.phases)).rev() {
            if let Some(phase) = self.phases_of(node).nth(index) {
                phase.frame.write_address(phase.digit, out)?;
                out.write_str(if index > 0 { "," } else { ";" })?;
            }
        }
        self.unit.write_address(self.position(node), out)?;
        out.write_str(")")
    }

    fn send_priority(&self, here: Vertex, port: Number, source: Vertex) -> u64 {
        if self.one_pivot_a_phase() {
            self.child_urgency(here, port, source)
        } else {
            // The frame links first, the higher phase before the lower: more of the network is behind them.
            wide(port)
        }
    }

    fn method(&self, here: Vertex, dest: Vertex, rule: Rule) -> Method {
        match rule {
            Rule::Paper => Method::Paper,
            Rule::Exact if !self.routes_by_walk() => match self.search_fits(here, dest) {
                true if self.keeps_position() => Method::Shortest,
                true => Method::DigitSearch,
                false => Method::Paper,
            },
            Rule::Exact if self.walk(here, dest).is_exact() => Method::Shortest,
            Rule::Exact => Method::NearestPivot,
        }
    }
}

impl WriteExpr for Re {
    fn write_expr(&self, out: &mut ExprWriter<'_>) {
        if let Choice::EveryPort | Choice::OnePort = self.choice {
            out.text("re-heawood-2(").number(self.phases + 1);
        } else if self.same {
            out.text("re(").part(self.frame_of(0)).text(",").part(&self.unit);
            out.text(",").number(self.phases);
        } else {
            for (index, frame) in self.frames.iter().take(usize::from(self.phases)).enumerate() {
                out.text(if index == 0 { "re([" } else { "," }).part(frame);
            }
            out.text("],").part(&self.unit);
        }
        out.text(match self.choice {
            Choice::OnePivot | Choice::EveryPort => ")",
            Choice::PivotSets => ",sd)",
            Choice::OnePort => ",one)",
        });
    }
}
