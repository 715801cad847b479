//! The handle of a program.

use core::fmt;

use embassy_sync::blocking_mutex::raw::RawMutex;
use hopwise_core::{Network, Node};
use hopwise_node::link::Micros;

use crate::mailbox::Mailbox;
use crate::shared::Shared;

/// A program's handle of the mesh. It can be copied, and stays on the executor that runs the program:
///
/// ```compile_fail
/// fn send_away<T: Send>(_: T) {}
///
/// fn program(mesh: hopwise_app::Mesh<'_>) {
///     send_away(mesh);
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Mesh<'a> {
    pub(crate) mailbox: &'a dyn Mailbox,
}

impl fmt::Debug for Mesh<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mesh({})", self.address())
    }
}

impl<'a> Mesh<'a> {
    /// The handle of a node's programs.
    pub const fn new<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize, M: RawMutex>(
        shared: &'a Shared<SENDS, RECEIVERS, DEPTH, M>,
    ) -> Self {
        Mesh { mailbox: shared }
    }

    /// The address of this node.
    pub fn address(self) -> Node {
        self.mailbox.identity().address
    }

    /// The network of the mesh.
    pub fn network(self) -> &'a Network {
        &self.mailbox.identity().network
    }

    /// Microseconds of the local clock, since boot.
    pub fn uptime(self) -> Micros {
        self.mailbox.uptime()
    }

    /// The mesh time in microseconds: the same on all nodes, to a few microseconds, and monotonic. `None` until this
    /// node has learned it, about a second after its first link is up.
    pub fn now(self) -> Option<Micros> {
        self.mailbox.mesh_now()
    }

    /// A number that this node has never used before, not even before a restart.
    pub async fn session(self) -> u32 {
        let (epoch, session) = loop {
            match self.mailbox.session() {
                Some(session) => break session,
                None => self.sleep(1).await,
            }
        };
        // As far from those of other epochs as possible.
        epoch.wrapping_mul(0x9e37_79b9).wrapping_add(session)
    }
}
