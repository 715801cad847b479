//! Services: the local readers of packets for this node.
//!
//! Applications are behind their [ports](served_ports) and share one inbox, the board takes [blocks](Blocks) of its next image, the clock of
//! the mesh processes time signals, and all other requests are answered [by the node itself](crate::service).

mod blocks;
mod served_ports;

use blocks::Blocks;
pub(super) use served_ports::Admission;
use served_ports::ServedPorts;
pub use served_ports::TooManyPorts;

use super::forwarding::Place;
use crate::capacities::{Capacities, List};
use crate::clock::MeshClock;
use crate::link::Micros;
use crate::wire::{AppPort, BoardInfo, DropReason, PacketOf};
use hopwise_core::Node;

#[derive(Clone, Debug)]
pub(super) struct Services<C: Capacities> {
    pub(super) inbox: C::Inbox<Place>,
    pub(super) ports: ServedPorts<C>,
    pub(super) blocks: Blocks,
    pub(super) clock: MeshClock<C>,
    /// The board information, filled in by the shell.
    pub(super) card: BoardInfo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadBy {
    Application,
    Board,
}

impl<C: Capacities> Services<C> {
    // Not inlined: it then makes its value where it stays, and the stack holds no second one.
    #[inline(never)]
    pub(super) fn new(here: Node, baud: u32, now: Micros) -> Self {
        Services {
            inbox: C::Inbox::default(),
            ports: ServedPorts::All,
            blocks: Blocks::Unwanted,
            clock: MeshClock::new(here, baud, now),
            card: BoardInfo::default(),
        }
    }

    /// Whether a packet for an application is admitted, given whether the inbox has room.
    pub(super) fn admission(&self, port: AppPort, inbox_has_room: bool) -> Admission {
        match self.ports.admission(port) {
            Admission::Open if !inbox_has_room => Admission::Busy,
            admission => admission,
        }
    }

    /// Gives a packet to its reader, or returns why there is none.
    pub(super) fn deliver(
        &mut self,
        place: Place,
        packet: &PacketOf<C::Body>,
        inbox_has_room: bool,
    ) -> Result<ReadBy, DropReason> {
        if self.blocks.is_wanted() && packet.is_block() {
            self.blocks.hold(place);
            return Ok(ReadBy::Board);
        }
        let port = packet.content().and_then(|content| content.addressee());
        match port.map_or(Admission::Open, |port| self.ports.admission(port)) {
            Admission::Open => {}
            Admission::Busy | Admission::Full => return Err(DropReason::InboxFull),
            Admission::PortUnreachable => return Err(DropReason::PortUnreachable),
        }
        if !inbox_has_room || self.inbox.push(place).is_err() {
            return Err(DropReason::InboxFull);
        }
        if let Some(port) = port {
            self.ports.enter(port);
        }
        Ok(ReadBy::Application)
    }
}

#[cfg(all(test, feature = "update"))]
mod tests;
