//! The logs of all boards as one trace, on one time line.
//!
//! Boards stamp their lines with their own clocks. When all lines are there, the clocks are [aligned](super::clocks) from the
//! packets that went from board to board, and the events are written in the format of the simulator's traces, by time. Lines that
//! are no events of the node are written as events named `log`, with `level` and `text`.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use hopwise_core::link::Role;
use hopwise_core::node::{Event, PacketId};
use serde_json::{Value, json};

use super::clocks::{Alignment, Pair, align};
use super::log_text::read_event;
use super::mesh::Mesh;
use hopwise_sim::trace::{write_header, write_line};

/// Bytes of a frame around a packet of middling size, for a first guess of its time on the wire.
const USUAL_FRAME: f64 = 50.0;
/// Kinds of packets, each of which takes its own time.
const CLASSES: usize = 7;

/// A line of a board's log.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Whose it is.
    pub node: u64,
    /// Starts of the board before it.
    pub boot: u32,
    /// When, in seconds, by the board's own clock.
    pub stamp: f64,
    /// When it came here, in seconds since the beginning, if that is known.
    pub arrived: Option<f64>,
    /// How severe it is: trace, debug, info, warn or error.
    pub level: &'static str,
    /// What it says.
    pub text: String,
    /// The event that it tells of, if it does.
    pub event: Option<Event>,
}

impl Entry {
    /// The entry as a line of a trace.
    pub fn line(&self, seconds: f64) -> Vec<u8> {
        let mut line = Vec::new();
        let nanos = (seconds.max(0.0) * 1e9).round() as u64;
        match &self.event {
            // Writing to memory does not fail.
            Some(event) => drop(write_line(nanos, self.node, event, &mut line)),
            None => {
                let time = nanos as f64 / 1e9;
                let log = json!({"t": time, "node": self.node, "event": "log", "level": self.level, "text": self.text});
                line = format!("{log}\n").into_bytes();
            }
        }
        line
    }

    /// What a trace calls the event.
    pub fn event_name(&self) -> String {
        let value: Value = serde_json::from_slice(&self.line(0.0)).unwrap_or_default();
        value["event"].as_str().unwrap_or_default().into()
    }
}

/// Lines as they come.
#[derive(Debug, Default)]
pub struct Capture {
    entries: Vec<Entry>,
    /// For each node, its starts so far and when it last said something.
    clocks: BTreeMap<u64, (u32, f64)>,
}

/// Lines on one time line.
#[derive(Debug)]
pub struct Aligned {
    entries: Vec<(f64, Entry)>,
    /// The clocks.
    pub alignment: Alignment,
    /// Nodes that could not be compared with the others by their packets.
    pub apart: Vec<u64>,
}

impl Capture {
    /// Takes a line: its time by the board's clock and, if known, when it came, both in seconds.
    pub fn add(&mut self, node: u64, stamp: f64, arrived: Option<f64>, level: &'static str, text: String) -> &Entry {
        let (boot, last) = self.clocks.entry(node).or_insert((0, stamp));
        // A clock that goes back has been started anew.
        *boot += u32::from(stamp < *last);
        *last = stamp;
        self.entries.push(Entry {
            node,
            boot: *boot,
            stamp,
            arrived,
            level,
            event: read_event(&text),
            text,
        });
        &self.entries[self.entries.len() - 1]
    }

    /// Puts all lines on one time line.
    pub fn align(mut self, mesh: &Mesh) -> Aligned {
        // The result is not to depend on whose lines came first.
        self.entries.sort_by_key(|entry| (entry.node, entry.boot));
        let mut numbers: BTreeMap<(u64, u32), usize> = BTreeMap::new();
        for entry in &self.entries {
            let next = numbers.len();
            numbers.entry((entry.node, entry.boot)).or_insert(next);
        }
        let pairs = pairs(&self.entries, &numbers, mesh);
        let delay = USUAL_FRAME * 10.0 / f64::from(mesh.baud);
        let mut alignment = align(numbers.len(), &pairs, &[delay; CLASSES]);
        let number = |entry: &Entry| numbers[&(entry.node, entry.boot)];
        place_groups(&self.entries, &mut alignment, &number);
        let time = |entry: &Entry| alignment.clocks[number(entry)].common(entry.stamp);
        let first = self.entries.iter().map(time).fold(f64::INFINITY, f64::min).min(0.0);
        let mut entries: Vec<(f64, Entry)> = self
            .entries
            .into_iter()
            .map(|entry| (time(&entry) - first, entry))
            .collect();
        entries.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut apart: Vec<u64> = numbers
            .iter()
            .filter(|(_, clock)| alignment.clocks[**clock].group > 0)
            .map(|((node, _), _)| *node)
            .collect();
        apart.dedup();
        Aligned {
            entries,
            alignment,
            apart,
        }
    }
}

