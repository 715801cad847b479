//! Looks for lifts of short distances by simulated annealing.
//!
//! A state is a small graph of k orbits whose links have shifts. A step changes a shift, exchanges the ends of two links, or
//! joins two half turns into a link and back; it is kept if the sum of distances falls, or else with a probability that falls
//! with the temperature. Distances from one node of each orbit are all there are, and they are found for all places of an orbit
//! at once.

use std::fmt::Write;

use super::{Entry, MAX_ORBITS, measure};

/// How far to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    pub steps: u64,
    /// Another seed takes other steps.
    pub seed: u64,
}

pub const MAX_NODES: u64 = 1_024;

/// The numbers of orbits that are tried for a size, and how many places each has.
fn shapes(nodes: u64, ports: u64) -> Vec<(usize, usize)> {
    let few = (1..=MAX_ORBITS).filter(|k| nodes.is_multiple_of(*k));
    let orbits = few.chain((nodes <= 26).then_some(nodes).filter(|&nodes| nodes > MAX_ORBITS));
    orbits
        .map(|k| (k as usize, (nodes / k) as usize))
        // Each link takes two ends at an orbit, or is half a turn.
        .filter(|&(k, m)| m % 2 == 0 || (k as u64 * ports).is_multiple_of(2))
        .filter(|&(k, m)| fits(k, m, ports as usize))
        .collect()
}

/// Whether core has room for the places, and for as few links as there can be.
fn fits(k: usize, m: usize, ports: usize) -> bool {
    (k * ports).div_ceil(2) <= most_links(k, m) && k * m.div_ceil(32) <= 64
}

/// How many links core has room for.
fn most_links(k: usize, m: usize) -> usize {
    let width = |count: usize| usize::BITS as usize - (count - 1).leading_zeros() as usize;
    (296 - (k - 1)) / (1 + width(k) + width(m))
}

pub fn search(nodes: u64, ports: u64, effort: Effort) -> Option<Entry> {
    if nodes > MAX_NODES || !(nodes * ports).is_multiple_of(2) || ports < 2 || nodes <= ports {
        return None;
    }
    let shapes = shapes(nodes, ports);
    let mut random = Random(effort.seed ^ nodes << 32 ^ ports << 48);
    let bound = super::Bound::new(nodes, ports).distance_sum();
    let mut best: Option<State> = None;
    let rank = |state: &State| state.cost() * state.m as u64;
    // A first look at each, then the rest of the steps for those that look best.
    let look = (effort.steps / 4 / shapes.len().max(1) as u64).max(1);
    let mut looked: Vec<State> = Vec::new();
    for &(k, m) in &shapes {
        if let Some(state) = State::new(k, m, ports as usize, &mut random) {
            looked.push(state.anneal(look, bound, &mut random));
        }
    }
    looked.sort_by_key(rank);
    let finalists = looked.len().min(3);
    for state in looked.into_iter().take(finalists) {
        let done = |state: &State| rank(state) <= bound && state.reaches_all();
        let (k, m) = (state.orbits.len(), state.m);
        let again = State::new(k, m, ports as usize, &mut random).unwrap_or_else(|| state.clone());
        let share = effort.steps * 3 / 4 / finalists as u64;
        for candidate in [state.clone(), again.anneal(share, bound, &mut random)] {
            let better = best.as_ref().is_none_or(|best| rank(&candidate) < rank(best));
            if candidate.reaches_all() && better {
                best = Some(candidate);
            }
        }
        if best.as_ref().is_some_and(done) {
            break;
        }
    }
    let expression = best?.write_expr();
    let (network, distance_sum, diameter) = measure(&expression)?;
    Some(Entry {
        expression: network.to_string(),
        distance_sum,
        diameter,
        steps: 0,
    })
}

/// SplitMix64.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A link from place x of an orbit to place x + shift of another. Half a turn is a link of an orbit with itself that has one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Link {
    from: usize,
    to: usize,
    shift: usize,
}

