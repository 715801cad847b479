//! The oracle after everything was restored: nothing excuses what happens to packets from then on.

use std::collections::HashSet;

use super::Oracle;
use super::record::Record;
use crate::wire::Nanos;

/// A node that restarted less than 20 ms ago may answer that it cannot know whether it has had a confirmed packet before.
const KNOWN_AFTER: Nanos = 50_000_000;
/// If the first packet of a sender is forged, its own packets are refused for 19 s, unless there is a key.
const FORGED_FOR: Nanos = 20_000_000_000;

impl Oracle {
    /// Everything is restored, and no board is faulty any more.
    pub fn restored(&mut self) {
        self.restored_from = Some(self.records.len() as u32);
        for &board in &self.faulty_boards {
            self.ledger.restarted(board);
        }
        self.ledger.distrust(&HashSet::new());
    }

    pub(super) fn is_after_restoration(&self, number: u32) -> bool {
        self.restored_from.is_some_and(|first| first <= number)
    }

    /// The time after which nodes have forgotten restarts and forged packets.
    pub fn settles_within(&self) -> Nanos {
        if self.liars { FORGED_FOR } else { KNOWN_AFTER }
    }

    /// The source of the first packet sent since then that is not completed, and which packet that is.
    pub fn open_since_restored(&self) -> Option<(u32, String)> {
        let mut since = (self.restored_from?..).zip(self.records.get(self.restored_from? as usize..)?);
        // A liar may have used up its number.
        let is_done = |record: &Record| record.closed || record.twin && self.liars;
        let (number, record) = since.find(|(_, record)| !is_done(record))?;
        let (service, dest) = (record.service.name(), record.dest);
        let what = format!("packet {number} ({service} to node {dest}) is still under way");
        Some((record.source, what))
    }
}
