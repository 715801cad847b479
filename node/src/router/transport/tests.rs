//! Two transports without a mesh between them: packets are delivered by hand, or dropped.

use super::*;
use crate::capacities::Board;
use crate::router::{Admission, Outcome};
use crate::wire::{Addressed, AppPort, Confirmed, Verdict};
use hopwise_core::Rule;

const NOW: Micros = 60_000_000;
const PLACE: Place = 3;

type Packet = PacketOf<<Board as Capacities>::Body>;

fn transport(here: Node) -> Transport<Board> {
    let location = Location {
        network: "ring(6)".parse().unwrap(),
        here,
        rule: Rule::Exact,
        epoch: 70 + here as u32,
        started: 0,
    };
    let mesh = Mesh {
        nodes: 6,
        longest_route: 3,
        frame_time: 3_000,
    };
    Transport::new(&location, &mesh, 40)
}

/// Sends a confirmed packet, which is kept at [`PLACE`].
fn send(from: &mut Transport<Board>, to: Node, now: Micros) -> Packet {
    let known_epoch = from.may_confirm(to).unwrap();
    let content = Content::Confirmed(Confirmed {
        known_epoch,
        port: AppPort(20),
        payload: b"hello",
    });
    let packet = from.message(&content, to, false).unwrap();
    from.source.begin(to, PLACE, now);
    packet
}

/// Receives the packet.
fn come(to: &mut Transport<Board>, packet: &Packet, admission: Admission, now: Micros) -> Result<(), DropReason> {
    let Some(Content::Confirmed(confirmed)) = packet.content() else {
        panic!("no confirmed packet");
    };
    to.destination
        .classify(&packet.header, confirmed.known_epoch, 1_000, false, admission, now)
}

/// Returns the next confirmation.
fn confirm(to: &mut Transport<Board>, from: &mut Transport<Board>, now: Micros) -> Result<Confirms, DropReason> {
    let packet = to.next_confirmation(now).unwrap().0.unwrap();
    let Some(Content::Confirmation(confirmation)) = packet.content() else {
        panic!("no confirmation");
    };
    from.confirmation(&packet.header, &confirmation, 1_000, false, now)
}

#[test]
fn a_confirmed_packet_is_delivered_once_and_its_source_knows() {
    let (mut here, mut there) = (transport(0), transport(2));
    let packet = send(&mut here, 2, NOW);
    assert_eq!(come(&mut there, &packet, Admission::Open, NOW), Ok(()));
    // It is received again before the confirmation.
    let retransmit = come(&mut there, &packet, Admission::Open, NOW);
    assert_eq!(retransmit, Err(DropReason::Duplicate));
    let completed = Completed {
        number: packet.header.number,
        outcome: Outcome::Delivered,
        place: PLACE,
    };
    assert_eq!(confirm(&mut there, &mut here, NOW), Ok(Confirms::Ended(completed)));
    assert_eq!(confirm(&mut there, &mut here, NOW), Err(DropReason::Unsolicited));
    assert_eq!(
        here.source.next_outcome(),
        Some((packet.header.number, Outcome::Delivered))
    );
    assert_eq!(here.may_confirm(2), Some(72), "the epoch is known now");
}

#[test]
fn one_that_is_not_confirmed_is_retransmitted_and_ends_at_last() {
    let mut here = transport(0);
    let packet = send(&mut here, 2, NOW);
    assert_eq!(here.source.due(0, NOW), Due::Nothing);
    let first = here.source.deadline();
    assert!(matches!(
        here.source.due(0, first),
        Due::Retransmit { place: PLACE, .. }
    ));
    let end = NOW + super::super::times::CONFIRM_WITHIN;
    let Due::Ended(completed) = here.source.due(0, end) else {
        panic!("it goes on");
    };
    assert_eq!(
        (completed.number, completed.outcome),
        (packet.header.number, Outcome::Unknown)
    );
}

#[test]
fn a_destination_without_room_is_tried_again() {
    let (mut here, mut there) = (transport(0), transport(2));
    let packet = send(&mut here, 2, NOW);
    let busy = come(&mut there, &packet, Admission::Busy, NOW);
    assert_eq!(busy, Err(DropReason::InboxFull));
    let goes_on = Confirms::GoesOn {
        kept: PLACE,
        epoch: Some(72),
    };
    assert_eq!(confirm(&mut there, &mut here, NOW), Ok(goes_on));
    assert_eq!(come(&mut there, &packet, Admission::Open, NOW), Ok(()));
}

#[test]
fn a_response_to_an_earlier_life_is_none() {
    let (mut here, mut there) = (transport(0), transport(2));
    let header = there.header(Kind::Confirmation, 0, false);
    let packet = send(&mut here, 2, NOW);
    let confirmation = Confirmation {
        number: packet.header.number,
        epoch: 9,
        verdict: Verdict::Delivered,
        uptime: 1,
    };
    let stale = here.confirmation(&header, &confirmation, 0, false, NOW);
    assert_eq!(stale, Err(DropReason::Stale));
}

#[test]
fn packets_are_numbered_and_reports_and_floods_name_what_they_are_about() {
    let mut here = transport(0);
    let content = Content::Datagram(Addressed::new(AppPort(20), b"hello"));
    let [one, two] = [(); 2].map(|()| here.message(&content, 4, false).unwrap());
    assert_eq!(two.header.number, one.header.number.wrapping_add(1));
    assert_eq!((one.header.hops_left, one.header.epoch, one.header.source), (40, 70, 0));
    assert_eq!(here.read(&one, |message| message.payload.to_vec()).unwrap(), b"hello");
    let report = here.report(&two.header, DropReason::NoRoute).unwrap();
    let Some(Content::Undeliverable(about)) = report.content() else {
        panic!("no report");
    };
    assert_eq!((about.number, about.dest), (two.header.number, 4));
    let confirmed = send(&mut here, 4, NOW);
    let flood = here.flooded(&confirmed).unwrap();
    let Some(Content::Flooded(inner)) = flood.content() else {
        panic!("no flood");
    };
    assert!(flood.header.copied);
    assert_eq!((inner.kind, inner.body), (Kind::Confirmed, &confirmed.body[..]));
}
