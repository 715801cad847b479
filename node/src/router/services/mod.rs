//! Services: who on this node reads what has come for it.
//!
//! Applications are behind their [ports](served_ports) and share one inbox, the board takes [blocks](Blocks) of its next image, the clock of
//! the mesh hears and makes time signals, and all other questions are answered [by the node itself](crate::service).

mod blocks;
mod served_ports;

use blocks::Blocks;
pub(super) use served_ports::Admission;
use served_ports::ServedPorts;
pub use served_ports::TooManyPorts;

use super::forwarding::Place;
use crate::capacities::{Capacities, Queue};
use crate::clock::MeshClock;
use crate::link::Micros;
use crate::wire::{AppPort, BoardInfo, DropReason, PacketOf};
use hopwise_core::Node;

/// Who reads what has come.
#[derive(Clone, Debug)]
pub(super) struct Services<C: Capacities> {
    inbox: C::Inbox<Place>,
    pub(super) ports: ServedPorts<C>,
    pub(super) blocks: Blocks,
    pub(super) clock: MeshClock<C>,
    /// What the shell knows about its board.
    pub(super) card: BoardInfo,
}

/// Who reads a packet.
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

    /// How a packet for an application is met, while the inbox has room or has none.
    pub(super) fn admission(&self, port: AppPort, inbox_has_room: bool) -> Admission {
        match self.ports.admission(port) {
            Admission::Open if !inbox_has_room => Admission::Busy,
            admission => admission,
        }
    }

    /// Gives a packet to who reads it, or says why nobody does.
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
        if !inbox_has_room || self.inbox.push_back(place).is_err() {
            return Err(DropReason::InboxFull);
        }
        if let Some(port) = port {
            self.ports.enter(port);
        }
        Ok(ReadBy::Application)
    }

    /// The next packet for an application.
    pub(super) fn next_message(&mut self) -> Option<Place> {
        self.inbox.pop_front()
    }

    pub(super) fn has_message(&self) -> bool {
        !self.inbox.is_empty()
    }
}

#[cfg(test)]
mod tests;
