//! The capacities of a node, as one type.
//!
//! A [`Router`](crate::router::Router) takes its sizes from a type that implements [`Capacities`]; [`Board`] is the default. Stable Rust cannot
//! compute the length of an array from an associated constant of a type parameter, so a set of capacities names its containers instead, and
//! [`capacities!`](crate::capacities!) writes them down for given [`Sizes`]:
//!
//! ```
//! use hopwise_node::capacities::Sizes;
//! use hopwise_node::router::Router;
//!
//! hopwise_node::capacities! {
//!     /// For a board with two links.
//!     pub struct TwoLinks { links: 2, ..Sizes::BOARD }
//! }
//! assert!(size_of::<Router<TwoLinks>>() < size_of::<Router>());
//! ```

use core::fmt::Debug;
use core::ops::{Deref, DerefMut};

use heapless::{LenType, Vec};

use crate::limits;
use crate::link::WINDOW;
use crate::wire::{Bytes, MAX_HEADER, SEALED_OVERHEAD, SEQUENCE_NUMBERS, encoded_len};
use hopwise_core::limits::VIRTUAL_CHANNELS;

/// The sizes of a node. [`check`](Self::check) enforces the relations between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Links, including the one to a host.
    pub links: usize,
    /// Packets that the node holds.
    pub buffers: usize,
    /// A packet's bytes after its header.
    pub body: usize,
    /// Other nodes whose packets are remembered for duplicate detection.
    pub peers: usize,
    /// Virtual channels: networks that need more are rejected.
    pub virtual_channels: usize,
    /// Packets that wait for the application.
    pub inbox: usize,
    /// Responses of the node itself that wait to be sent.
    pub service: usize,
    /// Packets of the application that wait to be sent or confirmed.
    pub outbox: usize,
    /// Confirmed packets in flight at once.
    pub outstanding: usize,
    /// Ports that the applications of the node serve.
    pub served_ports: usize,
    /// Packets of one link that may use the common buffers.
    pub link_share: usize,
    /// Buffers that broadcasts of this node leave to forwarded packets. Otherwise a mesh in which all nodes send at once would fill up with
    /// packets that have not left their source.
    pub passing: usize,
}

/// Buffers reserved for packets of this node, so that it can send however many packets it forwards.
pub(crate) const OWN: usize = 1;

/// Room in a body for the trail of a detour, beside the longest payload.
const TRAIL_ROOM: usize = limits::BODY - limits::MAX_PAYLOAD;

impl Sizes {
    /// The sizes of a board with five links and one to a host.
    pub const BOARD: Sizes = Sizes {
        links: limits::PORTS,
        buffers: limits::BUFFERS,
        body: limits::BODY,
        peers: limits::PEERS,
        virtual_channels: VIRTUAL_CHANNELS,
        inbox: limits::INBOX,
        service: limits::SERVICE,
        outbox: limits::OUTBOX,
        outstanding: limits::OUTSTANDING,
        served_ports: limits::SERVED_PORTS,
        link_share: limits::LINK_SHARE,
        passing: 6,
    };

    /// The longest payload of an application; the rest of the body is for detours.
    pub const fn max_payload(&self) -> usize {
        self.body - TRAIL_ROOM
    }

    /// The longest packet.
    pub const fn max_packet(&self) -> usize {
        MAX_HEADER + self.body
    }

    /// The longest frame, encoded, with its delimiters.
    pub const fn wire(&self) -> usize {
        encoded_len(SEALED_OVERHEAD + self.max_packet())
    }

    /// Fails the build for sizes with which a node could not work.
    pub const fn check(&self) {
        assert!(self.body <= 255, "the length of a body is one byte");
        assert!(self.body > TRAIL_ROOM, "there is no room for a payload");
        assert!(self.links <= 32, "a set of links is one word");
        assert!(self.buffers <= 64, "the set of buffers is one word");
        assert!(self.peers <= 256 && self.peers > 0);
        assert!(self.virtual_channels <= VIRTUAL_CHANNELS && self.virtual_channels >= 2);
        assert!(self.inbox > 0 && self.service > 0 && self.outstanding > 0);
        assert!(
            self.buffers > self.virtual_channels + self.inbox + self.service + OWN + self.passing,
            "too few buffers for the virtual channels"
        );
    }
}

