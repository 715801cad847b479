//! Lines go to disk as they come, and the output is whole or what it was.

use hopwise_node::router::Event;
use hopwise_node::wire::{Header, Kind};
use hopwise_testing::Folder;
use hopwise_trace::line::{Record, TraceLine};
use hopwise_trace::reader::Reader;

use crate::capture::{Capture, LogLine};
use crate::mesh::Mesh;

fn mesh() -> Mesh {
    Mesh::parse("network = \"ring(4)\"\nboard = \"nucleo-f446re\"\n").unwrap()
}

fn line(node: u64, stamp: f64, text: String) -> LogLine {
    LogLine {
        node,
        stamp,
        arrived: None,
        level: "info",
        text,
    }
}

/// Packets around a ring of four boards, whose clocks differ by minutes; each is logged where it is sent and received.
fn packets(mesh: &Mesh, count: u32, mut take: impl FnMut(LogLine)) {
    for number in 0..count {
        let from = u64::from(number % 4);
        let (to, time) = ((from + 1) % 4, f64::from(number) * 1e-3);
        let link = |node: u64, peer: u64| mesh.network.port_to(node, peer).unwrap().unwrap() as u8;
        let packet = Header::new(Kind::Datagram, from, to).numbered(1, number).id();
        let sent = Event::Sent {
            link: link(from, to),
            packet,
            dest: to,
            retransmit: false,
        };
        let received = Event::Received {
            link: link(to, from),
            packet,
            dest: to,
        };
        for (node, time, event) in [(from, time, sent), (to, time + 500e-6, received)] {
            take(line(node, time + 100.0 * node as f64, format!("{event:?}")));
        }
    }
}

#[test]
fn clocks_are_aligned_and_lines_are_sorted() {
    let folder = Folder::new("aligned");
    let output = folder.folder().join("trace.jsonl");
    let mesh = mesh();
    let mut shown = 0;
    let mut show = |_: f64, _: &LogLine, _: &Record| {
        shown += 1;
        Ok(())
    };
    let mut capture = Capture::create(&output, &mesh, &mut show).unwrap();
    // More than are sorted in memory at a time.
    packets(&mesh, 150_000, |line| capture.add(&line).unwrap());
    capture.add(&line(2, f64::NAN, "no time".into())).unwrap();
    capture.add(&line(2, 1e300, "no time".into())).unwrap();
    let summary = capture.finish().unwrap();
    let found = (summary.lines, summary.events, summary.nodes, summary.undecodable, shown);
    assert_eq!(found, (300_000, 300_000, 4, 2, 300_000));
    assert!(summary.nodes_not_aligned.is_empty(), "{summary:?}");
    assert!(summary.clock_pairs > 100_000, "{summary:?}");
    assert!(summary.clock_residual_worst_us < 5.0, "{summary:?}");
    let reader = Reader::new(std::io::BufReader::new(std::fs::File::open(&output).unwrap())).unwrap();
    let lines: Vec<TraceLine> = reader.map(Result::unwrap).collect();
    assert_eq!(lines.len(), 300_000);
    assert!(lines.iter().map(|line| line.at).is_sorted());
    // Hundreds of seconds between the clocks are gone.
    let last = lines.last().unwrap().at as f64 / 1e9;
    assert!((149.0..151.0).contains(&last), "{last}");
    assert_eq!(folder.files(), ["trace.jsonl"], "nothing is left beside it");
}

