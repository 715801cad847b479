//! A running mesh, asked through the serial port of any of its boards.

use std::path::Path;
use std::time::{Duration, Instant};

use hopwise_core::limits::MAX_PAYLOAD;
use hopwise_core::wire::{
    AppPort, BoardState, Command, Done, DropReason, NodeReport, Page, Query, RouterCounters, Status, Verdict,
    trace_records,
};
use hopwise_core::{Network, NoSuchNode};
use hopwise_emulate::computers::Question;
use hopwise_emulate::host_port::Reply;

use super::serial_line::{BadPort, SerialMesh};
use super::talk::{NoAnswer, Talk, ask_nodes, read};

/// A confirmed packet is settled within this: packets live for six seconds.
const SETTLED_WITHIN: Duration = Duration::from_secs(7);
/// Word that a datagram is undeliverable comes within this, if it comes.
const BAD_NEWS_WITHIN: Duration = Duration::from_millis(300);
/// The bytes of a ping.
const PING: &[u8] = b"hopwise";

/// Why there is no connection to a mesh.
#[derive(Debug, thiserror::Error)]
pub enum NoConnection {
    /// The serial port is none, or nobody is there.
    #[error("{0}")]
    Port(#[from] BadPort),
    /// Its board cannot run its network.
    #[error("the board at {0}: its image lacks the family of its network: flash one that has it")]
    NotInImage(String),
    /// Its board has no configuration.
    #[error("the board at {port}: it is not part of a mesh ({state:?}): flash its page first")]
    NoMesh {
        /// Which.
        port: String,
        /// What it says of itself.
        state: BoardState,
    },
    /// Its board is there and does not answer.
    #[error("the board at {0}: it says hello and then does not answer")]
    NoAnswer(String),
    /// Its board answers nonsense.
    #[error("the board at {0}: it does not say what its network is")]
    NoNetwork(String),
}

/// A packet that cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a packet carries at most {MAX_PAYLOAD} bytes, not {0}")]
pub struct TooLong(pub usize);

/// Refuses what no packet carries, before anyone is asked.
pub fn check_length(bytes: &[u8]) -> Result<(), TooLong> {
    match bytes.len() {
        0..=MAX_PAYLOAD => Ok(()),
        long => Err(TooLong(long)),
    }
}

/// What became of something that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The destination has it.
    Delivered,
    /// Nothing bad was heard: that is all one knows of a datagram.
    Sent,
    /// The destination is busy.
    Busy,
    /// The destination restarted.
    Interrupted,
    /// It could not be delivered; why.
    Undeliverable(DropReason),
    /// Nobody answered in time.
    Unknown,
    /// The board at the port has no room for it.
    NoRoom,
}

/// What one node says of itself; `None` where it said nothing.
#[derive(Clone, Debug)]
pub struct NodeState {
    /// Which.
    pub node: u64,
    /// Who it is.
    pub report: Option<NodeReport>,
    /// What it has done.
    pub counters: Option<RouterCounters>,
}

/// A mesh and the board at the serial port.
pub struct Connection {
    mesh: SerialMesh,
    /// The board at the port.
    pub board: u64,
    /// The network of the mesh, as that board says.
    pub network: Network,
}

impl Connection {
    /// Opens a serial port, and asks the board there for its network.
    pub fn open(port: &Path, baud: u32) -> Result<Self, NoConnection> {
        let mut mesh = SerialMesh::open(&[port.to_path_buf()], baud)?;
        let board = mesh.entrances().first().copied().unwrap_or(0);
        let port = port.display().to_string();
        let status = ask(&mut mesh, board, Command::Status.query(), &[]);
        match read::<Status>(&status).map(|status| status.state) {
            Some(BoardState::Configured) => {}
            Some(BoardState::NotInImage) => return Err(NoConnection::NotInImage(port)),
            Some(state) => return Err(NoConnection::NoMesh { port, state }),
            None => return Err(NoConnection::NoAnswer(port)),
        }
        // The network is what the board's configuration page says.
        let page = match ask(&mut mesh, board, Command::ReadPage.query(), &[]) {
            Some(Reply::Answer(bytes)) => bytes
                .as_slice()
                .try_into()
                .ok()
                .and_then(|bytes| Page::read(bytes).ok()),
            _ => None,
        };
        let network = page.and_then(|page| page.network().ok());
        let network = network.ok_or(NoConnection::NoNetwork(port))?;
        Ok(Connection { mesh, board, network })
    }

