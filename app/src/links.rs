//! The state of links to neighbors.

use core::future::poll_fn;

use crate::mesh::Mesh;
use crate::message::{Neighbor, Neighbors};

/// A link to a neighbor has come up or gone down.
pub type LinkChange = Neighbor;

/// The link changes of a node in order; see [`Mesh::link_changes`].
#[derive(Debug)]
pub struct LinkChanges<'a> {
    mesh: Mesh<'a>,
    /// The last reported state.
    known: Neighbors,
}

impl<'a> Mesh<'a> {
    /// The neighbors of this node, in the order of the network's ports.
    pub fn neighbors(self) -> impl Iterator<Item = Neighbor> {
        self.mailbox.neighbors().into_iter()
    }

    /// Waits until every neighbor is connected. A program that sends before may find no path.
    pub async fn all_links_up(self) {
        poll_fn(|context| self.mailbox.poll_all_links_up(context.waker())).await;
    }

    /// Observes link changes from now on. A link that changes twice between two calls is not reported.
    pub fn link_changes(self) -> LinkChanges<'a> {
        LinkChanges {
            mesh: self,
            known: self.mailbox.neighbors(),
        }
    }
}

impl LinkChanges<'_> {
    /// The next change.
    pub async fn next(&mut self) -> LinkChange {
        let changed = poll_fn(|context| self.mesh.mailbox.poll_link_change(&self.known, context.waker())).await;
        match self.known.iter_mut().find(|known| known.node == changed.node) {
            Some(known) => *known = changed,
            // Cannot fail: there are no more neighbors than places.
            None => drop(self.known.push(changed)),
        }
        changed
    }
}
