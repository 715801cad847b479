//! The wiring check: what boards see against the plan, on made-up boards.

use std::collections::BTreeMap;

use hopwise_testing::networks;
use proptest::prelude::*;

use crate::boards::KINDS;
use crate::mesh::{Mesh, NodePort};
use crate::plan::{Cable, WiringPlan};
use crate::survey::{BoardSeen, LinkSeen, Peer, Seen, Stranger};
use crate::wiring_check::{Finding, FindingKind, WiringReport, compare};

fn mesh(expression: &str) -> Mesh {
    Mesh::new(expression.parse().unwrap(), KINDS[0]).unwrap()
}

/// A link at which a board of a mesh is.
fn linked(mesh: &Mesh, address: u64, link: usize) -> LinkSeen {
    let peer = Peer {
        network: mesh.network.id(),
        address,
        link,
        host: false,
    };
    LinkSeen {
        peer: Some(peer),
        up: true,
        ..LinkSeen::default()
    }
}

/// What every board sees if ports are connected like this.
fn seen(mesh: &Mesh, cables: &BTreeMap<NodePort, NodePort>) -> Seen {
    let link = |node: u64, link: usize| {
        let far = mesh.port_at(node, link).and_then(|end| cables.get(&end));
        far.map_or(LinkSeen::default(), |far| linked(mesh, far.node, mesh.link(*far)))
    };
    let board = |node: u64| BoardSeen {
        network: mesh.network.id(),
        kind: Some(mesh.kind.name.into()),
        links: (0..mesh.kind.links.len()).map(|number| link(node, number)).collect(),
    };
    mesh.nodes().map(|node| (node, board(node))).collect()
}

fn planned(mesh: &Mesh) -> BTreeMap<NodePort, NodePort> {
    let cables = WiringPlan::new(mesh).cables;
    let ends = |cable: &Cable| [cable.from, cable.to].map(|end| end.node_port());
    let pairs = cables.iter().map(ends);
    pairs.flat_map(|[a, b]| [(a, b), (b, a)]).collect()
}

fn report(mesh: &Mesh, seen: &Seen) -> WiringReport {
    compare(mesh, &WiringPlan::new(mesh), usize::MAX, seen, None)
}

fn end(text: &str) -> NodePort {
    text.parse().unwrap()
}

fn rows(report: &WiringReport) -> Vec<String> {
    let text = |option: &Option<String>| option.clone().unwrap_or("-".into());
    let port = |port: Option<u64>| port.map_or("-".into(), |port| port.to_string());
    let row = |f: &Finding| {
        let (port, expected, found) = (port(f.port), text(&f.expected), text(&f.found));
        format!("{:?} {}.{port} {expected} {found}", f.kind, f.node)
    };
    report.findings.iter().map(row).collect()
}

#[test]
fn each_cable_is_in_the_plan_once_and_joins_what_is_there() {
    for expression in networks("wired_boards") {
        let mesh = mesh(expression);
        let plan = WiringPlan::new(&mesh);
        let ends: u64 = mesh.nodes().map(|node| mesh.degree(node)).sum();
        assert_eq!(plan.cables.len() as u64 * 2, ends, "{expression}");
        assert_eq!(planned(&mesh).len() as u64, ends, "{expression}: no port twice");
        let mut there = vec![0];
        for cable in &plan.cables {
            assert!(there.contains(&cable.from.node), "{expression}: cable {}", cable.number);
            there.push(cable.to.node);
        }
        // After each board, all cables among the boards so far are in.
        for step in &plan.steps {
            let wired = &plan.cables[..step.cables];
            let order: Vec<u64> = plan.steps.iter().map(|step| step.node).collect();
            let so_far = &order[..=order.iter().position(|node| *node == step.node).unwrap()];
            let among = |cable: &&Cable| so_far.contains(&cable.from.node) && so_far.contains(&cable.to.node);
            let found = plan.cables.iter().filter(among).count();
            assert_eq!(found, wired.len(), "{expression}, {step:?}");
        }
    }
}

#[test]
fn what_is_as_planned_has_no_findings() {
    let mesh = mesh("rdn(ring(3),1)");
    let report = report(&mesh, &seen(&mesh, &planned(&mesh)));
    assert_eq!((report.findings.len(), report.moves.len()), (0, 0));
    assert_eq!((report.boards_seen, report.cables_right), (18, 27));
}

#[test]
fn a_plug_in_the_wrong_socket_is_moved() {
    let mesh = mesh("ring(4)");
    let plan = WiringPlan::new(&mesh);
    // The plug of 1.0 is in a socket of board 3 that the plan leaves free.
    let mut boards = seen(&mesh, &planned(&mesh));
    let far = mesh.far_end(end("1.0")).unwrap();
    boards.get_mut(&1).unwrap().links[0] = LinkSeen::default();
    boards.get_mut(&3).unwrap().links[4] = linked(&mesh, far.node, mesh.link(far));
    boards.get_mut(&far.node).unwrap().links[mesh.link(far)] = linked(&mesh, 3, 4);
    let report = compare(&mesh, &plan, usize::MAX, &boards, None);
    let expected = [
        format!("Missing 1.0 {far} -"),
        format!("Swapped {far} 1.0 3 USART6"),
        format!("Extra 3.- - {far}"),
    ];
    assert_eq!(rows(&report), expected);

    assert_eq!(report.moves, ["move the plug at board 3 USART6 to board 1 USART1"]);
}

