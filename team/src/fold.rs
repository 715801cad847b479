//! Up the tree and down again: values folded, in node order or as they meet.
//!
//! What lies behind a board in the tree need not be consecutive nodes. So a board sends up pieces, each the fold of consecutive nodes,
//! and is told what comes before each of them; from that it tells its children.

use heapless::Vec;
use hopwise_app::Node;
use serde::{Deserialize, Serialize};

use crate::Team;
use crate::call::{Call, Heard, MAX_CHILDREN};
use crate::error::Broken;
use crate::letter::{Part, Value, Work};

/// What comes up from a board is folded to at most this many pieces of consecutive nodes.
pub const MAX_PIECES: usize = 16;

/// Pieces that meet at a board: its own, and those of all children.
const MEETING: usize = 2 * MAX_PIECES;

/// What a fold in node order comes to.
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

/// What goes down.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Answer<T> {
    total: T,
    /// For each piece that came up, in order.
    before: Vec<Option<T>, MAX_PIECES>,
}

/// All pieces that meet at a board, in node order, each with the child it came from; its own has none.
struct Meeting<T>(Vec<(Option<Node>, Piece<T>), MEETING>);

impl<T: Value> Meeting<T> {
    fn add(&mut self, child: Option<Node>, piece: Piece<T>) -> Result<(), Broken> {
        let place = self.0.iter().take_while(|(_, other)| other.first < piece.first).count();
        self.0.insert(place, (child, piece)).map_err(|_| Broken::TooLarge)
    }

    /// What goes up: pieces that are next to each other are one.
    fn joined(&self, operator: &impl Fn(T, T) -> T) -> Result<Vec<Piece<T>, MAX_PIECES>, Broken> {
        let mut joined: Vec<Piece<T>, MAX_PIECES> = Vec::new();
        for (_, piece) in &self.0 {
            match joined.last_mut() {
                Some(last) if last.end == piece.first => {
                    last.value = operator(last.value.clone(), piece.value.clone());
                    last.end = piece.end;
                }
                _ => joined.push(piece.clone()).map_err(|_| Broken::TooLarge)?,
            }
        }
        Ok(joined)
    }