impl Link {
    fn new(from: usize, to: usize, shift: usize) -> Self {
        Link { from, to, shift }
    }
}

#[derive(Clone, Debug)]
struct State {
    m: usize,
    links: Vec<Link>,
    /// Of each orbit, where its ends lead, and by which shift.
    orbits: Vec<Vec<(usize, usize)>>,
    /// The sum of distances from one node of each orbit; what is not reached counts as far.
    sum: u64,
    missing: u64,
}

/// The cost of an unreached node.
const FAR: u64 = 64;

impl State {
    /// A random graph of these orbits, each with this many ends.
    fn new(k: usize, m: usize, ports: usize, random: &mut Random) -> Option<State> {
        'again: for _ in 0..1_000 {
            let mut ends: Vec<usize> = (0..k * ports).map(|end| end / ports).collect();
            for at in (1..ends.len()).rev() {
                ends.swap(at, random.below(at + 1));
            }
            let mut links = Vec::new();
            for pair in ends.chunks(2) {
                links.push(match *pair {
                    [from, to] if from != to => Link::new(from.min(to), from.max(to), random.below(m)),
                    [orbit, _] if m > 2 => Link::new(orbit, orbit, 1 + random.below((m - 1) / 2)),
                    [orbit] if m.is_multiple_of(2) => Link::new(orbit, orbit, m / 2),
                    _ => continue 'again,
                });
            }
            let mut state = State {
                m,
                links,
                orbits: vec![Vec::new(); k],
                sum: 0,
                missing: 0,
            };
            if state.settle(random) {
                state.evaluate();
                return Some(state);
            }
        }
        None
    }

    /// Gives links that are there twice another shift; whether that is possible.
    fn settle(&mut self, random: &mut Random) -> bool {
        for at in 0..self.links.len() {
            let mut tries = 0;
            while !self.is_sound(at) {
                tries += 1;
                if tries > 50 {
                    return false;
                }
                self.links[at].shift = random.below(self.m);
            }
        }
        true
    }

    fn is_half_turn(&self, link: Link) -> bool {
        link.from == link.to && 2 * link.shift == self.m
    }

    /// Whether a link is one, and the only one like it.
    fn is_sound(&self, at: usize) -> bool {
        let link = self.links[at];
        let is_loop = link.from == link.to;
        if is_loop && (link.shift == 0 || 2 * link.shift > self.m) {
            return false;
        }
        // A link that had two ends must not become a half turn, which has one: only a step that means it makes one.
        let mut others = self.links.iter().enumerate().filter(|&(other, _)| other != at);
        others.all(|(_, &like)| like != link)
    }

    fn evaluate(&mut self) {
        for orbit in &mut self.orbits {
            orbit.clear();
        }
        for &Link { from, to, shift } in &self.links {
            self.orbits[from].push((to, shift));
            if from != to || 2 * shift != self.m {
                self.orbits[to].push((from, (self.m - shift) % self.m));
            }
        }
        (self.sum, self.missing) = match self.m {
            0..=64 => distances::<1>(self.m, &self.orbits),
            65..=128 => distances::<2>(self.m, &self.orbits),
            129..=256 => distances::<4>(self.m, &self.orbits),
            _ => distances::<16>(self.m, &self.orbits),
        };
    }

    fn cost(&self) -> u64 {
        self.sum + self.missing * FAR
    }

    fn reaches_all(&self) -> bool {
        self.missing == 0
    }

    /// One change, if it is a sound one.
    fn change(&mut self, random: &mut Random) -> bool {
        let count = self.links.len();
        let at = random.below(count);
        let link = self.links[at];
        match random.below(8) {
            0..4 => {
                if self.is_half_turn(link) || self.m == 1 {
                    return false;
                }
                self.links[at].shift = random.below(self.m);
                !self.is_half_turn(self.links[at]) && self.is_sound(at)
            }
            4..7 => {
                let other = random.below(count);
                let like = self.links[other];
                if other == at || self.is_half_turn(link) != self.is_half_turn(like) {
                    return false;
                }
                if self.is_half_turn(link) {
                    // Two half turns become a link between their orbits.
                    self.links[at] = self.link(link.from, like.from, random);
                    self.links.swap_remove(other);
                    let at = if at == self.links.len() { other } else { at };
                    return link.from != like.from && self.is_sound(at);
                }
                let (a, b) = if random.below(2) == 0 {
                    (like.to, like.from)
                } else {
                    (like.from, like.to)
                };
                self.links[at] = self.link(link.from, a, random);
                self.links[other] = self.link(link.to, b, random);
                let sound = |at: usize| !self.is_half_turn(self.links[at]) && self.is_sound(at);
                sound(at) && sound(other)
            }
            _ => {
                // A link between two orbits becomes a half turn of each.
                if self.m % 2 == 1 || link.from == link.to || count >= most_links(self.orbits.len(), self.m) {
                    return false;
                }
                let half = |orbit| Link::new(orbit, orbit, self.m / 2);
                self.links[at] = half(link.from);
                self.links.push(half(link.to));
                self.is_sound(at) && self.is_sound(count)
            }
        }
    }

    fn link(&self, one: usize, other: usize, random: &mut Random) -> Link {
        let shift = random.below(self.m);
        let shift = if one == other { shift.min(self.m - shift) } else { shift };
        Link::new(one.min(other), one.max(other), shift)
    }

    /// The best state met on the way.
    fn anneal(mut self, steps: u64, bound: u64, random: &mut Random) -> State {
        let mut best = self.clone();
        let target = bound / self.m as u64;
        let (hot, cold) = (0.004 * self.sum as f64 + 1.0, 0.15);
        for step in 0..steps {
            let heat = hot * (cold / hot).powf(step as f64 / steps as f64);
            let before = self.links.clone();
            let cost = self.cost();
            let kept = (self.sum, self.missing);
            let mut keep = false;
            if self.change(random) {
                self.evaluate();
                let worse = self.cost() as f64 - cost as f64;
                keep = worse <= 0.0 || random.unit() < (-worse / heat).exp();
            }
            if !keep {
                self.links = before;
                (self.sum, self.missing) = kept;
            } else if self.cost() < best.cost() {
                best = self.clone();
                if best.cost() <= target {
                    break;
                }
            }
        }
        best
    }

    /// As an expression, with as many shifts of 0 as there can be.
    fn write_expr(&self) -> String {
        let k = self.orbits.len();
        let mut turned: Vec<Option<usize>> = vec![None; k];
        turned[0] = Some(0);
        for _ in 0..k {
            for &Link { from, to, shift } in &self.links {
                match (turned[from], turned[to]) {
                    (Some(by), None) => turned[to] = Some((by + shift) % self.m),
                    (None, Some(by)) => turned[from] = Some((by + self.m - shift) % self.m),
                    _ => (),
                }
            }
        }
        let by = |orbit: usize| turned[orbit].unwrap_or(0);
        let moved = |&Link { from, to, shift }: &Link| (from, to, (shift + by(from) + self.m - by(to)) % self.m);
        let mut links: Vec<(usize, usize, usize)> = self.links.iter().map(moved).collect();
        links.sort_unstable();
        let mut text = format!("lift({}", self.m);
        let last = links.last().map_or(0, |link| link.0);
        for orbit in 0..=last {
            text.push(',');
            for &(_, to, shift) in links.iter().filter(|link| link.0 == orbit) {
                text.push(char::from(b'a' + to as u8));
                if shift > 0 {
                    let _ = write!(text, "{shift}");
                }
            }
        }
        text + ")"
    }
}

