//! The wiring check: what boards see against the plan, on emulated boards and on made-up ones.

#[allow(dead_code, reason = "each test uses a part of it")]
use std::collections::BTreeMap;

use crate::rig_support::{Folder, elf, hopwise, json, refusal};
use hopwise_rig::boards::KINDS;
use hopwise_rig::mesh::{End, Mesh};
use hopwise_rig::plan::Plan;
use hopwise_rig::survey::{BoardSeen, LinkSeen, Peer, Seen};
use hopwise_rig::wiring_check::{Kind, WiringReport, compare};
use proptest::prelude::*;
use serde_json::{Value, json as value};

fn mesh(expression: &str) -> Mesh {
    Mesh::new(expression.parse().unwrap(), KINDS[0]).unwrap()
}

/// What every board sees if ports are connected like this.
fn seen(mesh: &Mesh, cables: &BTreeMap<End, End>) -> Seen {
    let link = |node: u64, link: usize| {
        let far = mesh.port_at(node, link).and_then(|end| cables.get(&end));
        LinkSeen {
            peer: far.map(|far| Peer {
                network: mesh.network.id(),
                address: far.node,
                link: mesh.link(*far),
                host: false,
            }),
            up: far.is_some(),
        }
    };
    let board = |node: u64| BoardSeen {
        network: mesh.network.id(),
        kind: Some(mesh.kind.name.into()),
        links: (0..mesh.kind.links.len()).map(|number| link(node, number)).collect(),
    };
    mesh.nodes().map(|node| (node, board(node))).collect()
}

fn planned(mesh: &Mesh) -> BTreeMap<End, End> {
    let cables = Plan::new(mesh).cables;
    let pairs = cables.iter().map(|cable| (cable.from.end(), cable.to.end()));
    pairs.flat_map(|(a, b)| [(a, b), (b, a)]).collect()
}

fn report(mesh: &Mesh, seen: &Seen) -> WiringReport {
    compare(mesh, &Plan::new(mesh), usize::MAX, seen, mesh.kind.name)
}

fn end(text: &str) -> End {
    text.parse().unwrap()
}

/// Kind, place, expected and found of all findings.
fn rows(report: &WiringReport) -> Vec<String> {
    let text = |option: &Option<String>| option.clone().unwrap_or("-".into());
    let port = |port: Option<u64>| port.map_or("-".into(), |port| port.to_string());
    let findings = report.findings.iter();
    findings
        .map(|f| {
            format!(
                "{:?} {}.{} {} {}",
                f.kind,
                f.node,
                port(f.port),
                text(&f.expected),
                text(&f.found)
            )
        })
        .collect()
}