/// The sizes of a node as types, implemented by [`capacities!`](crate::capacities!).
pub trait Capacities: Clone + Debug + 'static {
    /// The sizes as numbers.
    const SIZES: Sizes;
    /// The sizes of its links.
    type Link: LinkCapacities;
    /// The body of a packet.
    type Body: Bytes;
    /// One element per link.
    type PerLink<T: Clone + Debug + Default>: Array<T>;
    /// At most one element per link.
    type Links<T: Clone + Debug>: List<T>;
    /// One element per buffer.
    type PerBuffer<T: Clone + Debug + Default>: Array<T>;
    /// At most one element per buffer.
    type Buffers<T: Clone + Debug>: List<T>;
    /// One element per virtual channel.
    type PerChannel<T: Clone + Debug + Default>: Array<T>;
    /// At most one element per virtual channel.
    type Channels<T: Clone + Debug>: List<T>;
    /// At most one element per peer.
    type Peers<T: Clone + Debug>: List<T>;
    /// At most one element per confirmed packet in flight.
    type Outstanding<T: Clone + Debug>: List<T>;
    /// At most one element per served port.
    type ServedPorts<T: Clone + Debug>: List<T>;
    /// At most one element per packet in the inbox.
    type Inbox<T: Clone + Debug>: List<T>;
}

/// The sizes of a [link](crate::link::LinkOf).
pub trait LinkCapacities: Clone + Debug + 'static {
    /// Maximum number of frames in flight.
    const WINDOW: usize;
    /// The largest sequence number, after which they wrap to 0.
    const LAST_NUMBER: u8;
    /// A buffer for the longest frame, encoded.
    type Frame: Array<u8>;
    /// At most one element per frame in flight.
    type Window<T: Clone + Debug>: List<T>;
}

/// A link whose longest encoded frame has `WIRE` bytes, with at most `FRAMES` frames in flight of `NUMBERS` sequence numbers, a power of two.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LinkSizes<const WIRE: usize, const FRAMES: usize = { WINDOW }, const NUMBERS: usize = { SEQUENCE_NUMBERS }>;

impl<const WIRE: usize, const FRAMES: usize, const NUMBERS: usize> LinkCapacities for LinkSizes<WIRE, FRAMES, NUMBERS> {
    const WINDOW: usize = {
        assert!(FRAMES <= 8, "an acknowledgement has room for eight refusals");
        assert!(
            FRAMES > 0 && 2 * FRAMES <= NUMBERS,
            "old frames must not look like new ones"
        );
        FRAMES
    };
    const LAST_NUMBER: u8 = {
        assert!(NUMBERS.is_power_of_two() && NUMBERS <= SEQUENCE_NUMBERS);
        (NUMBERS - 1) as u8
    };
    type Frame = Fixed<u8, WIRE>;
    type Window<T: Clone + Debug> = Vec<T, FRAMES, u8>;
}

/// An array of fixed length.
pub trait Array<T>: Clone + Debug + Default + DerefMut<Target = [T]> {}

/// An array that begins with default elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fixed<T, const N: usize>([T; N]);

impl<T: Default, const N: usize> Default for Fixed<T, N> {
    fn default() -> Self {
        Fixed(core::array::from_fn(|_| T::default()))
    }
}

impl<T, const N: usize> Deref for Fixed<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T, const N: usize> DerefMut for Fixed<T, N> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: Clone + Debug + Default, const N: usize> Array<T> for Fixed<T, N> {}

/// Up to a fixed number of elements.
pub trait List<T>: Clone + Debug + Default + DerefMut<Target = [T]> {
    /// Adds an element at the end, if there is room.
    fn push(&mut self, element: T) -> Result<(), T>;

    /// Removes and returns the last element.
    fn pop(&mut self) -> Option<T>;

    /// Removes and returns the first element.
    fn pop_front(&mut self) -> Option<T>;

    /// Removes an element and shifts those after it.
    fn remove(&mut self, place: usize) -> Option<T>;

    /// Removes an element and puts the last one in its place.
    fn swap_remove(&mut self, place: usize);

    /// Keeps only the wanted elements.
    fn retain(&mut self, is_wanted: impl FnMut(&T) -> bool);

    /// Whether there is no room.
    fn is_full(&self) -> bool;

    /// Removes all elements.
    fn clear(&mut self);
}

impl<T: Clone + Debug, L: LenType, const N: usize> List<T> for Vec<T, N, L> {
    fn push(&mut self, element: T) -> Result<(), T> {
        self.push(element)
    }

