//! Collectives for programs on a mesh: what all boards of a [`Team`] do together, each knowing its part from its address.
//!
//! ```
//! use hopwise_app::{AppPort, Mesh};
//! use hopwise_team::{Broken, Team};
//!
//! /// The mean of all boards' readings, at every board.
//! async fn mean(mesh: Mesh<'_>, reading: i32) -> Result<i32, Broken> {
//!     let mut team = Team::of_all(mesh, AppPort(20)).map_err(|_| Broken::Closed)?;
//!     let (sum, count) = team.all_reduce(1, (reading, 1), |a, b| (a.0 + b.0, a.1 + b.1)).await?;
//!     Ok(sum / count)
//! }
//! ```
//!
//! A call goes up the tree of node 0 and down again: every board sends its parent one message, and gets one back. Values are folded in
//! node order, so that an operator need not commute, unless it is said that it does. What is sent is reliable; boards need not come at the same time.
//!
//! # When boards fail
//!
//! A call names its `tag`, a number that grows from call to call and is the same at all boards. Each ends within twice the team's
//! [patience](Team::set_patience) of its beginning: with a result, which is the same for all boards that have one and into which every
//! board's value went once, or with [`Broken`]. A board that is late or has restarted finds out from [`Broken::Behind`] which tag the
//! others are at, and joins them with that tag. Several calls at once take teams on ports of their own.
#![no_std]
#![forbid(unsafe_code)]

mod error;
mod fold;
mod letter;

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::Poll;

use heapless::Vec;
use hopwise_app::{AppPort, Mesh, Micros, Network, Node, OpenError, Outcome, Receiver};
use hopwise_core::collective::{Ports, Tree};

pub use error::Broken;
pub use fold::Folded;
use fold::Order;
use letter::{Header, Kept, Kind};
pub use letter::{MAX_CHILDREN, MAX_PIECES};

/// How long a board waits for others unless told otherwise.
pub const PATIENCE: Micros = 5_000_000;

/// Between two attempts to reach a board.
const PAUSE: Micros = 20_000;

/// Letters that came before their call.
const EARLY: usize = MAX_CHILDREN;

/// Consecutive nodes whose links among themselves are a network by itself: a cluster, a unit, a cube.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The lowest of them.
    pub first: Node,
    /// Their network; its node 0 is the lowest.
    pub network: Network,
}

/// The boards that work together, as one of them sees it.
pub struct Team<'a> {
    mesh: Mesh<'a>,
    receiver: Receiver<'a>,
    group: Group,
    patience: Micros,
    early: Vec<Kept, EARLY>,
}

impl<'a> Team<'a> {
    /// All boards of the mesh. The port must be the same at all, and no one else's.
    pub fn of_all(mesh: Mesh<'a>, port: AppPort) -> Result<Self, OpenError> {
        let group = Group {
            first: 0,
            network: *mesh.network(),
        };
        Team::of_group(mesh, port, group)
    }

    /// The boards of a group; this board must be one.
    pub fn of_group(mesh: Mesh<'a>, port: AppPort, group: Group) -> Result<Self, OpenError> {
        Ok(Team {
            mesh,
            receiver: mesh.receiver(port)?,
            group,
            patience: PATIENCE,
            early: Vec::new(),
        })
    }

    /// Sets how long to wait for others: longer than they may come apart, and than messages take through the mesh.
    pub fn set_patience(&mut self, patience: Micros) {
        self.patience = patience;
    }

    /// This board's number in the group.
    pub fn place(&self) -> Result<Node, Broken> {
        let place = self.mesh.address().checked_sub(self.group.first);
        place
            .and_then(|place| self.group.network.check(place).ok())
            .ok_or(Broken::NotAMember)
    }

    /// Returns when all boards have called it.
    pub async fn barrier(&mut self, tag: u32) -> Result<(), Broken> {
        self.fold_by(Order::Any, tag, (), |(), ()| ()).await.map(|_| ())
    }

    /// All values folded in node order, for every board.
    pub async fn all_reduce<T: letter::Value>(
        &mut self,
        tag: u32,
        value: T,
        operator: impl Fn(T, T) -> T,
    ) -> Result<T, Broken> {
        Ok(self.fold(tag, value, operator).await?.total)
    }

