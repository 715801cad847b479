//! Whom a node passes a broadcast on to.

use heapless::Vec;

use crate::limits::MAX_SORTED_CHILDREN;
use crate::topology::{Node, Port, Topology, Tree};

/// The ports and nodes that a broadcast is passed on to, in the order in which to send: the most urgent first, and
/// beyond [`MAX_SORTED_CHILDREN`] in the order of the ports.
///
/// O(degree) calls of the network's `passes_on` and `urgency`, or `fewest_steps_urgency`.
#[derive(Clone)]
pub struct Fanout<'a> {
    network: &'a dyn Topology,
    here: Node,
    source: Node,
    tree: Tree,
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
    pub(crate) fn new(network: &'a dyn Topology, here: Node, source: Node, tree: Tree) -> Self {
        let mut fanout = Fanout {
            network,
            here,
            source,
            tree,
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
        let place = self.sorted.iter().position(|other| other.urgency >= child.urgency);
        self.sorted.insert(place.unwrap_or(self.sorted.len()), child).is_ok()
    }

    /// The next child, in the order of the ports.
    fn next_child(&mut self) -> Option<Child> {
        let degree = self.network.degree(self.here);
        let child = (self.port..degree).find_map(|port| {
            let urgency = self.urgency(port)?;
            Some(Child { port, urgency })
        });
        self.port = child.map_or(degree, |child| child.port + 1);
        child
    }

    fn urgency(&self, port: Port) -> Option<u64> {
        let Fanout {
            network, here, source, ..
        } = *self;
        match self.tree {
            Tree::LeastDepth => network
                .passes_on(here, port, source)
                .then(|| network.urgency(here, port, source)),
            Tree::FewestSteps => network.fewest_steps_urgency(here, port, source),
        }
    }
}

impl Iterator for Fanout<'_> {
    type Item = (Port, Node);

    fn next(&mut self) -> Option<(Port, Node)> {
        let Child { port, .. } = match self.sorted.pop() {
            Some(child) => child,
            None => self.next_child()?,
        };
        Some((port, self.network.neighbor(self.here, port)?))
    }
}
