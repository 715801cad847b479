//! What mesh files have to keep, and how a broken rule is told.

use std::io;
use std::path::PathBuf;

use hopwise_core::{NoSuchNode, ParseError};
use hopwise_node::key::BadKey;
use hopwise_node::wire::{BadConfig, Traffic};

use super::{EMULATED, MAX_NAME, MAX_NODES, NoPort, NodePort};
use crate::boards::{self, BoardKind};

/// Why there is no mesh.
#[derive(Debug, thiserror::Error)]
pub enum BadMesh {
    #[error("{}: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{} {broken}", path.display())]
    InFile { path: PathBuf, broken: BrokenRule },
    #[error("{}: {error}", path.display())]
    Key { path: PathBuf, error: BadKey },
}

/// What the text of a mesh file breaks, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {rule}")]
pub struct BrokenRule {
    pub line: usize,
    pub rule: MeshRule,
}

/// What a mesh has to keep.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeshRule {
    #[error("{0}")]
    Toml(String),
    #[error("'{expression}' is not a network: {error}")]
    Network { expression: String, error: ParseError },
    #[error("there is no board '{0}', only {known}", known = boards::names())]
    UnknownBoard(String),
    #[error("{network} has {nodes} nodes, too many for a mesh file (at most {MAX_NODES})")]
    TooManyNodes { network: String, nodes: u64 },
    #[error("node {node} of {network} has {degree} links, and a {board} has {links} UARTs for links")]
    TooManyLinks {
        node: u64,
        network: String,
        degree: u64,
        board: &'static str,
        links: u64,
    },
    #[error("{0} is routed by tables, which boards do not have: give them a lift, `hopwise choose` finds one")]
    Tables(String),
    #[error("{0}")]
    Key(BadKey),
    #[error("a mesh has a key or a key-file, not both")]
    TwoKeys,
    #[error("the expression {0} is too long for a config")]
    TooLong(String),
    #[error("{0}")]
    Config(BadConfig),
    #[error("{what} cannot run at {baud} baud within 1.5 %; the nearest rate is {nearest}")]
    Baud { what: String, baud: u32, nearest: u32 },
    #[error("the serial ports to hosts run at 38400 to 6553500 baud, in hundreds, not at {0}")]
    HostBaud(u32),
    #[error("{0}")]
    NoPort(NoPort),
    #[error("there is no cable at {0}")]
    NoCable(NodePort),
    #[error("the cable at {0} has two rates")]
    TwoRates(NodePort),
    #[error("{network}: {error}")]
    Node { network: String, error: NoSuchNode },
    #[error("node {0} is there twice")]
    Twice(u64),
    #[error("a name has at most {MAX_NAME} bytes")]
    LongName,
    #[error("probe = \"{EMULATED}\" is for all boards; a real probe belongs to one [[node]]")]
    ProbeForAll,
    #[error("node {0} has an empty probe: leave the line out")]
    EmptyProbe(u64),
    #[error("probe = \"{EMULATED}\" is for all boards: write it above the first [[node]]")]
    EmulatedNode,
    #[error("node {0} has a probe, but all boards are {EMULATED}")]
    ProbeOfEmulated(u64),
    #[error("probe {probe} is already that of node {node}")]
    ProbeTaken { probe: String, node: u64 },
    #[error("node {node} has {degree} ports, and uarts names {named}")]
    UartCount { node: u64, degree: u64, named: usize },
    #[error("{uart} is not a link of a {}, which has {}", kind.name, kind.links.iter().map(|link| link.name).collect::<Vec<_>>().join(", "))]
    NoLink { uart: String, kind: &'static BoardKind },
    #[error("node {node} uses {uart} twice")]
    UartTwice { node: u64, uart: String },
    #[error(transparent)]
    Pattern(#[from] hopwise_language::UnsuitableTraffic),
    #[error("traffic needs a rate of at least 1 packet a second")]
    NoRate,
    #[error("packets have {least} to 200 bytes, not {0}", least = Traffic::SMALLEST)]
    PacketSize(u8),
}
