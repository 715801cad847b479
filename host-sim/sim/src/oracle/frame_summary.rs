//! A frame_summary at a frame on the wire: only as much of it is decoded as is needed to know which packet it carries.

use hopwise_node::wire::{DELIMITER, Header, MAX_HEADER};

/// Before the packet of a data frame: `docs/wire-format.md`.
const DATA_HEADER: usize = 8;
const TYPE_MASK: u8 = 0x03;
const ACK: u8 = 1;
const DATA: u8 = 2;
/// Where the refusals are in an acknowledgement, and in data.
const ACK_REFUSED: usize = 4;
const DATA_REFUSED: usize = 5;

/// So much of a frame is enough while addresses have up to three bytes.
const USUAL: usize = DATA_HEADER + 11 + 2 * 3;

/// The fields of a frame that the oracle checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameSummary {
    /// A delimiter goes before it: it was sent before, or is hello.
    pub(super) retransmit: bool,
    /// Its sender had no room for what came.
    pub(super) refuses: bool,
    /// The header of the packet that it carries.
    pub(super) packet: Option<Header>,
}

impl FrameSummary {
    /// At a frame as it is sent.
    pub(super) fn at(frame: &[u8]) -> Self {
        let retransmit = frame.first() == Some(&DELIMITER);
        let frame = &frame[usize::from(retransmit)..];
        let mut start = [0; DATA_HEADER + MAX_HEADER];
        let length = decode_start(frame, &mut start[..USUAL]);
        let mut packet = packet_of(&start[..length]);
        if packet.is_none() && length == USUAL {
            let length = decode_start(frame, &mut start);
            packet = packet_of(&start[..length]);
        }
        let start = &start[..length];
        let kind = start.first().map(|first| first & TYPE_MASK);
        let refused = match kind {
            Some(ACK) => start.get(ACK_REFUSED),
            Some(DATA) => start.get(DATA_REFUSED),
            _ => None,
        };
        FrameSummary {
            retransmit,
            refuses: refused.is_some_and(|&refused| refused != 0),
            packet,
        }
    }
}

/// The header of the packet in a data frame.
fn packet_of(start: &[u8]) -> Option<Header> {
    let is_data = start.first().is_some_and(|first| first & TYPE_MASK == DATA);
    let packet = start.get(DATA_HEADER..).filter(|_| is_data)?;
    Header::read(packet).map(|(header, _)| header)
}

/// Decodes as much of a frame as there is room for, and returns how much that is.
fn decode_start(mut frame: &[u8], out: &mut [u8]) -> usize {
    let mut length = 0;
    while let Some((&code, rest)) = frame.split_first() {
        let run = usize::from(code)
            .saturating_sub(1)
            .min(rest.len())
            .min(out.len() - length);
        if code == DELIMITER {
            break;
        }
        out[length..length + run].copy_from_slice(&rest[..run]);
        length += run;
        frame = &rest[run..];
        // Each run stands for a zero after it, but for the longest, and for the last.
        if length == out.len() || frame.first().is_none_or(|&next| next == DELIMITER) {
            break;
        }
        if code < u8::MAX {
            out[length] = 0;
            length += 1;
        }
    }
    length
}

#[cfg(test)]
mod tests {
    use hopwise_node::wire::{Ack, DataHeader, Kind, Offer, WIRE, write_ack, write_data};

    use super::*;

    #[test]
    fn a_glance_sees_what_the_writer_wrote() {
        let header = Header {
            number: 0x0100_0007,
            epoch: 300,
            hops_left: 256,
            age: 3,
            ..Header::new(Kind::Confirmed, 0, 1 << 40)
        };
        let mut packet = [0; MAX_HEADER];
        let length = header.write(&mut packet).unwrap();
        for (refused, retransmit) in [(0, false), (5, true)] {
            let ack = Ack {
                tag: 7,
                next: 0,
                refused,
                offer: Offer::ALL,
                missing: None,
                pause: 0,
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
            assert_eq!(FrameSummary::at(&frame[..end]), seen);
            let end = write_ack(&ack, false, None, &mut frame).unwrap();
            let seen = FrameSummary {
                retransmit: false,
                packet: None,
                ..seen
            };
            assert_eq!(FrameSummary::at(&frame[..end]), seen);
        }
        assert_eq!(FrameSummary::at(&[]).packet, None);
    }
}