impl Aligned {
    /// The lines by time.
    pub fn entries(&self) -> impl Iterator<Item = (f64, &Entry)> {
        self.entries.iter().map(|(time, entry)| (*time, entry))
    }

    /// Writes the trace of a mesh.
    pub fn write(&self, mesh: &Mesh, out: &mut impl Write) -> io::Result<()> {
        write_header(&mesh.network, mesh.baud, out)?;
        self.entries
            .iter()
            .try_for_each(|(time, entry)| out.write_all(&entry.line(*time)))?;
        out.flush()
    }
}

/// Packets that were sent once and received once over the same wire.
fn pairs(entries: &[Entry], numbers: &BTreeMap<(u64, u32), usize>, mesh: &Mesh) -> Vec<Pair> {
    // Who is at each link, as the boards have found.
    let mut peers: HashMap<(u64, u8), Option<u64>> = HashMap::new();
    let mut sent: HashMap<(u64, u64, PacketId), Vec<(usize, f64)>> = HashMap::new();
    let mut received = Vec::new();
    for entry in entries {
        let peer_at = |peers: &HashMap<(u64, u8), Option<u64>>, link: u8| {
            let planned = || Some(mesh.far_end(mesh.port_at(entry.node, link.into())?)?.node);
            peers.get(&(entry.node, link)).copied().unwrap_or_else(planned)
        };
        let clock = numbers[&(entry.node, entry.boot)];
        match entry.event {
            Some(Event::LinkUp { link, peer }) => {
                let node = (peer.role == Role::Node).then_some(peer.address);
                peers.insert((entry.node, link), node);
            }
            Some(Event::Sent { link, packet, .. }) => {
                if let Some(to) = peer_at(&peers, link) {
                    sent.entry((entry.node, to, packet))
                        .or_default()
                        .push((clock, entry.stamp));
                }
            }
            Some(Event::Received { link, packet, .. }) => {
                if let Some(from) = peer_at(&peers, link) {
                    received.push(((from, entry.node, packet), clock, entry.stamp));
                }
            }
            _ => {}
        }
    }
    let mut times: HashMap<(u64, u64, PacketId), usize> = HashMap::new();
    received
        .iter()
        .for_each(|(name, ..)| *times.entry(*name).or_default() += 1);
    let pair = |(name, to, stamp): &((u64, u64, PacketId), usize, f64)| {
        let [(from, at)] = sent.get(name)?[..] else { return None };
        (times[name] == 1).then_some(Pair {
            from,
            to: *to,
            sent: at,
            received: *stamp,
            class: name.2.kind as usize % CLASSES,
        })
    };
    received.iter().filter_map(pair).collect()
}

/// Clocks that no packet connects with the first group are set by when their lines came, which is good to some milliseconds.
fn place_groups(entries: &[Entry], alignment: &mut Alignment, number: &dyn Fn(&Entry) -> usize) {
    let groups = alignment.clocks.iter().map(|clock| clock.group + 1).max().unwrap_or(0);
    let mut late: Vec<Vec<f64>> = vec![Vec::new(); groups];
    for entry in entries {
        let clock = alignment.clocks[number(entry)];
        late[clock.group].extend(entry.arrived.map(|arrived| arrived - clock.common(entry.stamp)));
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).copied()
    };
    let late: Vec<Option<f64>> = late.iter_mut().map(median).collect();
    for clock in &mut alignment.clocks {
        let by = late[clock.group].zip(late[0]).map_or(0.0, |(own, first)| own - first);
        *clock = clock.shifted(by);
    }
}
