//! Events as people read them: `13 -> 4  forwarded  datagram 17 of node 2`.

use hopwise_node::router::{Event, Outcome};
use hopwise_node::wire::{Identity, PacketId, Role};
use hopwise_trace::text::words;

use crate::mesh::Mesh;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventText {
    /// The node, with the neighbor that has to do with it: `13 -> 4`, `13 <- 4` or `13`.
    pub place: String,
    /// The packet or the link, and what became of it.
    pub about: String,
}

/// An event of a node. Links lead where the mesh file says.
pub fn event_text(mesh: &Mesh, node: u64, event: &Event) -> EventText {
    let far = |link: u8| {
        let port = mesh.port_at(node, usize::from(link));
        port.and_then(|port| mesh.far_end(port)).map(|far| far.node)
    };
    let with = |way: &str, far: Option<u64>| match far {
        Some(far) => format!("{node} {way} {far}"),
        None => node.to_string(),
    };
    let uart = |link: u8| {
        let links = &mesh.kind_of(node).links;
        links.get(usize::from(link)).map_or("the serial port", |uart| uart.name)
    };
    let (place, about) = match event {
        Event::LinkUp { link, peer } => (
            with("--", far(*link)),
            format!("{}: {} is there", uart(*link), who(peer)),
        ),
        Event::LinkDown { link, reason } => {
            let why = words(&format!("{reason:?}"), ' ');
            (with("--", far(*link)), format!("{}: {why}", uart(*link)))
        }
        Event::Miswired { link, expected, found } => {
            let expected = expected.map_or_else(|| "nobody".into(), |expected| format!("node {expected}"));
            let about = format!("{}: {} is there instead of {expected}", uart(*link), who(found));
            (node.to_string(), about)
        }
        Event::Damaged { link, error } => {
            let why = words(&format!("{error:?}"), ' ');
            (
                with("<-", far(*link)),
                format!("{}: bytes that are no frame ({why})", uart(*link)),
            )
        }
        Event::Sent {
            link,
            packet,
            dest,
            retransmit,
        } => {
            let retransmit = if *retransmit { ", retransmitted" } else { "" };
            (
                with("->", far(*link)),
                format!("{} to node {dest}{retransmit}", named(packet)),
            )
        }
        Event::Received { link, packet, dest } => (with("<-", far(*link)), format!("{} to node {dest}", named(packet))),
        Event::Accepted { packet, dest } => (node.to_string(), format!("{} to node {dest}", named(packet))),
        Event::Forwarded { link, packet } => (with("->", far(*link)), named(packet)),
        Event::Delivered { packet } => (node.to_string(), named(packet)),
        Event::Dropped { packet, dest, reason } => (
            node.to_string(),
            format!("{} to node {dest}: {}", named(packet), reason.name()),
        ),
        Event::Detoured { packet, by } => (with("->", Some(*by)), named(packet)),
        Event::Completed { number, outcome } => {
            let outcome = match outcome {
                Outcome::Undeliverable { at, reason } => format!("undeliverable at node {at}, {}", reason.name()),
                other => words(&format!("{other:?}"), ' '),
            };
            (
                node.to_string(),
                format!("confirmed {number} of node {node}: {outcome}"),
            )
        }
        Event::Clock { root, mesh, .. } => {
            let seconds = *mesh as f64 / 1e6;
            (node.to_string(), format!("{seconds:.6} s by the clock of node {root}"))
        }
    };
    EventText { place, about }
}

fn named(packet: &PacketId) -> String {
    let host = if packet.from_host { "the host at " } else { "" };
    let (kind, number, source) = (packet.kind.name(), packet.number, packet.source);
    format!("{kind} {number} of {host}node {source}")
}

fn who(peer: &Identity) -> String {
    match peer.role {
        Role::Host => "a host".into(),
        Role::Node => format!("node {}", peer.address),
    }
}

#[cfg(test)]
mod tests {
    use hopwise_node::link::Down;
    use hopwise_node::wire::{DropReason, Header, Kind};

    use super::*;

    #[test]
    fn events_are_told_in_words() {
        let mesh = Mesh::parse("network = \"rdn(ring(3),1)\"\nboard = \"nucleo-f446re\"\n").unwrap();
        let packet = Header::new(Kind::Datagram, 2, 9).numbered(1, 17).id();
        let told = |event: &Event| {
            let EventText { place, about } = event_text(&mesh, 13, event);
            format!("{place}  {about}")
        };
        let found = told(&Event::Forwarded { link: 2, packet });
        assert_eq!(found, "13 -> 4  datagram 17 of node 2");
        let (dest, link) = (9, 2);
        let found = told(&Event::Received { link, packet, dest });
        assert_eq!(found, "13 <- 4  datagram 17 of node 2 to node 9");
        let packet = PacketId {
            from_host: true,
            ..packet
        };
        let reason = DropReason::NoRoute;
        let found = told(&Event::Dropped { packet, dest, reason });
        assert_eq!(found, "13  datagram 17 of the host at node 2 to node 9: no-route");
        let reason = Down::OneWay;
        assert_eq!(told(&Event::LinkDown { link, reason }), "13 -- 4  UART4: one way");
        // The ST-LINK's port is behind the links.
        let reason = Down::Silent;
        let silent = Event::LinkDown { link: 5, reason };
        assert_eq!(told(&silent), "13  the serial port: silent");
    }
}
