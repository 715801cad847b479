//! Whom a node passes a broadcast on to.

use heapless::Vec;

use crate::limits::MAX_SORTED_CHILDREN;
use crate::topology::{Node, Port, Topology};

/// The ports and nodes that a broadcast is passed on to, in the order in which to send: the most urgent first, and
/// beyond [`MAX_SORTED_CHILDREN`] in the order of the ports.
///
/// O(degree) calls of the network's `passes_on` and `urgency`.
#[derive(Clone)]
pub struct Fanout<'a> {
    network: &'a dyn Topology,
    here: Node,
    source: Node,
    /// The least urgent first, so that the next one is at the end.
    sorted: Vec<Child, MAX_SORTED_CHILDREN>,
    /// The first port that is not in `sorted`.
    port: Port,
}

#[derive(Clone, Copy)]
struct Child {
    port: Port,
    urgency: u64,
}

impl<'a> Fanout<'a> {
    pub(crate) fn new(network: &'a dyn Topology, here: Node, source: Node) -> Self {
        let mut fanout = Fanout {
            network,
            here,
            source,
            sorted: Vec::new(),
            port: 0,
        };
        while let Some(port) = fanout.next_port() {
            let child = Child {
                port,
                urgency: network.urgency(here, port, source),
            };
            if fanout.sorted.push(child).is_err() {
                fanout.port = port;
                break;
            }
        }
        fanout
            .sorted
            .sort_unstable_by_key(|child| (child.urgency, u64::MAX - child.port));
        fanout
    }

    /// The next port, in their order, that the broadcast is passed on through.
    fn next_port(&mut self) -> Option<Port> {
        let degree = self.network.degree(self.here);
        let port = (self.port..degree).find(|&port| self.network.passes_on(self.here, port, self.source));
        self.port = port.map_or(degree, |port| port + 1);
        port
    }
}

impl Iterator for Fanout<'_> {
    type Item = (Port, Node);

    fn next(&mut self) -> Option<(Port, Node)> {
        let port = match self.sorted.pop() {
            Some(child) => child.port,
            None => self.next_port()?,
        };
        Some((port, self.network.neighbor(self.here, port)?))
    }
}
