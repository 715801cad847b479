//! Forwarding without links, transport or services: packets are put in, and the result is checked.

use super::wiring::tests::wired;
use super::*;
use crate::capacities::Board;
use crate::wire::{Addressed, AppPort, Content};

const NOW: Micros = 60_000_000;

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

fn come(node: &mut Forwarding<Board>, link: u8, packet: Packet) -> (Place, Onward) {
    let place = node
        .pool
        .admit(&packet.header, &packet.body, Origin::Link { link, channel: 0 }, NOW)
        .unwrap();
    (place, node.enter(place, false, NOW, &mut ()))
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
