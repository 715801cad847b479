//! Logs of all boards as one trace: clocks aligned, the same from boards, streams and probe-rs.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use crate::support::{Folder, elf, hopwise, json, printed, words};
use hopwise_emulate::log::take_lines;
use hopwise_emulate::rig::{Firmware, blueprint};
use hopwise_emulate::setup::{self, Differences};
use hopwise_emulator::time::{MILLISECOND, SECOND, Time};
use hopwise_rig::board_log::LogFormat;
use hopwise_rig::capture::{Capture, LogLine};
use hopwise_rig::mesh::Mesh;
use hopwise_trace::reader::Reader;
use serde_json::{Value, json as value};

/// The lines of a trace after the first, which names its network.
fn lines(path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'), "the last line is complete");
    let mut lines = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")));
    let header: Value = lines.next().expect("a first line");
    assert!(header["network"].is_string(), "{header}");
    lines.collect()
}

const MESH: &str = "network = \"rdn(ring(3),1)\"\nboard = \"nucleo-f446re\"\nprobe = \"emulated\"\n";

#[test]
fn emulated_boards_and_their_streams_give_the_same_trace() {
    let Some(elf) = elf() else { return };
    let folder = Folder::new("capture");
    let mesh = folder.write("mesh.toml", MESH);
    let [trace, again, streams] = ["trace.jsonl", "again.jsonl", "streams"].map(|name| folder.path(name));
    let record = ["--record", &streams, "--traffic", "20", "--for", "1500ms"];
    let (status, summary) = json(&[&["capture", &mesh, "-o", &trace, "--elf", elf, "--json"], &record[..]].concat());
    let found = (status, &summary["nodes"], &summary["undecodable"]);
    assert_eq!(found, (0, &value!(18), &value!(0)));
    assert_eq!(summary["nodes_not_aligned"], value!([]));
    assert!(summary["clock_pairs"].as_u64() > Some(200), "{summary}");
    // Boards start up to 190 ms apart, so clocks that are not aligned are off by that.
    assert!(summary["clock_residual_95_us"].as_f64() < Some(300.0), "{summary}");

    let lines = lines(&trace);
    let times: Vec<f64> = lines.iter().map(|line| line["t"].as_f64().unwrap()).collect();
    assert!(times.is_sorted() && times[0] >= 0.0);
    let names: BTreeSet<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    for name in "link-up accepted sent received forwarded delivered log".split(' ') {
        assert!(names.contains(name), "{name}: {names:?}");
    }
    let texts = lines.iter().filter_map(|line| line["text"].as_str());
    let missed: Vec<&str> = texts.filter(|text| text.contains(" { ")).collect();
    assert!(missed.is_empty(), "events that were not read: {missed:?}");
    in_order_of_cause(&lines);

    let line = "capture {} -o {} --elf {} --recorded {} --json";
    let (status, of_streams) = json(&words(line, &[&mesh, &again, elf, &streams]));
    assert_eq!((status, &of_streams), (0, &summary));
    assert_eq!(self::lines(&again).len(), lines.len());
    let events = |lines: &[Value]| -> BTreeSet<String> { lines.iter().map(Value::to_string).collect() };
    assert_eq!(events(&self::lines(&again)), events(&lines));
    traces_of_boards_are_reported_and_drawn(&folder, &trace);
}

fn traces_of_boards_are_reported_and_drawn(folder: &Folder, trace: &str) {
    let (status, report) = json(&["report", trace, "--json"]);
    assert_eq!(status, 0);
    let found = (&report["network"], &report["unknown_events"]);
    assert_eq!(found, (&value!("rdn(ring(3),1)"), &value!(0)));
    let datagrams = &report["delivery"]["datagram"];
    assert!(datagrams["delivered"].as_u64() > Some(100), "{report}");
    // Only while links come up do packets go round those that are not up yet.
    let [followed, computed] = ["followed", "computed"].map(|key| report["paths"][key].as_u64().unwrap());
    assert!(followed > 100 && computed * 10 > followed * 9, "{report}");
    let page = folder.path("page.html");
    assert_eq!(hopwise(&["view", trace, "-o", &page]).status.code(), Some(0));
    assert!(std::fs::read_to_string(page).unwrap().contains("rdn(ring(3),1)"));
}

/// Boards that start at different times, with crystals that are off, against the time of the world they are in.
#[test]
fn the_common_time_is_that_of_the_world() {
    captures_the_true_time("log-packets = true\ntraffic = { rate = 20 }\n", 3 * SECOND);
}

/// The same without any packet: boards tell the time of the mesh.
#[test]
fn without_packets_the_common_time_is_that_of_the_mesh() {
    captures_the_true_time("", 6 * SECOND);
}

