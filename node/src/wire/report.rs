//! Reports of a node: structures in the postcard format.

use heapless::String;
use serde::{Deserialize, Deserializer, Serialize};

use super::body::Bytes;
use super::counters::LinkCounters;
use hopwise_core::Node;

/// Encodes a structure for a response; `None` if it is too long.
pub fn write_structure<T: Serialize, B: Bytes>(value: &T) -> Option<B> {
    let mut body = B::zeros();
    let length = postcard::to_slice(value, &mut body).ok()?.len();
    body.truncate(length);
    Some(body)
}

/// Decodes a structure of a response; `None` if it is malformed.
pub fn read_structure<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
    postcard::from_bytes(bytes).ok()
}

/// The board information that the shell provides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardInfo {
    /// The board's name.
    pub name: String<16, u8>,
    /// The program that runs on it.
    pub program: String<24, u8>,
    /// The reset cause, in the shell's numbering.
    pub reset_cause: u8,
    /// Bytes of stack that were never used.
    pub stack_free: u32,
}

/// The identity and state of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeReport {
    /// The ID of the network.
    pub network: u32,
    /// Its address.
    pub address: Node,
    /// Its boot epoch.
    pub epoch: u32,
    /// Milliseconds since boot.
    pub uptime_ms: u64,
    /// The number of links.
    pub links: u8,
    /// The number of neighbors in the network.
    pub neighbors: u8,
    /// The number of connected neighbors.
    pub neighbors_up: u8,
    /// The board information of the shell.
    pub card: BoardInfo,
}

/// The fault of a link whose other end is heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkFault {
    /// No fault.
    None,
    /// The other end does not hear this one.
    OneWay,
    /// The other end has another version of the wire format.
    Version,
    /// Only one of the ends has a key.
    Unkeyed,
    /// The keys of the two ends differ.
    WrongKey,
}

/// One link of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkReport {
    /// Whether both ends hear each other.
    pub up: bool,
    /// The reason why it is not up, though the other end is heard.
    pub fault: LinkFault,
    /// The other end: its network ID, its address and its port number.
    pub peer: Option<(u32, Node, u8)>,
    /// Whether the other end is a host.
    pub host: bool,
    /// Whether it leads to a neighbor, as it should.
    pub wired: bool,
    /// Packets that wait for it.
    pub waiting: u8,
    /// The counters of the link.
    pub counters: LinkCounters,
    /// Its rate; 0 if the node does not say, as those of version 3 do not.
    #[serde(deserialize_with = "read_rate")]
    pub baud: u32,
}

/// The last field of a report, which old ones do not have.
fn read_rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    Ok(u32::deserialize(deserializer).unwrap_or(0))
}