#[test]
fn each_cable_is_in_the_plan_once_and_joins_what_is_there() {
    for expression in [
        "rdn(ring(3),1)",
        "heawood",
        "rcr(2,2,1)",
        "torus(4,4)",
        "complete(2)",
        "path(5)",
    ] {
        let mesh = mesh(expression);
        let plan = Plan::new(&mesh);
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
            let among = |cable: &&hopwise_rig::plan::Cable| {
                so_far.contains(&cable.from.node) && so_far.contains(&cable.to.node)
            };
            assert_eq!(
                plan.cables.iter().filter(among).count(),
                wired.len(),
                "{expression}, {step:?}"
            );
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
    let plan = Plan::new(&mesh);
    // The plug of 1.0 is in a socket of board 3 that the plan leaves free.
    let mut boards = seen(&mesh, &planned(&mesh));
    let far = mesh.far_end(end("1.0")).unwrap();
    let peer = |node: u64, link: usize| LinkSeen {
        peer: Some(Peer {
            network: mesh.network.id(),
            address: node,
            link,
            host: false,
        }),
        up: true,
    };
    boards.get_mut(&1).unwrap().links[0] = LinkSeen::default();
    boards.get_mut(&3).unwrap().links[4] = peer(far.node, mesh.link(far));
    boards.get_mut(&far.node).unwrap().links[mesh.link(far)] = peer(3, 4);
    let report = compare(&mesh, &plan, usize::MAX, &boards, mesh.kind.name);
    assert_eq!(
        rows(&report),
        [
            format!("Missing 1.0 {far} -"),
            format!("Swapped {far} 1.0 3 USART6"),
            format!("Extra 3.- - {far}"),
        ]
    );
    assert_eq!(report.moves, ["move the plug at board 3 USART6 to board 1 USART1"]);
}

#[test]
fn boards_that_are_not_who_they_should_be_are_named() {
    let mesh = mesh("ring(5)");
    let cables = planned(&mesh);
    // Board 2 was given the page of node 4: it does not answer as 2, and its neighbours hear 4.
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
    assert!(
        found.moves[0].contains("hopwise flash MESH.toml --only 2"),
        "{:?}",
        found.moves
    );

    let mut boards = seen(&mesh, &cables);
    boards.get_mut(&1).unwrap().kind = Some("nucleo-l476rg".into());
    boards.get_mut(&3).unwrap().network ^= 1;
    assert_eq!(
        rows(&report(&mesh, &boards)),
        [
            "WrongBoard 1.- nucleo-f446re nucleo-l476rg",
            "WrongBoard 3.- ring(5) another network"
        ]
    );

    let mut boards = seen(&mesh, &cables);
    boards.remove(&2);
    let found = report(&mesh, &boards);
    assert_eq!(
        rows(&found),
        ["NoAnswer 2.- node 2 -"],
        "its cables work, its neighbours say"
    );
    assert_eq!(found.cables_right, 5);
}

#[test]
fn a_computer_at_a_link_is_extra() {
    let mesh = mesh("path(3)");
    let mut boards = seen(&mesh, &planned(&mesh));
    let host = Peer {
        network: 0,
        address: 0,
        link: 0,
        host: true,
    };
    boards.get_mut(&1).unwrap().links[3] = LinkSeen {
        peer: Some(host),
        up: true,
    };
    let found = report(&mesh, &boards);
    assert_eq!(rows(&found), ["Extra 1.- - a computer"]);
    assert_eq!(
        found.moves,
        ["take out the cable at board 1 UART5: a computer is at its other end"]
    );
}

proptest! {
    /// However plugs are exchanged, exactly the ports that lead elsewhere are named, and there is a move if there is one.
    #[test]
    fn exchanged_plugs_are_found(swaps in proptest::collection::vec((0usize..54, 0usize..54), 1..6)) {
        let mesh = mesh("rdn(ring(3),1)");
        let plan = planned(&mesh);
        let ends: Vec<End> = plan.keys().copied().collect();
        let mut cables = plan.clone();
        for (a, b) in swaps {
            let (a, b) = (ends[a], ends[b]);
            let (far_a, far_b) = (cables[&a], cables[&b]);
            if a != b && far_a != b {
                cables.extend([(a, far_b), (far_b, a), (b, far_a), (far_a, b)]);
            }
        }
        let found = report(&mesh, &seen(&mesh, &cables));
        let wrong: Vec<End> = ends.iter().copied().filter(|end| cables[end] != plan[end]).collect();
        let named: Vec<End> = found.findings.iter().map(|f| End { node: f.node, port: f.port.unwrap() }).collect();
        prop_assert_eq!(&named, &wrong);
        prop_assert!(found.findings.iter().all(|finding| finding.kind == Kind::Swapped));
        // Each exchange puts at least one cable right, and the last one two.
        let cables_wrong = wrong.len() / 2;
        prop_assert!(found.moves.len() < cables_wrong.max(1), "{:?}", found.moves);
        prop_assert_eq!(found.moves.is_empty(), wrong.is_empty());
    }
}

fn emulated(folder: &Folder, expression: &str) -> String {
    let file = folder.path("mesh.toml");
    let made = hopwise(&["mesh", "new", expression, "--board", "nucleo-f446re", "-o", &file]);
    assert!(made.status.success(), "{made:?}");
    file
}

fn findings(value: &Value) -> Vec<Value> {
    value["findings"].as_array().expect("a list").clone()
}

#[test]
fn emulated_boards_wired_as_planned_pass() {
    let Some(elf) = elf() else { return };
    let folder = Folder::new("check-planned");
    let file = emulated(&folder, "rdn(ring(3),1)");
    let (status, found) = json(&["check", &file, "--emulated", "--elf", elf, "--json"]);
    assert_eq!((status, &found["findings"]), (0, &value!([])));
    assert_eq!(
        (&found["boards_seen"], &found["cables_right"]),
        (&value!(18), &value!(27))
    );
    // Through one board only, and with other serial ports than usual.
    let text = "network = \"ring(4)\"\nboard = \"nucleo-l476rg\"\nbaud = 500000\nprobe = \"emulated\"\n\
                [[node]]\naddress = 1\nuarts = [\"LPUART1\", \"UART4\"]\n";
    let file = folder.write("other.toml", text);
    let (status, found) = json(&["check", &file, "--at", "2", "--elf", elf, "--json"]);
    assert_eq!((status, &found["findings"]), (0, &value!([])), "{found}");
    // While wiring: the other boards are not missed.
    let (status, found) = json(&["check", &file, "--cables", "1", "--elf", elf, "--json"]);
    assert_eq!((status, &found["boards_expected"]), (0, &value!(2)), "{found}");
}

#[test]
fn mistakes_at_emulated_boards_are_found() {
    let Some(elf) = elf() else { return };
    let folder = Folder::new("check-mistakes");
    let file = emulated(&folder, "rdn(ring(3),1)");
    let check = |mistake: &[&str]| {
        let args = [&["check", &file, "--emulated", "--elf", elf, "--json"], mistake].concat();
        let (status, found) = json(&args);
        assert_eq!(status, 1, "{mistake:?}: {found}");
        found
    };
    let finding = |kind: &str, node: u64, port: u64, uart: &str, expected: &str, found: Value| value!({"kind": kind, "node": node, "port": port, "uart": uart, "expected": expected, "found": found});
    let swapped = check(&["--swap", "0.0", "3.0"]);
    assert_eq!(
        findings(&swapped),
        [
            finding("swapped", 0, 0, "USART1", "1.1", value!("4.1")),
            finding("swapped", 1, 1, "USART3", "0.0", value!("3.0")),
            finding("swapped", 3, 0, "USART1", "4.1", value!("1.1")),
            finding("swapped", 4, 1, "USART3", "3.0", value!("0.0")),
        ]
    );
    assert_eq!(
        swapped["moves"],
        value!([
            "exchange the plugs at board 1 USART3 and board 4 USART3 (or those at board 0 USART1 and board 3 USART1, which comes to the same)"
        ])
    );
    assert_eq!(
        findings(&check(&["--cut", "4.2"])),
        [
            finding("missing", 4, 2, "UART4", "13.2", Value::Null),
            finding("missing", 13, 2, "UART4", "4.2", Value::Null)
        ]
    );
    let one_way = check(&["--one-way", "4.2", "--at", "0"]);
    assert_eq!(
        findings(&one_way),
        [finding("one-way", 4, 2, "UART4", "13.2", Value::Null)]
    );
    assert!(
        one_way["moves"][0]
            .as_str()
            .is_some_and(|text| text.contains("from board 13 UART4 TX PA0 (CN7-28) to board 4 UART4 RX PA1 (CN7-30)")),
        "{one_way}"
    );
}

#[test]
fn extra_cables_and_exchanged_pages_at_emulated_boards_are_found() {
    let Some(elf) = elf() else { return };
    let folder = Folder::new("check-extra");
    let file = emulated(&folder, "ring(5)");
    let check = |mistake: &[&str]| json(&[&["check", &file, "--emulated", "--elf", elf, "--json"], mistake].concat());
    let (status, found) = check(&["--extra", "0.UART5", "2.USART6"]);
    assert_eq!(status, 1);
    assert_eq!(
        findings(&found),
        [
            value!({"kind": "extra", "node": 0, "port": null, "uart": "UART5", "expected": null, "found": "2 USART6"}),
            value!({"kind": "extra", "node": 2, "port": null, "uart": "USART6", "expected": null, "found": "0 UART5"}),
        ]
    );
    assert_eq!(
        found["moves"],
        value!(["take out the cable between board 0 UART5 and board 2 USART6"])
    );
    let (status, found) = check(&["--page", "2=4"]);
    assert_eq!(status, 1);
    let expected =
        value!({"kind": "wrong-board", "node": 2, "port": null, "uart": null, "expected": "node 2", "found": "node 4"});
    assert_eq!(findings(&found), [expected], "{found}");
}

#[test]
fn bad_input_is_refused() {
    let folder = Folder::new("check-refused");
    let file = emulated(&folder, "ring(4)");
    assert_eq!(
        refusal(&["check", &file]),
        "hopwise: say --port TTY, a serial port of one of the boards, or --emulated"
    );
    assert_eq!(
        refusal(&["check", &file, "--emulated", "--cables", "9"]),
        "hopwise: the plan has 4 cables, not 9"
    );
    assert!(refusal(&["check", &file, "--port", "/dev/null"]).starts_with("hopwise: /dev/null: no serial port: "));
    assert!(refusal(&["mesh", "new", "ring(4)", "-o", &file]).contains("File exists"));
    assert_eq!(
        refusal(&["mesh", "new", "complete(7)"]),
        "hopwise: node 0 of complete(7) has 6 links, and a nucleo-f446re has 5 UARTs for links"
    );
    let broken = folder.write(
        "broken.toml",
        "network = \"ring(4)\"\nboard = \"nucleo-f446re\"\n\nbauds = 1\n",
    );
    for command in ["plan", "check", "emulate", "sim"] {
        let sentence = refusal(&[command, &broken]);
        assert!(
            sentence.starts_with(&format!("hopwise: {broken} line 4: unknown field `bauds`")),
            "{sentence}"
        );
    }
    if elf().is_some() {
        assert_eq!(
            refusal(&["check", &file, "--emulated", "--cut", "4.0"]),
            "hopwise: ring(4): there is no port 4.0"
        );
        for (mistake, sentence) in [
            (
                ["--extra", "0.USART1", "1.UART5"].as_slice(),
                "0.USART1 is not free: it is port 0.0",
            ),
            (&["--extra", "0.USART2", "1.UART5"], "there is no link 0.USART2"),
            (&["--page", "1=9"], "ring(4) has no nodes 1 and 9"),
            (&["--at", "7"], "there is no board 7"),
        ] {
            let args = [&["check", &file, "--emulated"], mistake].concat();
            assert_eq!(refusal(&args), format!("hopwise: {sentence}"));
        }
    }
}

#[test]
fn the_plan_has_its_keys_and_a_drawing() {
    let folder = Folder::new("plan");
    let file = emulated(&folder, "rdn(ring(3),1)");
    let picture = folder.path("plan.svg");
    let (status, plan) = json(&["plan", &file, "--json", "--svg", &picture]);
    let cables = plan["cables"].as_array().unwrap();
    assert_eq!((status, cables.len()), (0, 27));
    for cable in cables {
        for side in ["from", "to"] {
            assert!(cable[side]["node"].is_u64() && cable[side]["port"].is_u64(), "{cable}");
            assert!(
                ["uart", "tx", "rx"].iter().all(|key| cable[side][*key].is_string()),
                "{cable}"
            );
        }
    }
    let svg = std::fs::read_to_string(picture).unwrap();
    assert_eq!(svg.matches("<path ").count(), 2 * 27);
    assert_eq!(svg.matches("rx=\"5\"").count(), 18);
}
