//! Requests that boards without a config pass on to each other, along a list of ports that the host has written.
//!
//! The payload of a request begins with the list, and so does that of its response:
//!
//! | bytes | what |
//! |---|---|
//! | 0 | of a request, the number of entries used so far; of a response, the number of those left for the way back |
//! | 1 | number of entries, 1 to [`MAX_RELAY_ENTRIES`] |
//! | 2.. | the entries, 4 bits each, the lower half of a byte first |
//!
//! Each board on the way replaces its entry, the port to send at, by the port at which the request has arrived, so the list turns into the way
//! back while its length stays the same. The last entry is [`RELAY_HERE`]. A request uses one more entry at each hop and a response one fewer, so
//! whatever a list says, its packet makes fewer hops than the list has entries.

use super::body::{Bytes, body_of};
use super::content::Content;
use super::packet::PacketOf;
use super::request::{Query, Request, Response};

/// Maximum number of entries: 200 hops, and the board at their end.
pub const MAX_RELAY_ENTRIES: usize = 201;

/// The entry of the board that the request is for.
pub const RELAY_HERE: u8 = 0xf;

/// What a board does with a relayed packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelayStep {
    /// The request is for this board.
    Answer,
    /// Send the packet at this port.
    Forward(u8),
}

/// Uses the entry of this board in the list of a request or response that has arrived at a port. `None` if the packet must be dropped.
pub fn relay_step<B: Bytes>(packet: &mut PacketOf<B>, arrival: u8) -> Option<RelayStep> {
    let (prefix, is_request) = match packet.content()? {
        Content::Request(request) if request.query == Query::Relay => (Request::PREFIX, true),
        Content::Response(response) if response.query == Query::Relay => (Response::PREFIX, false),
        _ => return None,
    };
    // The list of a packet with a trail might not be what was checked here.
    let bytes = packet.body.get_mut(prefix..).filter(|_| !packet.header.trail)?;
    let (&mut [ref mut used, count], rest) = bytes.split_first_chunk_mut()?;
    let entries = rest.get_mut(..entry_bytes(count)?)?;
    if !is_request {
        *used = used.checked_sub(1).filter(|place| *place < count)?;
        return Some(RelayStep::Forward(entry(entries, *used)?));
    }
    let place = *used;
    if place >= count || arrival >= RELAY_HERE {
        return None;
    }
    let port = entry(entries, place)?;
    let is_last = place + 1 == count;
    if (port == RELAY_HERE) != is_last {
        return None;
    }
    let byte = entries.get_mut(usize::from(place / 2))?;
    *byte = match place % 2 {
        0 => *byte & 0xf0 | arrival,
        _ => *byte & 0x0f | arrival << 4,
    };
    if is_last {
        return Some(RelayStep::Answer);
    }
    *used = place + 1;
    Some(RelayStep::Forward(port))
}

/// The bytes of this number of entries, if there can be as many.
fn entry_bytes(count: u8) -> Option<usize> {
    let count = usize::from(count);
    (1..=MAX_RELAY_ENTRIES).contains(&count).then_some(count.div_ceil(2))
}

fn entry(entries: &[u8], place: u8) -> Option<u8> {
    let byte = entries.get(usize::from(place / 2))?;
    Some(byte >> (4 * (place % 2)) & 0xf)
}

/// Splits the payload of a relayed request or response after its list.
fn split(payload: &[u8]) -> Option<(&[u8], &[u8])> {
    let count = *payload.get(1)?;
    payload.split_at_checked(2 + entry_bytes(count)?)
}

/// The payload of a request that is relayed through these ports, one after the other; `None` if there are too many, or it is too long.
pub fn relay_request<B: Bytes>(ports: &[u8], query: Query, payload: &[u8]) -> Option<B> {
    let count = u8::try_from(ports.len() + 1).ok()?;
    let mut list = [0; MAX_RELAY_ENTRIES.div_ceil(2)];
    for (place, port) in ports.iter().chain(&[RELAY_HERE]).enumerate() {
        *list.get_mut(place / 2)? |= (port & 0xf) << (4 * (place % 2));
    }
    let list = list.get(..entry_bytes(count)?)?;
    body_of(&[&[0, count], list, &[query.number()], payload])
}

/// The relayed query and its payload; `None` if they are malformed.
pub fn relayed(payload: &[u8]) -> Option<(Query, &[u8])> {
    let (_, inner) = split(payload)?;
    let (&number, payload) = inner.split_first()?;
    Some((Query::from_number(number)?, payload))
}

/// The payload of the response to a relayed request: its list, and this; `None` if it is too long.
pub fn relay_response<B: Bytes>(request: &[u8], response: &[u8]) -> Option<B> {
    let (list, _) = split(request)?;
    body_of(&[list, response])
}

/// The ports at which a request has arrived, at each board on its way, and the response to it; `None` if they are malformed.
pub fn relay_arrivals(payload: &[u8]) -> Option<(impl Iterator<Item = u8> + '_, &[u8])> {
    let (list, response) = split(payload)?;
    let (head, entries) = list.split_first_chunk::<2>()?;
    let [_, count] = *head;
    Some(((0..count).filter_map(|place| entry(entries, place)), response))
}

#[cfg(test)]
mod tests {
    use super::super::body::{Body, Kind};
    use super::super::packet::{Header, Packet};
    use super::*;
    use crate::limits::BODY;
    use hopwise_testing::Random;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn request(ports: &[u8]) -> Option<Packet<BODY>> {
        let payload: Body<BODY> = relay_request(ports, Query::Link, &[3])?;
        packet(true, &payload)
    }

