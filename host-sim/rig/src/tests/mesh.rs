//! Mesh files: rules with the line that breaks them.

use hopwise_node::authority::MeshKeys;
use hopwise_node::key::Secret;
use hopwise_node::wire::{BoardConfig, Pattern};
use hopwise_testing::{Folder, rows};

use crate::boards::kind;
use crate::mesh::{CableRate, Mesh, NodePort};

#[test]
fn what_is_said_is_kept_and_the_rest_has_defaults() {
    let mesh = Mesh::parse(include_str!("options.toml")).unwrap();
    assert_eq!((mesh.baud, mesh.degree(2), mesh.name(2)), (1_000_000, 2, "north"));
    assert_eq!(mesh.probe(2).as_deref(), Some("0483:374b:066DFF"));
    assert_eq!(mesh.probe(3).as_deref(), Some("0483:3752:0670FF"));
    assert_eq!((mesh.probe(0), mesh.is_emulated()), (None, false));
    let end = |node, port| NodePort { node, port };
    let found = (mesh.uart(end(2, 0)).name, mesh.uart(end(2, 1)).name);
    assert_eq!(found, ("UART5", "USART1"));
    let found = (mesh.uart(end(0, 0)).name, mesh.uart(end(0, 1)).name);
    assert_eq!(found, ("USART1", "USART3"));
    assert_eq!((mesh.port_at(2, 3), mesh.port_at(2, 1)), (Some(end(2, 0)), None));
    let config = BoardConfig::read(&mesh.config(2).unwrap()).unwrap();
    let found = (config.address, config.name.as_str(), config.options);
    assert_eq!(found, (2, "north", 0b1101));
    let traffic = config.traffic.unwrap();
    let found = (traffic.rate, traffic.count, traffic.pattern, traffic.size);
    assert_eq!(found, (5, 0, Pattern::Broadcast, 32));
}

#[test]
fn a_new_file_is_one_for_the_same_mesh() {
    for (expression, board) in [
        ("rdn(ring(3),1)", "nucleo-f446re"),
        ("ring(5)", "nucleo-f401re"),
        ("complete(7)", "nucleo-h743zi"),
    ] {
        let mut mesh = Mesh::new(expression.parse().unwrap(), kind(board).unwrap()).unwrap();
        mesh.set_baud(CableRate::Auto).unwrap();
        let again = Mesh::parse(&mesh.template()).unwrap();
        let found = (again.network.to_string(), again.kind.name);
        assert_eq!(found, (expression.to_string(), board));
        assert!(again.nodes().all(|node| again.config(node) == mesh.config(node)));
        assert_eq!(mesh.template().matches("[[node]]").count() as u64, mesh.network.nodes());
    }
}

#[test]
fn every_broken_rule_is_told_with_its_line() {
    let good = "network = \"ring(4)\"\nboard = \"nucleo-f446re\"\n";
    for (text, reason) in rows(include_str!("broken-rules.txt")) {
        let text = text.replace("...", good);
        let refusal = Mesh::parse(&text).unwrap_err().to_string();
        assert!(refusal.starts_with(&reason), "{text:?}: {refusal}");
        assert!(!refusal.contains('\n'), "{refusal}");
    }
}

/// A ring of five with a board that has two links for most of its nodes, and others in between.
const MIXED: &str = include_str!("mixed.toml");

#[test]
fn every_node_can_have_a_board_of_its_own() {
    let mesh = Mesh::parse(MIXED).expect("a mesh");
    let names = |node: u64| mesh.kind_of(node).name;
    let boards = "nucleo-f401re nucleo-f446re nucleo-f401re plain-f405rg nucleo-f401re";
    assert_eq!([0, 1, 2, 3, 4].map(names).join(" "), boards);
    let kinds: Vec<&str> = mesh.kinds().iter().map(|kind| kind.name).collect();
    assert_eq!(kinds, ["nucleo-f401re", "nucleo-f446re", "plain-f405rg"]);
    let uart = |node: u64, port: u64| mesh.uart(NodePort { node, port }).name;
    assert_eq!([uart(0, 1), uart(1, 0), uart(3, 1)], ["USART6", "UART5", "USART3"]);
    // One with as many links as it needs.
    let node = "[[node]]\naddress = 2\nboard = \"plain-f405rg\"\n";
    let mesh = Mesh::parse(&format!("network = \"complete(4)\"\nboard = \"nucleo-f446re\"\n{node}"));
    assert!(mesh.is_ok());
}

#[test]
fn boards_of_different_kinds_agree_on_the_rate() {
    // The ports of an F401 can do it, the slow ones of an F446 are 2.2 % off.
    let text = format!("baud = 2000000\n{MIXED}");
    let refused = Mesh::parse(&text).expect_err("they differ").to_string();
    let why = "cannot run at 2000000 baud within 1.5 %; the nearest rate is 1956521";
    assert!(refused.starts_with("line 1: ") && refused.ends_with(why), "{refused}");
    assert!(Mesh::parse(&format!("baud = 1000000\n{MIXED}")).is_ok());
}

