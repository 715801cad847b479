//! The bytes of a packet after its header, and the kinds of packets.

use core::fmt;
use core::ops::{Deref, DerefMut};

use hopwise_core::named;
use serde::{Deserialize, Serialize};

/// The bytes of a packet after its header: at most 255, so that their length takes one byte. A `heapless::Vec` would copy them one by one.
#[derive(Clone)]
pub struct Body<const BODY: usize> {
    bytes: [u8; BODY],
    length: u8,
}

impl<const BODY: usize> Body<BODY> {
    /// No bytes.
    pub const fn new() -> Self {
        const { assert!(BODY <= u8::MAX as usize, "a body has at most 255 bytes") }
        Body {
            bytes: [0; BODY],
            length: 0,
        }
    }
}

impl<const BODY: usize> Default for Body<BODY> {
    fn default() -> Self {
        Body::new()
    }
}

impl<const BODY: usize> Deref for Body<BODY> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or(&[])
    }
}

impl<const BODY: usize> DerefMut for Body<BODY> {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.bytes.get_mut(..usize::from(self.length)).unwrap_or(&mut [])
    }
}

impl<const BODY: usize> fmt::Debug for Body<BODY> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(f)
    }
}

impl<const BODY: usize, Other: AsRef<[u8]> + ?Sized> PartialEq<Other> for Body<BODY> {
    fn eq(&self, other: &Other) -> bool {
        self[..] == *other.as_ref()
    }
}

impl<const BODY: usize> Eq for Body<BODY> {}

impl<const BODY: usize> AsRef<[u8]> for Body<BODY> {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// The error for bytes that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom;

/// A buffer for a body: a [`Body`] of any size.
pub trait Bytes: Clone + fmt::Debug + Default + Eq + DerefMut<Target = [u8]> {
    /// The capacity in bytes.
    const CAPACITY: usize;

    /// A full buffer of zeros.
    fn zeros() -> Self;

    /// A copy of these bytes, if they fit.
    fn from_slice(bytes: &[u8]) -> Result<Self, NoRoom> {
        let mut body = Self::default();
        body.extend_from_slice(bytes)?;
        Ok(body)
    }

    /// Adds a byte, if there is room.
    fn push(&mut self, byte: u8) -> Result<(), u8> {
        self.extend_from_slice(&[byte]).map_err(|_| byte)
    }

    /// Removes the last byte.
    fn pop(&mut self) -> Option<u8> {
        let last = *self.last()?;
        self.truncate(self.len() - 1);
        Some(last)
    }

    /// Adds bytes, if there is room for all of them.
    fn extend_from_slice(&mut self, bytes: &[u8]) -> Result<(), NoRoom>;

    /// Shortens the body to this length.
    fn truncate(&mut self, length: usize);
}

impl<const BODY: usize> Bytes for Body<BODY> {
    const CAPACITY: usize = BODY;

    fn zeros() -> Self {
        Body {
            length: BODY as u8,
            ..Body::new()
        }
    }

    fn extend_from_slice(&mut self, bytes: &[u8]) -> Result<(), NoRoom> {
        let begin = usize::from(self.length);
        let end = begin + bytes.len();
        let place = self.bytes.get_mut(begin..end).ok_or(NoRoom)?;
        place.copy_from_slice(bytes);
        self.length = end as u8;
        Ok(())
    }

    fn truncate(&mut self, length: usize) {
        self.length = length.min(usize::from(self.length)) as u8;
    }
}

/// A body of concatenated parts; `None` if they are too long.
#[inline(never)]
pub fn body_of<B: Bytes>(parts: &[&[u8]]) -> Option<B> {
    let mut body = B::default();
    for part in parts {
        body.extend_from_slice(part).ok()?;
    }
    Some(body)
}

named! {
    /// The kind of a packet, in the order of their numbers on the wire.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    pub enum Kind {
        /// From application to application, reliable on each hop.
        Datagram = "datagram",
        /// From an application to those of all other nodes.
        Broadcast = "broadcast",
        /// From application to application, with confirmation.
        Confirmed = "confirmed",
        /// The result of a confirmed packet at its destination.
        Confirmation = "confirmation",
        /// A failure report.
        Undeliverable = "undeliverable",
        /// A request that the node itself answers.
        Request = "request",
        /// The response to a request.
        Response = "response",
        /// A confirmed packet or a confirmation, flooded through all nodes.
        Flooded = "flooded",
    }
}

impl Kind {
    /// The kind of a number on the wire.
    pub fn from_number(number: u8) -> Option<Kind> {
        Kind::ALL.get(usize::from(number)).copied()
    }

    /// Whether it is forwarded on several links, not sent to one next hop.
    pub const fn is_for_all_links(self) -> bool {
        matches!(self, Kind::Broadcast | Kind::Flooded)
    }
}
