//! Who is there.

use core::future::poll_fn;

use crate::mesh::Mesh;
use crate::message::{Neighbour, Neighbours};

/// A link to a neighbour has come up or gone down.
pub type LinkChange = Neighbour;

/// What changes at the links of a node, one after the other; see [`Mesh::link_changes`].
#[derive(Debug)]
pub struct LinkChanges<'a> {
    mesh: Mesh<'a>,
    /// What has been told.
    known: Neighbours,
}

impl<'a> Mesh<'a> {
    /// The neighbours of this node, in the order of the network's ports.
    pub fn neighbours(self) -> impl Iterator<Item = Neighbour> {
        self.mailbox.neighbours().into_iter()
    }

    /// Waits until every neighbour is reached. A program that sends before may find no path.
    pub async fn all_links_up(self) {
        poll_fn(|context| self.mailbox.poll_all_links_up(context.waker())).await;
    }

    /// What changes at the links from now on. Of a link that changes twice before anyone looks nothing is said.
    pub fn link_changes(self) -> LinkChanges<'a> {
        LinkChanges {
            mesh: self,
            known: self.mailbox.neighbours(),
        }
    }
}

impl LinkChanges<'_> {
    /// The next change.
    pub async fn next(&mut self) -> LinkChange {
        let changed = poll_fn(|context| self.mesh.mailbox.poll_link_change(&self.known, context.waker())).await;
        match self.known.iter_mut().find(|known| known.node == changed.node) {
            Some(known) => *known = changed,
            // There is room: there are no more neighbours than places.
            None => drop(self.known.push(changed)),
        }
        changed
    }
}