fn captures_the_true_time(settings: &str, time: Time) {
    let Some(elf) = elf() else { return };
    let mesh = Mesh::parse(&format!("{MESH}{settings}")).unwrap();
    let firmware = Firmware::load(Path::new(elf)).unwrap();
    let format = LogFormat::of_elf(&firmware.elf).unwrap();
    let mut blueprint = blueprint(&mesh).unwrap();
    blueprint.starts = mesh.nodes().map(|node| node * 5 % 18 * 50 * MILLISECOND).collect();
    let differences = Differences::new(3, 50.0);
    let mut world = setup::assemble(&blueprint, &firmware.image, differences).unwrap();
    world.run_until(time);
    let folder = Folder::new(&format!("capture-world-{}", settings.len()));
    let trace = folder.path("trace.jsonl");
    let mut show = |_: f64, _: &LogLine, _: &_| Ok(());
    let mut capture = Capture::create(Path::new(&trace), &mesh, &mut show).unwrap();
    // The lines of a board stay in their order.
    let mut arrivals: HashMap<u64, Vec<f64>> = HashMap::new();
    for line in take_lines(&mut format.readers(18), &mut world) {
        let (node, arrived) = (line.board as u64, line.at as f64 / SECOND as f64);
        arrivals.entry(node).or_default().insert(0, arrived);
        let line = LogLine {
            node,
            stamp: line.stamp.unwrap(),
            arrived: Some(arrived),
            level: "info",
            text: line.text,
        };
        capture.add(&line).unwrap();
    }
    let summary = capture.finish().unwrap();
    assert_eq!(summary.nodes_not_aligned, [0; 0]);
    // All boards have the same common time, whose beginning is that of any of them.
    let text = std::fs::read(&trace).unwrap();
    let lines = Reader::new(&text[..]).unwrap().map(Result::unwrap);
    let late: Vec<f64> = lines
        .map(|line| arrivals.get_mut(&line.node).unwrap().pop().unwrap() - line.at as f64 / 1e9)
        .collect();
    let mut sorted = late.clone();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted[sorted.len() / 2];
    let mut off: Vec<f64> = late.iter().map(|late| (late - middle).abs()).collect();
    off.sort_by(f64::total_cmp);
    let (median, worst) = (off[off.len() / 2] * 1e6, off[off.len() - 1] * 1e6);
    println!(
        "{} lines: half within {median:.1} us of the truth, the worst off by {worst:.1} us",
        off.len()
    );
    assert!(median < 50.0 && worst < 500.0, "{median} us, {worst} us, {summary:?}");
}

/// No packet is received before it was sent, on the common time line.
fn in_order_of_cause(lines: &[Value]) {
    let of = |name: &str| lines.iter().filter(|line| line["event"] == name).collect::<Vec<_>>();
    let (sent, received) = (of("sent"), of("received"));
    let mut compared = 0;
    for arrival in received.iter().take(400) {
        let same = |line: &&&Value| line["packet"] == arrival["packet"] && line["dest"] == arrival["dest"];
        let times = sent.iter().filter(same).map(|line| line["t"].as_f64().unwrap());
        let first = times.fold(f64::INFINITY, f64::min);
        if first.is_finite() {
            compared += 1;
            assert!(arrival["t"].as_f64().unwrap() > first, "{arrival}");
        }
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn lines_of_a_capture_are_told_in_words() {
    let Some(elf) = elf() else { return };
    let folder = Folder::new("capture-words");
    let mesh = folder.write("mesh.toml", MESH);
    let trace = folder.path("trace.jsonl");
    let line = "capture {} -o {} --elf {} --traffic 20 --for 1400ms";
    let capture = words(line, &[&mesh, &trace, elf]);
    let said = printed(&[&capture[..], &["--filter", "event=forwarded,link-up"]].concat());
    assert!(!said.contains('\u{1b}'), "{said}");
    let lines: Vec<Vec<&str>> = said.lines().map(|line| line.split_whitespace().collect()).collect();
    let forwarded: Vec<_> = lines.iter().filter(|line| line.get(4) == Some(&"forwarded")).collect();
    assert!(forwarded.len() > 20, "{said}");
    for line in forwarded {
        let [time, node, "->", far, _, kind, number, "of", "node", source] = line[..] else {
            panic!("{line:?}")
        };
        assert!(time.parse::<f64>().is_ok() && number.parse::<u32>().is_ok(), "{line:?}");
        assert!(["datagram", "request", "response"].contains(&kind), "{line:?}");
        let [node, far, source] = [node, far, source].map(|node| node.parse::<u64>().expect("a node"));
        let network: hopwise_core::Network = "rdn(ring(3),1)".parse().unwrap();
        assert!(network.port_to(node, far).unwrap().is_some() && source < 18, "{line:?}");
    }
    assert!(said.contains(" is there\n"), "{said}");
}
