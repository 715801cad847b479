//! Payload encryption.
//!
//! A node without the feature `cipher` forwards encrypted payloads. In a mesh that encrypts, it can neither read nor send
//! a payload: plain text never leaves it.

#[cfg(not(feature = "cipher"))]
mod off;
#[cfg(feature = "cipher")]
mod on;

#[cfg(not(feature = "cipher"))]
pub(crate) use off::Cipher;
#[cfg(feature = "cipher")]
pub(crate) use on::Cipher;

use crate::wire::{AppPort, Bytes, Content, PacketOf, Query, Request, Response};

/// The number of bytes by which a payload grows.
pub const SEAL_BYTES: usize = 16;

/// The application port of a packet, and the offset in the body at which its payload begins.
fn payload_of<B: Bytes>(packet: &PacketOf<B>) -> Option<(AppPort, usize)> {
    let content = packet.content()?;
    let port = match content {
        Content::Datagram(addressed) | Content::Broadcast(addressed) => addressed.port,
        Content::Confirmed(confirmed) => confirmed.port,
        Content::Request(Request {
            query: Query::Application(port),
            ..
        })
        | Content::Response(Response {
            query: Query::Application(port),
            ..
        }) => port,
        _ => return None,
    };
    Some((port, packet.body.len().checked_sub(content.payload().len())?))
}
