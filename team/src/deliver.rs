//! From board to board: values that are not folded go directly to their receivers.
//!
//! Values are sent once all boards are in the call, and no board returns before all have their values; both are synchronized by the
//! tree. So a board that dies fails the call for all.

use core::cell::RefCell;

use heapless::Vec;
use hopwise_app::Node;
use hopwise_core::collective::{Mesh, Ring};

use crate::Team;
use crate::call::{Stage, Work};
use crate::error::TeamError;
use crate::letter::{self, Bytes, Header, Kind, Purpose, ReceivedMessage, Value};

/// Maximum number of boards of a group that send each other values directly.
pub const MAX_BOARDS: usize = 1_024;

const WORD: usize = 32;

/// The boards that have been heard, a bit each.
struct Came(Vec<u32, { MAX_BOARDS / WORD }>);

impl Came {
    fn new(boards: usize) -> Result<Self, TeamError> {
        let mut words = Vec::new();
        words
            .resize(boards.div_ceil(WORD), 0)
            .map_err(|_| TeamError::TooLarge)?;
        Ok(Came(words))
    }

    fn place(node: Node) -> (usize, u32) {
        let node = usize::try_from(node).unwrap_or(usize::MAX);
        (node / WORD, (node % WORD) as u32)
    }

    fn has(&self, node: Node) -> bool {
        let (word, bit) = Came::place(node);
        self.0.get(word).is_some_and(|word| word >> bit & 1 == 1)
    }

    fn add(&mut self, node: Node) {
        let (word, bit) = Came::place(node);
        if let Some(word) = self.0.get_mut(word) {
            *word |= 1 << bit;
        }
    }
}

/// The boards from which values are expected, one from each.
#[derive(Clone, Copy)]
enum From {
    Nobody,
    This(Node),
    Anyone,
    Everyone,
}

/// Values in transit from board to board.
struct Delivery<S, P> {
    from: From,
    came: Came,
    /// The number still to come.
    left: usize,
    sends: S,
    /// Stores the value of a board.
    put: P,
}

impl<T: Value, S: Iterator<Item = (Node, T)>, P: FnMut(Node, T) -> Result<(), TeamError>> Work for Delivery<S, P> {
    fn stage(&mut self, number: u8) -> Option<Stage> {
        (number == 0).then_some(Stage::Boards)
    }

    fn value(&mut self, header: Header) -> Option<(Node, Option<Bytes>)> {
        let (to, value) = self.sends.next()?;
        Some((to, letter::write(header, &value)))
    }

    fn take(&mut self, letter: &ReceivedMessage) -> Result<(), TeamError> {
        let from = letter.from;
        if self.came.has(from) {
            return Err(TeamError::Restarted(from));
        }
        if !matches!(letter.header.kind, Kind::Data(_)) || !self.awaits(from) {
            return Err(TeamError::Differs(from));
        }
        (self.put)(from, letter.open().ok_or(TeamError::Differs(from))?)?;
        self.came.add(from);
        self.left = self.left.saturating_sub(1);
        Ok(())
    }

    fn has_all(&self) -> bool {
        self.left == 0
    }

    fn awaits(&self, node: Node) -> bool {
        let is_meant = match self.from {
            From::Nobody => false,
            From::This(only) => only == node,
            From::Anyone | From::Everyone => true,
        };
        is_meant && self.left > 0 && !self.came.has(node)
    }
}

