//! Every fixed capacity of the crate, by name, in one place.

/// Maximum number of nodes in a network: 2^63, or 2^31 without the feature `huge-networks`.
pub const MAX_NODES: u64 = 1 << MAX_BITS;

/// [`MAX_NODES`] as an exponent of 2.
pub const MAX_BITS: u32 = if cfg!(feature = "huge-networks") { 63 } else { 31 };

/// Maximum degree of a node of a base graph, which `complete`, `star` and `ghc` could exceed. Boards have 6 links and no chip has 100
/// serial ports; the largest degree in a paper implemented here is that of `complete(1000)`. Iterating over all links of a node, as a
/// broadcast does, is fast up to this degree.
pub const MAX_DEGREE: u64 = 1_024;

/// Maximum number of steps of a routing query (next hop, distance, method, diameter) in any network. A step is a division, a bit of a set,
/// a word of a search, or something no slower. Most queries take a few hundred. The limit is reached by exact RE steps that search, by
/// lifts of a thousand nodes, and by leaders that are tried one by one. It scales with the
/// [search memory](crate::Network::with_search_memory): n times a board's memory allows n times the steps.
///
/// A fan-out takes one such query per link, and one more per sorted child.
pub const STEPS_PER_QUERY: u64 = 1 << 24;

/// Maximum number of steps of a query that needs no search: degree, neighbor, port and address.
pub const STEPS_PER_LINK: u64 = 1 << 14;

/// Maximum number of dimensions of `torus`, `mesh` and `ghc`.
pub const MAX_DIMENSIONS: usize = 8;

/// Maximum length of a list of frames, `re([F1,F2,..],UNIT)`.
pub const MAX_FRAMES: usize = 5;

/// Maximum number of nodes in the unit of an RE network, so that a set of its positions is one word.
pub const MAX_UNIT: u8 = 64;

/// Maximum n of `nstar(n)`: 21! is more than 2^63, and 13! more than 2^31.
pub const MAX_SYMBOLS: usize = if cfg!(feature = "huge-networks") { 20 } else { 12 };

/// Maximum k of `rdn(BASE,k)`: over the smallest base, two nodes, level 5 has exactly [`MAX_NODES`] nodes.
pub const MAX_LEVELS: usize = 5;

/// Stack memory, in 64-bit words, of one exact RE step on a board: 1 KiB, enough for 8 unserved pivots in a unit of 16 nodes.
pub const BOARD_SEARCH_WORDS: usize = 128;

/// Stack memory, in 64-bit words, of one exact RE step on a host (feature `large-walks`): 256 KiB, enough for 16 unserved pivots in a unit
/// of 16 nodes.
#[cfg(feature = "large-walks")]
pub const HOST_SEARCH_WORDS: usize = 32_768;

/// Maximum number of links that an exact RE search follows per word of its memory: those of 32 states with 32 links each. Where there are
/// more, as in frames of hundreds of links, the paper's order is used.
pub const SEARCH_STEPS_PER_WORD: u32 = 1_024;

/// Maximum number of hops that a route is followed ahead to find its virtual channel.
pub const LOOKAHEAD: u32 = 4_096;

/// Maximum number of children of a broadcast that are sorted by send priority; more are served in port order.
pub const MAX_SORTED_CHILDREN: usize = 32;

/// Maximum l of `rsn(l,G)`: over the smallest nucleus, two nodes, level 7 would have 2^64 nodes.
pub const MAX_SWAP_LEVELS: usize = 6;

/// Maximum number of nucleus distances computed for one distance of an `rsn` with diameter links, or fewer if each is a search. Enough for
/// all leaders of `rsn(3,hypercube(5),diameter)`.
pub const MAX_LEADER_WORK: u32 = 1 << 17;

/// Maximum number of differing digits, the lowest of them, of which `hsn(l,G)` tries all orders.
pub const MAX_PERMUTED: usize = 7;

/// Maximum number of digits of `hsn(l,G)`: over the smallest nucleus, two nodes, that is [`MAX_NODES`].
pub const MAX_DIGITS: usize = MAX_BITS as usize;

/// Maximum number of [virtual channels](crate::network::virtual_channels), the classes of buffers that keep store-and-forward free of
/// deadlock. A packet changes channel where its route turns from rising to falling node numbers or back. `re(ring(4),complete(3),3)` needs
/// 10, most others of up to 200 nodes 4 to 8; `hopwise deadlock EXPR --scheme virtual-channels` counts them. The wire format has room for 12.
pub const VIRTUAL_CHANNELS: usize = 12;
