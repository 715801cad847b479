//! The records that a traced packet collects.

use super::varint;
use hopwise_core::Node;

/// One node that a traced packet passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceRecord {
    /// The address of the node.
    pub node: Node,
    /// The waiting time of the packet there, in microseconds.
    pub waited: u64,
}

impl TraceRecord {
    /// The longest record.
    pub const MAX_BYTES: usize = 2 * varint::MAX_BYTES;

    /// Reads a record, and gives what follows it; `None` if there is none.
    pub fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (node, rest) = varint::read(bytes)?;
        let (waited, rest) = varint::read(rest)?;
        Some((TraceRecord { node, waited }, rest))
    }

    /// Writes the record and returns its length; `None` if there is no room.
    pub fn write(&self, out: &mut [u8]) -> Option<usize> {
        let node = varint::write(self.node, out)?;
        let waited = varint::write(self.waited, out.get_mut(node..)?)?;
        Some(node + waited)
    }
}

/// The records in the response to a trace, in path order.
pub fn trace_records(mut response: &[u8]) -> impl Iterator<Item = TraceRecord> + '_ {
    core::iter::from_fn(move || {
        let (record, rest) = TraceRecord::read(response)?;
        response = rest;
        Some(record)
    })
}
