//! Whom a node passes a broadcast on to.

use heapless::Vec;

use crate::arith::{Number, Vertex, wide};
use crate::limits::MAX_SORTED_CHILDREN;
use crate::network::family::Family;
use crate::topology::{Node, Port, Topology};

/// The ports and nodes that a broadcast is passed on to, in the order in which to send: the most urgent first, and
/// beyond [`MAX_SORTED_CHILDREN`] in the order of the ports.
///
/// O(degree) calls of the network's `passes_on` and `urgency`, or `fewest_steps_urgency`.
#[derive(Clone)]
pub struct Fanout<'a> {
    network: &'a Family,
    here: Vertex,
    source: Vertex,
    urgency: Urgency,
    /// The least urgent first, so that the next one is at the end.
    sorted: Vec<Child, MAX_SORTED_CHILDREN>,
    /// The first port that is not in `sorted`.
    port: Number,
}

/// How urgent it is for a node to serve a port in the broadcast of a source; `None` if it does not pass it on there.
///
/// A function chosen once: a program that only ever takes one tree does not carry the code of the other.
type Urgency = fn(&Family, Vertex, Number, Vertex) -> Option<u64>;

fn least_depth(network: &Family, here: Vertex, port: Number, source: Vertex) -> Option<u64> {
    network
        .passes_on(here, port, source)
        .then(|| network.urgency(here, port, source))
}

#[derive(Clone, Copy)]
struct Child {
    port: Number,
    urgency: u64,
}

impl<'a> Fanout<'a> {
    /// Along the tree of least depth.
    pub(crate) fn of_least_depth(network: &'a Family, here: Vertex, source: Vertex) -> Self {
        Fanout::new(network, here, source, least_depth)
    }

    /// Along the tree of fewest steps.
    pub(crate) fn of_fewest_steps(network: &'a Family, here: Vertex, source: Vertex) -> Self {
        Fanout::new(network, here, source, Family::fewest_steps_urgency)
    }

    fn new(network: &'a Family, here: Vertex, source: Vertex, urgency: Urgency) -> Self {
        let mut fanout = Fanout {
            network,
            here,
            source,
            urgency,
            sorted: Vec::new(),
            port: 0,
        };
        while let Some(child) = fanout.next_child() {
            if !fanout.insert(child) {
                fanout.port = child.port;
                break;
            }
        }
        fanout
    }

    /// Puts a child among the sorted ones, before those of later ports that are as urgent; `false` if there is no room.
    fn insert(&mut self, child: Child) -> bool {
        if self.sorted.push(child).is_err() {
            return false;
        }
        let mut moved = child;
        let after = self.sorted.iter_mut();
        for other in after.skip_while(|other| other.urgency < child.urgency) {
            core::mem::swap(other, &mut moved);
        }
        true
    }

    /// The next child, in the order of the ports.
    fn next_child(&mut self) -> Option<Child> {
        let degree = self.network.degree(self.here);
        let child = (self.port..degree).find_map(|port| {
            let urgency = (self.urgency)(self.network, self.here, port, self.source)?;
            Some(Child { port, urgency })
        });
        self.port = child.map_or(degree, |child| child.port + 1);
        child
    }
}

impl Iterator for Fanout<'_> {
    type Item = (Port, Node);

    fn next(&mut self) -> Option<(Port, Node)> {
        let Child { port, .. } = match self.sorted.pop() {
            Some(child) => child,
            None => self.next_child()?,
        };
        Some((wide(port), wide(self.network.neighbor(self.here, port)?)))
    }
}
