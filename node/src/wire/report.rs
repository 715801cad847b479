//! What a node says about itself: structures in the postcard format.

use heapless::String;
use serde::{Deserialize, Serialize};

use super::body::Bytes;
use super::counters::LinkCounters;
use hopwise_core::Node;

/// Writes a structure as an answer carries it; `None` if it is too long.
pub fn write_structure<T: Serialize, B: Bytes>(value: &T) -> Option<B> {
    let mut body = B::zeros();
    let length = postcard::to_slice(value, &mut body).ok()?.len();
    body.truncate(length);
    Some(body)
}

/// Reads a structure that an answer carries; `None` if it is none.
pub fn read_structure<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
    postcard::from_bytes(bytes).ok()
}

/// What the shell knows about its board.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardInfo {
    /// The board's name.
    pub name: String<16, u8>,
    /// The program that runs on it.
    pub program: String<24, u8>,
    /// Why it last started, as the shell numbers it.
    pub reset_cause: u8,
    /// Bytes of stack that were never used.
    pub stack_free: u32,
}

/// Who a node is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeReport {
    /// Of the network's expression.
    pub network: u32,
    /// Its address.
    pub address: Node,
    /// Its boot epoch.
    pub epoch: u32,
    /// Milliseconds since it started.
    pub uptime_ms: u64,
    /// How many links it has.
    pub links: u8,
    /// Neighbors it should have.
    pub neighbors: u8,
    /// Neighbors it reaches.
    pub neighbors_up: u8,
    /// What the shell says of the board.
    pub card: BoardInfo,
}

/// What is wrong with a link at which someone is heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkTrouble {
    /// Nothing.
    None,
    /// The other end does not hear this one.
    OneWay,
    /// It speaks another version of the wire format.
    Version,
    /// One of the ends has a key, the other has none.
    Unkeyed,
    /// It has another key.
    WrongKey,
}

/// One link of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkReport {
    /// Both ends hear each other.
    pub up: bool,
    /// Why it is not up, though someone is there.
    pub trouble: LinkTrouble,
    /// Who is there: the network, the address and the number of its port.
    pub peer: Option<(u32, Node, u8)>,
    /// A host is there.
    pub host: bool,
    /// It leads to a neighbor, as it should.
    pub wired: bool,
    /// Packets that wait for it.
    pub waiting: u8,
    /// What has happened on it.
    pub counters: LinkCounters,
}
