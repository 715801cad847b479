//! One call of a team at this board: up the tree and down again, and from board to board.

use core::future::{Future, poll_fn};

use embassy_futures::select::{Either, select};
use heapless::Vec;
use hopwise_app::{Mesh, Micros, Node, Outcome};
use hopwise_core::collective::{Ports, Tree};
use serde::Serialize;

use crate::Team;
use crate::desk::Found;
use crate::error::Broken;
use crate::letter::{self, Bytes, Header, Kept, Kind, Part, Value, Work};

/// A board has at most this many children in a tree.
pub const MAX_CHILDREN: usize = 12;

/// Between two attempts to reach a board.
const PAUSE: Micros = 20_000;

/// A child that has been heard, and which call of its own it is at.
pub(crate) struct Heard {
    pub(crate) child: Node,
    call: u32,
}

/// What letters of values are for; trees do without.
pub(crate) trait Inbox {
    /// Takes one of kind [`Kind::Ready`] or [`Kind::Data`].
    fn take(&mut self, letter: &Kept) -> Result<(), Broken>;

    /// Whether something of a board is still to come.
    fn awaits(&self, from: Node) -> bool;
}

impl Inbox for () {
    fn take(&mut self, _: &Kept) -> Result<(), Broken> {
        Ok(())
    }

    fn awaits(&self, _: Node) -> bool {
        false
    }
}

/// A call that is under way.
pub(crate) struct Call<'t, 'a> {
    team: &'t Team<'a>,
    tag: u32,
    work: Work,
    /// A number that no call of this board had before.
    number: u32,
    begun: Micros,
    parent: Option<Node>,
    children: Vec<Node, MAX_CHILDREN>,
}

impl Drop for Call<'_, '_> {
    fn drop(&mut self) {
        self.team.desk.end(self.tag);
    }
}

impl<'a> Team<'a> {
    /// Begins a call over the tree of a board of the group.
    pub(crate) async fn begin(&self, tag: u32, work: Work, root: Node) -> Result<Call<'_, 'a>, Broken> {
        let place = self.place()?;
        let tree = Tree::new(&self.group.network, root, Ports::One).map_err(|_| Broken::NotAMember)?;
        let parent = tree.parent(place).map_err(|_| Broken::NotAMember)?;
        let mut children = Vec::new();
        for (_, child) in tree.children(place).map_err(|_| Broken::NotAMember)? {
            children.push(child).map_err(|_| Broken::TooLarge)?;
        }
        // In the order in which calls are made: nothing is waited for before.
        self.desk.begin(tag)?;
        let mut call = Call {
            team: self,
            tag,
            work,
            number: 0,
            begun: self.mesh.now(),
            parent,
            children,
        };
        call.number = self.mesh.session().await;
        Ok(call)
    }
}

impl Call<'_, '_> {
    /// Ends the call: if it has come to nothing its neighbours in the tree are told, and they tell theirs. Those who come later find out by
    /// themselves.
    pub(crate) async fn end<T>(self, result: Result<T, Broken>) -> Result<T, Broken> {
        if result.is_err() {
            if let Some(told) = self.letter(Kind::Broken, 0, &()) {
                for &to in self.parent.iter().chain(&self.children) {
                    // Who does not hear of it finds out by waiting.
                    self.post(to, &told).await;
                }
            }
        }
        result
    }

    /// The longest that a part waits for children, for the parent's answer, and for values.
    fn up_by(&self, part: Part) -> Micros {
        self.after(if part == Part::Begin { 1 } else { 3 })
    }

    fn down_by(&self, part: Part) -> Micros {
        self.after(if part == Part::Begin { 2 } else { 4 })
    }

    fn after(&self, patiences: u64) -> Micros {
        self.begun.saturating_add(self.team.patience.saturating_mul(patiences))
    }

    /// When all values must have come.
    pub(crate) fn values_by(&self) -> Micros {
        self.up_by(Part::Middle)
    }

