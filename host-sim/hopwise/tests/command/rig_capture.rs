//! Logs of all boards as one trace: clocks are aligned. The rest is in `scripts/test_capture.py`.

use std::collections::HashMap;
use std::path::Path;

use crate::support::{Folder, elf};
use hopwise_emulate::log::take_lines;
use hopwise_emulate::rig::{Firmware, blueprint};
use hopwise_emulate::setup::{self, Differences};
use hopwise_emulator::time::{MILLISECOND, SECOND, Time};
use hopwise_rig::board_log::LogFormat;
use hopwise_rig::capture::{Capture, LogLine};
use hopwise_rig::mesh::Mesh;
use hopwise_trace::reader::Reader;

const MESH: &str = "network = \"rdn(ring(3),1)\"\nboard = \"nucleo-f446re\"\nprobe = \"emulated\"\n";

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
