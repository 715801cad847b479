//! Lanes: classes of buffers that keep full buffers from waiting for each other in a cycle.
//!
//! Finite buffers deadlock when packets wait for each other in a cycle. Here a packet is in a lane, and waits only for room
//! in the same lane of the next node or a higher one: along its route, the lane rises by one wherever the node numbers
//! turn from rising to falling or back. Even lanes rise, odd ones fall. Within a lane a packet therefore waits for one at
//! a node of a higher number (or lower), never in a cycle, whatever the network and whatever the route. Each lane of each
//! node keeps a buffer of its own. A packet that turns more often than there are lanes, as on a long detour, stays in the last
//! one; should packets there wait for each other, they expire and are counted.

use crate::limits::VIRTUAL_CHANNELS;
use crate::{Network, Rule};

/// Lanes for the turns of detours, where there are as many.
const DETOUR_LANES: u64 = 4;

/// So many lanes are used in a network: a route turns at most at every node on it, and a detour more often.
pub fn count(network: &Network, rule: Rule) -> u8 {
    let turns = network.longest_route(rule).saturating_add(DETOUR_LANES);
    turns.saturating_add(1).clamp(2, VIRTUAL_CHANNELS as u64) as u8
}

/// So many lanes a network cannot do without: fewer could deadlock. What is beyond [`VIRTUAL_CHANNELS`] is done without all the same.
pub fn needed(network: &Network, rule: Rule) -> u8 {
    let turns = network.longest_route(rule).saturating_add(1);
    turns.clamp(2, VIRTUAL_CHANNELS as u64) as u8
}

/// The lane after a hop, of so many; see the [module](self).
pub const fn next(lane: u8, begins: bool, rises: bool, lanes: u8) -> u8 {
    if begins {
        return if rises { 0 } else { 1 };
    }
    let rising_lane = lane.is_multiple_of(2);
    let next = if rising_lane == rises { lane } else { lane + 1 };
    if next < lanes { next } else { lanes - 1 }
}
