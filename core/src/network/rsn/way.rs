//! How to get from one cluster to another, and how long it takes.

use heapless::Vec;

use super::Rsn;
use crate::arith::div_rem;
use crate::limits::MAX_SWAP_LEVELS;
use crate::topology::{Node, Number};

/// What leads from one cluster to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// To the node that is linked with the other cluster, across, and on to the destination.
    OneSwap,
    /// Across at once, so that the cluster becomes the node within; to the node linked with the other cluster, and across.
    TwoSwaps,
    /// Through the diameter link of this leader.
    Leader(Node),
}

/// Legs within clusters that a way is made of, and the links between clusters.
struct Legs {
    way: Way,
    crossings: Number,
    legs: [(Node, Node); 4],
    /// How many of them there are.
    count: usize,
}

/// The search for the shortest way between two different clusters of a level: one way after the other, leg by leg, so that
/// the legs can be found in the same manner.
struct Search {
    level: u8,
    /// Cluster and node within it.
    from: (Node, Node),
    to: (Node, Node),
    best: Number,
    best_way: Way,
    /// The number of the way being measured.
    index: Number,
    legs: Legs,
    /// Legs that are measured.
    done: usize,
    /// Hops of this way, as far as measured.
    hops: Number,
}

impl Search {
    fn new(level: u8, from: (Node, Node), to: (Node, Node)) -> Self {
        let legs = one_swap(from, to);
        Search {
            level,
            from,
            to,
            best: Number::MAX,
            best_way: Way::OneSwap,
            index: 0,
            hops: legs.crossings,
            legs,
            done: 0,
        }
    }

    /// The leg to be measured next, if there is one.
    fn leg(&self) -> Option<(Node, Node)> {
        let legs = &self.legs;
        legs.legs.get(self.done).copied().filter(|_| self.done < legs.count)
    }

    /// Takes the hops of the leg asked for, and asks for another; `None` at the end.
    fn measured(&mut self, rsn: &Rsn, hops: Number) -> Option<(Node, Node)> {
        self.hops = self.hops.saturating_add(hops);
        self.done += 1;
        if self.hops < self.best {
            if let Some(leg) = self.leg() {
                return Some(leg);
            }
            self.best = self.hops;
            self.best_way = self.legs.way;
        }
        self.legs = loop {
            self.index += 1;
            let legs = match self.index {
                // In the node that is linked with the other cluster already, going elsewhere is a detour.
                1 if self.from.1 == self.to.0 => continue,
                1 => two_swaps(self.from, self.to),
                index => {
                    let leader = rsn.leader(self.level, index - 2, self.from, self.to)?;
                    match through(leader, rsn.mirror(self.level, leader), self.from, self.to) {
                        Some(legs) => legs,
                        None => continue,
                    }
                }
            };
            if legs.crossings < self.best {
                break legs;
            }
        };
        self.done = 0;
        self.hops = self.legs.crossings;
        self.leg()
    }
}

fn one_swap((a, b): (Node, Node), (c, e): (Node, Node)) -> Legs {
    Legs {
        way: Way::OneSwap,
        crossings: 1,
        legs: [(b, c), (a, e), (0, 0), (0, 0)],
        count: 2,
    }
}

fn two_swaps((a, b): (Node, Node), (c, e): (Node, Node)) -> Legs {
    Legs {
        way: Way::TwoSwaps,
        crossings: 2,
        legs: [(a, c), (b, e), (0, 0), (0, 0)],
        count: 2,
    }
}

/// `None` if the leader has no link: its own mirror image.
fn through(leader: Node, image: Node, (a, b): (Node, Node), (c, e): (Node, Node)) -> Option<Legs> {
    (leader != image).then(|| Legs {
        way: Way::Leader(leader),
        crossings: 1 + Number::from(leader != a) + Number::from(image != c),
        legs: [(b, leader), (a, leader), (image, c), (image, e)],
        count: 4,
    })
}

impl Rsn {
    /// The hops between two nodes of a level; exact where all ways are tried.
    pub(super) fn hops(&self, level: u8, from: Node, to: Node) -> Number {
        match self.parting(level, from, to) {
            (1, from, to) => self.nucleus.hops(from, to),
            (level, from, to) => self.search(level, from, to).0,
        }
    }

    /// The level at which two nodes are in different clusters, and their numbers there; level 1 if in none.
    #[inline]
    pub(super) fn parting(&self, mut level: u8, mut from: Node, mut to: Node) -> (u8, Node, Node) {
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

    /// The hops of the shortest way between nodes in different clusters of a level, and that way; of equals the first.
    pub(super) fn search(&self, level: u8, from: Node, to: Node) -> (Number, Way) {
        let start = |level: u8, from, to| {
            let size = self.size(level - 1);
            Search::new(level, div_rem(from, size), div_rem(to, size))
        };
        // The searches under way, each for a leg of the one before: a level lower every time, so there is room.
        let mut waiting = Vec::<Search, MAX_SWAP_LEVELS>::new();
        let mut search = start(level, from, to);
        let mut leg = search.leg();
        loop {
            let hops = match leg {
                Some((from, to)) => match self.parting(search.level - 1, from, to) {
                    (1, from, to) => self.nucleus.hops(from, to),
                    (level, from, to) => {
                        let inner = start(level, from, to);
                        leg = inner.leg();
                        if waiting.push(core::mem::replace(&mut search, inner)).is_err() {
                            return (Number::MAX, Way::OneSwap);
                        }
                        continue;
                    }
                },
                None => match waiting.pop() {
                    Some(outer) => core::mem::replace(&mut search, outer).best,
                    None => return (search.best, search.best_way),
                },
            };
            leg = search.measured(self, hops);
        }
    }
}
