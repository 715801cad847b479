//! A trace with boards' own times put on one time line, by passes over the file.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use hopwise_node::router::Event;
use hopwise_node::wire::{PacketId, Role};
use hopwise_trace::line::{Header, Nanos, Record, TraceLine};
use hopwise_trace::reader::{BadTrace, Reader};
use hopwise_trace::writer::Writer;

use super::clock_notes::{Boots, ClockKey, ClockNotes};
use super::clocks::{Alignment, Pair, align};
use super::mesh::Mesh;

/// Bytes of a frame around a packet of middling size, for a first guess of its time on the wire.
const USUAL_FRAME: f64 = 50.0;
/// Kinds of packets, each of which takes its own time.
const CLASSES: usize = 7;
/// The class of what boards say of the time of the mesh, which takes none.
const MESH_TIME: usize = CLASSES;
/// What a board says of the time of the mesh holds at least this long before and after, in seconds.
const HOLDS: f64 = 5.0;
/// Clocks are compared by packets that crossed cables so many times in all, drawn evenly from more.
const MAX_CROSSINGS: u64 = 1 << 20;
/// So many lines are sorted in memory at a time.
const LINES_IN_MEMORY: usize = 1 << 17;
/// A buffer for each sorted piece that is merged.
const PIECE_BUFFER: usize = 1 << 14;

pub(crate) struct TimeLine {
    clocks: BTreeMap<ClockKey, usize>,
    pub(crate) alignment: Alignment,
    /// The common time of the first line, or 0 if that is earlier.
    begin: f64,
    /// Nodes that could not be compared with the others by their packets.
    pub(crate) apart: Vec<u64>,
}

#[derive(Debug)]
pub(crate) enum Failed {
    Read(BadTrace),
    Write(io::Error),
}

impl TimeLine {
    pub(crate) fn find<R: BufRead>(
        mesh: &Mesh,
        notes: &BTreeMap<ClockKey, ClockNotes>,
        trace: Reader<R>,
        crossings: u64,
    ) -> Result<Self, BadTrace> {
        // Numbered by node, so that the result does not depend on whose lines came first.
        let clocks: BTreeMap<ClockKey, usize> = notes.keys().copied().zip(0..).collect();
        let pairs = pairs(trace, &clocks, mesh, crossings.div_ceil(MAX_CROSSINGS).max(1))?;
        let mut delays = [USUAL_FRAME * 10.0 / f64::from(mesh.baud); CLASSES + 1];
        delays[MESH_TIME] = 0.0;
        // The time of the mesh is one more clock, if anyone has told it.
        let told = pairs.iter().any(|pair| pair.class == MESH_TIME);
        let mut alignment = align(clocks.len() + usize::from(told), &pairs, &delays);
        place_groups(notes, &mut alignment);
        let first = notes.values().zip(&alignment.clocks);
        let first = first.map(|(notes, clock)| clock.common(notes.first));
        let apart = clocks.iter().filter(|(_, clock)| alignment.clocks[**clock].group > 0);
        let mut apart: Vec<u64> = apart.map(|((node, _), _)| *node).collect();
        apart.dedup();
        Ok(TimeLine {
            begin: first.fold(0.0, f64::min),
            clocks,
            alignment,
            apart,
        })
    }

    fn common(&self, key: ClockKey, at: Nanos) -> Nanos {
        let clock = self.clocks.get(&key).map(|clock| self.alignment.clocks[*clock]);
        let shown = at as f64 / 1e9;
        let time = clock.map_or(shown, |clock| clock.common(shown)) - self.begin;
        (time.max(0.0) * 1e9).round() as Nanos
    }

