//! From board to board: what is not folded goes straight to where it belongs.
//!
//! Values are sent once all boards are in the call, and nobody returns before all have what they wait for; both are known by the
//! tree. So a board that dies breaks the call for all.

use core::cell::RefCell;

use embassy_futures::select::{Either, select};
use heapless::Vec;
use hopwise_app::Node;

use crate::Team;
use crate::call::{Call, Inbox};
use crate::error::Broken;
use crate::letter::{Kept, Kind, Part, Value, Work};

/// Boards of a group that send each other values directly.
pub const MAX_BOARDS: usize = 1_024;

const WORD: usize = 32;

/// Values that come from other boards, one from each.
struct Values<'v, T> {
    /// How many are still to come.
    left: usize,
    /// Who is waited for; `None` for anyone.
    only: Option<Node>,
    /// Who has been heard, a bit each.
    came: Vec<u32, { MAX_BOARDS / WORD }>,
    put: &'v mut dyn FnMut(Node, T) -> Result<(), Broken>,
}

impl<T> Values<'_, T> {
    fn has_come(&self, from: Node) -> bool {
        let (word, bit) = place_of(from);
        self.came.get(word).is_some_and(|word| word >> bit & 1 == 1)
    }
}

fn place_of(node: Node) -> (usize, u32) {
    let node = usize::try_from(node).unwrap_or(usize::MAX);
    (node / WORD, (node % WORD) as u32)
}

impl<T: Value> Inbox for Values<'_, T> {
    fn take(&mut self, letter: &Kept) -> Result<(), Broken> {
        let from = letter.from;
        if !matches!(letter.header.kind, Kind::Data(_)) || self.has_come(from) {
            return Err(Broken::Restarted(from));
        }
        if self.only.is_some_and(|only| only != from) || self.left == 0 {
            return Err(Broken::Differs(from));
        }
        (self.put)(from, letter.open().ok_or(Broken::Differs(from))?)?;
        let (word, bit) = place_of(from);
        if let Some(word) = self.came.get_mut(word) {
            *word |= 1 << bit;
        }
        self.left = self.left.saturating_sub(1);
        Ok(())
    }

    fn awaits(&self, from: Node) -> bool {
        self.left > 0 && self.only.is_none_or(|only| only == from) && !self.has_come(from)
    }
}

/// Of whom values are expected.
enum From {
    Nobody,
    This(Node),
    Anyone,
    Everyone,
}