type Places<const W: usize> = [u64; W];

#[inline]
fn turned<const W: usize>(set: &Places<W>, shift: usize, m: usize) -> Places<W> {
    if W == 1 {
        let mask = if m == 64 { u64::MAX } else { (1 << m) - 1 };
        let up = set[0].checked_shl(shift as u32).unwrap_or(0);
        let round = set[0].checked_shr((m - shift) as u32).unwrap_or(0);
        let mut turned = [0; W];
        turned[0] = (up | round) & mask;
        return turned;
    }
    let read = |at: usize| {
        let (word, bit) = (at / 64, at % 64);
        let low = set.get(word).copied().unwrap_or(0) >> bit;
        let high = set.get(word + 1).copied().unwrap_or(0);
        if bit == 0 { low } else { low | high << (64 - bit) }
    };
    let mut found = [0; W];
    let mut start = (m - shift) % m;
    for (word, slot) in found.iter_mut().enumerate().take(m.div_ceil(64)) {
        let mut bits = read(start);
        let before_the_end = m - start;
        if before_the_end < 64 {
            bits |= set[0] << before_the_end;
        }
        let left = m - 64 * word;
        *slot = if left < 64 { bits & ((1 << left) - 1) } else { bits };
        start = (start + 64) % m;
    }
    found
}

