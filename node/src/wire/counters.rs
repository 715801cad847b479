//! What a node and its links have done, in numbers.

use serde::{Deserialize, Serialize};

use super::undeliverable::DropReason;

/// A node's account of its packets.
///
/// The law that every node keeps: `carried_over + received + originated + copied = delivered + forwarded + dropped + held`,
/// where held are the copies in its buffers. Nothing vanishes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouterCounters {
    /// Copies that were in the node when counting began anew.
    pub carried_over: u32,
    /// Packets taken from neighbors.
    pub received: u32,
    /// Packets that began here: of the application, the host, and the node's own answers.
    pub originated: u32,
    /// Further copies made of broadcasts.
    pub copied: u32,
    /// Packets given to the application or the node's own services.
    pub delivered: u32,
    /// Packets that a neighbor, or the host, has taken over.
    pub forwarded: u32,
    /// Packets that went no further, by [reason](DropReason::ALL).
    pub dropped: [u32; DropReason::ALL.len()],
    /// Packets sent round a dead link from here.
    pub detoured: u32,
    /// Confirmed packets sent again.
    pub retried: u32,
    /// The most buffers ever in use.
    pub buffers_used: u32,
}

impl RouterCounters {
    /// All that were dropped, for whatever reason.
    pub fn dropped_in_all(&self) -> u32 {
        self.dropped.iter().fold(0, |sum, &count| sum.wrapping_add(count))
    }

    /// How many copies are in the node, by the law.
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

/// What has happened on a wire, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkCounters {
    /// Frames sent, of all kinds.
    pub frames_sent: u32,
    /// Frames received whole, of all kinds.
    pub frames_received: u32,
    /// Frames that carried a packet anew.
    pub packets_sent: u32,
    /// Packets received in order.
    pub packets_received: u32,
    /// Frames sent again.
    pub resent: u32,
    /// Times nothing was acknowledged in time.
    pub timeouts: u32,
    /// Frames received again, or too early, or of another session: of no use.
    pub useless: u32,
    /// Frames that could not be read.
    pub damaged: u32,
    /// Packets that the other end had no room for.
    pub refused_by_peer: u32,
    /// Packets received in order that were not taken: there was no room for them here.
    pub not_taken: u32,
    /// Times the link came up.
    pub sessions: u32,
    /// Times the line fell quiet after a byte without a stop bit.
    pub framing_errors: u32,
    /// The same after a byte with a bit that was not clearly high or low; only where the serial port looks for that.
    pub noise_errors: u32,
    /// The same after bytes that nobody had fetched before the next came.
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

/// What a serial port has found wrong with bytes that came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineFaults {
    /// One had no stop bit.
    pub framing: bool,
    /// One had a bit that was not clearly high or low.
    pub noise: bool,
    /// Some were not fetched before the next came.
    pub overrun: bool,
}
