//! The packet parser.

use hopwise_node::limits::BODY;
use hopwise_node::wire::{Body, Content, Header, Kind, MAX_HEADER, Packet, Query, Response, trace_records};

/// What is read is written and read again as it was; the body is the rest, byte by byte.
#[test]
fn what_is_read_is_written_and_read_again() {
    hopwise_testing::check!(4_096, |bytes: &[u8]| {
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
            let found = header.write(&mut written[..length - 1]);
            assert_eq!(found, None, "it does not fit one byte less");
        }
        // A brief header has four bytes less, and is none for who does not know the rest.
        if let Some((header, true, body)) = Header::read_any(bytes) {
            assert_eq!((read, header.epoch, header.number >> 16), (None, 0, 0));
            assert!(bytes.ends_with(body), "the body is the end of the packet");
        }
        let packet = Packet::<BODY>::read(bytes);
        let fits = read.is_some_and(|(_, body)| body.len() <= BODY);
        assert_eq!(packet.is_some(), fits);
        if let (Some(packet), Some((header, body))) = (packet, read) {
            assert_eq!((packet.header, &packet.body[..]), (header, body));
        }
    });
}

#[test]
fn any_response_is_taken_apart() {
    hopwise_testing::check!(4_096, |bytes: &[u8]| {
        if let Some(response) = Response::read(bytes) {
            assert!(bytes.ends_with(response.payload));
            let by_number = match response.query {
                // The number is that of all applications.
                Query::Application(_) => None,
                query => Some(query),
            };
            assert_eq!(Query::from_number(response.query.number()), by_number);
        }
        // Each record takes two bytes at least.
        assert!(trace_records(bytes).count() <= bytes.len() / 2);
    });
}

/// Whatever the body of whatever kind: what is read is written again, byte by byte, but for what was skipped at its end.
#[test]
fn any_body_is_read_and_written_again() {
    hopwise_testing::check!(4_096, |bytes: &[u8]| {
        let bytes = &bytes[..bytes.len().min(BODY)];
        for kind in Kind::ALL {
            let Some(content) = Content::read(kind, bytes) else {
                continue;
            };
            assert_eq!(content.kind(), kind);
            let written = content.write::<Body<BODY>>().expect("what was read fits");
            assert_eq!(Content::read(kind, &written), Some(content));
            assert!(written.len() <= bytes.len());
            assert!(matches!(kind, Kind::Undeliverable) || bytes.starts_with(&written));
        }
    });
}
