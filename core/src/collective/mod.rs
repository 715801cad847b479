//! Collectives: operations of all nodes of a network, in which each node computes its part from its address alone.
//!
//! A [`Plan`] lists the [phases](Phase) of an operation on a network; a phase gives, for any node and round, what it sends to which node:
//! no coordinator, no tables, nothing stored per node. There are four kinds of phases.
//!
//! - [`Tree`]: down or up the spanning tree of the root's broadcast. Works on every network.
//! - [`Step`], of a [`Program`]: node numbers are read as digits, which are processed one after the other along links. Networks whose
//!   addresses are digits have one: products digit by digit, dual-nets by the dual-net recursion, swapped networks by swap phases,
//!   expansions and cubes of rings unit by unit.
//! - [`Sorting`]: comparators between pairs of nodes, stage by stage.
//! - Routing: every message goes to its destination by next hops.
//!
//! Values are folded in node order, by merging blocks of consecutive numbers, so an operator need not be commutative.
//!
//! ```
//! use hopwise_core::Network;
//! use hopwise_core::collective::{Operation, Phase, Plan, Ports, Step};
//!
//! let network: Network = "rdn(ring(3),1)".parse()?;
//! let plan = Plan::new(&network, Operation::Scan, Ports::All, 0)?;
//! // The digits of the cluster, a crossing, the digits of the other cluster, and back.
//! let kinds: Vec<_> = (0..).map_while(|index| plan.phase(index)).collect();
//! assert!(matches!(kinds[..], [
//!     Phase::Step(Step::Share(_)),
//!     Phase::Step(Step::Swap(_)),
//!     Phase::Step(Step::Share(_)),
//!     Phase::Step(Step::Return(_)),
//! ]));
//! // What node 4 sends in the first round: its own item, to the two others of its ring.
//! let Phase::Step(Step::Share(axis)) = kinds[0] else { unreachable!() };
//! let sent: Vec<_> = axis.sends(4, 0, Ports::All).collect();
//! assert_eq!(sent, [(5, 1), (3, 1)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod axis;
mod digits;
mod expansion;
mod mesh;
mod moves;
mod program;
mod ring;
mod sorting;
mod tree;

pub use axis::Axis;
pub use expansion::{Pass, Tell};
pub use mesh::Mesh;
pub use moves::{Lend, Lent, Swap};
pub use program::{Program, Step};
pub use ring::Ring;
pub use sorting::{Comparator, Sorting};
pub use tree::Tree;

use crate::named;
use crate::network::Network;
use crate::topology::{NoSuchNode, Node};

named! {
    /// How many messages a node can send, and how many it can receive, in a round.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Ports {
        /// One of each.
        One = "one",
        /// One of each through every port.
        All = "all",
    }
}

named! {
    /// A collective operation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Operation {
        /// No node continues before all have arrived.
        Barrier = "barrier",
        /// Every node gets the root's value.
        Broadcast = "broadcast",
        /// The root gets all values folded in node order.
        Reduce = "reduce",
        /// Every node gets all values folded in node order.
        AllReduce = "all-reduce",
        /// Every node gets the values up to and including its own folded in node order.
        Scan = "scan",
        /// Every node gets the values before its own folded in node order.
        ExclusiveScan = "exclusive-scan",
        /// The root gets all values.
        Gather = "gather",
        /// Every node gets its own of the values that the root has.
        Scatter = "scatter",
        /// Every node gets all values.
        AllGather = "all-gather",
        /// Every node has a value for every node.
        AllToAll = "all-to-all",
        /// Every value goes to another node.
        Permute = "permute",
        /// Every value goes to the next node of a [`Ring`].
        Shift = "shift",
        /// Node i gets the i-th smallest value.
        Sort = "sort",
        /// Node i gets term i of the discrete Fourier transform.
        Fft = "fft",
    }
}

/// A part of a collective that all nodes perform together, with rounds of its own from 0.
#[derive(Clone, Copy, Debug)]
pub enum Phase<'a> {
    /// From the leaves of a tree to its root.
    Up(Tree<'a>),
    /// From the root of a tree to its leaves.
    Down(Tree<'a>),
    /// A step of the network's program.
    Step(Step),
    /// The comparators of a stage; the two values are exchanged over the routes between the nodes.
    Compare(Sorting, u64),
    /// Everything goes to its destination by next hops.
    Route,
}

/// Whether links along a digit take so many turns with one port that a tree is faster: those of a lift, whose ports have no order common to
/// all nodes.
fn needs_many_turns(network: &Network) -> bool {
    matches!(network.family(), crate::network::Family::Base(base) if base.is_arbitrary())
}

/// How an operation is carried out on a network.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    network: &'a Network,
    operation: Operation,
    ports: Ports,
    root: Node,
    program: Option<Program<'a>>,
}

impl<'a> Plan<'a> {
    /// The root is the source of a broadcast and the destination of a reduction; without a program, the other operations use it too.
    pub fn new(network: &'a Network, operation: Operation, ports: Ports, root: Node) -> Result<Self, NoSuchNode> {
        network.check(root)?;
        let program = match operation {
            _ if ports == Ports::One && needs_many_turns(network) => None,
            Operation::Barrier | Operation::AllReduce | Operation::AllGather => Program::of_totals(network),
            Operation::Scan | Operation::ExclusiveScan => Program::new(network),
            Operation::Fft => Program::descending(network),
            _ => None,
        };
        Ok(Plan {
            network,
            operation,
            ports,
            root,
            program,
        })
    }

    /// The program of the network, if the operation follows it.
    pub fn program(&self) -> Option<&Program<'a>> {
        self.program.as_ref()
    }

    /// The tree of the root.
    pub fn tree(&self) -> Tree<'a> {
        Tree::of_checked(self.network, self.root, self.ports)
    }

    /// The phase with an index from 0; `None` after the last.
    pub fn phase(&self, index: u64) -> Option<Phase<'a>> {
        if let Some(program) = &self.program {
            // A transform begins with the highest digit, since each step needs the terms of the higher digits. Before it, values go to the nodes at
            // their places; after it, result k, which has its digits in reverse order, goes to node k.
            let before = u64::from(self.operation == Operation::Fft && program.renumbers());
            let Some(index) = index.checked_sub(before) else {
                return Some(Phase::Route);
            };
            let routes_after = self.operation == Operation::Fft && index == program.length();
            return match routes_after {
                true => Some(Phase::Route),
                false => program.step(index).map(Phase::Step),
            };
        }
        let (up, down) = (Phase::Up(self.tree()), Phase::Down(self.tree()));
        let phases: [Option<Phase<'a>>; 2] = match self.operation {
            Operation::Broadcast | Operation::Scatter => [Some(down), None],
            Operation::Reduce | Operation::Gather => [Some(up), None],
            Operation::AllToAll | Operation::Permute | Operation::Shift => [Some(Phase::Route), None],
            Operation::Sort => {
                let sorting = Sorting::new(self.network.nodes());
                return (index < sorting.stages()).then_some(Phase::Compare(sorting, index));
            }
            _ => [Some(up), Some(down)],
        };
        phases.get(usize::try_from(index).ok()?).copied().flatten()
    }
}
