//! Why a command cannot be carried out.

use hopwise_core::{NoSuchNode, ParseError};

use crate::routes::RouteFault;

/// Bad input, said in one sentence; the exit status is 2.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Refusal {
    /// The expression is not a network.
    #[error("'{expression}' is not a network: {error}")]
    Expression {
        /// As it was written.
        expression: String,
        /// What is wrong with it.
        error: ParseError,
    },
    /// A node that the network does not have.
    #[error("{expression}: {error}")]
    Node {
        /// The network.
        expression: String,
        /// Which node.
        error: NoSuchNode,
    },
    /// The network is too large for what was asked.
    #[error("{expression} has {nodes} nodes, too many to build out (at most {most})")]
    TooLarge {
        /// The network.
        expression: String,
        /// How many nodes it has.
        nodes: u64,
        /// How many are possible.
        most: u64,
    },
    /// The network is too large to search.
    #[error("a network of {nodes} nodes is too large to search (at most {most})")]
    TooManyToSearch {
        /// How many nodes it has.
        nodes: u64,
        /// How many are possible.
        most: u64,
    },
    /// The network has too many links for what was asked.
    #[error("{expression} has too many links to build out (at most {most})")]
    TooManyLinks {
        /// The network.
        expression: String,
        /// How many are possible.
        most: u64,
    },
    /// A node with too many neighbours to list.
    #[error("{expression}: node {node} has {degree} neighbours, too many to list (at most {most})")]
    TooManyNeighbors {
        /// The network.
        expression: String,
        /// The node.
        node: u64,
        /// How many it has.
        degree: u64,
        /// How many are listed.
        most: u64,
    },
    /// A route that is too long to list.
    #[error("{expression}: the route from {from} to {to} has more than {most} hops, too many to list")]
    TooLong {
        /// The network.
        expression: String,
        /// Where it begins.
        from: u64,
        /// Where it ends.
        to: u64,
        /// How many hops are listed.
        most: u64,
    },
    /// The network falls into parts.
    #[error("{expression} is not connected")]
    Disconnected {
        /// The network.
        expression: String,
    },
    /// There is no closed form.
    #[error("{expression}: no closed form is known for its figures")]
    NoFormula {
        /// The network.
        expression: String,
    },
    /// A routing rule is broken.
    #[error(transparent)]
    Route(#[from] RouteFault),
    /// The boards cannot be emulated as asked.
    #[error("{0}")]
    Emulate(String),
    /// A simulation that makes no sense, in a sentence.
    #[error("{0}")]
    Load(String),
    /// A simulation of nodes that makes no sense, in a sentence.
    #[error("{0}")]
    Sim(String),
    /// A trace that cannot be read, in a sentence.
    #[error("{0}")]
    Trace(String),
    /// The rig cannot do what was asked, in a sentence.
    #[error("{0}")]
    Rig(String),
    /// The output could not be written.
    #[error("cannot write the output: {0}")]
    Output(String),
}