    fn letter<T: Serialize>(&self, kind: Kind, call: u32, body: &T) -> Option<Bytes> {
        letter::write(self.header(kind, call), body)
    }

    /// How a letter of this call begins.
    pub(crate) fn header(&self, kind: Kind, call: u32) -> Header {
        Header {
            tag: self.tag,
            work: self.work,
            kind,
            oldest: self.team.desk.oldest(),
            call,
        }
    }

    /// All children's words, each given to `each` as it comes.
    pub(crate) async fn hear_children<U: Value>(
        &self,
        part: Part,
        inbox: &mut impl Inbox,
        mut each: impl FnMut(Node, U) -> Result<(), Broken>,
    ) -> Result<Vec<Heard, MAX_CHILDREN>, Broken> {
        let mut heard: Vec<Heard, MAX_CHILDREN> = Vec::new();
        let by = self.up_by(part);
        loop {
            let has_come = |node: Node| heard.iter().any(|other| other.child == node);
            let Some(&missing) = self.children.iter().find(|&&child| !has_come(child)) else {
                return Ok(heard);
            };
            let awaited = |node: Node| self.children.contains(&node) && !has_come(node);
            let letter = self.next(part, by, awaited).await?;
            let letter = letter.ok_or(Broken::Missing(missing))?;
            match letter.header.kind {
                Kind::Ready(_) | Kind::Data(_) => {
                    inbox.take(&letter)?;
                    continue;
                }
                Kind::Up(_) if has_come(letter.from) => return Err(Broken::Restarted(letter.from)),
                Kind::Up(_) if self.children.contains(&letter.from) => {}
                _ => continue,
            }
            each(letter.from, letter.open().ok_or(Broken::Differs(letter.from))?)?;
            let child = Heard {
                child: letter.from,
                call: letter.header.call,
            };
            heard.push(child).map_err(|_| Broken::TooLarge)?;
        }
    }

    /// Tells the parent, and waits for its answer; `None` at the root.
    pub(crate) async fn ask_parent<U: Serialize, D: Value>(
        &self,
        part: Part,
        up: &U,
        inbox: &mut impl Inbox,
    ) -> Result<Option<D>, Broken> {
        let Some(parent) = self.parent else { return Ok(None) };
        let up = self.letter(Kind::Up(part), self.number, up).ok_or(Broken::TooLarge)?;
        self.send(parent, &up, self.up_by(part)).await?;
        let by = self.down_by(part);
        loop {
            let letter = self.next(part, by, |node| node == parent).await?;
            let letter = letter.ok_or(Broken::TimedOut)?;
            match letter.header.kind {
                Kind::Ready(_) | Kind::Data(_) => inbox.take(&letter)?,
                // All children have been heard.
                Kind::Up(_) => return Err(Broken::Restarted(letter.from)),
                Kind::Down(of) if of == part && letter.from == parent && letter.header.call == self.number => {
                    return letter.open().map(Some).ok_or(Broken::Differs(parent));
                }
                _ => {}
            }
        }
    }

    /// Answers a child. If it has died it has no result; the others have.
    pub(crate) async fn answer<D: Serialize>(&self, part: Part, heard: &Heard, down: &D) -> Result<(), Broken> {
        let kind = Kind::Down(part);
        let down = self.letter(kind, heard.call, down).ok_or(Broken::TooLarge)?;
        let _ = self.send(heard.child, &down, self.down_by(part)).await;
        Ok(())
    }

    /// Returns when all boards are in this part.
    pub(crate) async fn meet(&self, part: Part, inbox: &mut impl Inbox) -> Result<(), Broken> {
        let heard = self.hear_children::<()>(part, inbox, |_, ()| Ok(())).await?;
        self.ask_parent::<(), ()>(part, &(), inbox).await?;
        for child in &heard {
            self.answer(part, child, &()).await?;
        }
        Ok(())
    }

