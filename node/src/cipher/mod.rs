//! Payloads that only members of the mesh can read.
//!
//! A node without the feature `cipher` forwards what others have encrypted. It can neither read nor send a payload in a mesh that
//! encrypts them: what it cannot encrypt does not leave it.

#[cfg(not(feature = "cipher"))]
mod off;
#[cfg(feature = "cipher")]
mod on;

#[cfg(not(feature = "cipher"))]
pub(crate) use off::Cipher;
#[cfg(feature = "cipher")]
pub(crate) use on::Cipher;

use crate::wire::{AppPort, Bytes, Content, PacketOf, Query, Request, Response};

/// The bytes by which a payload grows.
pub const SEAL_BYTES: usize = 16;

/// The application that a packet is for or from, and where in the body its payload begins, which is the rest of it.
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
