//! How long things last, in microseconds. The promises of delivery rest on their order: a receiver must remember a sender
//! longer than any packet of it can still come.

use crate::link::Micros;

/// A packet older than this is dropped wherever it is.
pub const LIFETIME: Micros = 6_000_000;

/// By so much ages may be wrong: each node rounds them, and clocks differ.
pub const SLACK: Micros = 500_000;

/// By so much a destination's uptime may be wrong against the sender's clock, and the time its answer took.
pub const DRIFT: Micros = 20_000;

/// A confirmed packet is sent again until it is this old; then its fate is unknown.
pub const CONFIRM_WITHIN: Micros = 12_000_000;

/// A sender of confirmed packets is remembered this long after its last one: until its retries have ended and died out.
pub const REMEMBER_PEER: Micros = CONFIRM_WITHIN + LIFETIME + 2 * SLACK;

/// A source whose broadcasts became floods sends them as floods for so long, and then tries the tree again.
pub const FLOOD_FOR: Micros = 2_000_000;

/// Between two attempts at most this long.
pub const LONGEST_RETRY: Micros = 2_000_000;

/// A destination that cannot be reached is given this long to come back.
pub const UNREACHABLE_FOR: Micros = 3_000_000;

/// The node looks through its buffers for packets that are too old this often.
pub const SWEEP: Micros = 100_000;
