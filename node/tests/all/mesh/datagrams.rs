//! Datagrams: each once, in order, along the route, and what a router writes into their headers on the way.

use super::harness::Mesh;
use crate::support::*;

/// A header as an honest source of a mesh of short routes writes it.
pub(super) fn header(kind: Kind, source: Node, dest: Node, number: u32) -> Header {
    Header {
        hops_left: 100,
        ..Header::new(kind, source, dest).numbered(1, number)
    }
}

#[test]
fn every_node_reaches_every_other_once_in_order_and_along_the_route() {
    for expression in networks("tiny_of_each_family") {
        let mut mesh = Mesh::up(expression);
        let nodes = mesh.network.nodes();
        for to in 0..nodes {
            let mut hops = 0;
            for from in (0..nodes).filter(|&from| from != to) {
                let mut here = from;
                while here != to {
                    here = mesh.network.next_hop(here, to, Rule::Exact).unwrap();
                    hops += 1;
                }
            }
            for round in 0..2 {
                for from in (0..nodes).filter(|&from| from != to) {
                    mesh.send(from, to, &[from as u8, to as u8, round]).unwrap();
                }
                // Ages are rounded: of packets sent at once any may come first.
                mesh.run(20 * MILLISECOND);
            }
            let board = mesh.board_mut(to);
            for from in (0..nodes).filter(|&from| from != to) {
                let of = |byte: u8| [from as u8, to as u8, byte].to_vec();
                let got: Vec<_> = board.got.iter().filter(|got| got.source == from).collect();
                let payloads: Vec<_> = got.iter().map(|got| got.payload.clone()).collect();
                assert_eq!(payloads, [of(0), of(1)], "{expression}: {from} to {to}");
                assert!(got.iter().all(|got| got.kind == MessageKind::Datagram));
                assert_eq!(got[1].number, got[0].number.wrapping_add(1));
            }
            assert_eq!(board.got.len() as u64, 2 * (nodes - 1), "{expression}: to {to}");
            board.got.clear();
            // A packet counts as forwarded when it is acknowledged, with the next sign of life at the latest.
            mesh.run(20 * MILLISECOND);
            let forwarded: u32 = mesh.boards().map(|board| board.router.counters().forwarded).sum();
            assert_eq!(forwarded, 2 * hops, "{expression}: to {to}");
            (0..nodes).for_each(|node| mesh.board_mut(node).router.clear_counters());
        }
        mesh.assert_at_rest();
    }
}

/// Board 2 of `path(5)`, and strangers in place of its neighbors 1 and 3.
pub(super) fn between() -> (Mesh, usize, usize) {
    let mut mesh = Mesh::new("path(5)");
    let (one, three) = (mesh.impersonate(2, 1), mesh.impersonate(2, 3));
    assert!(mesh.run_until(SECOND, |mesh| mesh.board(2).router.all_links_up()));
    mesh.run(100 * MILLISECOND);
    (mesh, one, three)
}

#[test]
fn the_first_sixteen_numbers_are_not_the_users() {
    let reserved: Vec<u8> = (0..=u8::MAX).filter(|&port| AppPort(port).is_reserved()).collect();
    assert_eq!(reserved, Vec::from_iter(0..16));
}

#[test]
fn errors_say_what_is_wrong_in_words() {
    assert_eq!(SendError::TooLong.to_string(), "a payload has at most 200 bytes");
    assert_eq!(SendError::Full.to_string(), "the buffers are full");
}

/// What a stranger can say of itself must fit what it is.
#[test]
fn a_board_needs_an_address_links_and_an_epoch() {
    let config = Config::new(network("star(5)"), 0, 1, 4);
    let new = |config: &Config| Router::<Board>::new(config, 0).map(|_| ());
    assert_eq!(new(&config), Ok(()));
    for (config, error, message) in [
        (
            Config {
                links: 3,
                ..config.clone()
            },
            ConfigError::TooFewLinks { needed: 4, have: 3 },
            "the node has 4 neighbors, the board only 3 links",
        ),
        (
            Config {
                epoch: 0,
                ..config.clone()
            },
            ConfigError::EpochZero,
            "the boot epoch must not be 0",
        ),
    ] {
        assert_eq!(new(&config), Err(error));
        assert_eq!(error.to_string(), message);
    }
    let nowhere = new(&Config { address: 5, ..config }).unwrap_err();
    assert_eq!(nowhere.to_string(), "there is no node 5: the network has nodes 0 to 4");
}

#[test]
fn the_virtual_channel_after_a_hop() {
    for (channel, begins, rises, expected) in [
        (5, true, true, 0),
        (5, true, false, 1),
        (0, false, true, 0),
        (0, false, false, 1),
        (1, false, false, 1),
        (1, false, true, 2),
        (6, false, true, 6),
        (6, false, false, 7),
        (7, false, true, 7),
        (7, false, false, 7),
    ] {
        let found = virtual_channels::next(channel, begins, rises, 8);
        assert_eq!(found, expected, "{channel} {begins} {rises}");
    }
    for (expression, channels) in [
        ("path(2)", 6),
        ("complete(4)", 6),
        ("ring(6)", 8),
        ("hypercube(6)", 11),
        ("path(99)", 12),
    ] {
        let found = virtual_channels::count(&network(expression), Rule::Exact);
        assert_eq!(found, channels, "{expression}");
    }
}