#[test]
fn boards_that_are_not_who_they_should_be_are_named() {
    let mesh = mesh("ring(5)");
    let cables = planned(&mesh);
    // Board 2 was given the config of node 4: it does not respond as 2, and its neighbors hear 4.
    let mut boards = seen(&mesh, &cables);
    boards.remove(&2);
    for link in boards.values_mut().flat_map(|board| &mut board.links) {
        if let Some(peer) = link.peer.as_mut().filter(|peer| peer.address == 2) {
            peer.address = 4;
        }
    }
    let found = report(&mesh, &boards);
    assert_eq!(rows(&found), ["WrongBoard 2.- node 2 node 4"]);
    assert_eq!(found.moves.len(), 1);
    let advice = "hopwise flash MESH.toml --only 2";
    assert!(found.moves[0].contains(advice), "{:?}", found.moves);

    let mut boards = seen(&mesh, &cables);
    boards.get_mut(&1).unwrap().kind = Some("nucleo-l476rg".into());
    boards.get_mut(&3).unwrap().network ^= 1;
    let expected = [
        "WrongBoard 1.- nucleo-f446re nucleo-l476rg",
        "WrongBoard 3.- ring(5) another network",
    ];
    assert_eq!(rows(&report(&mesh, &boards)), expected);

    let mut boards = seen(&mesh, &cables);
    boards.remove(&2);
    let found = report(&mesh, &boards);
    let expected = ["NoAnswer 2.- node 2 -"];
    assert_eq!(rows(&found), expected, "its cables work, its neighbors say");
    assert_eq!(found.cables_right, 5);
}

#[test]
fn a_host_at_a_link_is_extra() {
    let mesh = mesh("path(3)");
    let mut boards = seen(&mesh, &planned(&mesh));
    let mut host = linked(&mesh, 0, 0);
    host.peer.as_mut().unwrap().host = true;
    boards.get_mut(&1).unwrap().links[3] = host;
    let found = report(&mesh, &boards);
    assert_eq!(rows(&found), ["Extra 1.- - a host"]);
    let expected = ["take out the cable at board 1 UART5: a host is at its other end"];
    assert_eq!(found.moves, expected);
}

proptest! {
    /// However plugs are exchanged, exactly the ports that lead elsewhere are named, and there is a move if there is one.
    #[test]
    fn exchanged_plugs_are_found(swaps in proptest::collection::vec((0usize..54, 0usize..54), 1..6)) {
        let mesh = mesh("rdn(ring(3),1)");
        let plan = planned(&mesh);
        let ends: Vec<NodePort> = plan.keys().copied().collect();
        let mut cables = plan.clone();
        for (a, b) in swaps {
            let (a, b) = (ends[a], ends[b]);
            let (far_a, far_b) = (cables[&a], cables[&b]);
            if a != b && far_a != b {
                cables.extend([(a, far_b), (far_b, a), (b, far_a), (far_a, b)]);
            }
        }
        let found = report(&mesh, &seen(&mesh, &cables));
        let wrong: Vec<NodePort> = ends.iter().copied().filter(|end| cables[end] != plan[end]).collect();
        let named: Vec<NodePort> = found.findings.iter().map(|f| NodePort { node: f.node, port: f.port.unwrap() }).collect();
        prop_assert_eq!(&named, &wrong);
        prop_assert!(found.findings.iter().all(|finding| finding.kind == FindingKind::Swapped));
        // Each exchange puts at least one cable right, and the last one two.
        let cables_wrong = wrong.len() / 2;
        prop_assert!(found.moves.len() < cables_wrong.max(1), "{:?}", found.moves);
        prop_assert_eq!(found.moves.is_empty(), wrong.is_empty());
    }
}

#[test]
fn a_neighbor_that_does_not_link_up_is_no_missing_cable() {
    let mesh = mesh("path(3)");
    for (stranger, kind, why) in [
        (Stranger::Key, "Key", "have different keys, or only one of them has one"),
        (
            Stranger::Version,
            "Version",
            "speak different versions of the wire format",
        ),
    ] {
        let mut boards = seen(&mesh, &planned(&mesh));
        for (node, link) in [(0, 0), (1, 1)] {
            boards.get_mut(&node).unwrap().links[link] = LinkSeen {
                stranger: Some(stranger),
                ..LinkSeen::default()
            };
        }
        let (here, there) = (mesh.port_at(1, 1).unwrap(), mesh.port_at(0, 0).unwrap());
        let both = report(&mesh, &boards);
        let expected = [format!("{kind} {there} {here} -"), format!("{kind} {here} {there} -")];
        assert_eq!(rows(&both), expected);
        // The host is at node 2, which cannot reach node 0.
        boards.remove(&0);
        let found = report(&mesh, &boards);
        let expected = ["NoAnswer 0.- node 0 -".to_string(), format!("{kind} {here} {there} -")];
        assert_eq!(rows(&found), expected);
        let advice =
            format!("boards 1 and 0 {why}: `hopwise flash MESH.toml --only 0` gives board 0 what the mesh file says");
        assert_eq!(found.moves, [advice]);
    }
}
