//! One scenario on emulated boards and in the simulator: the same deliveries, by the same paths.

use std::collections::BTreeMap;

use crate::firmware_support::{Rig, firmware, port};
use hopwise_core::{Network, Node};
use hopwise_emulate::check::path;
use hopwise_emulator::time::{MILLISECOND, SECOND};
use hopwise_emulator::world::Action;
use hopwise_host::talk::{BoardRequest, Reply};
use hopwise_node::router::{Event, MessageKind};
use hopwise_node::wire::{Query, trace_records};
use hopwise_sim::wire::Noise;
use hopwise_sim::world::{Build, Narrow, StepOutcome, World};

const NETWORK: &str = "rcr(2,2,1)";
/// The cable that is cut: at port 1 of node 0.
const CUT: (u32, u8) = (0, 1);
/// When, in milliseconds; all that is asked before is answered by then. And so long later everyone knows.
const CUT_AT: u64 = 5_000;
const KNOWN_AFTER: u64 = 600;

type Asked = (Node, Node, Query);
/// The bytes of the responses; `None` if there was none.
type Answers = Vec<Option<Vec<u8>>>;

/// For ordered pairs, whether a ping came back, and the path of a trace.
type Paths = BTreeMap<(Node, Node), (bool, Option<Vec<Node>>)>;

trait Mesh {
    fn ask(&mut self, round: &[Asked]) -> Answers;
}

impl Mesh for Rig {
    fn ask(&mut self, round: &[Asked]) -> Answers {
        let requests: Vec<BoardRequest> = round
            .iter()
            .map(|&(from, to, query)| BoardRequest::new(from as usize, to, query).with(more(from, query)))
            .collect();
        let replies = Rig::ask(self, &requests).into_iter();
        replies
            .map(|reply| match reply {
                Some(Reply::Response(response)) => Some(response),
                _ => None,
            })
            .collect()
    }
}

/// What comes with a request: a ping's response repeats it.
fn more(from: Node, query: Query) -> Vec<u8> {
    match query {
        Query::Ping => from.to_le_bytes().to_vec(),
        _ => Vec::new(),
    }
}

struct Simulated(World<Narrow>);

impl Simulated {
    fn new(network: Network) -> Self {
        let mut world = World::new(Build {
            network,
            baud: 1_000_000,
            processing: 100_000,
            noise: Noise::default(),
            drift: None,
            jitter: 0,
            seed: 7,
            faulty_boards: Vec::new(),
            key: None,
            rogue_has_key: false,
            taps: Vec::new(),
            hosts: Vec::new(),
        });
        for board in 0..world.boards() {
            world.start(board, &mut ()).expect("a node");
        }
        Simulated(world)
    }

    fn run_until(&mut self, milliseconds: u64) {
        let end = milliseconds * 1_000_000;
        assert!(self.0.now() <= end, "the simulator is late");
        while self.0.step(end, &mut ()) != StepOutcome::End {}
    }

    fn responses(&mut self, board: u32) -> Vec<(u32, Vec<u8>)> {
        let mut responses = Vec::new();
        self.0.with_node(board, &mut (), |node, _, _| {
            while let Some(message) = node.next_message() {
                if matches!(message.kind, MessageKind::Response(_)) {
                    responses.push((message.number, message.payload.to_vec()));
                }
            }
        });
        responses
    }
}

impl Mesh for Simulated {
    fn ask(&mut self, round: &[Asked]) -> Answers {
        let mut open = BTreeMap::new();
        for (index, &(from, to, query)) in round.iter().enumerate() {
            let asked = self.0.with_node(from as u32, &mut (), |node, now, note| {
                node.ask(to, query, &more(from, query), now, &mut |event: Event| note(event))
            });
            let number = asked.expect("a node that is on").expect("room for a request");
            open.insert((from as u32, number), index);
        }
        let mut responses = vec![None; round.len()];
        let end = self.0.now() + 1_000_000_000;
        while !open.is_empty() {
            match self.0.step(end, &mut ()) {
                StepOutcome::Board(board) => {
                    for (number, response) in self.responses(board) {
                        if let Some(index) = open.remove(&(board, number)) {
                            responses[index] = Some(response);
                        }
                    }
                }
                StepOutcome::End => break,
                _ => {}
            }
        }
        responses
    }
}

fn paths(mesh: &mut impl Mesh, nodes: u64) -> Paths {
    let mut paths = BTreeMap::new();
    // In each round every node is asked by one other: it answers only so many at once.
    for ahead in 1..nodes {
        let round = |query| -> Vec<Asked> { (0..nodes).map(|from| (from, (from + ahead) % nodes, query)).collect() };
        let pongs = mesh.ask(&round(Query::Ping));
        let traces = mesh.ask(&round(Query::Trace));
        for ((&(from, to, query), pong), trace) in round(Query::Ping).iter().zip(pongs).zip(traces) {
            let path = trace.map(|trace| trace_records(&trace).map(|record| record.node).collect());
            paths.insert((from, to), (pong == Some(more(from, query)), path));
        }
    }
    paths
}

#[test]
fn boards_and_simulator_deliver_the_same_by_the_same_paths() {
    let Some(firmware) = firmware() else { return };
    let mut boards = Rig::new(firmware, NETWORK);
    let network = boards.network;
    let nodes = network.nodes();
    let port = port(CUT.0 as usize, CUT.1.into());
    boards.script(vec![(CUT_AT * MILLISECOND, Action::Cut(port))]);
    let mut simulated = Simulated::new(network);
    boards.wait_for_links(SECOND);
    simulated.run_until(500);

    let whole = paths(&mut boards, nodes);
    assert_eq!(whole, paths(&mut simulated, nodes));
    for (&(from, to), (pong, traced)) in &whole {
        assert!(pong, "ping of {to} from {from}");
        assert_eq!(traced.as_deref(), Some(&path(&network, from, to)[..]), "{from} to {to}");
    }

    let now = boards.world.now();
    assert!(now < CUT_AT * MILLISECOND, "cut at {} ms", now / MILLISECOND);
    boards.run_for((CUT_AT + KNOWN_AFTER) * MILLISECOND - now);
    simulated.run_until(CUT_AT);
    let cable = simulated.0.cable_at(CUT).expect("a cable");
    simulated.0.plug(cable, false, &mut ());
    simulated.run_until(CUT_AT + KNOWN_AFTER);

    let cut = paths(&mut boards, nodes);
    assert_eq!(cut, paths(&mut simulated, nodes));
    assert!(cut.values().all(|(pong, path)| *pong && path.is_some()), "{cut:?}");
    let lost = network.neighbor(u64::from(CUT.0), u64::from(CUT.1));
    let lost = [u64::from(CUT.0), lost.expect("a node").expect("a neighbor")];
    for path in cut.values().filter_map(|(_, path)| path.as_ref()) {
        let uses = |hop: &[Node]| hop == lost || hop == [lost[1], lost[0]];
        assert!(!path.windows(2).any(uses), "{path:?} uses the cut cable");
    }
    assert_ne!(cut, whole);
    boards.assert_healthy();
}
