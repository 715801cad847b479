//! Boards and cables in virtual time, with the router of the boards in every node. Time goes on only as far as the page asks, so
//! that the same requests at the same times always give the same mesh.

use std::collections::BTreeSet;
use std::error::Error;
use std::iter::from_fn;

use hopwise_core::{Network, Node};
use hopwise_node::capacities::Capacities;
use hopwise_node::router::Event;
use hopwise_node::wire::{AppPort, Kind, PacketId};
use hopwise_sim::Settings;
use hopwise_sim::wire::Nanos;
use hopwise_sim::world::{Narrow, NarrowOfMany, SimSizes, StepOutcome, Watcher, Wide, WireEnd, World};
use hopwise_trace::line::{Record, TraceLine};
use serde::{Deserialize, Serialize};

/// Links that are not up after this will not come up.
const MAX_BRING_UP: Nanos = 5_000_000_000;
/// A page that waits longer for one response does not move.
const MAX_STEPS: u32 = 4_000;
/// What is sent.
const PAYLOAD: &[u8] = b"hello, mesh";

/// A message of a board's application.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Message {
    /// To another board.
    Datagram(Node),
    /// To another board, which confirms it.
    Confirmed(Node),
    /// To all boards.
    Broadcast,
}

/// How far a mesh has come.
#[derive(Debug, Default, Serialize)]
pub struct Progress {
    /// The time in nanoseconds.
    pub now: Nanos,
    /// Whether a packet is in a buffer, on a wire or not confirmed, or a board has yet to notice what happened to a cable.
    pub busy: bool,
    /// Frames that boards have sent so far, of all kinds.
    pub frames: u64,
    /// What happened since the last response, as lines of a trace; frames with a packet in them besides.
    pub events: Vec<String>,
}

/// A frame with a packet in it, on its way over a cable. The names are those of the JSON keys, beside those of a trace.
#[derive(Serialize)]
struct FrameOnWire {
    event: &'static str,
    t: f64,
    until: f64,
    node: u32,
    to: u32,
    packet: PacketId,
    dest: Node,
    retransmit: bool,
}

/// A mesh of any width.
pub trait LiveMesh {
    /// Lets it go on until all links are up.
    fn bring_up(&mut self) -> Progress;
    /// Lets it go on until a time; with `one`, only to the next event.
    fn advance(&mut self, until: Nanos, one: bool) -> Progress;
    /// A board's application sends; returns the number of the packet.
    fn send(&mut self, from: u32, message: Message) -> Result<u32, Box<dyn Error>>;
    /// Plugs a cable in, or pulls it.
    fn plug(&mut self, cable: u32, plugged: bool) -> Result<(), Box<dyn Error>>;
    /// Switches a board on or off.
    fn power(&mut self, board: u32, on: bool) -> Result<(), Box<dyn Error>>;
}

/// A mesh of a network, all boards on.
pub fn start(network: &Network) -> Result<Box<dyn LiveMesh>, Box<dyn Error>> {
    let degrees = (0..network.nodes()).filter_map(|node| network.degree(node).ok());
    let narrow = degrees.max() <= Some(Narrow::SIZES.links as u64);
    Ok(match narrow {
        true if network.nodes() <= Narrow::SIZES.peers as u64 => Live::<Narrow>::boxed(network)?,
        true => Live::<NarrowOfMany>::boxed(network)?,
        false => Live::<Wide>::boxed(network)?,
    })
}

/// Writes down what nodes do.
#[derive(Default)]
struct Recorder {
    events: Vec<String>,
    /// The packet in the frame that is about to leave.
    leaving: Option<(PacketId, Node, bool)>,
    byte_nanos: Nanos,
    /// When the last frame with a packet in it has arrived.
    on_wires_until: Nanos,
    /// Confirmed packets that are not completed: board and number. Between two attempts they are in no buffer.
    unconfirmed: BTreeSet<(u32, u32)>,
}

impl Watcher for Recorder {
    fn note(&mut self, at: Nanos, board: u32, event: &Event) {
        self.leaving = match *event {
            Event::Sent {
                packet,
                dest,
                retransmit,
                ..
            } => Some((packet, dest, retransmit)),
            Event::Clock { .. } => return,
            _ => None,
        };
        match *event {
            Event::Accepted { packet, .. } if packet.kind == Kind::Confirmed => {
                self.unconfirmed.insert((board, packet.number));
            }
            Event::Completed { number, .. } => {
                self.unconfirmed.remove(&(board, number));
            }
            _ => {}
        }
        let line = TraceLine {
            at: at as i64,
            node: u64::from(board),
            record: Record::Event(*event),
        };
        self.events.extend(line.to_json());
    }

    fn leaves(&mut self, at: Nanos, [from, to]: [WireEnd; 2], _frame: &mut [u8], length: usize) -> usize {
        if let Some((packet, dest, retransmit)) = self.leaving.take() {
            let until = at + length as u64 * self.byte_nanos;
            self.on_wires_until = self.on_wires_until.max(until);
            let frame = FrameOnWire {
                event: "frame",
                t: at as f64 / 1e9,
                until: until as f64 / 1e9,
                node: from.0,
                to: to.0,
                packet,
                dest,
                retransmit,
            };
            self.events.extend(serde_json::to_string(&frame));
        }
        length
    }
}

