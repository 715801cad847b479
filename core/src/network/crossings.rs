//! Links between the clusters that a network is made of.

use crate::arith::{Number, Vertex, div_rem};
use crate::limits::LOOKAHEAD;
use crate::topology::{Rule, Topology};

/// How many links between nuclei, blocks of `nucleus` nodes, are on the route ahead; `None` if it is longer than
/// [`LOOKAHEAD`].
///
/// It makes buffer classes free of deadlock: it falls with every such link, and between two of them a packet stays in one
/// nucleus, whose own classes do the rest. O(hops) calls of `next`.
pub(crate) fn crossings_ahead<T: Topology>(
    network: &T,
    nucleus: Number,
    mut here: Vertex,
    dest: Vertex,
    rule: Rule,
) -> Option<Number> {
    let mut crossings = 0;
    for _ in 0..LOOKAHEAD {
        if here == dest {
            return Some(crossings);
        }
        let next = network.next(here, dest, rule);
        crossings += Number::from(div_rem(here, nucleus).0 != div_rem(next, nucleus).0);
        here = next;
    }
    None
}