    /// The same with an operator that commutes: messages carry one value, however the network is numbered.
    pub async fn all_reduce_any_order<T: letter::Value>(
        &mut self,
        tag: u32,
        value: T,
        operator: impl Fn(T, T) -> T,
    ) -> Result<T, Broken> {
        Ok(self.fold_by(Order::Any, tag, value, operator).await?.total)
    }

    /// The values up to this board's own, folded in node order.
    pub async fn scan<T: letter::Value>(
        &mut self,
        tag: u32,
        value: T,
        operator: impl Fn(T, T) -> T,
    ) -> Result<T, Broken> {
        let before = self.fold(tag, value.clone(), &operator).await?.before;
        Ok(match before {
            Some(before) => operator(before, value),
            None => value,
        })
    }

    /// What the board `root` of the group has, for every board. The others' `value` is not looked at.
    pub async fn broadcast<T: letter::Value>(&mut self, tag: u32, root: Node, value: T) -> Result<T, Broken> {
        let at_root = (self.place()? == root).then_some(value);
        let first = |a: Option<T>, b: Option<T>| a.or(b);
        let found = self.fold_by(Order::Any, tag, at_root, first).await?.total;
        found.ok_or(Broken::NotAMember)
    }

    /// The tree; its root is the group's first.
    fn tree(group: &Group) -> Result<Tree<'_>, Broken> {
        Tree::new(&group.network, 0, Ports::One).map_err(|_| Broken::NotAMember)
    }

    /// Sends a letter. A board that has not come yet does not serve the port: it is tried again until the deadline.
    async fn send(&self, to: Node, letter: &[u8], deadline: Micros) -> Result<(), Broken> {
        let node = self.group.first.saturating_add(to);
        loop {
            let sent = self.mesh.send_confirmed(node, self.receiver.port(), letter);
            match until(self.mesh, deadline, sent).await {
                Some(Ok(Outcome::Delivered)) => return Ok(()),
                Some(Ok(Outcome::Undeliverable { .. })) if self.mesh.now() < deadline => self.mesh.sleep(PAUSE).await,
                _ => return Err(Broken::Missing(to)),
            }
        }
    }

    /// The next letter of a call, from those who wait or who come; `None` after the deadline.
    async fn letter(&mut self, tag: u32, deadline: Micros) -> Result<Option<Kept>, Broken> {
        loop {
            let newest = self.early.iter().map(|kept| kept.header.tag).max();
            if let Some(newest) = newest.filter(|&newest| newest > tag) {
                return Err(Broken::Behind(newest));
            }
            if let Some(place) = self.early.iter().position(|kept| kept.header.tag == tag) {
                return Ok(Some(self.early.swap_remove(place)));
            }
            let Some(incoming) = until(self.mesh, deadline, self.receiver.recv()).await else {
                return Ok(None);
            };
            let Some(kept) = Kept::read(self.group.first, &incoming) else {
                continue;
            };
            if kept.header.tag < tag {
                // A board that is late, or has restarted: it is told where the others are.
                if kept.header.kind == Kind::Up {
                    let told = letter::behind(kept.header.tag, tag);
                    let sent = self.mesh.send(incoming.source, self.receiver.port(), &told);
                    until(self.mesh, deadline, sent).await;
                }
                continue;
            }
            let _ = self.early.push(kept);
        }
    }

    /// Tells a board that a call has come to nothing.
    async fn tell_broken(&self, to: Node, tag: u32) {
        let told = letter::broken(tag);
        let node = self.group.first.saturating_add(to);
        // Who does not hear of it finds out by waiting.
        let deadline = self.mesh.now().saturating_add(PAUSE);
        until(self.mesh, deadline, self.mesh.send(node, self.receiver.port(), &told)).await;
    }
}

/// What a future comes to, unless the time comes first.
async fn until<T>(mesh: Mesh<'_>, deadline: Micros, future: impl Future<Output = T>) -> Option<T> {
    let (mut future, mut late) = (pin!(future), pin!(mesh.sleep_until(deadline)));
    poll_fn(|context| {
        if let Poll::Ready(found) = future.as_mut().poll(context) {
            return Poll::Ready(Some(found));
        }
        late.as_mut().poll(context).map(|()| None)
    })
    .await
}

impl Header {
    fn is(&self, kind: Kind) -> bool {
        self.kind == kind
    }
}