    /// Takes in values until there are all that are wanted.
    pub(crate) async fn receive<I: Inbox>(&self, inbox: &mut I, done: impl Fn(&I) -> bool) -> Result<(), Broken> {
        while !done(inbox) {
            let letter = self
                .next(Part::Middle, self.values_by(), |node| inbox.awaits(node))
                .await?;
            let letter = letter.ok_or(Broken::TimedOut)?;
            match letter.header.kind {
                Kind::Ready(_) | Kind::Data(_) => inbox.take(&letter)?,
                _ => continue,
            }
        }
        Ok(())
    }

    /// The next letter of this part, or of values; `None` after the deadline. `awaited` are the boards without which it cannot go on.
    async fn next(&self, part: Part, by: Micros, awaited: impl Fn(Node) -> bool) -> Result<Option<Kept>, Broken> {
        let team = self.team;
        // Children may be a part ahead.
        let wanted = |kept: &Kept| !matches!(kept.header.kind, Kind::Up(of) if of > part);
        loop {
            let found = poll_fn(|context| team.desk.poll(self.tag, wanted, &awaited, team.group.first, context));
            match until(team.mesh, by, found).await {
                None => return Ok(None),
                Some(Found::Ahead(tag)) => return Err(Broken::Behind(tag)),
                Some(Found::Late(late)) => self.tell_late(&late).await,
                Some(Found::Letter(letter)) => {
                    let from = letter.from;
                    return match letter.header.kind {
                        Kind::Broken => Err(Broken::ToldSo),
                        Kind::Behind => Err(Broken::Behind(letter.open().unwrap_or(0))),
                        _ if letter.header.work != self.work => Err(Broken::Differs(from)),
                        Kind::Up(of) if of < part => Err(Broken::Restarted(from)),
                        _ => Ok(Some(letter)),
                    };
                }
            }
        }
    }

    /// A board that is late, or has restarted, is told where the others are.
    async fn tell_late(&self, late: &Kept) {
        let header = Header {
            kind: Kind::Behind,
            oldest: self.team.desk.oldest(),
            ..late.header
        };
        if let Some(told) = letter::write(header, &header.oldest) {
            self.post(late.from, &told).await;
        }
    }

    /// Sends a letter that may be lost.
    async fn post(&self, to: Node, letter: &[u8]) {
        let team = self.team;
        let node = team.group.first.saturating_add(to);
        let deadline = team.mesh.now().saturating_add(PAUSE);
        until(team.mesh, deadline, team.mesh.send(node, team.desk.port(), letter)).await;
    }

    /// Sends something to any board that is in the call.
    pub(crate) async fn send_value<T: Serialize>(&self, to: Node, kind: Kind, value: &T) -> Result<(), Broken> {
        let letter = self.letter(kind, 0, value).ok_or(Broken::TooLarge)?;
        self.send(to, &letter, self.values_by()).await
    }

    /// Sends a letter. A board that has not come yet does not serve the port: it is tried again until the deadline.
    pub(crate) async fn send(&self, to: Node, letter: &[u8], by: Micros) -> Result<(), Broken> {
        let (mesh, port) = (self.team.mesh, self.team.desk.port());
        let node = self.team.group.first.saturating_add(to);
        loop {
            match until(mesh, by, mesh.send_confirmed(node, port, letter)).await {
                Some(Ok(Outcome::Delivered)) => return Ok(()),
                Some(Ok(Outcome::Undeliverable { .. })) if mesh.now() < by => mesh.sleep(PAUSE).await,
                _ => return Err(Broken::Missing(to)),
            }
        }
    }
}

/// What a future comes to, unless the time comes first.
async fn until<T>(mesh: Mesh<'_>, deadline: Micros, future: impl Future<Output = T>) -> Option<T> {
    match select(future, mesh.sleep_until(deadline)).await {
        Either::First(found) => Some(found),
        Either::Second(()) => None,
    }
}
