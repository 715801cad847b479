//! The handle.

use hopwise_core::{Network, Node};
use hopwise_node::link::Micros;

use crate::shared::Shared;

/// What a program has of the mesh. It may be copied.
#[derive(Debug)]
pub struct Mesh<'a, const SENDS: usize = 4, const RECEIVERS: usize = 6, const DEPTH: usize = 2> {
    pub(crate) shared: &'a Shared<SENDS, RECEIVERS, DEPTH>,
}

impl<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> Clone for Mesh<'_, SENDS, RECEIVERS, DEPTH> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> Copy for Mesh<'_, SENDS, RECEIVERS, DEPTH> {}

impl<'a, const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> Mesh<'a, SENDS, RECEIVERS, DEPTH> {
    /// The handle of a node's programs.
    pub const fn new(shared: &'a Shared<SENDS, RECEIVERS, DEPTH>) -> Self {
        Mesh { shared }
    }

    /// The address of this node.
    pub fn address(self) -> Node {
        self.shared.address
    }

    /// The network.
    pub fn network(self) -> &'a Network {
        &self.shared.network
    }

    /// Microseconds of this node's own clock, since it has started.
    pub fn uptime(self) -> Micros {
        self.shared.now()
    }

    /// What time it is in the mesh, in microseconds: the same on all nodes, to a few microseconds. It never goes back. `None` until this
    /// node has learned it, about a second after its first link is up.
    pub fn now(self) -> Option<Micros> {
        self.shared.mesh_now()
    }

    /// A number that this node has not had before, not even before it restarted.
    pub async fn session(self) -> u32 {
        while self.shared.epoch.get() == 0 {
            self.sleep(1).await;
        }
        let sessions = &self.shared.sessions;
        sessions.set(sessions.get().wrapping_add(1));
        // As far from those of other epochs as can be.
        let first = self.shared.epoch.get().wrapping_mul(0x9e37_79b9);
        first.wrapping_add(sessions.get())
    }
}
