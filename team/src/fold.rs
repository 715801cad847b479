//! Up the tree and down again: values folded, in node order or in any order.
//!
//! The subtree of a board need not be consecutive nodes. So a board sends up pieces, each the fold of consecutive nodes,
//! and receives the prefix of each of them; from those it computes its children's.

use core::cell::RefCell;

use heapless::Vec;
use hopwise_app::Node;
use serde::{Deserialize, Serialize};

use crate::Team;
use crate::call::Work;
use crate::error::TeamError;
use crate::letter::{self, Bytes, Header, Purpose, ReceivedMessage, Value};

/// Maximum number of pieces of consecutive nodes that a board sends up.
pub const MAX_PIECES: usize = 16;

/// Maximum number of pieces at a board: its own, and those of all children.
const MEETING: usize = 2 * MAX_PIECES;

/// The result of a fold in node order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded<T> {
    /// The values of the boards before this one; `None` if it is the first.
    pub before: Option<T>,
    /// The values of all boards.
    pub total: T,
}

/// The values of consecutive nodes, folded.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Piece<T> {
    first: u32,
    /// The one after the last.
    end: u32,
    value: T,
}

/// The message down the tree.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Response<T> {
    total: T,
    /// For each piece that came up, in order.
    before: Vec<Option<T>, MAX_PIECES>,
}

/// All pieces that meet at a board, in node order, each with the child it came from; its own has none.
struct Meeting<T>(Vec<(Option<Node>, Piece<T>), MEETING>);

impl<T: Value> Meeting<T> {
    fn add(&mut self, child: Option<Node>, piece: Piece<T>) -> Result<(), TeamError> {
        let place = self.0.iter().take_while(|(_, other)| other.first < piece.first).count();
        self.0.insert(place, (child, piece)).map_err(|_| TeamError::TooLarge)
    }

    /// The message up the tree: adjacent pieces are merged.
    fn joined(&self, operator: &impl Fn(T, T) -> T) -> Result<Vec<Piece<T>, MAX_PIECES>, TeamError> {
        let mut joined: Vec<Piece<T>, MAX_PIECES> = Vec::new();
        for (_, piece) in &self.0 {
            match joined.last_mut() {
                Some(last) if last.end == piece.first => {
                    last.value = operator(last.value.clone(), piece.value.clone());
                    last.end = piece.end;
                }
                _ => joined.push(piece.clone()).map_err(|_| TeamError::TooLarge)?,
            }
        }
        Ok(joined)
    }

    /// The prefix of each piece of a child, or of this board's own, given the prefix of each merged one.
    fn before(
        &self,
        child: Option<Node>,
        joined: &[Piece<T>],
        before: &[Option<T>],
        operator: &impl Fn(T, T) -> T,
    ) -> Vec<Option<T>, MAX_PIECES> {
        let (mut found, mut so_far, mut group) = (Vec::new(), None, joined.iter().zip(before));
        for (from, piece) in &self.0 {
            // The first piece of a merged one begins with its prefix.
            if joined.iter().any(|all| all.first == piece.first) {
                so_far = group.next().and_then(|(_, before)| before.clone());
            }
            if *from == child {
                // Cannot fail: no more than came.
                let _ = found.push(so_far.clone());
            }
            so_far = Some(match so_far.take() {
                Some(before) => operator(before, piece.value.clone()),
                None => piece.value.clone(),
            });
        }
        found
    }
}

/// A fold in node order.
struct Fold<T, F> {
    meeting: Meeting<T>,
    operator: F,
    joined: Vec<Piece<T>, MAX_PIECES>,
    response: Option<Response<T>>,
    /// Whether only the root needs the result.
    for_root: bool,
}

impl<T: Value, F: Fn(T, T) -> T> Fold<T, F> {
    fn new(place: Node, value: T, operator: F, for_root: bool) -> Result<Self, TeamError> {
        let first = u32::try_from(place).map_err(|_| TeamError::TooLarge)?;
        let end = first.saturating_add(1);
        let mut meeting = Meeting(Vec::new());
        meeting.add(None, Piece { first, end, value })?;
        Ok(Fold {
            meeting,
            operator,
            joined: Vec::new(),
            response: None,
            for_root,
        })
    }

    fn before(&self, child: Option<Node>) -> Vec<Option<T>, MAX_PIECES> {
        let before = self.response.as_ref().map_or(&[][..], |response| &response.before);
        self.meeting.before(child, &self.joined, before, &self.operator)
    }
}

impl<T: Value, F: Fn(T, T) -> T> Work for Fold<T, F> {
    fn hear(&mut self, letter: &ReceivedMessage) -> Result<(), TeamError> {
        let pieces: Vec<Piece<T>, MAX_PIECES> = letter.open().ok_or(TeamError::Differs(letter.from))?;
        let mut pieces = pieces.into_iter();
        pieces.try_for_each(|piece| self.meeting.add(Some(letter.from), piece))
    }

    fn up(&mut self, header: Header) -> Option<Bytes> {
        self.joined = self.meeting.joined(&self.operator).ok()?;
        letter::write(header, &self.joined)
    }

    fn responded(&mut self, response: Option<&ReceivedMessage>) -> Result<(), TeamError> {
        self.response = match response {
            Some(_) if self.for_root => None,
            Some(letter) => Some(letter.open().ok_or(TeamError::Differs(letter.from))?),
            None => {
                self.joined = self.meeting.joined(&self.operator)?;
                // At the root all pieces are one, with an empty prefix.
                let [all] = &self.joined[..] else {
                    return Err(TeamError::TooLarge);
                };
                Some(Response {
                    total: all.value.clone(),
                    before: Vec::new(),
                })
            }
        };
        Ok(())
    }

