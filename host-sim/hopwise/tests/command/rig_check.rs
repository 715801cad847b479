//! The wiring check and the plan, as commands, on emulated boards.

use crate::support::{Folder, elf, hopwise, json, like, refuses};
use serde_json::{Value, json as value};

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
    let seen = (&found["boards_seen"], &found["cables_right"]);
    assert_eq!(seen, (&value!(18), &value!(27)));
    // Through one board only, and with other serial ports than usual.
    let text = "network = \"ring(4)\"\nboard = \"nucleo-l476rg\"\nbaud = 500000\nprobe = \"emulated\"\n\
                [[node]]\naddress = 1\nuarts = [\"LPUART1\", \"UART4\"]\n";
    let file = folder.write("other.toml", text);
    let (status, found) = json(&["check", &file, "--at", "2", "--elf", elf, "--json"]);
    assert_eq!((status, &found["findings"]), (0, &value!([])), "{found}");
    // While wiring: the other boards are not missed.
    let output = hopwise(&["check", &file, "--cables", "1", "--elf", elf, "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.status.success() && found["boards_expected"] == 2, "{found}");
    let note = "all boards are emulated as nucleo-f446re boards; each as what it is: hopwise emulate [..] --check\n";
    like(&String::from_utf8_lossy(&output.stderr), note);
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
            "exchange the plugs at board 1 USART3 and board 4 USART3 (or those at board 0 USART1 and board 3 USART1, which has the same effect)"
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
    let seen = findings(&one_way);
    assert_eq!(seen, [finding("one-way", 4, 2, "UART4", "13.2", Value::Null)]);
    let wire = "from board 13 UART4 TX PA0 (CN7-28) to board 4 UART4 RX PA1 (CN7-30)";
    like(one_way["moves"][0].as_str().unwrap(), &format!("[..]{wire}[..]"));
}

#[test]
fn extra_cables_and_exchanged_configs_at_emulated_boards_are_found() {
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
    let moves = value!(["take out the cable between board 0 UART5 and board 2 USART6"]);
    assert_eq!(found["moves"], moves);
    let (status, found) = check(&["--config", "2=4"]);
    assert_eq!(status, 1);
    let expected =
        value!({"kind": "wrong-board", "node": 2, "port": null, "uart": null, "expected": "node 2", "found": "node 4"});
    assert_eq!(findings(&found), [expected], "{found}");
}

#[test]
fn bad_input_is_refused() {
    let folder = Folder::new("check-refused");
    let file = emulated(&folder, "ring(4)");
    let broken = folder.mesh("broken.toml", "ring(4)", "\nbauds = 1\n");
    refuses(&format!(
        r#"
        check {file} => give --port TTY, the serial port of one of the boards, or --emulated: [..]
        check {file} --emulated --cables 9 => the plan has 4 cables, not 9
        check {file} --port /dev/null => /dev/null: this is not a serial port; [..]
        mesh new ring(4) -o {file} => {file}: there is something of that name already[..]
        mesh new complete(7) => node 0 of complete(7) has 6 links, and a nucleo-f446re has 5 UARTs for links
        plan {broken} => {broken} line 4: unknown field `bauds`[..]
        check {broken} => {broken} line 4: unknown field `bauds`[..]
        emulate {broken} => {broken} line 4: unknown field `bauds`[..]
        sim {broken} => {broken} line 4: unknown field `bauds`[..]
        "#
    ));
    if elf().is_some() {
        refuses(&format!(
            r#"
            check {file} --emulated --cut 4.0 => ring(4): there is no port 4.0
            check {file} --emulated --extra 0.USART1 1.UART5 => 0.USART1 is not free: it is port 0.0
            check {file} --emulated --extra 0.USART2 1.UART5 => there is no link 0.USART2
            check {file} --emulated --config 1=9 => ring(4) has no nodes 1 and 9
            check {file} --emulated --at 7 => there is no board 7
            "#
        ));
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
            let all_named = ["uart", "tx", "rx"].iter().all(|key| cable[side][*key].is_string());
            assert!(all_named, "{cable}");
        }
    }
    let svg = std::fs::read_to_string(picture).unwrap();
    assert_eq!(svg.matches("<path ").count(), 2 * 27);
    assert_eq!(svg.matches("rx=\"5\"").count(), 18);
}

/// `mesh key` makes a key, which boards and the check then have; a board with another one, or none, is found.
#[test]
fn boards_with_another_key_or_none_are_found() {
    use std::os::unix::fs::PermissionsExt;
    let Some(elf) = elf() else { return };
    let folder = Folder::new("check-keys");
    let key = folder.path("mesh.key");
    assert!(hopwise(&["mesh", "key", "-o", &key]).status.success());
    let seen = std::fs::metadata(&key).expect("a file").permissions().mode() & 0o777;
    assert_eq!(seen, 0o600);
    refuses(&format!(
        "mesh key -o {key} => {key}: there is something of that name already[..]"
    ));
    let text = "network = \"path(3)\"\nboard = \"nucleo-f446re\"\nprobe = \"emulated\"\nkey-file = \"mesh.key\"\n";
    let file = folder.write("mesh.toml", text);
    let check = |mistake: &[&str]| json(&[&["check", &file, "--elf", elf, "--at", "0", "--json"], mistake].concat());
    let (status, found) = check(&[]);
    assert_eq!((status, &found["findings"]), (0, &value!([])), "{found}");
    for mistake in ["--no-key", "--other-key"] {
        let (status, found) = check(&[mistake, "2"]);
        assert_eq!(status, 1, "{found}");
        let kinds: Vec<_> = findings(&found)
            .iter()
            .map(|finding| (finding["kind"].clone(), finding["node"].clone()))
            .collect();
        let expected = [(value!("key"), value!(1)), (value!("no-answer"), value!(2))];
        assert_eq!(kinds, expected, "{mistake}");
    }
}