/// Four boards whose clocks are minutes apart take turns to say something every millisecond; the probe of each passes on what it has said
/// every 300 ms. `told` is the time of the mesh that a board tells in its line of a number, in microseconds. Returns the numbers of the lines as
/// they were shown, with the times.
fn shown_live(name: &str, told: impl Fn(u64) -> Option<u64>) -> Vec<(u64, f64)> {
    let folder = Folder::new(name);
    let mesh = mesh();
    let mut shown = Vec::new();
    let mut show = |time: f64, line: &LogLine, _: &Record| {
        let arrived = line.arrived.unwrap();
        assert!((arrived - 0.4..=arrived).contains(&time), "{time} {line:?}");
        shown.extend(line.text.parse().ok().map(|number: u64| (number, time)));
        Ok(())
    };
    let mut capture = Capture::create(&folder.folder().join("trace.jsonl"), &mesh, &mut show).unwrap();
    let said = |number: u64| {
        let (node, millis) = (number % 4, number);
        let stamp = millis as f64 * 1e-3 + 100.0 * node as f64;
        let tells = |mesh| Event::Clock {
            root: 0,
            local: (stamp * 1e6).round() as u64,
            mesh,
            rate: 0,
        };
        let text = told(number).map_or(number.to_string(), |mesh| format!("{:?}", tells(mesh)));
        let passed_on = (millis + 70 * node).next_multiple_of(300) - 70 * node;
        LogLine {
            arrived: Some(passed_on as f64 * 1e-3),
            ..line(node, stamp, text)
        }
    };
    let mut lines: Vec<LogLine> = (0..4_000).map(said).collect();
    lines.sort_by(|one, other| one.arrived.partial_cmp(&other.arrived).unwrap());
    lines.iter().for_each(|line| capture.add(line).unwrap());
    capture.finish().unwrap();
    shown
}

#[test]
fn lines_are_shown_by_the_time_of_the_mesh() {
    let told = |number: u64| (number % 500 < 4).then_some(7_000_000 + 1_000 * number);
    let shown = shown_live("live", told);
    assert_eq!(shown.len(), 4_000 - 8 * 4, "all but what tells the time");
    assert!(shown.is_sorted_by_key(|(number, _)| *number));
    assert!(shown.is_sorted_by(|one, other| one.1 <= other.1));
}

/// One board says nonsense of the time of the mesh; that of the others is set anew on the way, and only lines that are held then suffer.
#[test]
fn a_board_that_errs_in_the_time_of_the_mesh_disturbs_no_other() {
    let told = |number: u64| match number % 500 {
        3 if number % 1_000 == 3 => Some(u64::MAX),
        3 => Some(u64::from(u32::MAX)),
        0..3 if number >= 2_000 => Some(1_000 * number),
        0..3 => Some(7_000_000 + 1_000 * number),
        _ => None,
    };
    let shown = shown_live("live-liar", told);
    let of_others = shown.iter().filter(|(number, _)| number % 4 != 3);
    let early = of_others.clone().filter(|(number, _)| *number < 1_450);
    assert!(early.is_sorted());
    let late = of_others.filter(|(number, _)| *number > 2_600);
    assert!(late.is_sorted());
}

#[test]
fn an_output_is_what_it_was_until_the_new_one_is_whole() {
    let folder = Folder::new("whole");
    let output = folder.folder().join("trace.jsonl");
    std::fs::write(&output, "good\n").unwrap();
    let mut show = |_: f64, _: &LogLine, _: &Record| Ok(());
    let mut capture = Capture::create(&output, &mesh(), &mut show).unwrap();
    capture.add(&line(0, 1.0, "hello".into())).unwrap();
    assert_eq!(std::fs::read_to_string(&output).unwrap(), "good\n");
    // As if something went wrong.
    drop(capture);
    assert_eq!(std::fs::read_to_string(&output).unwrap(), "good\n");
    let left: Vec<String> = folder.files();
    let unaligned = left.iter().find(|name| name.ends_with(".unaligned"));
    let unaligned = unaligned.expect("the lines are kept");
    let text = std::fs::read(folder.folder().join(unaligned)).unwrap();
    let lines: Vec<TraceLine> = Reader::new(&text[..]).unwrap().map(Result::unwrap).collect();
    assert_eq!((lines.len(), lines[0].at), (1, 1_000_000_000));
}

#[test]
fn a_capture_that_heard_nothing_leaves_nothing() {
    let folder = Folder::new("nothing");
    let mut show = |_: f64, _: &LogLine, _: &Record| Ok(());
    drop(Capture::create(&folder.folder().join("trace.jsonl"), &mesh(), &mut show).unwrap());
    assert!(folder.files().is_empty(), "{:?}", folder.files());
}
