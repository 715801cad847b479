//! A running mesh, asked through a pseudo-terminal as through a board's USB port.

use crate::running::Running;
use crate::support::{Folder, command, elf, json, printed, rejected};
use serde_json::json as value;

#[test]
fn a_running_mesh_answers_through_a_terminal() {
    let Some(elf) = elf() else { return };
    let folder = Folder::new("talk");
    let mesh = folder.mesh("mesh.toml", "ring(5)", "[[node]]\naddress = 3\nname = \"far\"\n");
    let running = Running::start(&folder, &mesh, elf);
    let port = ["--port", &running.ports[0]];
    let ask = |args: &[&str]| json(&[args, &port, &["--json"]].concat());

    let (status, ping) = ask(&["ping", "2", "--count", "2"]);
    assert_eq!((status, &ping["answered"], &ping["from"]), (0, &value!(2), &value!(0)));
    let times = ping["milliseconds"].as_array().unwrap();
    assert!(times.iter().all(|time| time.as_f64() > Some(0.0)), "{ping}");

    let trace = || {
        let (status, trace) = ask(&["trace", "2"]);
        let way = trace["path"].as_array().unwrap().iter();
        (status, way.map(|hop| hop["node"].as_u64().unwrap()).collect::<Vec<_>>())
    };
    // The other way round until the last link is up.
    let is_up = (0..100).any(|_| trace() == (0, vec![0, 1, 2]));
    assert!(is_up, "{:?}", trace());

    let (status, sent) = ask(&["send", "3", "hello there", "--confirmed"]);
    assert_eq!((status, &sent["outcome"]), (0, &value!("delivered")));
    let (status, sent) = ask(&["send", "4", "hi"]);
    assert_eq!((status, &sent["outcome"]), (0, &value!("sent")));
    let (status, sent) = ask(&["broadcast", "news", "2"]);
    assert_eq!((status, &sent["source"], &sent["sent"]), (0, &value!(2), &value!(true)));

    let (status, counters) = ask(&["counters"]);
    let nodes = counters["nodes"].as_array().unwrap();
    assert_eq!((status, nodes.len(), &counters["network"]), (0, 5, &value!("ring(5)")));
    let found = (&nodes[3]["name"], &nodes[3]["neighbors_up"]);
    assert_eq!(found, (&value!("far"), &value!(2)));
    let all_delivered = nodes.iter().all(|node| node["delivered"].as_u64() > Some(0));
    assert!(all_delivered, "{counters}");

    let watch = ["counters", "0", "3", "--watch", "--every", "0.5", "--rounds", "2"];
    let tables = printed(&[&watch, &port[..]].concat());
    assert_eq!(tables.matches("ring(5)").count(), 2, "{tables}");
    let found = tables.lines().filter(|line| line.starts_with("3 ")).count();
    assert_eq!(found, 2, "{tables}");

    let (status, check) = json(&[&["check", &mesh], &port[..], &["--json"]].concat());
    assert_eq!((status, &check["findings"]), (0, &value!([])));
    assert_eq!(check["cables_right"], 5);

    assert_eq!(running.lines_with("11 bytes from node 0"), 1);
    assert_eq!(running.lines_with("2 bytes from node 0"), 1);
    assert_eq!(running.lines_with("from node 2"), 4, "all others have the broadcast");
}

#[test]
fn the_port_that_is_meant_need_not_be_said() {
    let Some(elf) = elf() else { return };
    let folder = Folder::new("talk-meant");
    let mesh = folder.mesh("mesh.toml", "path(2)", "");
    let running = Running::start(&folder, &mesh, elf);
    for args in [&["ping", "1", "--count", "1"][..], &["check", &mesh]] {
        let output = command(args).env("HOPWISE_PORT", &running.ports[0]).output();
        let output = output.expect("the command starts");
        assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
        assert!(!output.stdout.contains(&0x1b), "no colors in a pipe: {output:?}");
    }
    let said = rejected(&["ping", "1", "--baud", "9600"]);
    assert!(said.contains("boards run at 38400 to 12500000 baud"), "{said}");
}

#[test]
fn cables_are_watched_as_they_are_plugged_in() {
    let Some(elf) = elf() else { return };
    let folder = Folder::new("watch");
    let mesh = folder.mesh("mesh.toml", "ring(3)", "");
    // Nothing is plugged in; then the first cable, the third one the wrong way, and all.
    let script = "0s cut 0.0\n0s cut 0.1\n0s cut 1.0\n4s plug 0.0\n8s plug 0.1\n12s plug 1.0\n";
    let script = folder.write("script.txt", script);
    let running = Running::with(&folder, &mesh, elf, &["--script", &script]);
    let said = printed(&["check", &mesh, "--watch", "--port", &running.ports[0]]);
    // While a link comes up, more may be said of it, and the cable is asked for again.
    let mut lines: Vec<&str> = said.lines().filter(|line| !line.starts_with(' ')).collect();
    lines.dedup();
    assert_eq!(
        lines,
        [
            "cable 1 of 3: board 0 USART1 to board 1 USART3: TX PA9 CN10-21 to RX PC5 CN10-6, RX PA10 CN10-33 to TX PB10 CN10-25, ground to ground",
            "cable 1 of 3 is right",
            "cable 2 of 3: board 0 USART3 to board 2 USART1: TX PB10 CN10-25 to RX PA10 CN10-33, RX PC5 CN10-6 to TX PA9 CN10-21, ground to ground",
            "cable 2 of 3 is right",
            "cable 3 of 3: board 1 USART1 to board 2 USART3: TX PA9 CN10-21 to RX PC5 CN10-6, RX PA10 CN10-33 to TX PB10 CN10-25, ground to ground",
            "cable 3 of 3 is right",
            "ring(3): the wiring is as planned",
        ]
    );
}