    /// A node, if the mesh has it.
    pub fn check(&self, node: u64) -> Result<u64, NoSuchNode> {
        self.network.check(node)
    }

    /// Asks a node whether it is there. How long that took, or why there is no answer.
    pub fn ping(&mut self, node: u64) -> Result<Duration, NoAnswer> {
        let begin = Instant::now();
        let reply = ask(&mut self.mesh, node, Query::Ping, PING);
        match &reply {
            Some(Reply::Answer(bytes)) if bytes == PING => Ok(begin.elapsed()),
            _ => Err(NoAnswer::of(&reply)),
        }
    }

    /// The path to a node: the nodes on it, and how many microseconds a packet was at each; or why it is not known.
    pub fn trace(&mut self, node: u64) -> Result<Vec<(u64, u64)>, NoAnswer> {
        let reply = ask(&mut self.mesh, node, Query::Trace, &[]);
        match &reply {
            Some(Reply::Answer(answer)) => Ok(trace_records(answer)
                .map(|record| (record.node, record.waited))
                .collect()),
            _ => Err(NoAnswer::of(&reply)),
        }
    }

    /// What nodes have done.
    pub fn counters(&mut self, nodes: &[u64]) -> Vec<NodeState> {
        let reports = ask_nodes(&mut self.mesh, nodes, Query::Identity, &[]);
        let counters = ask_nodes(&mut self.mesh, nodes, Query::Counters, &[]);
        let states = nodes.iter().zip(reports.iter().zip(&counters));
        let states = states.map(|(node, (report, counters))| NodeState {
            node: *node,
            report: read(report),
            counters: read(counters),
        });
        states.collect()
    }

    /// Keeps the connection for a while.
    pub fn idle(&mut self, time: Duration) -> Result<(), BadPort> {
        self.mesh.idle(time)
    }

    /// Sends bytes to an application of a node, and waits until it confirms them, or for bad news.
    pub fn send(&mut self, node: u64, app: AppPort, bytes: &[u8], confirmed: bool) -> Result<Fate, BadPort> {
        let (port, _) = self.mesh.port(0);
        let (number, within) = match confirmed {
            true => (port.confirmed(node, app, bytes), SETTLED_WITHIN),
            false => (port.datagram(node, app, bytes), BAD_NEWS_WITHIN),
        };
        if !self.mesh.flush(0, SETTLED_WITHIN)? {
            return Ok(Fate::NoRoom);
        }
        let reply = self.mesh.wait(0, number, within)?;
        Ok(match &reply {
            Some(Reply::Confirmed(Verdict::Delivered)) => Fate::Delivered,
            Some(Reply::Confirmed(Verdict::Busy)) => Fate::Busy,
            Some(Reply::Confirmed(Verdict::Restarted)) => Fate::Interrupted,
            Some(Reply::Confirmed(Verdict::Full)) => Fate::Undeliverable(DropReason::InboxFull),
            Some(Reply::Confirmed(Verdict::Unserved)) => Fate::Undeliverable(DropReason::Unserved),
            Some(Reply::Undeliverable(reason)) => Fate::Undeliverable(*reason),
            _ if confirmed => Fate::Unknown,
            _ => Fate::Sent,
        })
    }

    /// Lets a node broadcast bytes; or why it does not.
    pub fn broadcast(&mut self, from: u64, bytes: &[u8]) -> Result<(), NoAnswer> {
        let command = Command::Broadcast(bytes);
        let reply = ask(&mut self.mesh, from, command.query(), &command.payload());
        match read(&reply) {
            Some(Done::Done) => Ok(()),
            _ => Err(NoAnswer::of(&reply)),
        }
    }
}

fn ask(mesh: &mut SerialMesh, dest: u64, query: Query, more: &[u8]) -> Option<Reply> {
    let question = Question {
        more: more.to_vec(),
        ..Question::new(0, dest, query)
    };
    mesh.ask(&[question]).pop().flatten()
}
