//! Transport: numbers the packets of this node, retransmits confirmed ones until they are confirmed, and delivers each once.
//!
//! The [source] of a confirmed packet keeps it and retransmits it until the destination confirms it. It names the [destination]'s epoch as
//! it knows it, so that a destination that has restarted reports that instead of delivering again what it may have delivered before.
//!
//! Buffers and routes are not known here: a kept packet has a [place](super::forwarding::Place), and what is to be done with it is
//! returned.

mod destination;
mod peers;
mod source;

use destination::Destination;
use source::Source;
pub(super) use source::{Completed, Confirms, Due, Mesh};

use super::forwarding::Location;
use super::{MessageOf, SendError};
use crate::capacities::Capacities;
use crate::cipher::Cipher;
use crate::key::Secret;
use crate::link::Micros;
use crate::wire::{Confirmation, Content, DropReason, Flooded, Header, Kind, PacketOf, Query, Undeliverable};
use hopwise_core::Node;

/// The packets that begin here, and the confirmed ones that come here.
#[derive(Clone, Debug)]
pub(super) struct Transport<C: Capacities> {
    here: Node,
    /// The low half of this node's epoch.
    epoch: u16,
    /// The hop limit of packets that originate here.
    pub(super) hops: u16,
    next_number: u32,
    pub(super) source: Source<C>,
    pub(super) destination: Destination<C>,
    /// Present where payloads are encrypted.
    cipher: Option<Cipher>,
}

impl<C: Capacities> Transport<C> {
    // Not inlined: it then makes its value where it stays, and the stack holds no second one.
    #[inline(never)]
    pub(super) fn new(location: &Location, mesh: &Mesh, hops: u16) -> Self {
        let Location {
            here, epoch, started, ..
        } = *location;
        // As random as the epoch, so that numbers differ after a restart even if the epoch's low half is the same.
        let first_number = epoch.wrapping_mul(0x9e37_79b9);
        Transport {
            here,
            epoch: epoch as u16,
            hops,
            next_number: first_number,
            source: Source::new(mesh, first_number.rotate_left(16)),
            destination: Destination::new(epoch as u16, started),
            cipher: None,
        }
    }

    /// Encrypts payloads from now on, if the secret says so.
    pub(super) fn lock(&mut self, secret: &Secret) {
        self.cipher = Cipher::of(secret);
    }

    /// The header of a packet that originates here.
    pub(super) fn header(&mut self, kind: Kind, dest: Node, to_host: bool) -> Header {
        let number = self.next_number;
        self.next_number = number.wrapping_add(1);
        Header {
            to_host,
            hops_left: self.hops,
            epoch: self.epoch,
            number,
            ..Header::new(kind, self.here, dest)
        }
    }

    /// A packet that originates here; `None` if its content is too long.
    pub(super) fn packet(&mut self, content: &Content<'_>, dest: Node, to_host: bool) -> Option<PacketOf<C::Body>> {
        let body = content.write()?;
        let header = self.header(content.kind(), dest, to_host);
        Some(PacketOf { header, body })
    }

    /// Encrypts the payload of a packet that originates here, if required; `None` if it cannot be.
    pub(super) fn sealed(&mut self, mut packet: PacketOf<C::Body>) -> Option<PacketOf<C::Body>> {
        if let Some(cipher) = &mut self.cipher {
            cipher.seal(&mut packet)?;
        }
        Some(packet)
    }

    /// A packet of an application, here or on the host.
    pub(super) fn message(
        &mut self,
        content: &Content<'_>,
        dest: Node,
        to_host: bool,
    ) -> Result<PacketOf<C::Body>, SendError> {
        let mut packet = self.packet(content, dest, to_host).ok_or(SendError::TooLong)?;
        match content {
            Content::Confirmed(_) => packet.header.number = self.source.next_number,
            Content::Request(request) => packet.header.traced = request.query == Query::Trace,
            _ => {}
        }
        self.sealed(packet).ok_or(SendError::TooLong)
    }

    /// The report to the sender of a packet that could not be delivered.
    pub(super) fn report(&mut self, lost: &Header, reason: DropReason) -> Option<PacketOf<C::Body>> {
        let report = Content::Undeliverable(Undeliverable {
            number: lost.number,
            kind: lost.kind,
            reason,
            dest: lost.dest,
        });
        self.packet(&report, lost.source, lost.from_host)
    }

    /// Wraps a packet in one that is flooded; `None` if it is too long for that.
    pub(super) fn flooded(&mut self, packet: &PacketOf<C::Body>) -> Option<PacketOf<C::Body>> {
        let PacketOf { header, body } = packet;
        let content = Content::Flooded(Flooded {
            kind: header.kind,
            number: header.number,
            body,
        });
        let mut flood = self.packet(&content, header.dest, header.to_host)?;
        flood.header.from_host = header.from_host;
        flood.header.copied = true;
        Some(flood)
    }

    /// Gives the message of a packet for an application to `take`.
    pub(super) fn read<R>(&self, packet: &PacketOf<C::Body>, take: impl FnOnce(&MessageOf<&[u8]>) -> R) -> Option<R> {
        let mut decrypted;
        let packet = match &self.cipher {
            None => packet,
            Some(cipher) => {
                // The packet in the buffer stays encrypted, since it may also be forwarded.
                decrypted = packet.clone();
                cipher.open(&mut decrypted)?;
                &decrypted
            }
        };
        MessageOf::read(packet).as_ref().map(take)
    }

    /// Whether another confirmed packet to a destination may be sent. If so, the known epoch of the destination.
    pub(super) fn may_confirm(&self, dest: Node) -> Option<u16> {
        let known = || self.destination.peers.epoch_of(dest);
        self.source.has_room(dest).then(known)
    }

    /// The next confirmation to send, and the rank of the path that it takes from here: 0 is its route.
    pub(super) fn next_confirmation(&mut self, now: Micros) -> Option<(Option<PacketOf<C::Body>>, u8)> {
        let reply = self.destination.next_reply(now)?;
        let content = Content::Confirmation(reply.confirmation);
        let packet = self.packet(&content, reply.dest, reply.to_host).and_then(|packet| {
            if reply.flooded {
                self.flooded(&packet)
            } else {
                Some(packet)
            }
        });
        // The previous confirmation may have been lost on its route: each one of a retransmitted packet takes another.
        let number = packet.as_ref().map_or(0, |packet| packet.header.number as u8);
        Some((packet, if reply.retransmit { number } else { 0 }))
    }

    /// Processes a confirmation of a packet of this node, which was in flight for this long and may have arrived as a flood.
    pub(super) fn confirmation(
        &mut self,
        header: &Header,
        confirmation: &Confirmation,
        under_way: Micros,
        flooded: bool,
        now: Micros,
    ) -> Result<Confirms, DropReason> {
        if confirmation.epoch != self.epoch {
            return Err(DropReason::Stale);
        }
        let confirms = self.source.answered(header, confirmation, under_way, flooded, now)?;
        self.destination.peers.note_epoch(header.source, header.epoch, now);
        Ok(confirms)
    }
}