struct Live<C: SimSizes> {
    world: World<C>,
    /// Of each cable.
    plugged: Vec<bool>,
    recorder: Recorder,
}

impl<C: SimSizes + 'static> Live<C> {
    fn boxed(network: &Network) -> Result<Box<dyn LiveMesh>, Box<dyn Error>> {
        let settings = Settings {
            network: Some(network.to_string()),
            ..Settings::default()
        };
        let mut world = World::<C>::new(settings.run()?.build);
        let mut recorder = Recorder {
            byte_nanos: world.byte_nanos(),
            ..Recorder::default()
        };
        for board in 0..world.boards() {
            world.start(board, &mut recorder)?;
        }
        Ok(Box::new(Live {
            plugged: vec![true; world.cables() as usize],
            world,
            recorder,
        }))
    }

    /// Goes on to the next thing that happens, and takes what has come for the application of its board.
    fn step(&mut self, until: Nanos) -> bool {
        let outcome = self.world.step(until, &mut self.recorder);
        if let StepOutcome::Board(board) = outcome
            && self.world.node(board).is_some_and(|node| node.has_news())
        {
            self.world.with_node(board, &mut self.recorder, |node, _, _| {
                from_fn(|| node.next_message()).for_each(drop);
                from_fn(|| node.next_outcome()).for_each(drop);
            });
        }
        outcome != StepOutcome::End
    }

    /// Whether every board knows the state of a cable.
    fn is_known(&self, cable: u32) -> bool {
        let ends = self.world.ends(cable);
        let whole = self.plugged[cable as usize] && ends.iter().all(|&(board, _)| self.world.is_on(board));
        let mut live = ends.iter().filter(|&&(board, _)| self.world.is_on(board));
        live.all(|&(board, link)| {
            let mut open = self.world.node(board).into_iter().flat_map(|node| node.neighbors());
            open.any(|(_, at)| at == Some(link)) == whole
        })
    }

    fn busy(&self) -> bool {
        let mut nodes = (0..self.world.boards()).filter_map(|board| self.world.node(board));
        self.recorder.on_wires_until > self.world.now()
            || !self.recorder.unconfirmed.is_empty()
            || nodes.any(|node| node.held() > 0)
            || !(0..self.world.cables()).all(|cable| self.is_known(cable))
    }

    fn progress(&mut self) -> Progress {
        Progress {
            now: self.world.now(),
            busy: self.busy(),
            frames: self.world.frames(),
            events: std::mem::take(&mut self.recorder.events),
        }
    }

    fn check(&self, board: u32) -> Result<(), Box<dyn Error>> {
        match board < self.world.boards() {
            true => Ok(()),
            false => Err(format!("there is no board {board}").into()),
        }
    }
}

impl<C: SimSizes + 'static> LiveMesh for Live<C> {
    fn bring_up(&mut self) -> Progress {
        // Looking at all cables takes longer than a step.
        while self.world.now() < MAX_BRING_UP && self.busy() {
            let until = self.world.now() + 1_000_000;
            while self.step(until) {}
        }
        self.progress()
    }

    fn advance(&mut self, until: Nanos, one: bool) -> Progress {
        for _ in 0..MAX_STEPS {
            if !self.step(until) || one && !self.recorder.events.is_empty() {
                break;
            }
        }
        self.progress()
    }

    fn send(&mut self, from: u32, message: Message) -> Result<u32, Box<dyn Error>> {
        self.check(from)?;
        let port = AppPort::FIRST_FREE;
        let sent = self
            .world
            .with_node(from, &mut self.recorder, |node, now, mut note| match message {
                Message::Datagram(to) => node.send(to, port, PAYLOAD, now, &mut note),
                Message::Confirmed(to) => node.send_confirmed(to, port, PAYLOAD, now, &mut note),
                Message::Broadcast => node.broadcast(port, PAYLOAD, now, &mut note),
            });
        let sent = sent.ok_or_else(|| format!("board {from} is off"))?;
        Ok(sent.map_err(|error| format!("board {from} cannot send: {error}"))?)
    }

    fn plug(&mut self, cable: u32, plugged: bool) -> Result<(), Box<dyn Error>> {
        let state = self.plugged.get_mut(cable as usize);
        *state.ok_or_else(|| format!("there is no cable {cable}"))? = plugged;
        self.world.plug(cable, plugged, &mut self.recorder);
        Ok(())
    }

    fn power(&mut self, board: u32, on: bool) -> Result<(), Box<dyn Error>> {
        self.check(board)?;
        match (self.world.is_on(board), on) {
            (true, false) => {
                self.world.stop(board, &mut self.recorder);
                self.recorder.unconfirmed.retain(|&(sender, _)| sender != board);
            }
            (false, true) => self.world.start(board, &mut self.recorder)?,
            _ => {}
        }
        Ok(())
    }
}