    fn pop(&mut self) -> Option<T> {
        self.pop()
    }

    /// For a few small elements: the others move up, which takes less than to find the places in a ring.
    fn pop_front(&mut self) -> Option<T> {
        let mut first = self.pop()?;
        self[..]
            .iter_mut()
            .rev()
            .for_each(|element| core::mem::swap(element, &mut first));
        Some(first)
    }

    fn remove(&mut self, place: usize) -> Option<T> {
        (place < self.len()).then(|| self.remove(place))
    }

    fn swap_remove(&mut self, place: usize) {
        if place < self.len() {
            self.swap_remove(place);
        }
    }

    fn retain(&mut self, is_wanted: impl FnMut(&T) -> bool) {
        self.retain(is_wanted);
    }

    fn is_full(&self) -> bool {
        self.is_full()
    }

    fn clear(&mut self) {
        self.clear();
    }
}

#[doc(hidden)]
pub mod containers {
    pub use heapless::Vec;
}

/// Defines a type of [`Capacities`](crate::capacities::Capacities) from [`Sizes`](crate::capacities::Sizes), and checks them.
#[macro_export]
macro_rules! capacities {
    ($(#[$attribute:meta])* $visibility:vis struct $name:ident { $($sizes:tt)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Debug)]
        $visibility struct $name;

        const _: () = {
            use $crate::capacities::containers::Vec;
            use $crate::capacities::{Capacities, Fixed, LinkSizes};

            const SIZES: $crate::capacities::Sizes = $crate::capacities::Sizes { $($sizes)* };
            SIZES.check();

            impl Capacities for $name {
                const SIZES: $crate::capacities::Sizes = SIZES;
                type Link = LinkSizes<{ SIZES.wire() }>;
                type Body = $crate::wire::Body<{ SIZES.body }>;
                type PerLink<T: Clone + ::core::fmt::Debug + Default> = Fixed<T, { SIZES.links }>;
                type Links<T: Clone + ::core::fmt::Debug> = Vec<T, { SIZES.links }, u8>;
                type PerBuffer<T: Clone + ::core::fmt::Debug + Default> = Fixed<T, { SIZES.buffers }>;
                type Buffers<T: Clone + ::core::fmt::Debug> = Vec<T, { SIZES.buffers }, u8>;
                type PerChannel<T: Clone + ::core::fmt::Debug + Default> = Fixed<T, { SIZES.virtual_channels }>;
                type Channels<T: Clone + ::core::fmt::Debug> = Vec<T, { SIZES.virtual_channels }, u8>;
                type Peers<T: Clone + ::core::fmt::Debug> = Vec<T, { SIZES.peers }, u16>;
                type Outstanding<T: Clone + ::core::fmt::Debug> = Vec<T, { SIZES.outstanding }, u8>;
                type ServedPorts<T: Clone + ::core::fmt::Debug> = Vec<T, { SIZES.served_ports }, u8>;
                type Inbox<T: Clone + ::core::fmt::Debug> = Vec<T, { SIZES.inbox }, u8>;
            }
        };
    };
}

capacities! {
    /// The capacities of a board with five links and one to a host.
    pub struct Board { ..Sizes::BOARD }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    capacities! {
        pub(crate) struct FourPeers { peers: 4, ..Sizes::BOARD }
    }

    capacities! {
        pub(crate) struct TwoPeers { peers: 2, ..Sizes::BOARD }
    }

    #[test]
    fn containers_take_no_more_than_they_hold() {
        let mut list: <FourPeers as Capacities>::Peers<u8> = Default::default();
        assert!((0..4).all(|element| List::push(&mut list, element).is_ok()) && List::is_full(&list));
        assert_eq!(List::push(&mut list, 4), Err(4));
        assert_eq!(
            (List::remove(&mut list, 1), List::remove(&mut list, 3)),
            (Some(1), None)
        );
        List::swap_remove(&mut list, 9);
        List::swap_remove(&mut list, 0);
        assert_eq!(*list, [3, 2]);
        let mut inbox: <FourPeers as Capacities>::Inbox<u8> = Default::default();
        assert!((0..4).all(|element| List::push(&mut inbox, element).is_ok()));
        assert_eq!(List::push(&mut inbox, 4), Err(4));
        assert_eq!((inbox.pop_front(), &*inbox), (Some(0), &[1, 2, 3][..]));
    }
}