impl Team<'_> {
    /// Gathers every board's value, in node order, at the board `root`, whose `all` has room for one of each. That of the others is ignored.
    pub async fn gather<T: Value>(&self, tag: u32, root: Node, value: T, all: &mut [T]) -> Result<(), TeamError> {
        let place = self.place()?;
        let is_root = place == root;
        if is_root {
            self.check(all)?;
            set(all, place, value.clone())?;
        }
        let from = if is_root { From::Everyone } else { From::Nobody };
        let own = (!is_root).then_some((root, value));
        let put = |from, value| set(all, from, value);
        self.deliver(tag, Purpose::Gather, from, own.into_iter(), put).await
    }

    /// Gives every board its own of the values that the board `root` has, in node order. The `all` of the others is ignored.
    pub async fn scatter<T: Value>(&self, tag: u32, root: Node, all: &[T]) -> Result<T, TeamError> {
        let place = self.place()?;
        let is_root = place == root;
        if is_root {
            self.check(all)?;
        }
        let mut own = get(all, place).filter(|_| is_root);
        let from = if is_root { From::Nobody } else { From::This(root) };
        let others = (0..self.group.network.nodes()).zip(all);
        let others = others.filter(|&(to, _)| is_root && to != place);
        let sends = others.map(|(to, value)| (to, value.clone()));
        let put = |_, value| {
            own = Some(value);
            Ok(())
        };
        self.deliver(tag, Purpose::Scatter, from, sends, put).await?;
        own.ok_or(TeamError::TimedOut)
    }

    /// Gathers every board's value, in node order, at every board; `all` has room for one of each.
    pub async fn all_gather<T: Value>(&self, tag: u32, value: T, all: &mut [T]) -> Result<(), TeamError> {
        let place = self.place()?;
        self.check(all)?;
        set(all, place, value.clone())?;
        let sends = self.others(place).map(|to| (to, value.clone()));
        let put = |from, value| set(all, from, value);
        self.deliver(tag, Purpose::AllGather, From::Everyone, sends, put).await
    }

    /// Sends every board a value from every board: `given` are those for others, `got` those from others, both in node order.
    pub async fn all_to_all<T: Value>(&self, tag: u32, given: &[T], got: &mut [T]) -> Result<(), TeamError> {
        let place = self.place()?;
        self.check(given)?;
        self.check(got)?;
        set(got, place, get(given, place).ok_or(TeamError::TooLarge)?)?;
        let sends = self.others(place).filter_map(|to| Some((to, get(given, to)?)));
        let put = |from, value| set(got, from, value);
        self.deliver(tag, Purpose::AllToAll, From::Everyone, sends, put).await
    }

    /// Sends a value to the board `to`, and returns the received one. No two boards may send to the same.
    pub async fn permute<T: Value>(&self, tag: u32, to: Node, value: T) -> Result<T, TeamError> {
        if self.place()? == to {
            self.hand_on::<T>(tag, From::Nobody, None).await?;
            return Ok(value);
        }
        let came = self.hand_on(tag, From::Anyone, Some((to, value))).await?;
        came.ok_or(TeamError::TimedOut)
    }

    /// Sends at most one value, and returns the received one, if any.
    async fn hand_on<T: Value>(&self, tag: u32, from: From, send: Option<(Node, T)>) -> Result<Option<T>, TeamError> {
        let mut came = None;
        let put = |_, value| {
            came = Some(value);
            Ok(())
        };
        self.deliver(tag, Purpose::Permute, from, send.into_iter(), put).await?;
        Ok(came)
    }

    /// Sends a value to the next board of a [ring](Ring) of all boards, in which neighbors are at most three hops apart, and returns the
    /// received one.
    pub async fn shift<T: Value>(&self, tag: u32, value: T) -> Result<T, TeamError> {
        let next = Ring::new(&self.group.network).next(self.place()?);
        self.permute(tag, next.map_err(|_| TeamError::NotAMember)?, value).await
    }

    /// Sends a value to the next board along a dimension of the boards' [mesh](Mesh), and returns the received one; `None` at the beginning of a
    /// dimension that does not wrap around.
    pub async fn shift_along<T: Value>(&self, tag: u32, dimension: u64, value: T) -> Result<Option<T>, TeamError> {
        let (place, mesh) = (self.place()?, Mesh::new(&self.group.network));
        let mesh = mesh
            .filter(|mesh| dimension < mesh.dimensions())
            .ok_or(TeamError::NoDimension)?;
        let next = mesh.next(place, dimension).map_err(|_| TeamError::NotAMember)?;
        let previous = mesh.previous(place, dimension).map_err(|_| TeamError::NotAMember)?;
        let from = previous.map_or(From::Nobody, From::This);
        self.hand_on(tag, from, next.map(|to| (to, value))).await
    }

    async fn deliver<T: Value>(
        &self,
        tag: u32,
        purpose: Purpose,
        from: From,
        sends: impl Iterator<Item = (Node, T)>,
        put: impl FnMut(Node, T) -> Result<(), TeamError>,
    ) -> Result<(), TeamError> {
        let boards = self.boards()?;
        let work = RefCell::new(Delivery {
            from,
            came: Came::new(boards)?,
            left: match from {
                From::Nobody => 0,
                From::This(_) | From::Anyone => 1,
                From::Everyone => boards.saturating_sub(1),
            },
            sends,
            put,
        });
        self.call(tag, purpose, 0, &work).await
    }

    /// The number of boards, if it is not too large.
    pub(crate) fn boards(&self) -> Result<usize, TeamError> {
        let boards = usize::try_from(self.group.network.nodes()).ok();
        boards.filter(|&boards| boards <= MAX_BOARDS).ok_or(TeamError::TooLarge)
    }

    /// All other boards, beginning with the next, so that not all send to the same.
    fn others(&self, place: Node) -> impl Iterator<Item = Node> + use<> {
        (place.saturating_add(1)..self.group.network.nodes()).chain(0..place)
    }

    /// Whether there is one for each board.
    fn check<T>(&self, values: &[T]) -> Result<(), TeamError> {
        (values.len() >= self.boards()?)
            .then_some(())
            .ok_or(TeamError::TooLarge)
    }
}

fn get<T: Clone>(values: &[T], place: Node) -> Option<T> {
    values.get(usize::try_from(place).ok()?).cloned()
}

fn set<T>(values: &mut [T], place: Node, value: T) -> Result<(), TeamError> {
    let place = usize::try_from(place).map_err(|_| TeamError::TooLarge)?;
    *values.get_mut(place).ok_or(TeamError::TooLarge)? = value;
    Ok(())
}
