//! Confirmed packets, and their confirmations.

use super::application::AppPort;
use super::body::{Bytes, body_of};

/// The body of a confirmed packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirmed<'a> {
    /// The low half of the destination's boot epoch as the sender knows it, 0 if it does not.
    pub known_epoch: u16,
    /// The port of the receiver.
    pub port: AppPort,
    /// The application's payload.
    pub payload: &'a [u8],
}

/// Bytes of the epoch.
const EPOCH: usize = 2;

impl<'a> Confirmed<'a> {
    /// Parses the body; `None` if it is malformed.
    pub fn read(body: &'a [u8]) -> Option<Self> {
        let &[e0, e1, port, ref payload @ ..] = body else {
            return None;
        };
        Some(Confirmed {
            known_epoch: u16::from_le_bytes([e0, e1]),
            port: AppPort(port),
            payload,
        })
    }

    /// Writes the body; `None` if it is too long.
    pub fn write<B: Bytes>(&self) -> Option<B> {
        body_of(&[&self.known_epoch.to_le_bytes(), &[self.port.0], self.payload])
    }

    /// Changes the epoch in a written body. One that is too short is left unchanged.
    pub fn set_known_epoch(body: &mut [u8], epoch: u16) {
        if let Some(prefix) = body.first_chunk_mut::<EPOCH>() {
            *prefix = epoch.to_le_bytes();
        }
    }
}

/// The destination's decision about a confirmed packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Verdict {
    /// It has been delivered, once.
    Delivered,
    /// There was no room for it. It may be retransmitted.
    Busy,
    /// The destination has restarted, and may have had it before.
    Restarted,
    /// No application there serves its port. It is not delivered later either.
    PortUnreachable,
    /// The application has no room for it. It is not delivered later either.
    Full,
}

impl Verdict {
    /// The verdict of a number on the wire.
    pub const fn from_number(number: u8) -> Option<Verdict> {
        Some(match number {
            0 => Verdict::Delivered,
            1 => Verdict::Busy,
            2 => Verdict::Restarted,
            3 => Verdict::PortUnreachable,
            4 => Verdict::Full,
            _ => return None,
        })
    }
}

/// The body of a confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirmation {
    /// The number of the confirmed packet.
    pub number: u32,
    /// The low half of its source's boot epoch, as the packet said.
    pub epoch: u16,
    /// The decision about it.
    pub verdict: Verdict,
    /// The uptime of the destination in microseconds, saturating.
    pub uptime: u32,
}

impl Confirmation {
    /// Parses the body; `None` if it is malformed. Trailing bytes are ignored.
    pub fn read(body: &[u8]) -> Option<Self> {
        let &[n0, n1, n2, n3, e0, e1, verdict, u0, u1, u2, u3, ..] = body else {
            return None;
        };
        Some(Confirmation {
            number: u32::from_le_bytes([n0, n1, n2, n3]),
            epoch: u16::from_le_bytes([e0, e1]),
            verdict: Verdict::from_number(verdict)?,
            uptime: u32::from_le_bytes([u0, u1, u2, u3]),
        })
    }

    /// Writes the body; `None` if it is too long.
    pub fn write<B: Bytes>(&self) -> Option<B> {
        let mut body = B::from_slice(&self.number.to_le_bytes()).ok()?;
        body.extend_from_slice(&self.epoch.to_le_bytes()).ok()?;
        body.push(self.verdict as u8).ok()?;
        body.extend_from_slice(&self.uptime.to_le_bytes()).ok()?;
        Some(body)
    }
}