    /// Writes the trace by the common time: pieces that fit into memory are sorted, and merged if there are more than one.
    pub(crate) fn write<R: BufRead, W: Write>(
        &self,
        mesh: &Mesh,
        trace: Reader<R>,
        runs: &Path,
        output: W,
    ) -> Result<W, Failed> {
        let mut boots = Boots::default();
        let mut piece: Vec<TraceLine> = Vec::new();
        let mut pieces = Pieces::new(runs);
        for line in trace {
            let mut line = line.map_err(Failed::Read)?;
            line.at = self.common(boots.key(line.node, line.at), line.at);
            piece.push(line);
            if piece.len() >= LINES_IN_MEMORY {
                pieces.add(&mut piece).map_err(Failed::Write)?;
            }
        }
        let header = Header::new(&mesh.network, mesh.baud);
        let mut writer = Writer::new(output, &header).map_err(Failed::Write)?;
        if pieces.ends.is_empty() {
            sort(&mut piece);
            let written = piece.iter().try_for_each(|line| writer.write(line));
            written.map_err(Failed::Write)?;
        } else {
            pieces.add(&mut piece).map_err(Failed::Write)?;
            pieces.merge(|line| writer.write(line))?;
        }
        writer.finish().map_err(Failed::Write)
    }
}

/// Lines of one time are sorted by node; those of one node stay in their order.
fn sort(piece: &mut [TraceLine]) {
    piece.sort_by_key(|line| (line.at, line.node));
}

/// Sorted pieces of a trace, one after the other in a file.
struct Pieces<'a> {
    path: &'a Path,
    out: Option<BufWriter<File>>,
    ends: Vec<u64>,
}

impl<'a> Pieces<'a> {
    fn new(path: &'a Path) -> Self {
        Pieces {
            path,
            out: None,
            ends: Vec::new(),
        }
    }

    fn add(&mut self, piece: &mut Vec<TraceLine>) -> io::Result<()> {
        sort(piece);
        let out = match &mut self.out {
            Some(out) => out,
            none => none.insert(BufWriter::new(File::create(self.path)?)),
        };
        let mut end = self.ends.last().copied().unwrap_or(0);
        for line in piece.drain(..) {
            let text = line.to_json().unwrap_or_default() + "\n";
            out.write_all(text.as_bytes())?;
            end += text.len() as u64;
        }
        self.ends.push(end);
        Ok(())
    }

    fn merge(self, mut tell: impl FnMut(&TraceLine) -> io::Result<()>) -> Result<(), Failed> {
        if let Some(mut out) = self.out {
            out.flush().map_err(Failed::Write)?;
        }
        let file = File::open(self.path).map_err(Failed::Write)?;
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let section = |(at, end): (u64, &u64)| {
            let section = Section {
                file: &file,
                at,
                end: *end,
            };
            Reader::new(BufReader::with_capacity(PIECE_BUFFER, section))
        };
        let readers: Result<Vec<_>, _> = starts.zip(&self.ends).map(section).collect();
        let mut readers = readers.map_err(Failed::Read)?;
        let mut lines: Vec<Option<TraceLine>> = vec![None; readers.len()];
        // Of lines of one time and one node, those of the earlier piece come first.
        let mut next: BinaryHeap<Reverse<(Nanos, u64, usize)>> = BinaryHeap::new();
        let mut places: Vec<usize> = (0..readers.len()).collect();
        loop {
            for place in places.drain(..) {
                lines[place] = readers[place].next().transpose().map_err(Failed::Read)?;
                next.extend(lines[place].as_ref().map(|line| Reverse((line.at, line.node, place))));
            }
            let Some(Reverse((_, _, place))) = next.pop() else {
                return Ok(());
            };
            if let Some(line) = &lines[place] {
                tell(line).map_err(Failed::Write)?;
            }
            places.push(place);
        }
    }
}

struct Section<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl Read for Section<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let room = buffer.len().min(left);
        let count = read_at(self.file, &mut buffer[..room], self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// Reads from a place of a file that others read, too.
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_at(file, buffer, at);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_read(file, buffer, at);
}

/// A packet over a cable: from, to, which.
type Crossing = (u64, u64, PacketId);

/// Rates of clocks are told in parts of this.
pub(crate) const RATE_UNIT: f64 = (1_u64 << 32) as f64;

