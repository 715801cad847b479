//! The fan-out of a broadcast at a node.

use heapless::Vec;

use crate::arith::{Number, Vertex, wide};
use crate::limits::MAX_SORTED_CHILDREN;
use crate::network::family::Family;
use crate::topology::{Node, Port, Topology};

/// The ports and nodes that a broadcast is forwarded to, by descending send priority; beyond [`MAX_SORTED_CHILDREN`], in port order.
///
/// O(degree) calls of the network's `passes_on` or `serves_in_fewest_steps`, and one of `send_priority` or `fewest_steps_send_priority` per
/// sorted child.
#[derive(Clone)]
pub struct Fanout<'a> {
    network: &'a Family,
    here: Vertex,
    source: Vertex,
    serves: Serves,
    /// The lowest priority first, so that the next child is at the end.
    sorted: Vec<Child, MAX_SORTED_CHILDREN>,
    /// The first port that is not in `sorted`.
    port: Number,
}

/// The send priority of a port in the broadcast of a source; `None` if the node does not forward there.
///
/// A function pointer chosen once, so that a program that only ever uses one tree does not contain the code of the other.
type Urgency = fn(&Family, Vertex, Number, Vertex) -> Option<u64>;

/// Whether a node forwards through a port at all, which is cheaper to compute.
type Serves = fn(&Family, Vertex, Number, Vertex) -> bool;

fn least_depth(network: &Family, here: Vertex, port: Number, source: Vertex) -> Option<u64> {
    network
        .passes_on(here, port, source)
        .then(|| network.send_priority(here, port, source))
}

#[derive(Clone, Copy)]
struct Child {
    port: Number,
    send_priority: u64,
}

impl<'a> Fanout<'a> {
    pub(crate) fn of_least_depth(network: &'a Family, here: Vertex, source: Vertex) -> Self {
        Fanout::new(network, here, source, least_depth, Family::passes_on)
    }

    pub(crate) fn of_fewest_steps(network: &'a Family, here: Vertex, source: Vertex) -> Self {
        Fanout::new(
            network,
            here,
            source,
            Family::fewest_steps_send_priority,
            Family::serves_in_fewest_steps,
        )
    }

    fn new(network: &'a Family, here: Vertex, source: Vertex, send_priority: Urgency, serves: Serves) -> Self {
        let mut fanout = Fanout {
            network,
            here,
            source,
            serves,
            sorted: Vec::new(),
            port: 0,
        };
        for port in 0..network.degree(here) {
            fanout.port = port;
            let send_priority = send_priority(network, here, port, source);
            if send_priority.is_some_and(|send_priority| !fanout.insert(Child { port, send_priority })) {
                return fanout;
            }
            fanout.port += 1;
        }
        fanout
    }

    /// Inserts a child before those of later ports with the same priority; `false` if there is no room.
    fn insert(&mut self, child: Child) -> bool {
        if self.sorted.push(child).is_err() {
            return false;
        }
        let mut moved = child;
        let after = self.sorted.iter_mut();
        for other in after.skip_while(|other| other.send_priority < child.send_priority) {
            core::mem::swap(other, &mut moved);
        }
        true
    }

    /// The next port that is forwarded to, in port order.
    fn next_port(&mut self) -> Option<Number> {
        let mut ports = self.port..self.network.degree(self.here);
        let found = ports.find(|&port| (self.serves)(self.network, self.here, port, self.source));
        self.port = ports.start;
        found
    }
}

impl Iterator for Fanout<'_> {
    type Item = (Port, Node);

    fn next(&mut self) -> Option<(Port, Node)> {
        let port = match self.sorted.pop() {
            Some(child) => child.port,
            None => self.next_port()?,
        };
        Some((wide(port), wide(self.network.neighbor(self.here, port)?)))
    }
}
