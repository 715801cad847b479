//! Whom a node passes a broadcast on to.

use crate::topology::{Node, Port, Topology};

/// The ports and nodes that a broadcast is passed on to, in the order in which to send.
///
/// O(degree) steps of the network's `passes_on`, no memory.
#[derive(Clone)]
pub struct Fanout<'a> {
    pub(crate) network: &'a dyn Topology,
    pub(crate) here: Node,
    pub(crate) source: Node,
    pub(crate) turn: Port,
}

impl Iterator for Fanout<'_> {
    type Item = (Port, Node);

    fn next(&mut self) -> Option<(Port, Node)> {
        let degree = self.network.degree(self.here);
        while self.turn < degree {
            let port = self.network.sending_order(self.here, self.source, self.turn);
            self.turn += 1;
            if self.network.passes_on(self.here, port, self.source) {
                return self.network.neighbor(self.here, port).map(|node| (port, node));
            }
        }
        None
    }
}
