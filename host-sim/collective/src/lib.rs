//! Collectives in synchronous rounds: the schedules of [`hopwise_core::collective`] carried out on a [`machine`] that refuses
//! what links or ports cannot carry, and every result checked against a sequential computation.
//!
//! ```
//! use hopwise_collective::{Operator, Request, run};
//! use hopwise_core::Network;
//! use hopwise_core::collective::Operation;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let network: Network = "rdn(ring(3),1)".parse()?;
//!     let request = Request::new(Operation::AllReduce, (1..=18).collect());
//!     let done = run(&network, &request)?;
//!     assert!(done.report.correct);
//!     assert_eq!((done.report.rounds, done.report.bound), (4, 4));
//!     assert_eq!(done.held[7], "171");
//!     Ok(())
//! }
//! ```

mod binary;
pub mod bits;
pub mod bound;
pub mod fourier;
pub mod machine;
mod operation;
pub mod operator;
mod outcome;
pub mod program;
pub mod route;
mod targets;
mod transform;
pub mod tree;

use hopwise_core::collective::{Operation, Ports};
use hopwise_core::{NoSuchNode, Node};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use machine::{Conflict, Sent};
pub use operation::run;
pub use operator::Operator;

/// Larger networks are not built out.
pub const MAX_NODES: u64 = 1 << 16;

/// Where every node ends up with as many values as there are nodes, or goes through so many, there can be so many values in all.
pub const MAX_VALUES: u64 = 1 << 24;

/// An embedded tree is searched for in networks of up to so many nodes.
pub const MAX_TREE_NODES: u64 = 1 << 10;

#[derive(Clone, Debug)]
pub struct Request {
    pub operation: Operation,
    pub ports: Ports,
    /// The value of each node, in node order.
    pub values: Vec<i64>,
    /// What values are folded with.
    pub operator: Operator,
    pub root: Node,
    /// The blocks of a broadcast.
    pub blocks: u64,
    /// Of a shift: the dimension of the network's mesh that it goes along; without it, it goes round a ring of all nodes.
    pub dimension: Option<u64>,
    /// Of a reduction or broadcast: whether it goes along an embedded complete binary tree.
    pub binary_tree: bool,
    /// What a permutation is drawn from.
    pub seed: u64,
    /// Whether all messages are written down.
    pub write_down: bool,
}

impl Request {
    /// All ports, sums, root 0, one block, seed 1.
    pub fn new(operation: Operation, values: Vec<i64>) -> Self {
        Request {
            operation,
            ports: Ports::All,
            values,
            operator: Operator::Sum,
            root: 0,
            blocks: 1,
            dimension: None,
            binary_tree: false,
            seed: 1,
            write_down: false,
        }
    }
}

/// What was done. The names are those of its JSON keys.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub network: String,
    pub op: &'static str,
    /// `one` or `all`.
    pub port_model: &'static str,
    pub method: String,
    pub nodes: u64,
    pub rounds: u64,
    /// Of a shift or an embedded tree: the most hops between two that are neighbors there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dilation: Option<u64>,
    /// Of a transform: the further rounds that bring values to their places and term k from where it came about to node k.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder_rounds: Option<u64>,
    pub messages: u64,
    /// The largest message: 8 bytes a value, 16 a complex number; addresses, which follow from the schedule, are not counted.
    pub bytes_max: u64,
    /// The most messages over one link in one direction.
    pub link_load: u64,
    /// Whether every node holds what a sequential computation says.
    pub correct: bool,
    /// The fewest rounds possible with messages of at most this size.
    pub bound: u64,
    /// The rounds of the network's paper, if it has any.
    pub published: Option<u64>,
}

#[derive(Clone, Debug)]
pub struct Done {
    pub report: Report,
    pub held: Vec<String>,
    /// The messages of each round, if they were to be written down.
    pub rounds: Vec<Vec<Sent>>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotRun {
    /// It is not for this network, or does not go together: a sentence.
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Root(#[from] NoSuchNode),
    #[error(transparent)]
    Conflict(#[from] Conflict),
}

pub(crate) fn refused(why: impl ToString) -> CannotRun {
    CannotRun::Refused(why.to_string())
}

/// Values for the nodes of a network, by seed.
pub fn values(nodes: u64, seed: u64) -> Vec<i64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..nodes).map(|_| rng.random_range(-999..=999)).collect()
}