impl Team<'_> {
    /// Every board's value, in node order, for the board `root`, which has room for one of each. The others' `all` is not looked at.
    pub async fn gather<T: Value>(&self, tag: u32, root: Node, value: T, all: &mut [T]) -> Result<(), Broken> {
        let (place, boards) = (self.place()?, self.boards()?);
        let is_root = place == root;
        if is_root {
            check(all, boards)?;
            set(all, place, value.clone())?;
        }
        let from = if is_root { From::Everyone } else { From::Nobody };
        let own = (!is_root).then_some((root, value));
        self.deliver(tag, Work::Gather, from, own.into_iter(), &mut |from, value| {
            set(all, from, value)
        })
        .await
    }

    /// For every board its own of the values that the board `root` has, in node order. The others' `all` is not looked at.
    pub async fn scatter<T: Value>(&self, tag: u32, root: Node, all: &[T]) -> Result<T, Broken> {
        let (place, boards) = (self.place()?, self.boards()?);
        let is_root = place == root;
        if is_root {
            check(all, boards)?;
        }
        let mut own = get(all, place).filter(|_| is_root);
        let from = if is_root { From::Nobody } else { From::This(root) };
        let others = (0..)
            .zip(all)
            .filter(|&(to, _)| is_root && to != place && to < boards as Node);
        let sends = others.map(|(to, value)| (to, value.clone()));
        let put = &mut |_, value| {
            own = Some(value);
            Ok(())
        };
        self.deliver(tag, Work::Scatter, from, sends, put).await?;
        own.ok_or(Broken::TimedOut)
    }

    /// Every board's value, in node order, for every board; there is room for one of each.
    pub async fn all_gather<T: Value>(&self, tag: u32, value: T, all: &mut [T]) -> Result<(), Broken> {
        let (place, boards) = (self.place()?, self.boards()?);
        check(all, boards)?;
        set(all, place, value.clone())?;
        let sends = others(place, boards).map(|to| (to, value.clone()));
        self.deliver(tag, Work::AllGather, From::Everyone, sends, &mut |from, value| {
            set(all, from, value)
        })
        .await
    }

    /// Every board has a value for every board: `given` those for others, `got` those from others, both in node order.
    pub async fn all_to_all<T: Value>(&self, tag: u32, given: &[T], got: &mut [T]) -> Result<(), Broken> {
        let (place, boards) = (self.place()?, self.boards()?);
        check(given, boards)?;
        check(got, boards)?;
        set(got, place, get(given, place).ok_or(Broken::TooLarge)?)?;
        let sends = others(place, boards).filter_map(|to| Some((to, get(given, to)?)));
        self.deliver(tag, Work::AllToAll, From::Everyone, sends, &mut |from, value| {
            set(got, from, value)
        })
        .await
    }

    /// Sends a value to the board `to`, and returns the one that comes. No two boards send to the same.
    pub async fn permute<T: Value>(&self, tag: u32, to: Node, value: T) -> Result<T, Broken> {
        let stays = self.place()? == to;
        let from = if stays { From::Nobody } else { From::Anyone };
        let send = (!stays).then(|| (to, value.clone()));
        let mut own = stays.then_some(value);
        let put = &mut |_, value| {
            own = Some(value);
            Ok(())
        };
        self.deliver(tag, Work::Permute, from, send.into_iter(), put).await?;
        own.ok_or(Broken::TimedOut)
    }

    async fn deliver<T: Value>(
        &self,
        tag: u32,
        work: Work,
        from: From,
        sends: impl Iterator<Item = (Node, T)>,
        put: &mut dyn FnMut(Node, T) -> Result<(), Broken>,
    ) -> Result<(), Broken> {
        let boards = self.boards()?;
        let mut came = Vec::new();
        came.resize(boards.div_ceil(WORD), 0).map_err(|_| Broken::TooLarge)?;
        let mut values = Values {
            left: match from {
                From::Nobody => 0,
                From::This(_) | From::Anyone => 1,
                From::Everyone => boards.saturating_sub(1),
            },
            only: match from {
                From::This(node) => Some(node),
                _ => None,
            },
            came,
            put,
        };
        let call = self.begin(tag, work, 0).await?;
        let result = call.deliver(sends, &mut values).await;
        call.end(result).await
    }

    /// How many boards there are, if there are not too many.
    pub(crate) fn boards(&self) -> Result<usize, Broken> {
        let boards = usize::try_from(self.group.network.nodes()).ok();
        boards.filter(|&boards| boards <= MAX_BOARDS).ok_or(Broken::TooLarge)
    }
}

impl Call<'_, '_> {
    async fn deliver<T: Value>(
        &self,
        sends: impl Iterator<Item = (Node, T)>,
        values: &mut Values<'_, T>,
    ) -> Result<(), Broken> {
        self.meet(Part::Begin, values).await?;
        let sends = RefCell::new(sends);
        // Two are under way at a time.
        let sending = both(self.send_all(&sends), self.send_all(&sends));
        both(sending, self.receive(values, |values| values.left == 0)).await?;
        self.meet(Part::End, &mut ()).await
    }

    async fn send_all<T: Value>(&self, sends: &RefCell<impl Iterator<Item = (Node, T)>>) -> Result<(), Broken> {
        loop {
            let next = sends.borrow_mut().next();
            let Some((to, value)) = next else { return Ok(()) };
            self.send_value(to, Kind::Data(0), &value).await?;
        }
    }
}

/// Both, or the first error.
pub(crate) async fn both(
    first: impl Future<Output = Result<(), Broken>>,
    second: impl Future<Output = Result<(), Broken>>,
) -> Result<(), Broken> {
    let (mut first, mut second) = (core::pin::pin!(first), core::pin::pin!(second));
    match select(first.as_mut(), second.as_mut()).await {
        Either::First(ended) => {
            ended?;
            second.await
        }
        Either::Second(ended) => {
            ended?;
            first.await
        }
    }
}

/// All other boards, beginning with the next, so that not all send to the same.
fn others(place: Node, boards: usize) -> impl Iterator<Item = Node> {
    let boards = boards as Node;
    (place.saturating_add(1)..boards).chain(0..place)
}

fn check<T>(values: &[T], boards: usize) -> Result<(), Broken> {
    (values.len() >= boards).then_some(()).ok_or(Broken::TooLarge)
}

fn get<T: Clone>(values: &[T], place: Node) -> Option<T> {
    values.get(usize::try_from(place).ok()?).cloned()
}

fn set<T>(values: &mut [T], place: Node, value: T) -> Result<(), Broken> {
    let place = usize::try_from(place).map_err(|_| Broken::TooLarge)?;
    *values.get_mut(place).ok_or(Broken::TooLarge)? = value;
    Ok(())
}
