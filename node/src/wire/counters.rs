//! The counters of a node and its links.

use serde::{Deserialize, Serialize};

use super::undeliverable::DropReason;

/// A node's account of its packets.
///
/// The invariant of every node: `carried_over + received + originated + copied = delivered + forwarded + dropped + held`,
/// where held are the copies in its buffers. Nothing vanishes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouterCounters {
    /// Copies that were in the node when the counters were reset.
    pub carried_over: u32,
    /// Packets taken from neighbors.
    pub received: u32,
    /// Packets that originated here: of the application, the host, and the node's own responses.
    pub originated: u32,
    /// Further copies made of broadcasts.
    pub copied: u32,
    /// Packets given to the application or the node's own services.
    pub delivered: u32,
    /// Packets that a neighbor, or the host, has taken over.
    pub forwarded: u32,
    /// Packets that were dropped, by [reason](DropReason::ALL).
    pub dropped: [u32; DropReason::ALL.len()],
    /// Packets sent on a detour around a dead link from here.
    pub detoured: u32,
    /// Confirmed packets retransmitted.
    pub retried: u32,
    /// Maximum number of buffers ever in use.
    pub buffers_used: u32,
}

impl RouterCounters {
    /// The total number of dropped packets.
    pub fn dropped_in_all(&self) -> u32 {
        self.dropped.iter().fold(0, |sum, &count| sum.wrapping_add(count))
    }

    /// The number of copies in the node, by the invariant.
    pub fn held(&self) -> u32 {
        let came = self.received.wrapping_add(self.originated).wrapping_add(self.copied);
        let came = came.wrapping_add(self.carried_over);
        let went = self
            .delivered
            .wrapping_add(self.forwarded)
            .wrapping_add(self.dropped_in_all());
        came.wrapping_sub(went)
    }

    pub(crate) fn drop(&mut self, reason: DropReason) {
        if let Some(count) = self.dropped.get_mut(reason as usize) {
            *count = count.wrapping_add(1);
        }
    }
}

/// The counters of a wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkCounters {
    /// Frames sent, of all kinds.
    pub frames_sent: u32,
    /// Frames received whole, of all kinds.
    pub frames_received: u32,
    /// Frames that carried a packet for the first time.
    pub packets_sent: u32,
    /// Packets received in order.
    pub packets_received: u32,
    /// Frames retransmitted.
    pub resent: u32,
    /// Acknowledgment timeouts.
    pub timeouts: u32,
    /// Frames received as duplicates, too early, or of another session.
    pub useless: u32,
    /// Frames that could not be read.
    pub damaged: u32,
    /// Packets that the other end had no room for.
    pub refused_by_peer: u32,
    /// Packets received in order that were not taken for lack of room.
    pub not_taken: u32,
    /// Times the link came up.
    pub sessions: u32,
    /// Framing errors: a byte without a stop bit. Counted when the line becomes idle.
    pub framing_errors: u32,
    /// Noise errors: a bit that was not clearly high or low, where the serial port detects that.
    pub noise_errors: u32,
    /// Overruns: bytes that were not read before the next came.
    pub overruns: u32,
}

impl LinkCounters {
    pub(crate) fn note(&mut self, faults: LineFaults) {
        for (count, seen) in [
            (&mut self.framing_errors, faults.framing),
            (&mut self.noise_errors, faults.noise),
            (&mut self.overruns, faults.overrun),
        ] {
            *count = count.wrapping_add(u32::from(seen));
        }
    }
}

/// Line faults that a serial port has detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineFaults {
    /// A byte had no stop bit.
    pub framing: bool,
    /// A byte had a bit that was not clearly high or low.
    pub noise: bool,
    /// Bytes were not read before the next came.
    pub overrun: bool,
}
