//! Blocks of an image for the board around the node.
//!
//! Writing one into the flash takes longer than receiving it where the flash is slow, and nothing else runs meanwhile. So the board writes
//! a piece at a time, and blocks wait in the buffers in which they came, as packets do that wait for a link. What comes after waits at the
//! neighbours, and in the end at the computer: nothing is sent in vain.

use super::event::{Event, Observer};
use super::pool::{Origin, Place, Reader};
use super::{Router, add};
use crate::capacities::Capacities;
use crate::wire::{AppPort, Kind};

/// The blocks that wait for the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blocks {
    /// There is no board that wants any.
    Unwanted,
    None,
    /// This one is next.
    Waiting(Place),
}

impl<C: Capacities> Router<C> {
    /// From now on broadcasts to [`AppPort::UPDATE`], also those of this node and its computer, wait for [`write_block`](Self::write_block).
    pub fn take_blocks(&mut self) {
        self.blocks = Blocks::None;
    }

    /// Whether a block waits.
    pub fn has_block(&self) -> bool {
        matches!(self.blocks, Blocks::Waiting(_))
    }

    /// Gives a block to `write`, and the same one again next time, until `write` is done with it and says so.
    pub fn write_block(&mut self, observer: &mut impl Observer, write: impl FnOnce(&[u8]) -> bool) {
        let Blocks::Waiting(place) = self.blocks else { return };
        let message = self.message_at(place);
        if message.is_some_and(|message| !write(&message.payload)) {
            return;
        }
        if let Some(slot) = self.pool.get_mut(place) {
            slot.reader = Reader::Nobody;
            let packet = slot.packet.header.id();
            add(&mut self.counters.delivered, 1);
            observer.note(Event::Delivered { packet });
        }
        self.pool.release_if_unused(place);
        let waits = |place: &Place| self.pool.get(*place).is_some_and(|slot| slot.reader == Reader::Board);
        self.blocks = match self.pool.places().find(waits) {
            Some(next) => Blocks::Waiting(next),
            None => Blocks::None,
        };
    }

    /// Whether a packet is a block that the board wants.
    pub(super) fn is_block(&self, place: Place) -> bool {
        self.blocks != Blocks::Unwanted
            && self.pool.get(place).is_some_and(|slot| {
                let port = slot.packet.content().map(|content| content.port());
                slot.packet.header.kind == Kind::Broadcast && port == Some(AppPort::UPDATE)
            })
    }

    /// Whether a packet that begins here is for the board here too. A copy that comes back as a flood is not.
    pub(super) fn is_own_block(&self, place: Place) -> bool {
        let came = |place| self.pool.get(place).map(|slot| slot.origin);
        !matches!(came(place), None | Some(Origin::Link { .. })) && self.is_block(place)
    }

    /// Has a block wait.
    pub(super) fn hold_block(&mut self, place: Place) {
        if let Some(slot) = self.pool.get_mut(place) {
            slot.reader = Reader::Board;
            if !self.has_block() {
                self.blocks = Blocks::Waiting(place);
            }
        }
    }
}
