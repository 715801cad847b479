//! Durations in microseconds. The delivery guarantees rest on their order: a receiver must remember a sender
//! longer than any of its packets can still arrive.

use crate::link::Micros;

/// A packet older than this is dropped wherever it is.
pub const LIFETIME: Micros = 6_000_000;

/// Maximum error of ages: each node rounds them, and clocks differ.
pub const SLACK: Micros = 500_000;

/// Maximum error of a destination's uptime relative to the sender's clock, and of the time its response took.
pub const DRIFT: Micros = 20_000;

/// A confirmed packet is retransmitted until it is this old; then its result is unknown.
pub const CONFIRM_WITHIN: Micros = 12_000_000;

/// A sender of confirmed packets is remembered this long after its last one: until its retransmissions have ended and expired.
pub const REMEMBER_PEER: Micros = CONFIRM_WITHIN + LIFETIME + 2 * SLACK;

/// A source whose broadcasts became floods sends them as floods for this long, and then tries the tree again.
pub const FLOOD_FOR: Micros = 2_000_000;

/// Maximum time between two attempts.
pub const LONGEST_RETRY: Micros = 2_000_000;

/// Time that an unreachable destination is given to come back.
pub const UNREACHABLE_FOR: Micros = 3_000_000;

/// Interval at which the buffers are searched for expired packets.
pub const SWEEP: Micros = 100_000;
