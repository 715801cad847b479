//! What both ends of a link know of the numbers of packets, so that a header need not repeat it.
//!
//! The epoch of a source and the high half of its numbers seldom change. A full header tells them; once it is acknowledged as taken, headers of
//! that source may be brief. The receiver learns from each full header in the order of frames, whatever else comes between, so both ends agree:
//! a sender that is in doubt writes full headers. It is in doubt about what it sends again, and after a refusal, for the other end may or may not
//! have learned from that.

use super::window::{FrameResult, Token};
use crate::wire::{Header, Kind};

/// The number of sources that an end remembers in each direction.
const SOURCES: usize = 8;

/// The numbers of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Sequence {
    /// Which source: see [`name`]; [`NOBODY`] for none.
    name: u32,
    epoch: u16,
    /// The high half of the numbers.
    high: u16,
}

impl Sequence {
    /// `None` if the source has no name.
    fn of(header: &Header) -> Option<Self> {
        Some(Sequence {
            name: name(header)?,
            epoch: header.epoch,
            high: (header.number >> 16) as u16,
        })
    }
}

const NOBODY: u32 = u32::MAX;

impl Default for Sequence {
    fn default() -> Self {
        Sequence {
            name: NOBODY,
            epoch: 0,
            high: 0,
        }
    }
}

/// Distinguishes sources: a node and its host count on their own, and confirmed packets apart. Nodes of immense networks have none.
fn name(header: &Header) -> Option<u32> {
    let node = u32::try_from(header.source).ok()?.checked_mul(4)?;
    let name = node | u32::from(header.from_host) << 1 | u32::from(header.kind == Kind::Confirmed);
    (name != NOBODY).then_some(name)
}

/// The place of a name, scattered: addresses of neighbors differ in a few digits.
fn place(name: u32) -> usize {
    (name.wrapping_mul(0x9e37_79b1) >> 29) as usize
}

/// Whether the other end knows a sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Told {
    #[default]
    Unknown,
    /// Once this packet is taken.
    By(Token),
    Known,
}

/// What both ends know in each direction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Sequences {
    received: [Sequence; SOURCES],
    sent: [Sequence; SOURCES],
    /// Of each sent one whether the other end knows it.
    told: [Told; SOURCES],
}

impl Sequences {
    /// Parses a packet that came in order, and learns from its header; `None` if it is malformed.
    pub(super) fn read<'a>(&mut self, packet: &'a [u8]) -> Option<(Header, &'a [u8])> {
        let (mut header, is_brief, body) = Header::read_any(packet)?;
        if is_brief {
            let name = name(&header)?;
            let known = self.received.get(place(name)).filter(|known| known.name == name)?;
            header.epoch = known.epoch;
            header.number |= u32::from(known.high) << 16;
        } else if let Some(sequence) = Sequence::of(&header)
            && let Some(known) = self.received.get_mut(place(sequence.name))
        {
            *known = sequence;
        }
        Some((header, body))
    }

    /// Whether the header of a packet that is sent for the first time may be brief.
    pub(super) fn may_be_brief(&self, header: &Header) -> bool {
        Sequence::of(header).is_some_and(|sequence| {
            let place = place(sequence.name);
            self.sent.get(place) == Some(&sequence) && self.told.get(place) == Some(&Told::Known)
        })
    }

    /// A packet was sent with a full header.
    pub(super) fn sent(&mut self, header: &Header, token: Token, is_retransmission: bool) {
        let Some(sequence) = Sequence::of(header) else { return };
        let place = place(sequence.name);
        if let (Some(sent), Some(told)) = (self.sent.get_mut(place), self.told.get_mut(place)) {
            *sent = sequence;
            *told = if is_retransmission {
                Told::Unknown
            } else {
                Told::By(token)
            };
        }
    }

    pub(super) fn completed(&mut self, token: Token, result: FrameResult) {
        for told in &mut self.told {
            if *told == Told::By(token) {
                *told = match result {
                    FrameResult::Taken => Told::Known,
                    FrameResult::Refused => Told::Unknown,
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::MAX_HEADER;

    fn header(kind: Kind, source: u64, number: u32) -> Header {
        let epoch = 9;
        Header::new(kind, source, 3).numbered(epoch, number)
    }

    fn datagram(number: u32) -> Header {
        header(Kind::Datagram, 5, number)
    }

    /// Whether a header that is sent is brief. The other end reads it as it was.
    fn send(here: &mut Sequences, there: &mut Sequences, header: Header, token: Token) -> bool {
        let is_brief = here.may_be_brief(&header);
        let mut bytes = [0; MAX_HEADER];
        let length = header.write_any(is_brief, &mut bytes).expect("a header");
        assert_eq!(there.read(&bytes[..length]), Some((header, &[][..])));
        if !is_brief {
            here.sent(&header, token, false);
        }
        is_brief
    }

    #[test]
    fn what_is_sent_again_is_not_known_by_its_acknowledgment() {
        let [mut here, mut there] = [Sequences::default(), Sequences::default()];
        send(&mut here, &mut there, datagram(0xffff), 1);
        send(&mut here, &mut there, datagram(0x1_0000), 2);
        // The other end has had it, and does not read it again: its numbers go on from the second.
        here.sent(&datagram(0xffff), 1, true);
        here.completed(1, FrameResult::Taken);
        here.completed(2, FrameResult::Taken);
        assert!(!send(&mut here, &mut there, datagram(0xffff), 3));
    }

    #[test]
    fn a_brief_header_of_a_source_that_was_never_told_is_malformed() {
        let mut there = Sequences::default();
        let mut bytes = [0; MAX_HEADER];
        let length = datagram(7).write_any(true, &mut bytes).expect("a header");
        assert_eq!(there.read(&bytes[..length]), None);
    }

    #[test]
    fn confirmed_packets_are_counted_apart() {
        let [mut here, mut there] = [Sequences::default(), Sequences::default()];
        let both = [datagram(7), header(Kind::Confirmed, 5, 0x5_0000)];
        for (token, header) in (0..).zip(both) {
            assert!(!send(&mut here, &mut there, header, token));
            here.completed(token, FrameResult::Taken);
        }
        for header in both.repeat(2) {
            assert!(send(&mut here, &mut there, header, 9));
        }
    }
}
