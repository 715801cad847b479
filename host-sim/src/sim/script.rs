//! What happens to boards and cables, and when.

use super::wire::Nanos;
use super::world::End;

/// Something that happens to a board or a cable. A cable is named by one of its ends, a direction by where it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The cable is pulled.
    Cut(End),
    /// The cable is plugged in again.
    Plug(End),
    /// Nothing passes in this direction any more.
    OneWay(End),
    /// It does again.
    BothWays(End),
    /// The line is held low.
    Stuck(End),
    /// It is not any more.
    Unstuck(End),
    /// The line is low for two byte times.
    Break(End),
    /// The plugs at two links are exchanged.
    Swap(End, End),
    /// The board restarts.
    Reset(u32),
    /// The board goes off.
    Off(u32),
    /// The board comes on.
    On(u32),
}

/// Actions in the order of their times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script(Vec<(Nanos, Action)>);

impl Script {
    /// Of lines in any order.
    pub fn new(mut lines: Vec<(Nanos, Action)>) -> Self {
        lines.sort_by_key(|&(at, _)| at);
        Script(lines)
    }

    /// Whether nothing happens.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What happens, and when.
    pub fn lines(&self) -> &[(Nanos, Action)] {
        &self.0
    }
}