/// Every cable has a rate, and the configs at both of its ends have the same; the port to the host has its own.
#[test]
fn cables_and_hosts_have_rates_of_their_own() {
    let text = |more: &str| format!("network = \"ring(4)\"\nboard = \"nucleo-f446re\"\n{more}");
    let rates = |text: &str, node: u64| {
        let mesh = Mesh::parse(text).expect(text);
        let config = BoardConfig::read(&mesh.config(node).unwrap()).unwrap();
        ([0, 1, 4].map(|link| config.rate(link)), config.baud, config.host_baud)
    };
    // From USART1 to USART1.
    let node = "[[node]]\naddress = 1\nuarts = [\"USART3\", \"USART1\"]\n";
    let cable = "[[cable]]\nat = \"1.1\"\nbaud = 11250000\n";
    let fast = text(&format!("baud = 5625000\n{node}{cable}"));
    let found = rates(&fast, 0);
    assert_eq!(found, ([11_250_000, 5_625_000, 5_625_000], 5_625_000, 1_000_000));
    assert_eq!(rates(&fast, 1), rates(&fast, 0));
    assert_eq!(rates(&fast, 2).0, [5_625_000; 3]);
    let slow = text("baud = 1000000\nhost-baud = 115200\n[[cable]]\nat = \"0.1\"\nbaud = 230400\n");
    assert_eq!(rates(&slow, 0), ([1_000_000, 230_400, 1_000_000], 230_400, 115_200));
    assert_eq!(rates(&slow, 3), ([230_400, 1_000_000, 1_000_000], 230_400, 115_200));
    // Only cables without rates of their own change them.
    let changes = |text: &str, node: u64| {
        let config = Mesh::parse(text).expect(text).config(node).unwrap();
        let config = BoardConfig::read(&config).unwrap();
        ([0, 1, 4].map(|link| config.may_change_rate(link)), config.baud)
    };
    for auto in ["", "baud = \"auto\"\n"] {
        assert_eq!(changes(&text(auto), 2), ([true; 3], 1_000_000));
    }
    assert_eq!(changes(&slow, 2), ([false; 3], 230_400));
    let mixed = text("baud = \"auto\"\n[[cable]]\nat = \"0.1\"\nbaud = 230400\n");
    assert_eq!(rates(&mixed, 0), ([230_400; 3], 230_400, 230_400));
    assert_eq!(changes(&mixed, 0), ([true, false, true], 230_400));
    // Nor does an adapter.
    let nodes = "[[node]]\naddress = 0\nprobe = \"emulated\"\n[[node]]\naddress = 3\nprobe = \"AB\"\n";
    let adapter = text(&format!("{nodes}[[cable]]\nat = \"3.0\"\nserial = \"/dev/ttyUSB0\"\n"));
    assert_eq!(changes(&adapter, 0), ([true, false, true], 1_000_000));
    let slower = format!("{adapter}[[cable]]\nat = \"1.0\"\nbaud = 230400\n");
    assert_eq!(changes(&slower, 0), ([true, false, true], 230_400));
    let rate = |port| Mesh::parse(&slower).unwrap().rate(NodePort { node: 0, port });
    assert_eq!((rate(0), rate(1)), (1_000_000, 230_400));
    assert_eq!(rates(&text("baud = 115200"), 0), ([115_200; 3], 115_200, 115_200));
}

#[test]
fn a_mesh_file_holds_its_key_or_names_the_file_beside_it() {
    let digits = "000102030405060708090a0b0c0d0e0f";
    let with = |line: &str| format!("network = \"ring(3)\"\nboard = \"nucleo-f446re\"\n{line}\n");
    let secret: Secret = digits.parse().unwrap();
    let keys = MeshKeys::of(&secret);
    assert_ne!(keys.mesh.key, keys.management);
    assert_ne!(keys.of_board(0).management, keys.of_board(1).management);
    let held = Mesh::parse(&with(&format!("key = \"{digits}\""))).unwrap();
    assert_eq!(held.keys, Some(keys));
    let encrypts = Mesh::parse(&with(&format!("key = \"{digits}+encrypt\""))).unwrap();
    let mesh = Secret {
        encrypts: true,
        ..keys.mesh
    };
    assert_eq!(encrypts.keys, Some(MeshKeys { mesh, ..keys }));
    assert_eq!(Mesh::parse(&with("")).unwrap().keys, None);

    let folder = Folder::new("keys");
    let file = folder.write("mesh.toml", &with("key-file = \"mesh.key\""));
    folder.write("mesh.key", &format!("# a word\n\n{digits}\n"));
    assert_eq!(Mesh::read(file.as_ref()).unwrap().keys, Some(keys));
    folder.write("mesh.key", "secret");
    let no_key =
        "a key is 32 hexadecimal digits, and `+encrypt` after them to encrypt payloads; `hopwise mesh key` makes one";
    let assert_refused = |why: &str| {
        let refusal = Mesh::read(file.as_ref()).unwrap_err().to_string();
        assert!(refusal.ends_with(why), "{refusal}");
    };
    assert_refused(&format!("mesh.key: {no_key}"));

    // What never ends is not read until memory does.
    folder.write("mesh.toml", &with("key-file = \"/dev/zero\""));
    assert_refused("/dev/zero: it has more than 65536 bytes");

    assert!(Mesh::read("/dev/zero".as_ref()).is_err() && !Mesh::is_mesh_file("/dev/zero".as_ref()));
}
