//! The time signal: the sender's local clock and the mesh time at the same moment.
//!
//! A board knows when a frame has left only after it has written it, so each signal reports the previous one, by its number.

use super::varint;
use hopwise_core::Node;

/// The bytes before the address of the root.
const FIXED: usize = 21;

const TIMED: u8 = 0x01;
const KNOWN: u8 = 0x02;

/// A time signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeSignal {
    /// Rises by one with each signal on this wire.
    pub number: u8,
    /// The sender's local clock when the previous signal had left, in wrapping [clock ticks](crate::clock::ClockTicks); `None` if
    /// that is not known.
    pub sent: Option<u32>,
    /// The mesh time at that moment, in clock ticks; `None` if the sender does not know the time.
    pub mesh: Option<u64>,
    /// The rate of mesh time relative to the sender's local clock, in 2^-32.
    pub rate: i32,
    /// The root of the mesh time.
    pub root: Node,
    /// Rises by one each time the root sends a signal, which shows that it is alive.
    pub round: u16,
    /// The distance of the root in hops.
    pub hops: u8,
}

impl TimeSignal {
    /// The size with the longest address.
    pub(super) const MAX_BYTES: usize = FIXED + varint::MAX_BYTES;

    /// Parses what follows the tag in the frame; trailing bytes are ignored.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (&[number, flags, hops], rest) = bytes.split_first_chunk()?;
        let (round, rest) = rest.split_first_chunk()?;
        let (sent, rest) = rest.split_first_chunk()?;
        let (mesh, rest) = rest.split_first_chunk()?;
        let (rate, rest) = rest.split_first_chunk()?;
        let (root, _) = varint::read(rest)?;
        Some(TimeSignal {
            number,
            sent: (flags & TIMED != 0).then_some(u32::from_le_bytes(*sent)),
            mesh: (flags & KNOWN != 0).then_some(u64::from_le_bytes(*mesh)),
            rate: i32::from_le_bytes(*rate),
            root,
            round: u16::from_le_bytes(*round),
            hops,
        })
    }

    /// Writes what follows the tag in the frame and returns its length; `None` if there is no room.
    pub(super) fn write(&self, out: &mut [u8]) -> Option<usize> {
        let (fixed, rest) = out.split_first_chunk_mut::<FIXED>()?;
        let timed = if self.sent.is_some() { TIMED } else { 0 };
        let known = if self.mesh.is_some() { KNOWN } else { 0 };
        fixed[..3].copy_from_slice(&[self.number, timed | known, self.hops]);
        fixed[3..5].copy_from_slice(&self.round.to_le_bytes());
        fixed[5..9].copy_from_slice(&self.sent.unwrap_or(0).to_le_bytes());
        fixed[9..17].copy_from_slice(&self.mesh.unwrap_or(0).to_le_bytes());
        fixed[17..].copy_from_slice(&self.rate.to_le_bytes());
        Some(FIXED + varint::write(self.root, rest)?)
    }
}