/// The sum of the distances from place 0 of each orbit, and how many nodes are not reached.
fn distances<const W: usize>(m: usize, orbits: &[Vec<(usize, usize)>]) -> (u64, u64) {
    let k = orbits.len();
    let (mut sum, mut missing) = (0, 0);
    let mut seen = vec![[0u64; W]; k];
    let mut front = vec![[0u64; W]; k];
    let mut next = vec![[0u64; W]; k];
    for origin in 0..k {
        seen.fill([0; W]);
        front.fill([0; W]);
        seen[origin][0] = 1;
        front[origin][0] = 1;
        let mut left = (k * m - 1) as u64;
        let mut hops = 0;
        while left > 0 {
            hops += 1;
            next.fill([0; W]);
            for (orbit, ends) in orbits.iter().enumerate() {
                if front[orbit] == [0; W] {
                    continue;
                }
                for &(to, shift) in ends {
                    let reached = turned(&front[orbit], shift, m);
                    for word in 0..W {
                        next[to][word] |= reached[word];
                    }
                }
            }
            let mut found = 0;
            for orbit in 0..k {
                for word in 0..W {
                    next[orbit][word] &= !seen[orbit][word];
                    seen[orbit][word] |= next[orbit][word];
                    found += u64::from(next[orbit][word].count_ones());
                }
            }
            if found == 0 {
                break;
            }
            sum += found * hops;
            left -= found;
            std::mem::swap(&mut front, &mut next);
        }
        missing += left;
    }
    (sum, missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In every width of a set, the search counts what a breadth-first search of the graph counts.
    #[test]
    fn what_is_counted_is_the_sum_of_distances() {
        for (k, m) in [(3, 8), (4, 64), (2, 65), (1, 128), (2, 200), (1, 300)] {
            let mut random = Random(k as u64);
            let state = State::new(k, m, 4, &mut random).expect("there is one");
            let state = state.anneal(50, 0, &mut random);
            let Some((network, sum, _)) = measure(&state.write_expr()) else {
                panic!("{} is not connected", state.write_expr())
            };
            assert_eq!(network.nodes(), (k * m) as u64);
            assert_eq!(state.sum * m as u64, sum, "{network}");
        }
    }

    /// The Petersen graph, in which no distance can be shorter, is found at once.
    #[test]
    fn moore_graphs_are_found() {
        let found = search(10, 3, Effort { steps: 20_000, seed: 1 }).expect("there is one");
        assert_eq!((found.distance_sum, found.diameter), (150, 2));
        let seen = search(9, 3, Effort { steps: 10, seed: 1 });
        assert_eq!(seen, None, "27 ends cannot be joined in pairs");
    }
}