    fn down(&mut self, header: Header, child: Node) -> Option<Bytes> {
        if self.for_root {
            return letter::write(header, &());
        }
        let total = self.response.as_ref()?.total.clone();
        let before = self.before(Some(child));
        letter::write(header, &Response { total, before })
    }
}

/// A fold in any order.
struct Sum<T, F> {
    sum: T,
    operator: F,
}

impl<T: Value, F: Fn(T, T) -> T> Work for Sum<T, F> {
    fn hear(&mut self, letter: &ReceivedMessage) -> Result<(), TeamError> {
        let value = letter.open().ok_or(TeamError::Differs(letter.from))?;
        self.sum = (self.operator)(self.sum.clone(), value);
        Ok(())
    }

    fn up(&mut self, header: Header) -> Option<Bytes> {
        letter::write(header, &self.sum)
    }

    fn responded(&mut self, response: Option<&ReceivedMessage>) -> Result<(), TeamError> {
        if let Some(letter) = response {
            self.sum = letter.open().ok_or(TeamError::Differs(letter.from))?;
        }
        Ok(())
    }

    fn down(&mut self, header: Header, _: Node) -> Option<Bytes> {
        letter::write(header, &self.sum)
    }
}

/// The root's value on its way down.
struct Told<T>(T);

impl<T: Value> Work for Told<T> {
    fn responded(&mut self, response: Option<&ReceivedMessage>) -> Result<(), TeamError> {
        if let Some(letter) = response {
            self.0 = letter.open().ok_or(TeamError::Differs(letter.from))?;
        }
        Ok(())
    }

    fn down(&mut self, header: Header, _: Node) -> Option<Bytes> {
        letter::write(header, &self.0)
    }
}

/// The message that all have arrived.
struct Come;

impl Work for Come {}

impl Team<'_> {
    /// Returns when all boards have called it.
    pub async fn barrier(&self, tag: u32) -> Result<(), TeamError> {
        self.call(tag, Purpose::Barrier, 0, &RefCell::new(Come)).await
    }

    /// Folds the values of all boards in node order; returns the total and the prefix before this board's own.
    ///
    /// The subtree of a board comes up as pieces of consecutive nodes, up to [`MAX_PIECES`] and as far as they fit a message;
    /// otherwise the call fails with [`TeamError::TooLarge`].
    pub async fn fold<T: Value>(
        &self,
        tag: u32,
        value: T,
        operator: impl Fn(T, T) -> T,
    ) -> Result<Folded<T>, TeamError> {
        let work = RefCell::new(Fold::new(self.place()?, value, operator, false)?);
        self.call(tag, Purpose::Fold, 0, &work).await?;
        let work = work.into_inner();
        let before = work.before(None).first().cloned().flatten();
        let total = work.response.ok_or(TeamError::TimedOut)?.total;
        Ok(Folded { before, total })
    }

    /// All values folded in node order, for every board.
    pub async fn all_reduce<T: Value>(&self, tag: u32, value: T, operator: impl Fn(T, T) -> T) -> Result<T, TeamError> {
        Ok(self.fold(tag, value, operator).await?.total)
    }

    /// The values up to this board's own, folded in node order.
    pub async fn scan<T: Value>(&self, tag: u32, value: T, operator: impl Fn(T, T) -> T) -> Result<T, TeamError> {
        let before = self.fold(tag, value.clone(), &operator).await?.before;
        Ok(match before {
            Some(before) => operator(before, value),
            None => value,
        })
    }

    /// The values before this board's own, folded in node order; `None` at the first.
    pub async fn exclusive_scan<T: Value>(
        &self,
        tag: u32,
        value: T,
        operator: impl Fn(T, T) -> T,
    ) -> Result<Option<T>, TeamError> {
        Ok(self.fold(tag, value, operator).await?.before)
    }

    /// All values folded in node order, for the board `root`; for others `None`.
    pub async fn reduce<T: Value>(
        &self,
        tag: u32,
        root: Node,
        value: T,
        operator: impl Fn(T, T) -> T,
    ) -> Result<Option<T>, TeamError> {
        let work = RefCell::new(Fold::new(self.place()?, value, operator, true)?);
        self.call(tag, Purpose::Reduce, root, &work).await?;
        Ok(work.into_inner().response.map(|response| response.total))
    }

    /// All values folded for every board, by a commutative operator: messages carry one value, however the network is numbered.
    pub async fn all_reduce_any_order<T: Value>(
        &self,
        tag: u32,
        value: T,
        operator: impl Fn(T, T) -> T,
    ) -> Result<T, TeamError> {
        let work = RefCell::new(Sum { sum: value, operator });
        self.call(tag, Purpose::AnyOrder, 0, &work).await?;
        Ok(work.into_inner().sum)
    }

    /// Gives every board the value of the board `root` of the group. The `value` of the others is ignored.
    pub async fn broadcast<T: Value>(&self, tag: u32, root: Node, value: T) -> Result<T, TeamError> {
        let work = RefCell::new(Told(value));
        self.call(tag, Purpose::Broadcast, root, &work).await?;
        Ok(work.into_inner().0)
    }
}
