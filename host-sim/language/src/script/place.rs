//! Boards and ports as they are written, and whether a network has them.

use std::fmt;
use std::str::FromStr;

use hopwise_core::{Network, Node};

/// A port of a board as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PortName {
    pub node: Node,
    pub port: PortOf,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PortOf {
    /// By its number in the network: `3.0`.
    Number(u64),
    /// By the name of a serial port of the board, in capitals: `3.USART1`.
    Uart(String),
}

impl FromStr for PortName {
    type Err = NoSuchPlace;

    fn from_str(text: &str) -> Result<Self, NoSuchPlace> {
        let wrong = || NoSuchPlace::unnamed(text);
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
#[error("{0}")]
pub struct NoSuchPlace(pub String);

impl NoSuchPlace {
    /// What is said is no port, or none that has a number.
    pub fn unnamed(port: impl fmt::Display) -> Self {
        NoSuchPlace(format!("'{port}' is not a port such as 3.0"))
    }
}

pub fn check_board(network: &Network, node: Node) -> Result<Node, NoSuchPlace> {
    let checked = network.check(node);
    checked.map_err(|error| NoSuchPlace(format!("{network}: {error}")))
}

pub fn check_port(network: &Network, node: Node, port: u64) -> Result<(Node, u64), NoSuchPlace> {
    check_board(network, node)?;
    let ports = network.degree(node).unwrap_or(0);
    if port < ports {
        return Ok((node, port));
    }
    let last = ports.saturating_sub(1);
    let why = format!("{network}: node {node} has ports 0 to {last}, not {port}");
    Err(NoSuchPlace(why))
}
