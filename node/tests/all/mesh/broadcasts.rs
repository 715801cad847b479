//! Broadcasts: every other live node once.

use super::harness::Mesh;
use crate::support::*;

/// How often each node got a broadcast of a payload.
fn counts(mesh: &Mesh, payload: &[u8]) -> Vec<usize> {
    let of = |node| {
        let got = mesh.board(node).got.iter();
        got.filter(|got| got.payload == payload && got.kind == MessageKind::Broadcast)
            .count()
    };
    (0..mesh.network.nodes()).map(of).collect()
}

#[test]
fn every_other_node_gets_it_once() {
    for expression in networks("tiny_of_each_family") {
        let mut mesh = Mesh::up(expression);
        let nodes = mesh.network.nodes();
        for source in 0..nodes {
            let number = mesh.broadcast(source, &[source as u8; 9]).unwrap();
            mesh.run(40 * MILLISECOND);
            let expected: Vec<_> = (0..nodes).map(|node| usize::from(node != source)).collect();
            let found = counts(&mesh, &[source as u8; 9]);
            assert_eq!(found, expected, "{expression} from {source}");
            let got = mesh.board((source + 1) % nodes).got.last().unwrap();
            assert_eq!((got.source, got.number), (source, number), "{expression} from {source}");
        }
        // A tree has as many links as there are others.
        let forwarded: u32 = mesh.boards().map(|board| board.router.counters().forwarded).sum();
        assert_eq!(u64::from(forwarded), nodes * (nodes - 1), "{expression}");
        mesh.assert_at_rest();
    }
}

#[test]
fn it_goes_to_the_children_in_the_order_of_the_tree() {
    let mut mesh = Mesh::up("re(ring(4),complete(3),1)");
    for node in 0..mesh.network.nodes() {
        mesh.broadcast(node, b"order").unwrap();
        mesh.run(40 * MILLISECOND);
        let fanout = mesh.network.fanout(node, node).unwrap();
        let mut ports: Vec<_> = fanout.map(|(port, _)| port as u8).collect();
        let sent = mesh.board(node).events.0.iter().filter_map(|event| match event {
            Event::Sent { link, packet, .. } if (packet.kind, packet.source) == (Kind::Broadcast, node) => Some(*link),
            _ => None,
        });
        let mut sent: Vec<_> = sent.collect();
        sent.sort_unstable();
        ports.sort_unstable();
        assert_eq!(sent, ports, "node {node}");
    }
}

/// Behind a cut cable a node is reached by a detour, and its children by it.
#[test]
fn a_cut_cable_keeps_nobody_from_a_broadcast() {
    for expression in ["ring(5)", "torus(3,3)", "hypercube(3)", "rdn(ring(3),1)", "petersen"] {
        let mut mesh = Mesh::up(expression);
        let nodes = mesh.network.nodes();
        for one in [0, nodes / 2] {
            let (other, _) = mesh.beyond(one, 0);
            mesh.cut(one, other);
            mesh.run(SECOND);
            for source in [one, other, nodes - 1] {
                let payload = [one as u8, other as u8, source as u8];
                mesh.broadcast(source, &payload).unwrap();
                mesh.run(100 * MILLISECOND);
                let expected: Vec<_> = (0..nodes).map(|node| usize::from(node != source)).collect();
                let found = counts(&mesh, &payload);
                assert_eq!(found, expected, "{expression}: {one}-{other} cut, from {source}");
                for node in 0..nodes {
                    mesh.board_mut(node).got.clear();
                }
            }
            mesh.restore(one, other);
            mesh.run(SECOND);
        }
        mesh.assert_at_rest();
    }
}

/// All send broadcasts as fast as they can: each comes at most once, and whoever was guaranteed one gets it.
#[test]
fn a_storm_of_broadcasts_dies_down() {
    for expression in ["ring(5)", "torus(3,3)"] {
        let mut mesh = Mesh::up(expression);
        let nodes = mesh.network.nodes();
        let mut sent = 0;
        for _ in 0..15 {
            for source in 0..nodes {
                while mesh.broadcast(source, &[source as u8; 30]).is_ok() {
                    sent += 1;
                }
            }
            mesh.run(3 * MILLISECOND);
        }
        let at_rest = mesh.run_until(8 * SECOND, |mesh| mesh.boards().all(|board| board.router.held() == 0));
        assert!(at_rest, "{expression}");
        mesh.assert_at_rest();
        let got: usize = mesh.boards().map(|board| board.got.len()).sum();
        assert_eq!(got as u64, sent * (nodes - 1), "{expression}");
    }
}
