//! Boards and ports as they are written, and whether a network has them.

use std::fmt;
use std::str::FromStr;

use hopwise_core::{Network, NoSuchNode, Node};

/// A port of a board as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PortName {
    /// The board.
    pub node: Node,
    pub port: PortOf,
}

/// Which port of a board.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PortOf {
    /// By its number in the network: `3.0`.
    Number(u64),
    /// By the name of a serial port of the board, in capitals: `3.USART1`.
    Uart(String),
}

/// Text that is no port.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not a port such as 3.0")]
pub struct BadPort {
    pub text: String,
}

impl FromStr for PortName {
    type Err = BadPort;

    fn from_str(text: &str) -> Result<Self, BadPort> {
        let wrong = || BadPort { text: text.into() };
        let (node, port) = text.split_once('.').ok_or_else(wrong)?;
        let node = node.parse().map_err(|_| wrong())?;
        let is_name = port.starts_with(|first: char| first.is_ascii_alphabetic())
            && port.chars().all(|letter| letter.is_ascii_alphanumeric());
        let port = match port.parse() {
            Ok(number) => PortOf::Number(number),
            Err(_) if is_name => PortOf::Uart(port.to_ascii_uppercase()),
            Err(_) => return Err(wrong()),
        };
        Ok(PortName { node, port })
    }
}

impl fmt::Display for PortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.port {
            PortOf::Number(number) => write!(f, "{}.{number}", self.node),
            PortOf::Uart(name) => write!(f, "{}.{name}", self.node),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSuchPlace {
    #[error("{network}: {error}")]
    Node { network: String, error: NoSuchNode },
    #[error("{network}: node {node} has ports 0 to {last}, not {port}")]
    Port {
        network: String,
        node: Node,
        last: u64,
        port: u64,
    },
    #[error("'{0}' is not a port such as 3.0")]
    Unnamed(PortName),
    #[error("'{port}' is not a port such as 3.0 or 3.{example}")]
    Uart { port: PortName, example: &'static str },
    /// The port is in the network, but not on the boards.
    #[error("{0}")]
    NotOnBoard(String),
}

pub fn check_board(network: &Network, node: Node) -> Result<Node, NoSuchPlace> {
    let checked = network.check(node);
    checked.map(|_| node).map_err(|error| NoSuchPlace::Node {
        network: network.to_string(),
        error,
    })
}

pub fn check_port(network: &Network, node: Node, port: u64) -> Result<(Node, u64), NoSuchPlace> {
    check_board(network, node)?;
    let ports = network.degree(node).unwrap_or(0);
    if port < ports {
        return Ok((node, port));
    }
    Err(NoSuchPlace::Port {
        network: network.to_string(),
        node,
        last: ports.saturating_sub(1),
        port,
    })
}
