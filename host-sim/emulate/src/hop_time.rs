//! How long a packet takes on a way: on the wires, and in the nodes between, from the last bit of its frame to the first of the next.

use hopwise_core::Network;
use hopwise_emulator::time::{MICROSECOND, MILLISECOND, SECOND, Time};
use hopwise_emulator::world::{Port, World};
use hopwise_node::wire::{DEFAULT_BAUD, Pattern, RATE_STEPS, Traffic};
use hopwise_rig::mesh::{CableRate, NodePort};
use serde::Serialize;

use crate::check::path;
use crate::cost::{CannotMeasure, Measured, plan};
use crate::rig::{EmulatedMesh, port};
use crate::setup::Program;

/// Packets, each sent after the previous one has arrived, at a rate that is in no simple ratio to the boards' timers.
const PACKETS: u32 = 40;
const RATE: u32 = 87;

/// Microseconds: half of the packets take no longer than the first, and none longer than the second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Distribution {
    pub median: f64,
    pub most: f64,
}

impl Distribution {
    fn of(times: impl Iterator<Item = f64>) -> Self {
        let mut times: Vec<f64> = times.collect();
        times.sort_by(f64::total_cmp);
        Distribution {
            median: times[times.len() / 2],
            most: times[times.len() - 1],
        }
    }
}

/// How long packets take while nothing else happens. The names are those of the JSON keys of `hopwise cost --hop`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HopTime {
    pub baud: u32,
    /// Bytes of the payload.
    pub payload: u8,
    /// Wires on the way.
    pub hops: usize,
    /// A frame on a wire.
    pub wire_us: Distribution,
    /// From the last bit of a frame that a node receives to the first that it sends.
    pub node_us: Distribution,
    /// From the first bit that the source sends to the last that the destination receives.
    pub way_us: Distribution,
}

/// A frame at one end of a wire.
#[derive(Clone, Copy, Debug)]
struct Frame {
    begin: Time,
    end: Time,
    bytes: u64,
}

/// The frames that an end sends or receives, as its counter of bytes tells.
#[derive(Debug)]
struct Frames {
    counted: u64,
    all: Vec<Frame>,
}

impl Frames {
    fn note(&mut self, counter: u64, pause: Time, now: Time) {
        let bytes = counter - self.counted;
        self.counted = counter;
        match self.all.last_mut() {
            _ if bytes == 0 => {}
            Some(last) if now <= last.end + pause => (last.end, last.bytes) = (now, last.bytes + bytes),
            _ => self.all.push(Frame {
                begin: now,
                end: now,
                bytes,
            }),
        }
    }

    /// The frame that follows another soon, and is of its length but for what changes from hop to hop.
    fn after(&self, time: Time, bytes: u64) -> Option<Frame> {
        let soon = time..time + MILLISECOND;
        let is_next = |frame: &&Frame| soon.contains(&frame.begin) && frame.bytes.abs_diff(bytes) <= 2;
        self.all.iter().find(is_next).copied()
    }
}

/// The slowest rate that boards choose by themselves, one between, and the fastest.
pub fn rates(program: &Program, network: &Network) -> Result<Vec<u32>, CannotMeasure> {
    let mut mesh = plan(program, network)?;
    let all = std::iter::once(DEFAULT_BAUD).chain(RATE_STEPS);
    let mut rates: Vec<u32> = all
        .filter(|baud| mesh.set_baud(CableRate::Fixed(*baud)).is_ok())
        .collect();
    let last = rates.pop();
    rates.retain(|baud| [DEFAULT_BAUD, 3_000_000].contains(baud));
    rates.extend(last);
    Ok(rates)
}

/// How long packets of a size take from the first to the last node of a network.
pub fn measure(program: &Program, network: &Network, baud: u32, payload: u8) -> Result<HopTime, CannotMeasure> {
    let mut mesh = plan(program, network)?;
    mesh.set_baud(CableRate::Fixed(baud))?;
    let mut emulated = EmulatedMesh::start_real(&mesh, std::slice::from_ref(program), &[])?;
    let way = path(network, 0, network.nodes() - 1);
    let end = |node, neighbor| {
        let at = network.port_to(node, neighbor).ok().flatten().unwrap_or_default();
        port(&mesh, NodePort { node, port: at })
    };
    let ends = way
        .windows(2)
        .map(|hop| Ok([end(hop[0], hop[1])?, end(hop[1], hop[0])?]));
    let ends = ends.collect::<Result<Vec<_>, CannotMeasure>>()?;
    let mut measured = Measured::of(&mut emulated);
    measured.wait_for_links(network)?;
    measured.start_traffic(
        0,
        Traffic {
            random: true,
            ..Traffic::new(RATE, PACKETS, Pattern::Opposite, payload)
        },
    )?;
    let pause = 3 * 10 * SECOND / Time::from(baud);
    let world = measured.world;
    let counted = |world: &World, [from, to]: &[Port; 2]| {
        let counters = |port: &Port| world.boards()[port.board].traffic(port.uart);
        [counters(from).sent, counters(to).received]
    };
    let none = |counted| Frames {
        counted,
        all: Vec::new(),
    };
    let mut frames: Vec<[Frames; 2]> = ends.iter().map(|ends| counted(world, ends).map(none)).collect();
    let until = world.now() + SECOND * Time::from(PACKETS) / Time::from(RATE) + 20 * MILLISECOND;
    while world.now() < until {
        let now = world.now() + MICROSECOND;
        world.run_until(now);
        for (frames, ends) in frames.iter_mut().zip(&ends) {
            let counted = counted(world, ends).into_iter();
            frames
                .iter_mut()
                .zip(counted)
                .for_each(|(frames, counted)| frames.note(counted, pause, now));
        }
    }
    // A packet is seen on all wires; what only neighbors tell each other is not.
    let follow = |first: &Frame| {
        let (mut begin, mut bytes) = (first.begin, first.bytes);
        let hop = |[sent, heard]: &[Frames; 2]| {
            let sent = sent.after(begin, bytes)?;
            let heard = heard.after(sent.begin, sent.bytes)?;
            (begin, bytes) = (heard.end, heard.bytes);
            Some([sent.begin, heard.end])
        };
        frames.iter().map(hop).collect::<Option<Vec<[Time; 2]>>>()
    };
    let packets: Vec<_> = frames[0][0].all.iter().filter_map(follow).collect();
    // Many meet a sign of life on one of the wires, and are not told from it.
    if packets.len() < PACKETS as usize / 5 {
        return Err(CannotMeasure::lost(ends.len(), packets.len() as u32));
    }
    let between = |from: Time, to: Time| (to - from) as f64 / MICROSECOND as f64;
    let wires = packets.iter().flatten().map(|[begin, end]| between(*begin, *end));
    let nodes = packets
        .iter()
        .flat_map(|hops| hops.windows(2))
        .map(|hops| between(hops[0][1], hops[1][0]));
    let ways = packets.iter().map(|hops| between(hops[0][0], hops[hops.len() - 1][1]));
    Ok(HopTime {
        baud,
        payload,
        hops: ends.len(),
        wire_us: Distribution::of(wires),
        node_us: Distribution::of(nodes),
        way_us: Distribution::of(ways),
    })
}
