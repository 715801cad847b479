//! Collectives for programs on a mesh: operations of all boards of a [`Team`], each computing its part from its address.
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
//! Up and down the tree, every board sends its parent one message and gets one back. Values are folded in node order, so an operator
//! need not commute, unless documented otherwise. Values from board to board are sent once all boards have arrived, and the call
//! returns when all have their values. Messages are reliable; boards need not arrive at the same time.
//!
//! # Tags
//!
//! A call has a `tag`, a number that is the same at all boards and grows from call to call. Up to [`MAX_CALLS`] may be active at
//! once, such as `join(team.all_reduce(7, ..), team.sort(8, ..))`; they begin in the order of their tags.
//!
//! # When boards fail
//!
//! A call ends within twice the team's [timeout](Team::set_timeout) of its beginning, from board to board or stage by stage within four
//! times: with a result, which is the same for all boards that have one and includes every board's value once, or with
//! [`TeamError`]. A board that is late or has restarted learns from [`TeamError::Behind`] which tag the others are at, and joins them with
//! [that tag](TeamError::next_tag).
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

/// Tests the examples.
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

/// The default timeout for other boards.
pub const TIMEOUT: Micros = 5_000_000;

/// Boards whose addresses differ only in some digits, and which are a network by themselves: a cluster, a unit, a cube, a column of a torus.
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
    /// The weight of the lowest differing digit in an address: 1 for the lowest digits.
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

/// The cooperating boards, from the point of view of one of them.
pub struct Team<'a> {
    mesh: Mesh<'a>,
    group: Group,
    timeout: Micros,
    desk: Mailbox<'a>,
}

impl<'a> Team<'a> {
    /// The team of all boards of the mesh. The port must be the same at all, and used by nothing else.
    pub fn of_all(mesh: Mesh<'a>, port: AppPort) -> Result<Self, OpenError> {
        let group = Group {
            first: 0,
            step: 1,
            network: *mesh.network(),
        };
        Team::of_group(mesh, port, group)
    }

    /// The team of a group, which must contain this board.
    pub fn of_group(mesh: Mesh<'a>, port: AppPort, group: Group) -> Result<Self, OpenError> {
        Ok(Team {
            mesh,
            group,
            timeout: TIMEOUT,
            desk: Mailbox::new(mesh.receiver(port)?),
        })
    }

    /// Sets the timeout for other boards: longer than their arrivals differ, and than messages take through the mesh.
    pub fn set_timeout(&mut self, timeout: Micros) {
        self.timeout = timeout;
    }

    /// This board's number in the group.
    pub fn place(&self) -> Result<Node, TeamError> {
        self.group.place(self.mesh.address()).ok_or(TeamError::NotAMember)
    }
}
