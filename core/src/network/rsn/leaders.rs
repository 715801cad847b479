//! The leaders tried for a path through a diameter link.
//!
//! From (a,b) to (c,e) through the leader x and its image y = N-1-x takes
//! D(b,x) + D(a,x) + [x!=a] + 1 + D(y,c) + D(y,e) + [y!=c] hops. Where numbering the nucleus backwards changes no distance,
//! the four distances are those from x to a, b and the images of c and e, minimal at their median. The two brackets are 1
//! unless x = a or y = c. So at level 2 it is enough to try these two leaders and one median.
//!
//! A second diameter link is never worth it there: from the image of x to a leader z takes as many hops as from x to the image of z, where
//! the second link leads. In a nucleus that is not the same backwards, as many lifts, it may be.

use super::Rsn;
use crate::arith::{Number, Vertex};
use crate::graph::{Base, Kind};
use crate::limits::{MAX_LEADER_WORK, MAX_SWAP_LEVELS};
use crate::topology::Topology;

/// Maximum number of nodes of a lift of which it is found out whether it is the same backwards. [`MAX_LEADER_WORK`] excludes most larger ones.
const MAX_LIFT: Number = 1 << 10;

/// The leaders of a level that are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Leaders {
    /// None: there are no diameter links, or the work limit excludes them.
    None,
    /// That of this cluster and the one linked to the destination's, if the work limit excludes trying all.
    Ends,
    /// These two and the median: nothing is shorter.
    Median,
    /// The two, and on a star also the nodes within, the center and its image: nothing is shorter.
    Star,
    /// All of them, one after the other: nothing is shorter.
    All,
    /// All of them, over a nucleus that is not the same backwards: a path through two diameter links may be shorter.
    AllOnce,
}

impl Leaders {
    /// Chooses for every level what the work limit allows, low levels first; the levels above each take at least the paths by swaps, four
    /// distances.
    pub(super) fn plan(nucleus: &Base, sizes: &[Number; MAX_SWAP_LEVELS], levels: u8) -> [Leaders; MAX_SWAP_LEVELS] {
        let mut plan = [Leaders::None; MAX_SWAP_LEVELS];
        let mut work = nucleus.distance_work();
        let all = if is_same_backwards(nucleus) {
            Leaders::All
        } else {
            Leaders::AllOnce
        };
        for (level, (slot, &leaders)) in (2..=levels).zip(plan.iter_mut().skip(1).zip(sizes)) {
            let best = match nucleus.0 {
                _ if level > 2 => all,
                Kind::Star(_) => Leaders::Star,
                _ if nucleus.median([0; 4]).is_some() => Leaders::Median,
                _ => all,
            };
            let above = (4 as Number).saturating_pow(u32::from(levels - level));
            for choice in [best, Leaders::Ends, Leaders::None] {
                let tried = match choice {
                    Leaders::None => 0,
                    Leaders::Ends => 2,
                    Leaders::Median => 3,
                    Leaders::Star => 6,
                    Leaders::All | Leaders::AllOnce => leaders,
                };
                let with = work.saturating_mul(tried.saturating_add(1).saturating_mul(4));
                if choice == Leaders::None || with.saturating_mul(above) <= MAX_LEADER_WORK as Number {
                    *slot = choice;
                    work = with;
                    break;
                }
            }
        }
        plan
    }

    /// Whether no leader can be better than those tried.
    pub(super) fn are_enough(self) -> bool {
        !matches!(self, Leaders::None | Leaders::Ends | Leaders::AllOnce)
    }
}

/// Whether numbering the nucleus backwards changes no link, which is known of all but lifts.
fn is_same_backwards(nucleus: &Base) -> bool {
    let last = nucleus.nodes() - 1;
    let is_link = |a: Vertex, b: Vertex| nucleus.neighbors(a).any(|neighbor| neighbor == b);
    let keeps_links = |node: Vertex| nucleus.neighbors(node).all(|next| is_link(last - node, last - next));
    !nucleus.is_arbitrary() || last < MAX_LIFT && (0..=last).all(keeps_links)
}

impl Rsn {
    pub(super) fn leaders(&self, level: u8) -> Leaders {
        let place = usize::from(level).saturating_sub(1);
        self.leaders.get(place).copied().unwrap_or(Leaders::None)
    }

    /// The cluster that a leader's diameter link goes to.
    pub(super) fn mirror(&self, level: u8, leader: Vertex) -> Vertex {
        (self.size(level - 1) - 1).saturating_sub(leader)
    }

    /// The leader to try in this turn for a path between two clusters; `None` after the last.
    pub(super) fn leader(
        &self,
        level: u8,
        turn: Number,
        (a, b): (Vertex, Vertex),
        (c, e): (Vertex, Vertex),
    ) -> Option<Vertex> {
        let image = |node| self.mirror(level, node);
        match (self.leaders(level), turn) {
            (Leaders::None, _) => None,
            (Leaders::All | Leaders::AllOnce, _) => (turn < self.size(level - 1)).then_some(turn),
            (_, 0) => Some(a),
            (_, 1) => Some(image(c)),
            // This node comes last, so that a median on the path stays the first choice all along it.
            (Leaders::Median, 2) => self.nucleus.median([a, image(c), image(e), b]),
            (Leaders::Star, _) => [b, image(e), 0, image(0)].get(turn as usize - 2).copied(),
            _ => None,
        }
    }
}
