//! Retries while a reader has no room.

use hopwise_node::link::Micros;

use crate::mesh::Mesh;
use crate::persistence::Pauses;

/// Timeout of a reader that reads nothing.
const WAIT_FOR_READER: Micros = 10_000_000;

/// The retry state while a reader has no room.
pub(crate) struct RetryTimer<'a> {
    mesh: Mesh<'a>,
    end: Micros,
    pauses: Pauses,
}

impl<'a> RetryTimer<'a> {
    pub(crate) fn new(mesh: Mesh<'a>) -> Self {
        RetryTimer {
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
        // A delay by address, so that senders that were refused together do not retry together.
        let own = self.mesh.address().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let pause = self.pauses.next();
        self.mesh.sleep(pause + pause * own / (1 << 32)).await;
        true
    }
}
