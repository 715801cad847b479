//! Forwarding without links, transport or services: packets are put in, and the result is checked.

use std::vec::Vec;

use super::wiring::tests::wired;
use super::*;
use crate::capacities::Board;
use crate::link::FrameResult;
use crate::wire::{Addressed, AppPort, Content, Offer};

const NOW: Micros = 60_000_000;
const MTU: usize = 999;

/// A node with each neighbor at the link of its port, except dead ones.
fn node(expression: &str, here: Node, dead: &[Node]) -> Forwarding<Board> {
    let network: Network = expression.parse().unwrap();
    let location = Location {
        network,
        here,
        rule: Rule::Exact,
        epoch: 7,
        started: 0,
    };
    Forwarding::new(location, wired(&network, here, dead), 0)
}

type Packet = PacketOf<<Board as Capacities>::Body>;

fn packet(kind: Kind, source: Node, dest: Node, number: u32) -> Packet {
    let addressed = Addressed::new(AppPort(20), b"hello");
    Packet {
        header: Header {
            hops_left: 9,
            ..Header::new(kind, source, dest).numbered(7, number)
        },
        body: Content::Datagram(addressed).write().unwrap(),
    }
}

/// Receives a packet on a link.
fn come(node: &mut Forwarding<Board>, link: u8, packet: Packet) -> (Place, Onward) {
    let place = node
        .pool
        .admit(&packet.header, &packet.body, Origin::Link { link, channel: 0 }, NOW)
        .unwrap();
    (place, node.enter(place, false, NOW, &mut ()))
}

/// The links for which packets wait.
fn waiting(node: &Forwarding<Board>) -> Vec<u8> {
    (0..6).filter(|&link| node.waiting(link) > 0).collect()
}

#[test]
fn a_packet_takes_the_link_of_its_next_hop_and_leaves() {
    let mut node = node("ring(6)", 0, &[]);
    let onward = node.wiring.link_to(1).unwrap();
    let from = node.wiring.link_to(5).unwrap();
    let (place, left) = come(&mut node, from, packet(Kind::Datagram, 5, 2, 0));
    assert_eq!((left, waiting(&node)), (Onward::Done, [onward].to_vec()));
    assert_eq!(node.pick(onward, Offer::ALL, MTU, NOW), Some(place));
    // The neighbor has no room at first.
    node.completed(onward, place, FrameResult::Refused, NOW, &mut ());
    assert_eq!((node.waiting(onward), node.held()), (1, 1));
    assert_eq!(node.pick(onward, Offer::ALL, MTU, NOW), Some(place));
    node.completed(onward, place, FrameResult::Taken, NOW, &mut ());
    assert_eq!((node.held(), node.pool.used(), node.counters.forwarded), (0, 0, 1));
}

#[test]
fn what_is_for_this_node_or_goes_no_further_is_left_to_others() {
    let mut node = node("ring(6)", 0, &[1, 5]);
    assert_eq!(come(&mut node, 0, packet(Kind::Datagram, 5, 0, 0)).1, Onward::Arrived);
    let (place, left) = come(&mut node, 0, packet(Kind::Datagram, 5, 2, 1));
    assert_eq!(left, Onward::Lost(DropReason::NoRoute));
    let lost = node.pool.get(place).unwrap().packet.header;
    let ending = node.end(place, DropReason::NoRoute, NOW, &mut ());
    assert_eq!(ending, Ending::Report(lost));
    let mut old = packet(Kind::Response, 5, 2, 2);
    old.header.age = u16::MAX;
    let (place, left) = come(&mut node, 0, old);
    assert_eq!(left, Onward::Lost(DropReason::Expired));
    assert_eq!(node.end(place, DropReason::Expired, NOW, &mut ()), Ending::Done);
    let (kept, _) = come(&mut node, 0, packet(Kind::Confirmed, 5, 2, 3));
    node.pool.get_mut(kept).unwrap().kept = true;
    let ending = node.end(kept, DropReason::NoRoute, NOW, &mut ());
    assert_eq!(ending, Ending::Kept { number: 3 });
    // A source that does not exist is not notified.
    let (place, left) = come(&mut node, 0, packet(Kind::Datagram, 99, 2, 4));
    assert_eq!((left, node.pool.get(place).is_none()), (Onward::Done, true));
}

#[test]
fn a_packet_goes_round_a_link_that_dies() {
    let mut node = node("ring(6)", 0, &[]);
    let [dead, other] = [1, 5].map(|neighbor| node.wiring.link_to(neighbor).unwrap());
    let place = node
        .pool
        .admit(&packet(Kind::Datagram, 0, 2, 0).header, &[], Origin::Application, NOW);
    assert_eq!(node.go(place.unwrap(), false, NOW, &mut ()), Onward::Done);
    assert_eq!(waiting(&node), [dead]);
    let port = node.link_down(dead, crate::link::Down::Silent, NOW, &mut ());
    for &place in &node.take_queue(dead) {
        assert_eq!(node.turn_round(place, dead, port, NOW, &mut ()), Onward::Done);
    }
    assert_eq!((waiting(&node), node.counters.detoured), ([other].to_vec(), 1));
}

#[test]
fn a_broadcast_goes_down_its_tree_and_as_a_flood_where_that_is_cut() {
    let sent = |dead: &[Node]| {
        let mut node = node("torus(3,3)", 0, dead);
        let place = node
            .pool
            .admit(&packet(Kind::Broadcast, 0, 0, 0).header, &[], Origin::Application, NOW);
        let left = node.go(place.unwrap(), false, NOW, &mut ());
        assert_eq!(left, Onward::Done);
        let slot = node.pool.get(place.unwrap()).unwrap();
        (slot.packet.header.copied, waiting(&node).len())
    };
    let network: Network = "torus(3,3)".parse().unwrap();
    let children: Vec<Node> = network.fanout(0, 0).unwrap().map(|(_, child)| child).collect();
    assert_eq!(sent(&[]), (false, children.len()));
    assert_eq!(sent(&children[..1]), (true, 3));
}

#[test]
fn a_broadcast_is_taken_once_and_its_copies_take_no_buffer() {
    let mut node = node("complete(4)", 1, &[]);
    let link = node.wiring.link_to(0).unwrap();
    let first = packet(Kind::Broadcast, 0, 0, 5);
    assert!(!node.is_redundant(&first.header));
    let (place, left) = come(&mut node, link, first.clone());
    assert_eq!(left, Onward::Taken);
    node.pool.release_if_unused(place);
    assert!(node.is_redundant(&first.header));
    node.drop_redundant(link, &first.header, &mut ());
    assert_eq!((node.counters.dropped_in_all(), node.pool.used()), (1, 0));
}

#[test]
fn a_packet_that_waits_too_long_or_is_too_long_is_given_up() {
    let mut node = node("ring(6)", 0, &[]);
    let link = node.wiring.link_to(1).unwrap();
    let (place, _) = come(&mut node, link, packet(Kind::Datagram, 5, 1, 0));
    assert_eq!(node.give_up_waiting(place, link, MTU, NOW), None);
    assert_eq!(node.give_up_waiting(place, link, 10, NOW), Some(DropReason::NoRoute));
    assert_eq!(
        node.give_up_waiting(place, link, 10, NOW),
        None,
        "it does not wait any more"
    );
    let (place, _) = come(&mut node, link, packet(Kind::Datagram, 5, 1, 1));
    assert_eq!(
        node.give_up_waiting(place, link, MTU, NOW + 7_000_000),
        Some(DropReason::Expired)
    );
}
