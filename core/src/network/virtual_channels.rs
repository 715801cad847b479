//! Virtual channels: classes of buffers that prevent deadlock.
//!
//! Finite buffers deadlock when packets wait for each other in a cycle. Here a packet is in a virtual channel, and waits only for room
//! in the same channel of the next node or a higher one: along its route, the channel rises by one wherever the node numbers
//! turn from rising to falling or back. Even channels rise, odd ones fall. Within a channel a packet therefore waits for one at
//! a node of a higher number (or lower), never in a cycle, whatever the network and the route. Each channel of each
//! node has a buffer of its own. A packet that turns more often than there are channels, as on a long detour, stays in the last
//! one; packets that deadlock there expire and are counted.

use crate::limits::VIRTUAL_CHANNELS;
use crate::{Network, Rule};

/// Extra channels for the turns of detours, where available.
const DETOUR_CHANNELS: u64 = 4;

/// Number of virtual channels used in a network: a route turns at most at every node on it, and a detour more often.
pub fn count(network: &Network, rule: Rule) -> u8 {
    let turns = network.longest_route(rule).saturating_add(DETOUR_CHANNELS);
    turns.saturating_add(1).clamp(2, VIRTUAL_CHANNELS as u64) as u8
}

/// Number of virtual channels without which a network could deadlock, even if it is more than [`VIRTUAL_CHANNELS`].
pub fn needed(network: &Network, rule: Rule) -> u8 {
    let turns = network.longest_route(rule).saturating_add(1);
    turns.clamp(2, VIRTUAL_CHANNELS as u64) as u8
}

/// The virtual channel after a hop, out of `channels` channels; see the [module](self).
pub const fn next(channel: u8, begins: bool, rises: bool, channels: u8) -> u8 {
    if begins {
        return if rises { 0 } else { 1 };
    }
    let rising_channel = channel.is_multiple_of(2);
    let next = if rising_channel == rises { channel } else { channel + 1 };
    if next < channels { next } else { channels - 1 }
}
