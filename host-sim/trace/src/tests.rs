//! One event type in all its forms: JSON, the text of a board, and the hash.

use hopwise_node::link::Down;

use hopwise_node::router::{Event, Outcome};
use hopwise_node::wire::{DropReason, FrameError, Identity, Kind, PacketId, Role};
use proptest::prelude::*;

use crate::hash::TraceHash;
use crate::line::{Header, Record, TraceLine, VERSION};
use crate::reader::Reader;
use crate::report::Report;
use crate::text::read_event;
use crate::writer::Writer;

fn identity(role: Role) -> Identity {
    Identity {
        role,
        network: u32::MAX,
        // That of a host means nothing, and is not written.
        address: if role == Role::Host { 0 } else { u64::MAX },
        port: 3,
        epoch: 7,
        mtu: 274,
    }
}

fn packet(kind: Kind, from_host: bool) -> PacketId {
    PacketId {
        source: 12,
        from_host,
        epoch: 65_535,
        kind,
        number: 4_000_000_000,
    }
}

fn down(reason: Down) -> Event {
    Event::LinkDown { link: 0, reason }
}

fn up(link: u8, role: Role) -> Event {
    let peer = identity(role);
    Event::LinkUp { link, peer }
}

fn sent(link: u8, packet: PacketId, dest: u64, retransmit: bool) -> Event {
    Event::Sent {
        link,
        packet,
        dest,
        retransmit,
    }
}

fn received(link: u8, packet: PacketId, dest: u64) -> Event {
    Event::Received { link, packet, dest }
}

const UNDELIVERABLE: Outcome = Outcome::Undeliverable {
    at: 5,
    reason: DropReason::NoRoute,
};

/// One of every kind of event, with every kind of reason.
fn events() -> Vec<Event> {
    let any = packet(Kind::Datagram, false);
    let downs = [
        Down::Silent,
        Down::OneWay,
        Down::Restarted,
        Down::Ended,
        Down::Version(2),
        Down::Replaced,
        Down::Stuck,
        Down::Refused,
    ];
    let errors = [
        FrameError::Encoding,
        FrameError::TooLong,
        FrameError::Crc,
        FrameError::Form,
    ];
    let roles = [Role::Node, Role::Host];
    let mut events: Vec<Event> = roles.map(|role| up(1, role)).to_vec();
    events.extend(downs.map(down));
    events.extend(roles.map(|role| Event::Miswired {
        link: 2,
        expected: (role == Role::Node).then_some(4),
        found: identity(role),
    }));
    events.extend(errors.map(|error| Event::Damaged { link: 5, error }));
    events.extend(Kind::ALL.map(|kind| sent(3, packet(kind, true), 9, kind == Kind::Request)));
    events.extend([
        received(4, any, 2),
        Event::Accepted { packet: any, dest: 1 },
        Event::Forwarded { link: 0, packet: any },
        Event::Delivered { packet: any },
        Event::Detoured { packet: any, by: 8 },
    ]);
    events.extend(DropReason::ALL.map(|reason| Event::Dropped {
        packet: any,
        dest: 3,
        reason,
    }));
    let outcomes = [
        Outcome::Delivered,
        UNDELIVERABLE,
        Outcome::Interrupted,
        Outcome::Unknown,
    ];
    events.extend(outcomes.map(|outcome| Event::Completed { number: 1, outcome }));
    events
}

fn line(record: Record) -> TraceLine {
    TraceLine {
        at: -1_500_000_001,
        node: 4,
        record,
    }
}

#[test]
fn every_event_is_written_and_read() {
    for event in events() {
        let line = line(Record::Event(event));
        let json = line.to_json().unwrap();
        assert_eq!(TraceLine::from_json(&json).as_ref(), Ok(&line), "{json}");
        let name = format!("\"event\":\"{}\"", line.record.name());
        assert!(json.contains(&name), "{json}");
    }
}

#[test]
fn every_event_of_a_log_is_read() {
    for event in events() {
        let text = format!("{event:?}");
        assert_eq!(read_event(&text), Some(event), "{text}");
    }
    let others = "|hello|Sent|Sent { link: 1 }|LinkDown { link: 0, reason: Tired }|LinkDown { link: 0|\
                  LinkDown { link: 0, reason: Silent } or not";
    for text in others.split('|') {
        assert_eq!(read_event(text), None, "{text}");
    }
    let newer = "LinkDown { link: 0, mood: Bad { why: [1], since: (2, 3) }, reason: Silent }";
    let expected = Some(down(Down::Silent));
    assert_eq!(read_event(newer), expected, "a field that is not known here");
}