    /// What comes before each piece of a child, or of this board's own, given what comes before each of the joined ones.
    fn before(
        &self,
        child: Option<Node>,
        joined: &[Piece<T>],
        before: &[Option<T>],
        operator: &impl Fn(T, T) -> T,
    ) -> Vec<Option<T>, MAX_PIECES> {
        let (mut found, mut so_far, mut group) = (Vec::new(), None, joined.iter().zip(before));
        for (from, piece) in &self.0 {
            // The first of a joined one begins with what comes before that.
            if joined.iter().any(|all| all.first == piece.first) {
                so_far = group.next().and_then(|(_, before)| before.clone());
            }
            if *from == child {
                // There is room: so many came.
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

impl Team<'_> {
    /// The values of all boards folded in node order, and those before this board's own.
    ///
    /// What lies behind a board in the tree comes up as pieces of consecutive nodes, up to [`MAX_PIECES`] and as far as they fit a message;
    /// where they do not it ends with [`Broken::TooLarge`].
    pub async fn fold<T: Value>(&self, tag: u32, value: T, operator: impl Fn(T, T) -> T) -> Result<Folded<T>, Broken> {
        let call = self.begin(tag, Work::Fold, 0).await?;
        let result = call.fold(self.own(value)?, &operator).await;
        call.end(result).await
    }

    /// All values folded in node order, for the board `root`; for others `None`.
    pub async fn reduce<T: Value>(
        &self,
        tag: u32,
        root: Node,
        value: T,
        operator: impl Fn(T, T) -> T,
    ) -> Result<Option<T>, Broken> {
        let call = self.begin(tag, Work::Reduce, root).await?;
        let result = call.reduce(self.own(value)?, &operator).await;
        call.end(result).await
    }

    /// All values folded for every board, by an operator that commutes: messages carry one value, however the network is numbered.
    pub async fn all_reduce_any_order<T: Value>(
        &self,
        tag: u32,
        value: T,
        operator: impl Fn(T, T) -> T,
    ) -> Result<T, Broken> {
        let call = self.begin(tag, Work::AnyOrder, 0).await?;
        let result = call.sum(value, &operator).await;
        call.end(result).await
    }

    /// What the board `root` of the group has, for every board. The others' `value` is not looked at.
    pub async fn broadcast<T: Value>(&self, tag: u32, root: Node, value: T) -> Result<T, Broken> {
        let call = self.begin(tag, Work::Broadcast, root).await?;
        let result = call.broadcast(value).await;
        call.end(result).await
    }

    fn own<T>(&self, value: T) -> Result<Piece<T>, Broken> {
        let first = u32::try_from(self.place()?).map_err(|_| Broken::TooLarge)?;
        let end = first.saturating_add(1);
        Ok(Piece { first, end, value })
    }
}

impl Call<'_, '_> {
    async fn fold<T: Value>(&self, own: Piece<T>, operator: &impl Fn(T, T) -> T) -> Result<Folded<T>, Broken> {
        let (meeting, heard) = self.pieces(own).await?;
        let joined = meeting.joined(operator)?;
        let answer = match self.ask_parent(Part::Begin, &joined, &mut ()).await? {
            Some(answer) => answer,
            None => Answer {
                total: all_of(&joined)?,
                before: Vec::new(),
            },
        };
        for child in &heard {
            let before = meeting.before(Some(child.child), &joined, &answer.before, operator);
            let total = answer.total.clone();
            self.answer(Part::Begin, child, &Answer { total, before }).await?;
        }
        let own = meeting.before(None, &joined, &answer.before, operator);
        Ok(Folded {
            before: own.first().cloned().flatten(),
            total: answer.total,
        })
    }

    async fn reduce<T: Value>(&self, own: Piece<T>, operator: &impl Fn(T, T) -> T) -> Result<Option<T>, Broken> {
        let (meeting, heard) = self.pieces(own).await?;
        let joined = meeting.joined(operator)?;
        let total = match self.ask_parent::<_, ()>(Part::Begin, &joined, &mut ()).await? {
            Some(()) => None,
            None => Some(all_of(&joined)?),
        };
        for child in &heard {
            self.answer(Part::Begin, child, &()).await?;
        }
        Ok(total)
    }

    /// The pieces of this board and of all behind it.
    async fn pieces<T: Value>(&self, own: Piece<T>) -> Result<(Meeting<T>, Vec<Heard, MAX_CHILDREN>), Broken> {
        let mut meeting = Meeting(Vec::new());
        meeting.add(None, own)?;
        let add = |child, pieces: Vec<Piece<T>, MAX_PIECES>| {
            let mut pieces = pieces.into_iter();
            pieces.try_for_each(|piece| meeting.add(Some(child), piece))
        };
        let heard = self.hear_children(Part::Begin, &mut (), add).await?;
        Ok((meeting, heard))
    }

    async fn sum<T: Value>(&self, value: T, operator: &impl Fn(T, T) -> T) -> Result<T, Broken> {
        let mut sum = value;
        let add = |_, value: T| {
            sum = operator(sum.clone(), value);
            Ok(())
        };
        let heard = self.hear_children(Part::Begin, &mut (), add).await?;
        let total = self.ask_parent(Part::Begin, &sum, &mut ()).await?.unwrap_or(sum);
        for child in &heard {
            self.answer(Part::Begin, child, &total).await?;
        }
        Ok(total)
    }

    async fn broadcast<T: Value>(&self, value: T) -> Result<T, Broken> {
        let heard = self.hear_children::<()>(Part::Begin, &mut (), |_, ()| Ok(())).await?;
        let value = self.ask_parent(Part::Begin, &(), &mut ()).await?.unwrap_or(value);
        for child in &heard {
            self.answer(Part::Begin, child, &value).await?;
        }
        Ok(value)
    }
}

/// At the root all pieces are one.
fn all_of<T: Clone>(joined: &[Piece<T>]) -> Result<T, Broken> {
    match joined {
        [all] => Ok(all.value.clone()),
        _ => Err(Broken::TooLarge),
    }
}
