//! Waiting for a reader that has no room.

use hopwise_node::link::Micros;

use crate::mesh::Mesh;
use crate::persistence::Pauses;

/// A reader that has read nothing for so long is not waited for.
const WAIT_FOR_READER: Micros = 10_000_000;

/// How long to go on sending to a reader that has no room.
pub(crate) struct Patience<'a> {
    mesh: Mesh<'a>,
    end: Micros,
    pauses: Pauses,
}

impl<'a> Patience<'a> {
    pub(crate) fn new(mesh: Mesh<'a>) -> Self {
        Patience {
            mesh,
            end: mesh.uptime().saturating_add(WAIT_FOR_READER),
            pauses: Pauses::new(),
        }
    }

    /// Waits before the next attempt; `false` if there is to be none.
    pub(crate) async fn wait(&mut self) -> bool {
        if self.mesh.uptime() >= self.end {
            return false;
        }
        // Those that were refused together do not come back together.
        let own = self.mesh.address().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let pause = self.pauses.next();
        self.mesh.sleep(pause + pause * own / (1 << 32)).await;
        true
    }
}
