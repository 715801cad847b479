//! A port of a node, as people write it.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// A port of a node, written `3.1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodePort {
    pub node: u64,
    /// Its port, as `hopwise neighbors` numbers them.
    pub port: u64,
}

impl fmt::Display for NodePort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.node, self.port)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a port such as 3.1, port 1 of node 3")]
pub struct NoPort(String);

impl FromStr for NodePort {
    type Err = NoPort;

    fn from_str(text: &str) -> Result<Self, NoPort> {
        let parts = text.split_once('.');
        let parts = parts.and_then(|(node, port)| Some((node.parse().ok()?, port.parse().ok()?)));
        let (node, port) = parts.ok_or_else(|| NoPort(text.into()))?;
        Ok(NodePort { node, port })
    }
}

impl Serialize for NodePort {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