    fn packet(is_request: bool, payload: &[u8]) -> Option<Packet<BODY>> {
        let query = Query::Relay;
        let (kind, body): (_, Body<BODY>) = match is_request {
            true => (Kind::Request, Request::new(query, 9, payload).write()?),
            false => {
                let (asked, number) = (9, 7);
                let response = Response {
                    query,
                    asked,
                    number,
                    payload,
                };
                (Kind::Response, response.write()?)
            }
        };
        Packet::new(Header::new(kind, 0, 0), &body)
    }

    fn payload(packet: &Packet<BODY>) -> Vec<u8> {
        match packet.content() {
            Some(Content::Request(request)) => request.payload.to_vec(),
            Some(Content::Response(response)) => response.payload.to_vec(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_list_turns_into_the_way_back() {
        for hops in [0, 1, 2, 3, 7, 200] {
            let ports: Vec<u8> = (0..hops).map(|hop| (hop % 6) as u8).collect();
            let arrivals: Vec<u8> = (0..=hops).map(|hop| (hop * 5 % 7) as u8).collect();
            let mut there = request(&ports).expect("it fits");
            let length = there.length();
            for (port, arrival) in ports.iter().zip(&arrivals) {
                assert_eq!(relay_step(&mut there, *arrival), Some(RelayStep::Forward(*port)));
            }
            assert_eq!(relay_step(&mut there, arrivals[hops]), Some(RelayStep::Answer));
            assert_eq!(there.length(), length);
            let there = payload(&there);
            assert_eq!(relayed(&there), Some((Query::Link, &[3][..])));
            let answer: Body<BODY> = relay_response(&there, b"yes").expect("it fits");
            let mut back = packet(false, &answer).expect("it fits");
            // The target itself answers at the port of arrival.
            for port in arrivals[..hops].iter().rev() {
                assert_eq!(relay_step(&mut back, 0), Some(RelayStep::Forward(*port)));
            }
            assert_eq!(relay_step(&mut back, 0), None, "the host does not pass it on");
            let back = payload(&back);
            let (found, response) = relay_arrivals(&back).expect("a list");
            assert_eq!((found.collect(), response), (arrivals, &b"yes"[..]));
        }
        assert_eq!(request(&[0; 201]), None);
        assert_eq!(request(&[0; 300]), None);
    }

    #[test]
    fn lists_that_are_not_ones_are_dropped() {
        let step = |is_request, bytes: &[u8]| relay_step(&mut packet(is_request, bytes).expect("it fits"), 1);
        for (bytes, what) in [
            (&[][..], "nothing"),
            (&[0], "half a head"),
            (&[0, 0, 0xff], "no entries"),
            (&[0, 202, 0xff], "too many"),
            (&[0, 3, 0xf1], "entries cut off"),
            (&[2, 2, 0xf1], "all used"),
            (&[0, 2, 0x1f], "for this board, and on"),
            (&[0, 1, 0x01], "on, and nowhere to"),
        ] {
            assert_eq!(step(true, bytes), None, "{what}");
        }
        assert_eq!(step(true, &[0, 2, 0xf1]), Some(RelayStep::Forward(1)));
        for (bytes, what) in [(&[0, 2, 0xf1][..], "all used"), (&[3, 2, 0xf1], "beyond the list")] {
            assert_eq!(step(false, bytes), None, "{what}");
        }
        assert_eq!(step(false, &[2, 2, 0x51]), Some(RelayStep::Forward(5)));
        // A port that an entry cannot hold.
        assert_eq!(relay_step(&mut request(&[1]).expect("it fits"), RELAY_HERE), None);
        // Not relayed, and with a trail.
        let mut other: Packet<BODY> = Packet::new(Header::new(Kind::Datagram, 0, 0), &[0, 2, 0xf1]).expect("it fits");
        assert_eq!(relay_step(&mut other, 1), None);
        let mut with_trail = request(&[1]).expect("it fits");
        with_trail.header.trail = true;
        assert_eq!(relay_step(&mut with_trail, 1), None);
    }

    proptest! {
        #[test]
        fn any_bytes_end_within_their_list(
            is_request: bool,
            mut bytes in prop::collection::vec(any::<u8>(), 0..220),
            looks_right: bool,
            seed: u64,
        ) {
            if let (true, [used, count, ..]) = (looks_right, &mut bytes[..]) {
                (*used, *count) = (*used % 8, *count % MAX_RELAY_ENTRIES as u8);
            }
            let _ = (relayed(&bytes), relay_response::<Body<BODY>>(&bytes, b"x"), relay_arrivals(&bytes).map(|_| ()));
            let entries = bytes.get(1).copied().unwrap_or(0);
            let mut packet = packet(is_request, &bytes).expect("it fits");
            let length = packet.length();
            let mut random = Random(seed);
            let mut hops = 0;
            while let Some(RelayStep::Forward(_)) = relay_step(&mut packet, random.below(8) as u8) {
                hops += 1;
                prop_assert!(hops <= entries && usize::from(entries) <= MAX_RELAY_ENTRIES);
            }
            prop_assert_eq!(packet.length(), length);
            let (after, end) = (payload(&packet), 2 + usize::from(entries).div_ceil(2));
            prop_assert_eq!(after.get(end..), bytes.get(end..));
        }
    }
}
