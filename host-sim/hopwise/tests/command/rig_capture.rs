//! Logs of all boards as one trace: clocks aligned, the same from boards, streams and probe-rs.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::time::Duration;

use crate::running::Ending;
use crate::support::{Folder, command, elf, hopwise, json, like, printed, until, words};
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

/// An experiment runs emulated meshes whose cables are pulled.
#[test]
fn an_experiment_emulates_meshes_with_faults() {
    let Some(elf) = elf() else { return };
    let folder = Folder::new("emulated-experiment");
    let plan = folder.path("experiment.toml");
    let text = format!(
        "networks = ['ring(3)']\nseeds = 2\n[emulate]\nelf = '{elf}'\nfor = '1s'\ncheck = true\nevents = ['', '500ms cut 0.0']\n"
    );
    std::fs::write(&plan, text).unwrap();
    let (jobs, out) = (folder.path("jobs"), folder.path("out"));
    let output = hopwise(&["experiment", &plan, "--jobs", &jobs, "--out", &out]);
    let said = String::from_utf8_lossy(&output.stderr);
    let results =
        std::fs::read_to_string(format!("{out}/experiment.json")).unwrap_or_else(|error| panic!("{error}: {said}"));
    let results: Value = serde_json::from_str(&results).unwrap();
    let of_boards = |figure: &&Value| figure["kind"] == "emulate" && figure["seeds"] == 2;
    let figures = results["figures"].as_array().unwrap().iter();
    let figures: Vec<&Value> = figures.filter(of_boards).collect();
    let instructions = figures.iter().filter(|figure| figure["figure"] == "instructions");
    assert_eq!(instructions.count(), 2, "{results}");
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

/// Says what probe-rs would say of a board that has just sent or received a packet, and then waits.
fn stand_in(folder: &Folder) -> String {
    let sent = "Sent { link: 0, packet: PacketId { source: 0, from_host: false, epoch: 1, kind: Datagram, number: 1 }, dest: 1, retransmit: false }";
    let received = sent.replace("Sent", "Received").replace(", retransmit: false", "");
    let calls = folder.path("calls");
    folder.stand_in(&format!(
        "echo \"$*\" >> '{calls}'\n\
         case \"$*\" in\n\
         *AA*) echo '1.000000|INFO |{sent}'; echo 'not a line';;\n\
         *BB*) echo '7.000900|INFO |{received}'; echo '7.100000|WARN|the end | almost';;\n\
         esac\n\
         exec sleep 30"
    ))
}

const REAL: &str = "network = \"path(2)\"\nboard = \"nucleo-f446re\"\n[[node]]\naddress = 0\nprobe = \"AA\"\n[[node]]\naddress = 1\nprobe = \"BB\"\n";

/// Killed in the middle, by what no program can prepare for: every line that came is there, and becomes the trace after all.
#[test]
fn a_capture_that_is_killed_loses_nothing_that_came() {
    let folder = Folder::new("capture-killed");
    let (mesh, image) = (folder.write("mesh.toml", REAL), folder.write("image.elf", ""));
    let (trace, program) = (folder.path("trace.jsonl"), stand_in(&folder));
    folder.write("trace.jsonl", "good\n");
    let said = std::fs::File::create(folder.path("said")).unwrap();
    let mut capture = command(&["capture", &mesh, "-o", &trace, "--elf", &image, "--probe-rs", &program]);
    let mut capture = capture.stdout(said).spawn().unwrap();
    // A line that is shown has been kept.
    let shown = || std::fs::read_to_string(folder.path("said")).unwrap().lines().count();
    until(60, || shown() >= 3);
    capture.kill().unwrap();
    capture.wait().unwrap();
    let found = std::fs::read_to_string(&trace).unwrap();
    assert_eq!(found, "good\n", "the old trace is as it was");
    let left = std::fs::read_dir(folder.folder())
        .unwrap()
        .map(|file| file.unwrap().path());
    let left: Vec<_> = left
        .filter(|path| path.extension().is_some_and(|end| end == "unaligned"))
        .collect();
    let [left] = &left[..] else { panic!("{left:?}") };
    // As if it had been killed in the middle of a line.
    let mut text = std::fs::read_to_string(left).unwrap();
    text.push_str("{\"t\":7.2,\"node\":1,\"eve");
    std::fs::write(left, text).unwrap();
    let left = left.to_str().unwrap();
    let (status, summary) = json(&["capture", &mesh, "-o", &trace, "--unaligned", left, "--json"]);
    assert_eq!(status, 0);
    let figures = ["lines", "events", "nodes", "clock_pairs", "undecodable"].map(|key| summary[key].as_u64());
    assert_eq!(figures, [3, 2, 2, 1, 1].map(Some), "{summary}");
    let lines = lines(&trace);
    let gap = lines[1]["t"].as_f64().unwrap() - lines[0]["t"].as_f64().unwrap();
    let is_aligned = lines.len() == 3 && gap > 0.0 && gap < 1e-3;
    assert!(is_aligned, "all the same: {lines:?}");
    assert!(Path::new(left).exists(), "what was read is not removed");
}

#[test]
fn ctrl_c_ends_a_capture_with_a_complete_trace() {
    let folder = Folder::new("capture-probes");
    let mesh = folder.write("mesh.toml", REAL);
    let image = folder.write("image.elf", "");
    let (trace, program) = (folder.path("trace.jsonl"), stand_in(&folder));
    let log = std::fs::File::create(folder.path("said")).unwrap();
    let mut capture = command(&["capture", &mesh, "-o", &trace, "--elf", &image, "--probe-rs", &program]);
    capture.args(["--filter", "level=warn", "--filter", "almost"]);
    let capture = Ending::of(capture.stdout(log));
    let said = || std::fs::read_to_string(folder.path("said")).unwrap();
    until(10, || said().contains("almost"));
    std::thread::sleep(Duration::from_millis(200));
    capture.interrupt();
    assert_eq!(capture.wait().status.code(), Some(0));
    let said = said();
    // By when it came: no board has told the time of the mesh.
    like(&said, "    0.[..]           1  warn       the end | almost\n[..]");
    like(
        &said,
        "[..]3 lines of 2 nodes, 2 events; 1 pieces could not be read[..]",
    );
    let lines = lines(&trace);
    let events: Vec<(&Value, &Value)> = lines.iter().map(|line| (&line["node"], &line["event"])).collect();
    assert_eq!(
        events,
        [
            (&value!(0), &value!("sent")),
            (&value!(1), &value!("received")),
            (&value!(1), &value!("log"))
        ]
    );
    let found = (&lines[2]["level"], &lines[2]["text"]);
    assert_eq!(found, (&value!("warn"), &value!("the end | almost")));
    let gap = lines[1]["t"].as_f64().unwrap() - lines[0]["t"].as_f64().unwrap();
    let is_gone = gap > 0.0 && gap < 1e-3;
    assert!(is_gone, "six seconds between the clocks: {gap}");
    let calls = std::fs::read_to_string(folder.path("calls")).unwrap();
    let expected = format!(
        "attach --no-catch-reset --no-catch-hardfault --chip STM32F446RE --probe 0483:374b:AA --log-format {{t}}|{{L}}|{{s}} {image}"
    );
    assert!(calls.lines().any(|call| call == expected), "{calls}");
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
