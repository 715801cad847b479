//! Paths between clusters, and their lengths.
//!
//! A path between clusters is a few legs within clusters, one level down, and the links between them. A leg whose ends are
//! again in different clusters is a search of its own: the searches under way wait on a stack, one for each level.

use heapless::Vec;

use super::Rsn;
use crate::arith::{Number, Vertex, div_rem};
use crate::limits::MAX_SWAP_LEVELS;

/// The kind of a path between clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Path {
    /// To the node linked with the other cluster, across, and on to the destination.
    OneSwap,
    /// Across at once, so that the cluster becomes the node within; to the node linked with the other cluster, and across.
    TwoSwaps,
    /// Through the diameter link of this leader.
    Leader(Vertex),
}

/// A node of a level: its cluster and its number within.
type Pair = (Vertex, Vertex);

/// From one node of a cluster to another.
type Leg = (Vertex, Vertex);

struct Candidate {
    path: Path,
    /// Links between clusters.
    crossings: Number,
    legs: [Option<Leg>; 4],
}

impl Candidate {
    fn one_swap((a, b): Pair, (c, e): Pair) -> Self {
        Candidate {
            path: Path::OneSwap,
            crossings: 1,
            legs: [Some((b, c)), Some((a, e)), None, None],
        }
    }

    /// `None` from the node that is already linked with the other cluster: going elsewhere is a detour.
    fn two_swaps((a, b): Pair, (c, e): Pair) -> Option<Self> {
        (b != c).then_some(Candidate {
            path: Path::TwoSwaps,
            crossings: 2,
            legs: [Some((a, c)), Some((b, e)), None, None],
        })
    }

    /// `None` if the leader is its own image, since it has no diameter link.
    fn through(leader: Vertex, image: Vertex, (a, b): Pair, (c, e): Pair) -> Option<Self> {
        (leader != image).then_some(Candidate {
            path: Path::Leader(leader),
            crossings: 1 + Number::from(leader != a) + Number::from(image != c),
            legs: [Some((b, leader)), Some((a, leader)), Some((image, c)), Some((image, e))],
        })
    }
}

/// The search for the shortest path between two different clusters of a level: one candidate after the other, leg by leg.
struct Search {
    level: u8,
    from: Pair,
    to: Pair,
    /// The shortest path so far and its hops.
    best: Number,
    best_path: Path,
    /// The number of the candidate being measured: one swap, two swaps, then the leaders.
    turn: Number,
    candidate: Candidate,
    /// The number of measured legs, and their hops including the crossings.
    measured: usize,
    hops: Number,
}

impl Search {
    fn new(level: u8, from: Pair, to: Pair) -> Self {
        let candidate = Candidate::one_swap(from, to);
        Search {
            level,
            from,
            to,
            best: Number::MAX,
            best_path: Path::OneSwap,
            turn: 0,
            hops: candidate.crossings,
            candidate,
            measured: 0,
        }
    }

    /// The leg to be measured next, if the candidate has one left.
    fn leg(&self) -> Option<Leg> {
        self.candidate.legs.get(self.measured).copied().flatten()
    }

    /// Takes the hops of the requested leg, and returns the next leg; `None` at the end of the search.
    fn take(&mut self, rsn: &Rsn, hops: Number) -> Option<Leg> {
        self.hops = self.hops.saturating_add(hops);
        self.measured += 1;
        if self.hops < self.best {
            if let Some(leg) = self.leg() {
                return Some(leg);
            }
            self.best = self.hops;
            self.best_path = self.candidate.path;
        }
        // Fully measured, or too long already.
        self.candidate = self.next_candidate(rsn)?;
        self.measured = 0;
        self.hops = self.candidate.crossings;
        self.leg()
    }

    /// The next candidate that may be shorter; `None` after the last.
    fn next_candidate(&mut self, rsn: &Rsn) -> Option<Candidate> {
        loop {
            self.turn += 1;
            let candidate = match self.turn {
                1 => Candidate::two_swaps(self.from, self.to),
                turn => {
                    let leader = rsn.leader(self.level, turn - 2, self.from, self.to)?;
                    Candidate::through(leader, rsn.mirror(self.level, leader), self.from, self.to)
                }
            };
            if let Some(candidate) = candidate.filter(|candidate| candidate.crossings < self.best) {
                return Some(candidate);
            }
        }
    }
}

impl Rsn {
    /// The hops between two nodes of a level; exact where all paths are tried.
    pub(super) fn hops(&self, level: u8, from: Vertex, to: Vertex) -> Number {
        match self.parting(level, from, to) {
            (1, from, to) => self.nucleus.hops(from, to),
            (level, from, to) => self.search(level, from, to).0,
        }
    }

    /// The level at which two nodes are in different clusters, and their numbers there; level 1 if there is none.
    #[inline]
    pub(super) fn parting(&self, mut level: u8, mut from: Vertex, mut to: Vertex) -> (u8, Vertex, Vertex) {
        while level > 1 {
            let (a, b) = div_rem(from, self.size(level - 1));
            let (c, e) = div_rem(to, self.size(level - 1));
            if a != c {
                break;
            }
            (level, from, to) = (level - 1, b, e);
        }
        (level, from, to)
    }

    /// The length of the shortest path between nodes in different clusters of a level, and that path; on a tie the first.
    pub(super) fn search(&self, level: u8, from: Vertex, to: Vertex) -> (Number, Path) {
        let begin = |level: u8, from, to| {
            let size = self.size(level - 1);
            Search::new(level, div_rem(from, size), div_rem(to, size))
        };
        // Each waits for a leg that the next one measures, one level lower every time, so there is room.
        let mut waiting = Vec::<Search, MAX_SWAP_LEVELS>::new();
        let mut search = begin(level, from, to);
        let mut leg = search.leg();
        loop {
            let hops = match leg {
                Some((from, to)) => match self.parting(search.level - 1, from, to) {
                    (1, from, to) => self.nucleus.hops(from, to),
                    (level, from, to) => {
                        let inner = begin(level, from, to);
                        leg = inner.leg();
                        if waiting.push(core::mem::replace(&mut search, inner)).is_err() {
                            return (Number::MAX, Path::OneSwap);
                        }
                        continue;
                    }
                },
                None => match waiting.pop() {
                    Some(outer) => core::mem::replace(&mut search, outer).best,
                    None => return (search.best, search.best_path),
                },
            };
            leg = search.take(self, hops);
        }
    }
}
