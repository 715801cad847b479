//! Up the tree and down again: values folded in node order.
//!
//! What lies behind a board in the tree need not be consecutive nodes. So a board sends up pieces, each the fold of consecutive nodes,
//! and is told what comes before each of them; from that it tells its children.

use heapless::Vec;
use hopwise_app::Node;

use crate::error::Broken;
use crate::letter::{self, Answer, Header, Kind, MAX_CHILDREN, MAX_PIECES, Piece, Value};
use crate::{Group, Team};

/// What a fold in node order comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded<T> {
    /// The values of the boards before this one; `None` if it is the first.
    pub before: Option<T>,
    /// The values of all boards.
    pub total: T,
}

/// A child and what it sent up.
struct Child<T> {
    node: Node,
    call: u64,
    pieces: Vec<Piece<T>, MAX_PIECES>,
}

/// Whether the order of values matters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// They are folded in node order.
    OfNodes,
    /// They are folded as they meet, to one value.
    Any,
}

/// All pieces that meet at a board: its own, and its children's.
struct Meeting<T> {
    order: Order,
    own: Piece<T>,
    children: Vec<Child<T>, MAX_CHILDREN>,
}

impl<T: Value> Meeting<T> {
    /// All pieces in node order.
    fn in_order(&self, mut each: impl FnMut(&Piece<T>)) {
        let mut from = 0;
        let pieces = || self.children.iter().flat_map(|child| &child.pieces).chain([&self.own]);
        while let Some(next) = pieces()
            .filter(|piece| piece.first >= from)
            .min_by_key(|piece| piece.first)
        {
            each(next);
            from = next.end.max(next.first.saturating_add(1));
        }
    }

    /// What goes up: pieces that are next to each other are one.
    fn joined(&self, operator: &impl Fn(T, T) -> T) -> Option<Vec<Piece<T>, MAX_PIECES>> {
        if self.order == Order::Any {
            let others = self.children.iter().flat_map(|child| &child.pieces);
            let value = others.fold(self.own.value.clone(), |all, piece| operator(all, piece.value.clone()));
            let all = Piece {
                value,
                ..self.own.clone()
            };
            return Vec::from_slice(&[all]).ok();
        }
        let mut joined: Vec<Piece<T>, MAX_PIECES> = Vec::new();
        let mut fits = true;
        self.in_order(|piece| match joined.last_mut() {
            Some(last) if last.end == piece.first => {
                last.value = operator(last.value.clone(), piece.value.clone());
                last.end = piece.end;
            }
            _ => fits &= joined.push(piece.clone()).is_ok(),
        });
        fits.then_some(joined)
    }

    /// What comes before a piece, given what comes before each of the joined ones.
    fn before(
        &self,
        piece: &Piece<T>,
        joined: &[Piece<T>],
        answer: &Answer<T>,
        operator: &impl Fn(T, T) -> T,
    ) -> Option<T> {
        if self.order == Order::Any {
            return None;
        }
        let place = joined
            .iter()
            .position(|all| (all.first..all.end).contains(&piece.first))?;
        let mut before = answer.before.get(place).cloned().flatten();
        let first = joined.get(place)?.first;
        self.in_order(|other| {
            if (first..piece.first).contains(&other.first) {
                before = Some(match before.take() {
                    Some(before) => operator(before, other.value.clone()),
                    None => other.value.clone(),
                });
            }
        });
        before
    }
}

