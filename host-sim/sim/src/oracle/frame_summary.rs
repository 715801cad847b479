//! A glance at a frame on the wire: only as much of it is decoded as is needed to know which packet it carries.

use hopwise_node::wire::{DELIMITER, Header, Kind, MAX_HEADER};

use super::quick_map::QuickMap;
use crate::world::WireEnd;

/// The most bytes before the packet of a data frame: `docs/wire-format.md`.
const DATA_HEADER: usize = 8;
const TYPE_MASK: u8 = 0x03;
const ACK: u8 = 1;
const DATA: u8 = 2;
const MISSING: u8 = 0x40;
const SEALED: u8 = 0x80;
const ROUND_MASK: u8 = 0x03;
/// Refusals and the offer.
const STATUS_BYTES: usize = 3;

/// So much of a frame is enough while addresses have up to three bytes.
const USUAL: usize = DATA_HEADER + 10 + 2 * 3;

/// The fields of a frame that the oracle checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameSummary {
    /// A delimiter goes before it: it was sent before, or is hello.
    pub(super) retransmit: bool,
    /// Its sender had no room for what came.
    pub(super) refuses: bool,
    pub(super) packet: Option<Header>,
}

/// The epochs and high halves of numbers in the last full header that an end of a wire has sent of each source.
#[derive(Debug, Default)]
pub(super) struct Sequences(QuickMap<(WireEnd, u64, bool, bool), (u16, u16)>);

impl Sequences {
    /// Completes a brief header, and learns from a full one.
    fn complete(&mut self, from: WireEnd, header: &mut Header, is_brief: bool) -> Option<()> {
        let source = (from, header.source, header.from_host, header.kind == Kind::Confirmed);
        if is_brief {
            let &(epoch, high) = self.0.get(&source)?;
            header.epoch = epoch;
            header.number |= u32::from(high) << 16;
        } else {
            self.0.insert(source, (header.epoch, (header.number >> 16) as u16));
        }
        Some(())
    }
}

impl FrameSummary {
    /// At a frame as it is sent from an end of a wire.
    pub(super) fn at(frame: &[u8], from: WireEnd, sequences: &mut Sequences) -> Self {
        let retransmit = frame.first() == Some(&DELIMITER);
        let frame = &frame[usize::from(retransmit)..];
        let mut start = [0; DATA_HEADER + MAX_HEADER];
        let mut length = decode_start(frame, &mut start[..DATA_HEADER]);
        if start[0] & TYPE_MASK == DATA {
            length = decode_start(frame, &mut start[..USUAL]);
        }
        let mut read = read(&start[..length]);
        if read.1.is_none() && length == USUAL {
            length = decode_start(frame, &mut start);
            read = self::read(&start[..length]);
        }
        let (refuses, packet) = read;
        FrameSummary {
            retransmit,
            refuses,
            packet: packet.and_then(|(mut header, is_brief)| {
                sequences.complete(from, &mut header, is_brief)?;
                Some(header)
            }),
        }
    }
}

/// Whether a frame refuses a packet, and the header of the one that it carries, which may be brief.
fn read(start: &[u8]) -> (bool, Option<(Header, bool)>) {
    let Some((&first, mut rest)) = start.split_first() else {
        return (false, None);
    };
    let skip = |bytes: &mut &[u8], count: usize| *bytes = bytes.get(count..).unwrap_or(&[]);
    if first & SEALED != 0 {
        skip(&mut rest, 2);
    }
    let kind = first & TYPE_MASK;
    match kind {
        DATA => skip(&mut rest, 1),
        ACK => {}
        _ => return (false, None),
    }
    let has_status = first & MISSING != 0 || rest.first().is_some_and(|place| place & ROUND_MASK != 0);
    skip(&mut rest, 1);
    let refuses = has_status && rest.first().is_some_and(|&refused| refused != 0);
    if has_status {
        skip(&mut rest, STATUS_BYTES);
    }
    let header = || Header::read_any(rest).map(|(header, is_brief, _)| (header, is_brief));
    (refuses, (kind == DATA).then(header).flatten())
}

/// Decodes as much of a frame as there is room for, and returns how much that is.
fn decode_start(frame: &[u8], out: &mut [u8]) -> usize {
    let room = out.len();
    let mut places = out.iter_mut();
    // Bytes until the next code, and whether that stands for a zero, as all do but the first and one after the longest run.
    let (mut left, mut zero) = (0, false);
    for &byte in frame {
        if byte == DELIMITER {
            break;
        }
        let decoded = if left > 0 {
            left -= 1;
            byte
        } else {
            left = byte - 1;
            if !std::mem::replace(&mut zero, byte < u8::MAX) {
                continue;
            }
            0
        };
        let Some(place) = places.next() else { break };
        *place = decoded;
    }
    room - places.len()
}

#[cfg(test)]
mod tests {
    use hopwise_node::wire::{Ack, DataHeader, Kind, WIRE, write_ack, write_data};

    use super::*;

    #[test]
    fn a_glance_sees_what_the_writer_wrote() {
        let header = Header {
            hops_left: 256,
            age: 3,
            ..Header::new(Kind::Confirmed, 0, 1 << 40).numbered(300, 0x0100_0007)
        };
        let mut packet = [0; MAX_HEADER];
        let length = header.write(&mut packet).unwrap();
        let (end_of_wire, mut sequences) = ((0, 0), Sequences::default());
        let mut glance = |frame: &[u8]| FrameSummary::at(frame, end_of_wire, &mut sequences);
        for (refused, retransmit) in [(0, false), (5, true)] {
            let ack = Ack {
                refused,
                ..Ack::new(7, 0)
            };
            let data = DataHeader {
                ack,
                sequence: 0,
                round: 0,
                channel: 3,
            };
            let mut frame = [0; WIRE];
            let end = write_data(&data, [&packet[..length], &[0; 200]], retransmit, None, &mut frame).unwrap();
            let seen = FrameSummary {
                retransmit,
                refuses: refused != 0,
                packet: Some(header),
            };
            assert_eq!(glance(&frame[..end]), seen);
            let end = write_ack(&ack, false, None, &mut frame).unwrap();
            let seen = FrameSummary {
                retransmit: false,
                packet: None,
                ..seen
            };
            assert_eq!(glance(&frame[..end]), seen);
        }
        assert_eq!(glance(&[]).packet, None);
    }
}
