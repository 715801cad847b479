//! Who is there.

use core::future::poll_fn;
use core::task::Poll;

use heapless::Vec;
use hopwise_core::Node;

use crate::mesh::Mesh;
use crate::shared::NEIGHBOURS;

/// A neighbour in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Neighbour {
    /// Its address.
    pub node: Node,
    /// Whether a link leads to it.
    pub is_up: bool,
}

/// A link to a neighbour has come up or gone down.
pub type LinkChange = Neighbour;

/// What changes at the links of a node, one after the other; see [`Mesh::link_changes`].
#[derive(Debug)]
pub struct LinkChanges<'a, const SENDS: usize = 4, const RECEIVERS: usize = 6, const DEPTH: usize = 2> {
    mesh: Mesh<'a, SENDS, RECEIVERS, DEPTH>,
    /// What has been told.
    known: Vec<Neighbour, NEIGHBOURS>,
}

impl<'a, const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> Mesh<'a, SENDS, RECEIVERS, DEPTH> {
    /// The neighbours of this node, in the order of the network's ports.
    pub fn neighbours(self) -> impl Iterator<Item = Neighbour> {
        self.shared.inner.borrow().neighbours.clone().into_iter()
    }

    /// Waits until every neighbour is reached. A program that sends before may find no path.
    pub async fn all_links_up(self) {
        poll_fn(|context| {
            let mut inner = self.shared.inner.borrow_mut();
            let known = !inner.neighbours.is_empty();
            if known && inner.neighbours.iter().all(|neighbour| neighbour.is_up) {
                return Poll::Ready(());
            }
            inner.watchers.add(context.waker());
            Poll::Pending
        })
        .await;
    }

    /// What changes at the links from now on. Of a link that changes twice before anyone looks nothing is said.
    pub fn link_changes(self) -> LinkChanges<'a, SENDS, RECEIVERS, DEPTH> {
        LinkChanges {
            mesh: self,
            known: self.shared.inner.borrow().neighbours.clone(),
        }
    }
}

impl<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> LinkChanges<'_, SENDS, RECEIVERS, DEPTH> {
    /// The next change.
    pub async fn next(&mut self) -> LinkChange {
        poll_fn(|context| {
            let mut inner = self.mesh.shared.inner.borrow_mut();
            let changed = inner.neighbours.iter().find(|now| !self.known.contains(now)).copied();
            let Some(changed) = changed else {
                inner.watchers.add(context.waker());
                return Poll::Pending;
            };
            match self.known.iter_mut().find(|known| known.node == changed.node) {
                Some(known) => *known = changed,
                // There is room: there are no more neighbours than places.
                None => drop(self.known.push(changed)),
            }
            Poll::Ready(changed)
        })
        .await
    }
}
