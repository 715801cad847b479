//! Collectives for programs on a mesh: what all boards of a [`Team`] do together, each knowing its part from its address.
//!
//! ```
//! use hopwise_app::{AppPort, Mesh};
//! use hopwise_team::{TeamError, Team};
//!
//! /// The mean of all boards' readings, at every board.
//! async fn mean(mesh: Mesh<'_>, reading: i32) -> Result<i32, TeamError> {
//!     let team = Team::of_all(mesh, AppPort(20)).map_err(|_| TeamError::Closed)?;
//!     let (sum, count) = team.all_reduce(1, (reading, 1), |a, b| (a.0 + b.0, a.1 + b.1)).await?;
//!     Ok(sum / count)
//! }
//! ```
//!
//! | | |
//! |---|---|
//! | up the tree of a board and down again | [`barrier`](Team::barrier), [`broadcast`](Team::broadcast), [`reduce`](Team::reduce), [`all_reduce`](Team::all_reduce), [`scan`](Team::scan), [`exclusive_scan`](Team::exclusive_scan), [`fold`](Team::fold) |
//! | from board to board | [`gather`](Team::gather), [`scatter`](Team::scatter), [`all_gather`](Team::all_gather), [`all_to_all`](Team::all_to_all), [`permute`](Team::permute), [`shift`](Team::shift), [`shift_along`](Team::shift_along) |
//! | stage by stage, each with one other board | [`sort`](Team::sort), [`ascend`](Team::ascend), [`descend`](Team::descend) |
//!
//! Up and down the tree, every board sends its parent one message and gets one back. Values are folded in node order, so that an operator
//! need not commute, unless it is said that it does. What goes from board to board goes once all have come, and the call
//! returns when all have what they wait for. What is sent is reliable; boards need not come at the same time.
//!
//! # Tags
//!
//! A call names its `tag`, a number that is the same at all boards and grows from call to call. Up to [`MAX_CALLS`] may be under way at
//! once, such as `join(team.all_reduce(7, ..), team.sort(8, ..))`; they begin in the order of their tags.
//!
//! # When boards fail
//!
//! A call ends within twice the team's [patience](Team::set_patience) of its beginning, from board to board or stage by stage within four
//! times: with a result, which is the same for all boards that have one and into which every board's value went once, or with
//! [`TeamError`]. A board that is late or has restarted finds out from [`TeamError::Behind`] which tag the others are at, and joins them with
//! [that tag](TeamError::next_tag).
#![no_std]
#![forbid(unsafe_code)]

/// Its examples are tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod call;
mod deliver;
mod error;
mod fold;
mod letter;
mod mailbox;
mod stages;

use hopwise_app::{AppPort, Mesh, Micros, Network, Node, OpenError};

pub use call::MAX_CHILDREN;
pub use deliver::MAX_BOARDS;
pub use error::TeamError;
pub use fold::{Folded, MAX_PIECES};
pub use letter::Value;
pub use mailbox::MAX_CALLS;
use mailbox::Mailbox;

/// How long a board waits for others unless told otherwise.
pub const PATIENCE: Micros = 5_000_000;

/// Boards whose addresses differ in some digits only, and which are a network by themselves: a cluster, a unit, a cube, a column of a torus.
///
/// ```
/// # use hopwise_team::Group;
/// // In rdn(ring(3),1), the cluster of board 7; in torus(4,3), its column: every fourth board.
/// let cluster = Group { first: 6, step: 1, network: "ring(3)".parse()? };
/// let column = Group { first: 3, step: 4, network: "ring(3)".parse()? };
/// assert_eq!((cluster.place(8), cluster.place(9)), (Some(2), None));
/// assert_eq!((column.place(11), column.place(8)), (Some(2), None));
/// # Ok::<(), hopwise_core::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The lowest of them.
    pub first: Node,
    /// What one more of the digits that differ adds to an address: 1 for the lowest digits.
    pub step: Node,
    /// Their network; its node 0 is the lowest of them.
    pub network: Network,
}

impl Group {
    /// A board's number in the group; `None` if it is not in it.
    pub fn place(&self, board: Node) -> Option<Node> {
        let above = board.checked_sub(self.first)?;
        let place = above.checked_div(self.step)?;
        (above.checked_rem(self.step)? == 0).then_some(place)?;
        self.network.check(place).ok()
    }

    /// The board with a number in the group.
    pub(crate) fn board(&self, place: Node) -> Node {
        self.first.saturating_add(place.saturating_mul(self.step))
    }
}

/// The boards that work together, as one of them sees it.
pub struct Team<'a> {
    mesh: Mesh<'a>,
    group: Group,
    patience: Micros,
    desk: Mailbox<'a>,
}

impl<'a> Team<'a> {
    /// All boards of the mesh. The port must be the same at all, and no one else's.
    pub fn of_all(mesh: Mesh<'a>, port: AppPort) -> Result<Self, OpenError> {
        let group = Group {
            first: 0,
            step: 1,
            network: *mesh.network(),
        };
        Team::of_group(mesh, port, group)
    }

    /// The boards of a group; this board must be one.
    pub fn of_group(mesh: Mesh<'a>, port: AppPort, group: Group) -> Result<Self, OpenError> {
        Ok(Team {
            mesh,
            group,
            patience: PATIENCE,
            desk: Mailbox::new(mesh.receiver(port)?),
        })
    }

    /// Sets how long to wait for others: longer than they may come apart, and than messages take through the mesh.
    pub fn set_patience(&mut self, patience: Micros) {
        self.patience = patience;
    }

    /// This board's number in the group.
    pub fn place(&self) -> Result<Node, TeamError> {
        self.group.place(self.mesh.address()).ok_or(TeamError::NotAMember)
    }
}
