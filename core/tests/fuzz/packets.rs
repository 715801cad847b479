//! The packet parser.

use hopwise_core::limits::BODY;
use hopwise_core::node::{Header, MAX_HEADER, Packet, Query, hops_of_trace};

/// What is read is written and read again as it was; the body is the rest, byte by byte.
#[test]
fn what_is_read_is_written_and_read_again() {
    bolero::check!().for_each(|bytes: &[u8]| {
        let read = Header::read(bytes);
        if let Some((header, body)) = read {
            let mut written = [0; MAX_HEADER];
            let length = header
                .write(&mut written)
                .expect("a header that was read fits the longest one");
            assert_eq!(Header::read(&written[..length]), Some((header, &[][..])));
            assert!(bytes.ends_with(body), "the body is the end of the packet");
            // A number may have been written with more bytes than it needs.
            assert!(length <= bytes.len() - body.len());
            assert_eq!(
                header.write(&mut written[..length - 1]),
                None,
                "it does not fit one byte less"
            );
        }
        let packet = Packet::<BODY>::read(bytes);
        let fits = read.is_some_and(|(_, body)| body.len() <= BODY);
        assert_eq!(packet.is_some(), fits);
        if let (Some(packet), Some((header, body))) = (packet, read) {
            assert_eq!((packet.header, packet.body.as_slice()), (header, body));
        }
    });
}

/// Answers are taken apart whatever they hold.
#[test]
fn any_answer_is_taken_apart() {
    bolero::check!().for_each(|bytes: &[u8]| {
        let (query, _, _, answer) = Query::read_answer(bytes);
        assert!(bytes.ends_with(answer));
        assert_eq!(Query::from_number(query.number()), Some(query));
        // Each hop takes two bytes at least.
        assert!(hops_of_trace(answer).count() <= answer.len() / 2);
    });
}
