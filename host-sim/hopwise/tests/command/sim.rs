//! `hopwise sim` as a person and a script see it.

use std::path::Path;

use serde_json::Value;

use crate::support::{Folder, printed, refused, refuses, words};

fn json_lines(args: &[&str]) -> Vec<Value> {
    let text = printed(args);
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_keys_scripts_rely_on_are_there() {
    let line = "sim ring(4) --traffic uniform --packets 40 --confirmed --payload 8 --json";
    let args = words(line, &[]);
    let reports = json_lines(&args);
    assert_eq!(reports.len(), 1);
    let keys = "nodes sent delivered lost duplicated corrupted undeliverable interrupted frames retransmissions virtual_seconds wall_seconds";
    for key in keys.split(' ') {
        assert!(reports[0][key].is_number(), "{key}");
    }
    let found = (&reports[0]["nodes"], &reports[0]["delivered"]);
    assert_eq!(found, (&4.into(), &40.into()));
    assert!(reports[0]["drops"].is_object());
    assert_eq!(reports[0]["trace_sha256"].as_str().unwrap().len(), 64);
}

#[test]
fn every_example_runs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert!(names.len() >= 8, "{names:?}");
    for name in names {
        let file = format!("../../scenarios/{}", name.to_str().unwrap());
        let reports = json_lines(&["sim", &file, "--packets", "60", "--seed", "3", "--json"]);
        assert!(!reports.is_empty(), "{file}");
        for report in reports {
            let found = (&report["sent"], &report["violation"]);
            assert_eq!(found, (&60.into(), &Value::Null), "{file}");
        }
    }
}

#[test]
fn a_scenario_has_a_row_a_run_and_options_come_in_place_of_its_settings() {
    let text = "network = \"ring(5)\"\npackets = 20\npayload = [8, 16]\nseed = { from = 1, to = 3 }\n";
    let folder = Folder::new("a_scenario_has_a_row_a_run_and_options_come_in_place_of_its_settings");
    let file = folder.write("rows.toml", text);
    let table = printed(&["sim", &file]);
    assert_eq!(table.lines().count(), 1 + 6 + 1, "{table}");
    assert!(table.ends_with(
        "6 runs: 120 sent, 120 delivered, 0 undeliverable, 0 interrupted, 0 lost, 0 duplicated, 0 corrupted\n"
    ));
    let summed = printed(&["sim", &file, "--sum-seeds"]);
    assert_eq!(summed.lines().count(), 1 + 2 + 1, "{summed}");
    let reports = json_lines(&["sim", &file, "--seed", "2", "--json"]);
    let payloads: Vec<&Value> = reports.iter().map(|report| &report["settings"]["payload"]).collect();
    assert_eq!(payloads, [8, 16]);
    // An experiment that simulates is such a file, too.
    let text = text.replace("packets", "[sim]\npackets").replace("\nseed", "\n#");
    let tables = folder.write("tables.toml", &text);
    let again = json_lines(&["sim", &tables, "--seed", "2", "--json"]);
    assert_eq!(again[1]["trace_sha256"], reports[1]["trace_sha256"]);
    let other = folder.write("other.toml", "network = \"ring(5)\"\n[load]\n");
    refuses(&format!(
        "sim {other} => [..]it has a table [load], which `hopwise experiment {other}` runs"
    ));
    // A row is the run that its settings alone give.
    let alone = words("sim ring(5) --packets 20 --payload 16 --seed 2 --json", &[]);
    assert_eq!(json_lines(&alone)[0]["trace_sha256"], reports[1]["trace_sha256"]);
}

#[test]
fn scripts_are_read_from_files_beside_the_scenario() {
    let folder = Folder::new("scripts_are_read_from_files_beside_the_scenario");
    let script = folder.write("faults.txt", "# nobody hears node 2\n0s off 2\n");
    let text = "network = \"ring(5)\"\ntraffic = \"broadcast-all\"\npackets = 8\nscript = \"faults.txt\"\n";
    let scenario = folder.write("scripted.toml", text);
    let by_scenario = &json_lines(&["sim", &scenario, "--json"])[0];
    let direct = words("sim ring(5) --traffic broadcast-all --packets 8 --json", &[]);
    let by_option = &json_lines(&[&direct[..], &["--script", &script]].concat())[0];
    let said = &json_lines(&[&direct[..], &["--events", "0s off 2"]].concat())[0];
    assert_eq!(by_scenario["broadcast_deliveries"], 8 * 3);
    assert_eq!(by_scenario["trace_sha256"], by_option["trace_sha256"]);
    assert_eq!(by_scenario["trace_sha256"], said["trace_sha256"]);
}

#[test]
fn bad_input_gets_one_sentence_with_file_and_line() {
    let folder = Folder::new("bad_input_gets_one_sentence_with_file_and_line");
    let script = folder.write("bad.txt", "1s cut 0.0\n2s melt 0.0\n");
    let unknown = folder.write("bad.toml", "network = \"ring(4)\"\npakets = 3\n");
    let range = folder.write("range.toml", "network = [\"ring(4)\", \"ring(2)\"]\n");
    let torture = "../../scenarios/torture.toml";
    refuses(&format!(
        r#"
        sim ring(4) --script {script} => {script} line 2: 'melt' is not an event; events are cut, plug, [..]
        sim ring(4) --events '1s cut 0.2' => events, line 1: ring(4): node 0 has ports 0 to 1, not 2
        sim {unknown} => {unknown} line 2: unknown setting `pakets`, expected one of `network`, [..]
        sim {range} => {range}: 'ring(2)' is not a network: [..]
        sim no-such-file.toml => no-such-file.toml: [..]
        sim {torture} --trace nowhere/trace => {torture}: a trace is of one run, and the scenario has 200
        "#
    ));
}

#[test]
fn a_mesh_file_knows_its_ports_by_name_too() {
    let text = "network = \"ring(5)\"\nboard = \"nucleo-f446re\"\nbaud = 1000000\n";
    let folder = Folder::new("a_mesh_file_knows_its_ports_by_name_too");
    let mesh = folder.write("named.toml", text);
    let trace = |events: &str| {
        let reports = json_lines(&["sim", &mesh, "--packets", "20", "--events", events, "--json"]);
        reports[0]["trace_sha256"].clone()
    };
    assert_eq!(trace("0s cut 3.USART3"), trace("0s cut 3.1"));
    assert_ne!(trace("0s cut 3.USART3"), trace("0s cut 3.0"));
    let sentence = refused(&["sim", &mesh, "--events", "0s cut 3.USART9"]);
    let expected = "hopwise: events, line 1: '3.USART9' is not a port such as 3.0";
    assert_eq!(sentence, expected);
}