/// What others than this program rely on.
#[test]
fn the_words_of_a_trace_stay() {
    let completed = Event::Completed {
        number: 7,
        outcome: UNDELIVERABLE,
    };
    let log = Record::Log {
        level: "warn".into(),
        text: "it is \"hot\"".into(),
    };
    let node = u64::MAX;
    for (record, expected) in [
        (
            Record::Event(sent(0, packet(Kind::Datagram, false), 2, false)),
            r#""event":"sent","link":0,"packet":{"source":12,"from_host":false,"epoch":65535,"kind":"datagram","number":4000000000},"dest":2,"retransmit":false"#.to_string(),
        ),
        (
            Record::Event(up(2, Role::Node)),
            format!(r#""event":"link-up","link":2,"peer":{node},"peer_network":4294967295,"peer_port":3,"peer_epoch":7,"peer_mtu":274"#),
        ),
        (
            Record::Event(up(2, Role::Host)),
            r#""event":"link-up","link":2,"host":true,"peer_network":4294967295,"peer_port":3,"peer_epoch":7,"peer_mtu":274"#.into(),
        ),
        (Record::Event(down(Down::Version(2))), r#""event":"link-down","link":0,"reason":"version-2""#.into()),
        (
            Record::Event(completed),
            r#""event":"completed","number":7,"outcome":"undeliverable","at":5,"reason":"no-route""#.into(),
        ),
        (log, r#""event":"log","level":"warn","text":"it is \"hot\"""#.into()),
    ] {
        let json = line(record).to_json().unwrap();
        assert_eq!(json, format!("{{\"t\":-1.500000001,\"node\":4,{expected}}}"));
        assert_eq!(TraceLine::from_json(&json).unwrap().to_json(), Some(json));
    }
}

#[test]
fn a_trace_is_read_as_it_was_written() {
    let network: hopwise_core::Network = "ring( 5 )".parse().unwrap();
    let header = Header::new(&network, 115_200);
    let mut writer = Writer::new(Vec::new(), &header).unwrap();
    let lines: Vec<TraceLine> = events().into_iter().map(|event| line(Record::Event(event))).collect();
    lines.iter().for_each(|line| writer.write(line).unwrap());
    let text = writer.finish().unwrap();
    let reader = Reader::new(&text[..]).unwrap();
    assert_eq!(reader.header(), Some(&header));
    assert_eq!((header.version, header.network.as_str()), (VERSION, "ring(5)"));
    assert_eq!(reader.map(Result::unwrap).collect::<Vec<_>>(), lines);
}

#[test]
fn the_hash_is_of_time_node_event_and_order() {
    let hash = |lines: &[(i64, u64, Event)]| {
        let mut hash = TraceHash::default();
        lines.iter().for_each(|(at, node, event)| hash.add(*at, *node, event));
        hash.finish()
    };
    let events = events();
    let all: Vec<_> = events.iter().map(|event| (1_000_000_000, 3, *event)).collect();
    let mut seen = std::collections::BTreeSet::from([hash(&all)]);
    for (place, changed) in [(0, (1_000_000_001, 3, events[0])), (0, (1_000_000_000, 4, events[0]))] {
        let mut other = all.clone();
        other[place] = changed;
        assert!(seen.insert(hash(&other)), "{changed:?}");
    }
    for place in 1..all.len() {
        let mut other = all.clone();
        other.swap(place - 1, place);
        assert!(seen.insert(hash(&other)), "{:?} and {:?}", all[place - 1], all[place]);
    }
    // More than one piece.
    let many = vec![all[0]; 10_000];
    assert!(seen.insert(hash(&many)) && seen.insert(hash(&many[1..])));
    assert!(seen.iter().all(|hash| hash.len() == 64));
}

/// A packet that goes round a ring for ever: each hop is looked for among all others.
#[test]
fn the_time_for_a_report_is_that_for_reading() {
    let id = packet(Kind::Datagram, false);
    let mut writer = Writer::new(Vec::new(), &Header::new(&"ring(20)".parse().unwrap(), 1_000_000)).unwrap();
    let mut event = |at: i64, node: u64, event: Event| writer.event(at * 1000, node, &event).unwrap();
    event(0, 12, Event::Accepted { packet: id, dest: 1 });
    const HOPS: i64 = 40_000;
    for hop in 0..HOPS {
        let [from, to] = [12 + hop as u64, 13 + hop as u64].map(|node| node % 20);
        event(10 * hop + 1, from, sent(0, id, 1, false));
        event(10 * hop + 2, to, received(1, id, 1));
    }
    event(10 * HOPS, (12 + HOPS as u64) % 20, Event::Delivered { packet: id });
    let text = writer.finish().unwrap();
    let started = std::time::Instant::now();
    let lines = Reader::new(&text[..]).unwrap().map(Result::unwrap).count();
    let reading = started.elapsed();
    let started = std::time::Instant::now();
    let report = Report::read(Reader::new(&text[..]).unwrap(), None).unwrap();
    let reporting = started.elapsed();
    assert_eq!((lines as i64, report.paths.unwrap().hops as i64), (2 * HOPS + 2, HOPS));
    let is_fast = reporting < 10 * reading;
    assert!(is_fast, "reading takes {reading:?}, the report {reporting:?}");
}

proptest! {
    /// Whatever a board prints, nothing breaks, and what is read is what was printed.
    #[test]
    fn any_text_is_read_or_not(text in "[A-Z][a-z]{0,9}[ {}():,a-z0-9]{0,80}") {
        if let Some(event) = read_event(&text) {
            prop_assert_eq!(read_event(&format!("{event:?}")), Some(event));
        }
    }
}