impl Team<'_> {
    /// The values of all boards folded in node order, and those before this board's own.
    ///
    /// What lies behind a board in the tree comes up as pieces of consecutive nodes, up to [`MAX_PIECES`] and as far as they fit a message;
    /// where they do not it ends with [`Broken::TooLarge`].
    pub async fn fold<T: Value>(
        &mut self,
        tag: u32,
        value: T,
        operator: impl Fn(T, T) -> T,
    ) -> Result<Folded<T>, Broken> {
        self.fold_by(Order::OfNodes, tag, value, operator).await
    }

    pub(crate) async fn fold_by<T: Value>(
        &mut self,
        order: Order,
        tag: u32,
        value: T,
        operator: impl Fn(T, T) -> T,
    ) -> Result<Folded<T>, Broken> {
        let place = self.place()?;
        let group: Group = self.group;
        let tree = Team::tree(&group)?;
        let parent = tree.parent(place).map_err(|_| Broken::NotAMember)?;
        let mut missing: Vec<Node, MAX_CHILDREN> = Vec::new();
        for (_, child) in tree.children(place).map_err(|_| Broken::NotAMember)? {
            missing.push(child).map_err(|_| Broken::TooLarge)?;
        }
        let number = u32::try_from(place).map_err(|_| Broken::TooLarge)?;
        let mut meeting = Meeting {
            order,
            own: Piece {
                first: number,
                end: number.saturating_add(1),
                value,
            },
            children: Vec::new(),
        };
        let result = self.meet(tag, parent, &mut missing, &mut meeting, &operator).await;
        if result.is_err() {
            // Whoever waits for this board is told; those who come later find out by themselves.
            for child in &meeting.children {
                self.tell_broken(child.node, tag).await;
            }
            if let Some(parent) = parent {
                self.tell_broken(parent, tag).await;
            }
        }
        self.early.retain(|kept| kept.header.tag > tag);
        result
    }

    async fn meet<T: Value>(
        &mut self,
        tag: u32,
        parent: Option<Node>,
        missing: &mut Vec<Node, MAX_CHILDREN>,
        meeting: &mut Meeting<T>,
        operator: &impl Fn(T, T) -> T,
    ) -> Result<Folded<T>, Broken> {
        let begun = self.mesh.now();
        while !missing.is_empty() {
            let letter = self.letter(tag, begun.saturating_add(self.patience)).await?;
            let first = missing.first().copied().unwrap_or(0);
            let letter = letter.ok_or(Broken::Missing(first))?;
            check(&letter)?;
            if !letter.header.is(Kind::Up) {
                continue;
            }
            if meeting.children.iter().any(|child| child.node == letter.from) {
                return Err(Broken::Restarted(letter.from));
            }
            let Some(at) = missing.iter().position(|&child| child == letter.from) else {
                continue;
            };
            missing.swap_remove(at);
            let child = Child {
                node: letter.from,
                call: letter.header.call,
                pieces: postcard::from_bytes(&letter.body).map_err(|_| Broken::Missing(letter.from))?,
            };
            meeting.children.push(child).map_err(|_| Broken::TooLarge)?;
        }
        let joined = meeting.joined(operator).ok_or(Broken::TooLarge)?;
        let answer = match parent {
            None => at_root(&joined)?,
            Some(parent) => {
                let header = Header {
                    tag,
                    kind: Kind::Up,
                    call: begun,
                };
                let up = letter::write(header, &joined).ok_or(Broken::TooLarge)?;
                self.send(parent, &up, begun.saturating_add(self.patience)).await?;
                self.answer(tag, begun, parent, meeting).await?
            }
        };
        for child in &meeting.children {
            let mut before = Vec::new();
            for piece in &child.pieces {
                let _ = before.push(meeting.before(piece, &joined, &answer, operator));
            }
            let total = answer.total.clone();
            let header = Header {
                tag,
                kind: Kind::Down,
                call: child.call,
            };
            let down = letter::write(header, &Answer { total, before }).ok_or(Broken::TooLarge)?;
            // A child that has died has no result; the others have.
            let end = begun.saturating_add(self.patience.saturating_mul(2));
            let _ = self.send(child.node, &down, end).await;
        }
        Ok(Folded {
            before: meeting.before(&meeting.own, &joined, &answer, operator),
            total: answer.total,
        })
    }

    /// Waits for the parent's answer to this very call.
    async fn answer<T: Value>(
        &mut self,
        tag: u32,
        call: u64,
        parent: Node,
        meeting: &Meeting<T>,
    ) -> Result<Answer<T>, Broken> {
        let deadline = call.saturating_add(self.patience.saturating_mul(2));
        loop {
            let letter = self.letter(tag, deadline).await?.ok_or(Broken::TimedOut)?;
            check(&letter)?;
            if letter.header.is(Kind::Up) && meeting.children.iter().any(|child| child.node == letter.from) {
                return Err(Broken::Restarted(letter.from));
            }
            if letter.header.is(Kind::Down) && letter.from == parent && letter.header.call == call {
                return postcard::from_bytes(&letter.body).map_err(|_| Broken::Missing(parent));
            }
        }
    }
}

/// Whether the letter says that there will be no result.
fn check(letter: &letter::Kept) -> Result<(), Broken> {
    match letter.header.kind {
        Kind::Up | Kind::Down => Ok(()),
        Kind::Broken => Err(Broken::ToldSo),
        Kind::Behind => Err(Broken::Behind(postcard::from_bytes(&letter.body).unwrap_or(0))),
    }
}

/// At the root all pieces are one, and nothing comes before it.
fn at_root<T: Value>(joined: &[Piece<T>]) -> Result<Answer<T>, Broken> {
    let [all] = joined else { return Err(Broken::TooLarge) };
    let mut before = Vec::new();
    let _ = before.push(None);
    Ok(Answer {
        total: all.value.clone(),
        before,
    })
}