/// Packets that were sent once and received once over the same cable, of `every` so many one; and what boards have said of the time of the mesh.
fn pairs<R: BufRead>(
    trace: Reader<R>,
    clocks: &BTreeMap<ClockKey, usize>,
    mesh: &Mesh,
    every: u64,
) -> Result<Vec<Pair>, BadTrace> {
    // Who is at each link, as the boards have found.
    let mut peers: HashMap<(u64, u8), Option<u64>> = HashMap::new();
    let mut sent: HashMap<Crossing, Vec<(usize, f64)>> = HashMap::new();
    let mut received: HashMap<Crossing, Vec<(usize, f64)>> = HashMap::new();
    let mut told = Vec::new();
    let mut boots = Boots::default();
    for line in trace {
        let TraceLine { at, node, record } = line?;
        let clock = clocks.get(&boots.key(node, at));
        let (Record::Event(event), Some(&clock)) = (record, clock) else {
            continue;
        };
        let mark = (clock, at as f64 / 1e9);
        let peer_at = |link: u8| {
            let planned = || Some(mesh.far_end(mesh.port_at(node, link.into())?)?.node);
            peers.get(&(node, link)).copied().unwrap_or_else(planned)
        };
        match event {
            Event::LinkUp { link, peer } => {
                let peer = (peer.role == Role::Node).then_some(peer.address);
                peers.insert((node, link), peer);
            }
            Event::Sent { link, packet, .. } if is_drawn(&packet, every) => {
                if let Some(to) = peer_at(link) {
                    sent.entry((node, to, packet)).or_default().push(mark);
                }
            }
            Event::Received { link, packet, .. } if is_drawn(&packet, every) => {
                if let Some(from) = peer_at(link) {
                    received.entry((from, node, packet)).or_default().push(mark);
                }
            }
            Event::Clock { local, mesh, rate, .. } => {
                let faster = 1.0 + f64::from(rate) / RATE_UNIT;
                told.extend([-HOLDS, HOLDS].map(|passed| Pair {
                    from: clocks.len(),
                    to: clock,
                    sent: mesh as f64 / 1e6 + passed * faster,
                    received: local as f64 / 1e6 + passed,
                    class: MESH_TIME,
                }));
            }
            _ => {}
        }
    }
    let pair = |(crossing, came): (&Crossing, &Vec<(usize, f64)>)| {
        let [(from, at)] = sent.get(crossing)?[..] else {
            return None;
        };
        let [(to, stamp)] = came[..] else { return None };
        Some(Pair {
            from,
            to,
            sent: at,
            received: stamp,
            class: crossing.2.kind as usize % CLASSES,
        })
    };
    let mut pairs: Vec<Pair> = received.iter().filter_map(pair).collect();
    pairs.append(&mut told);
    // Sums of floats depend on their order, and that of a map is not always the same.
    pairs.sort_by(|one, other| {
        let clocks = (one.from, one.to).cmp(&(other.from, other.to));
        let received = one.received.total_cmp(&other.received);
        let times = one.sent.total_cmp(&other.sent).then(received);
        clocks.then(times).then(one.class.cmp(&other.class))
    });
    Ok(pairs)
}

/// Draws packets evenly, the same at every node.
fn is_drawn(packet: &PacketId, every: u64) -> bool {
    let mixed = (u64::from(packet.number) ^ packet.source.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32).is_multiple_of(every)
}

/// Clocks that no packet connects with the first group are set by when their lines came, which is good to some milliseconds.
fn place_groups(notes: &BTreeMap<ClockKey, ClockNotes>, alignment: &mut Alignment) {
    let groups = alignment.clocks.iter().map(|clock| clock.group + 1).max().unwrap_or(0);
    let mut late: Vec<Vec<f64>> = vec![Vec::new(); groups];
    for (notes, clock) in notes.values().zip(&alignment.clocks) {
        let times = notes.arrivals().iter();
        late[clock.group].extend(times.map(|(stamp, arrived)| arrived - clock.common(*stamp)));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_merged_by_time() {
        let folder = hopwise_testing::Folder::new("pieces");
        let path = folder.folder().join("runs");
        let mut pieces = Pieces::new(&path);
        let line = |number: u64| TraceLine {
            at: (number * 7_919 % 1_000) as Nanos,
            node: number % 3,
            record: Record::Log {
                level: "info".into(),
                text: number.to_string(),
            },
        };
        let mut all: Vec<TraceLine> = (0..10_000).map(line).collect();
        for piece in all.chunks(900) {
            pieces.add(&mut piece.to_vec()).unwrap();
        }
        let mut merged = Vec::new();
        pieces
            .merge(|line| {
                merged.push(line.clone());
                Ok(())
            })
            .unwrap();
        sort(&mut all);
        assert!(merged == all, "as if they had been sorted in memory");
    }
}
