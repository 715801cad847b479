//! Every fixed capacity of the crate, by name, in one place.

/// A network has at most this many nodes: 2^63, or 2^31 without the feature `huge-networks`.
pub const MAX_NODES: u64 = 1 << MAX_BITS;

/// The same as an exponent of 2.
pub const MAX_BITS: u32 = if cfg!(feature = "huge-networks") { 63 } else { 31 };

/// A node of a base graph has at most this many links, which `complete`, `star` and `ghc` could exceed. Boards have 6 and no chip
/// has 100 serial ports; the largest degree that a paper here is followed to is that of `complete(1000)`. What goes through all links
/// of a node, as a broadcast does, is fast up to here.
pub const MAX_DEGREE: u64 = 1_024;

/// No question about routes - next hop, distance, method, diameter - takes more steps than this, in any network; a step is a division, a
/// bit of a set, a word of a search, or what takes no longer. Most take some hundred. The limit is for exact RE steps that search, for
/// lifts of a thousand nodes, and for leaders that are tried one by one. With so many times the
/// [search memory](crate::Network::with_search_memory) of a board it is so many times as much.
///
/// A fan-out takes one such question for each link, and one more for the children that are sorted.
pub const STEPS_PER_QUESTION: u64 = 1 << 24;

/// The same for what needs no search: degree, neighbor, port and address.
pub const STEPS_PER_LINK: u64 = 1 << 14;

/// `torus`, `mesh` and `ghc` have at most this many dimensions.
pub const MAX_DIMENSIONS: usize = 8;

/// A list of frames, `re([F1,F2,..],UNIT)`, holds at most this many.
pub const MAX_FRAMES: usize = 5;

/// The unit of an RE network has at most this many nodes, so that a set of its positions is one word.
pub const MAX_UNIT: u8 = 64;

/// `nstar(n)` ends here: 21! is more than 2^63, and 13! more than 2^31.
pub const MAX_SYMBOLS: usize = if cfg!(feature = "huge-networks") { 20 } else { 12 };

/// `rdn(BASE,k)` ends here: over the smallest base, two nodes, level 5 has exactly [`MAX_NODES`] nodes.
pub const MAX_LEVELS: usize = 5;

/// Memory, in 64-bit words, that one exact RE step may take from the stack on a board: 1 KiB, enough for 8 unserved
/// pivots in a unit of 16 nodes.
pub const BOARD_SEARCH_WORDS: usize = 128;

/// The same on a host (feature `large-walks`): 256 KiB, enough for 16 unserved pivots in a unit of 16 nodes.
#[cfg(feature = "large-walks")]
pub const HOST_SEARCH_WORDS: usize = 32_768;

/// An exact RE step that searches may go through so many links for each word of its memory: those of 32 states with 32 links each.
/// Where there are more, as in frames of hundreds of links, the paper's order takes over.
pub const SEARCH_STEPS_PER_WORD: u32 = 1_024;

/// A route is followed at most this many hops ahead to find its buffer class.
pub const LOOKAHEAD: u32 = 4_096;

/// Up to so many children of a broadcast are served in the best order; more in the order of the ports.
pub const MAX_SORTED_CHILDREN: usize = 32;

/// `rsn(l,G)` ends here: over the smallest nucleus, two nodes, level 7 would have 2^64 nodes.
pub const MAX_SWAP_LEVELS: usize = 6;

/// So many distances in the nucleus may go into one distance of an `rsn` with diameter links, or fewer if each is a search. It is enough
/// for all leaders of `rsn(3,hypercube(5),diameter)`.
pub const MAX_LEADER_WORK: u32 = 1 << 17;

/// `hsn(l,G)` tries all orders of so many digits that differ, the lowest of them.
pub const MAX_PERMUTED: usize = 7;

/// `hsn(l,G)` has at most this many digits: over the smallest nucleus, two nodes, that is [`MAX_NODES`].
pub const MAX_DIGITS: usize = MAX_BITS as usize;

/// Lanes: classes of buffers that make store-and-forward free of deadlock, see [`lanes`](crate::network::virtual_channels). A packet changes lane
/// where its route turns from rising to falling node numbers or back. `re(ring(4),complete(3),3)` needs 10, most others of up
/// to 200 nodes 4 to 8; `hopwise deadlock EXPR --scheme lanes` counts them. On the wire there is room for 12.
pub const VIRTUAL_CHANNELS: usize = 12;
