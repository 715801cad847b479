//! One call of a team at this board: up the tree and down again, and from board to board.
//!
//! The protocol is the same for all values, and compiled once; the content of messages is up to a [`Work`].

use core::cell::RefCell;
use core::future::{Future, poll_fn};
use core::pin::pin;

use embassy_futures::select::{Either, Select, select};
use heapless::Vec;
use hopwise_app::{Mesh, Micros, Node, Outcome, Sleep};
use hopwise_core::collective::{Ports, Tree};

use crate::Team;
use crate::error::TeamError;
use crate::letter::{self, Bytes, Header, Kind, Part, Purpose, ReceivedMessage};
use crate::mailbox::Found;

/// Maximum number of children of a board in a tree.
pub const MAX_CHILDREN: usize = 12;

/// Pause between two attempts to reach a board.
const PAUSE: Micros = 20_000;

/// The content of a call's messages, and their processing. A message is `None` if it would be too long.
pub(crate) trait Work {
    /// Processes a child's message in the first part.
    fn hear(&mut self, _: &ReceivedMessage) -> Result<(), TeamError> {
        Ok(())
    }

    /// The message to the parent, once all children have been heard.
    fn up(&mut self, header: Header) -> Option<Bytes> {
        letter::write(header, &())
    }

    /// Processes the parent's response; at the root there is none.
    fn responded(&mut self, _: Option<&ReceivedMessage>) -> Result<(), TeamError> {
        Ok(())
    }

    /// The response to a child.
    fn down(&mut self, header: Header, _: Node) -> Option<Bytes> {
        letter::write(header, &())
    }

    /// Starts a stage of values from board to board; `None` after the last.
    fn stage(&mut self, _: u8) -> Option<Stage> {
        None
    }

    /// The next message of the stage, and its receiver; `None` after the last.
    fn value(&mut self, _: Header) -> Option<(Node, Option<Bytes>)> {
        None
    }

    /// Processes a message of the stage.
    fn take(&mut self, letter: &ReceivedMessage) -> Result<(), TeamError> {
        Err(TeamError::Differs(letter.from))
    }

    /// Whether all messages of the stage have come.
    fn has_all(&self) -> bool {
        true
    }

    /// Whether the partner has room.
    fn is_ready(&self) -> bool {
        true
    }

    /// Whether a message of the stage is still to come from a board.
    fn awaits(&self, _: Node) -> bool {
        false
    }

    /// All messages have been received and sent.
    fn end_stage(&mut self, _: u8) {}
}

/// The work of a call, accessed alternately by sender and receiver.
pub(crate) type Shared<'w> = RefCell<dyn Work + 'w>;

#[derive(Clone, Copy)]
pub(crate) enum Stage {
    /// Any board: one message from each.
    Boards,
    /// This board, which has room only once it has arrived.
    Partner(Node),
    /// None for this board.
    Pause,
}

/// A child that has been heard, and the number of its call.
struct Heard {
    child: Node,
    call: u32,
}

pub(crate) struct Call<'t, 'a> {
    team: &'t Team<'a>,
    tag: u32,
    purpose: Purpose,
    /// A number that is unique among the calls of this board.
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
    /// Executes a work, over the tree of a board of the group.
    pub(crate) async fn call(
        &self,
        tag: u32,
        purpose: Purpose,
        root: Node,
        work: &Shared<'_>,
    ) -> Result<(), TeamError> {
        let call = self.begin(tag, purpose, root).await?;
        let result = call.carry_out(work).await;
        if result.is_err() {
            call.tell_broken().await;
        }
        result
    }

    async fn begin(&self, tag: u32, purpose: Purpose, root: Node) -> Result<Call<'_, 'a>, TeamError> {
        let place = self.place()?;
        let tree = Tree::new(&self.group.network, root, Ports::One).map_err(|_| TeamError::NotAMember)?;
        let parent = tree.parent(place).map_err(|_| TeamError::NotAMember)?;
        let mut children = Vec::new();
        for (_, child) in tree.children(place).map_err(|_| TeamError::NotAMember)? {
            children.push(child).map_err(|_| TeamError::TooLarge)?;
        }
        // In call order: nothing is awaited before.
        self.desk.begin(tag)?;
        let mut call = Call {
            team: self,
            tag,
            purpose,
            number: 0,
            begun: self.mesh.uptime(),
            parent,
            children,
        };
        call.number = self.mesh.session().await;
        Ok(call)
    }
}

impl Call<'_, '_> {
    async fn carry_out(&self, work: &Shared<'_>) -> Result<(), TeamError> {
        self.up_and_down(Part::Begin, work).await?;
        if !self.purpose.sends_values() {
            return Ok(());
        }
        for number in 0..=u8::MAX {
            let Some(stage) = work.borrow_mut().stage(number) else {
                break;
            };
            match stage {
                Stage::Pause => continue,
                Stage::Boards => {}
                Stage::Partner(partner) => self.make_ready(number, partner, work).await?,
            }
            self.exchange(number, work).await?;
            work.borrow_mut().end_stage(number);
        }
        self.up_and_down(Part::End, work).await
    }

    /// Notifies the neighbors in the tree of a failed call, which notify theirs. Boards that come later find out by themselves.
    async fn tell_broken(&self) {
        let Some(told) = letter::write(self.header(Kind::TeamError, 0), &()) else {
            return;
        };
        for &to in self.parent.iter().chain(&self.children) {
            // A board that does not receive it finds out by its timeout.
            self.post(to, &told).await;
        }
    }

    /// The deadline of a part for children and values, and for the parent's response.
    fn up_by(&self, part: Part) -> Micros {
        self.after(if part == Part::Begin { 1 } else { 3 })
    }

    fn down_by(&self, part: Part) -> Micros {
        self.after(if part == Part::Begin { 2 } else { 4 })
    }

    fn after(&self, timeouts: u64) -> Micros {
        self.begun.saturating_add(self.team.timeout.saturating_mul(timeouts))
    }

    fn header(&self, kind: Kind, call: u32) -> Header {
        Header {
            tag: self.tag,
            purpose: self.purpose,
            kind,
            oldest: self.team.desk.oldest(),
            call,
        }
    }

    /// Returns when all boards are in this part.
    async fn up_and_down(&self, part: Part, work: &Shared<'_>) -> Result<(), TeamError> {
        let heard = self.hear_children(part, work).await?;
        if let Some(parent) = self.parent {
            let up = self.header(Kind::Up(part), self.number);
            let up = match part {
                Part::Begin => work.borrow_mut().up(up),
                _ => letter::write(up, &()),
            };
            self.send(parent, &up.ok_or(TeamError::TooLarge)?, self.up_by(part))
                .await?;
            self.hear_parent(part, parent, work).await?;
        } else if part == Part::Begin {
            work.borrow_mut().responded(None)?;
        }
        for Heard { child, call } in heard {
            let down = self.header(Kind::Down(part), call);
            let down = match part {
                Part::Begin => work.borrow_mut().down(down, child),
                _ => letter::write(down, &()),
            };
            // A child that has died has no result; the others have.
            let _ = self
                .send(child, &down.ok_or(TeamError::TooLarge)?, self.down_by(part))
                .await;
        }
        Ok(())
    }

    async fn hear_children(&self, part: Part, work: &Shared<'_>) -> Result<Vec<Heard, MAX_CHILDREN>, TeamError> {
        let mut heard: Vec<Heard, MAX_CHILDREN> = Vec::new();
        loop {
            let has_come = |node: Node| heard.iter().any(|other| other.child == node);
            let Some(&missing) = self.children.iter().find(|&&child| !has_come(child)) else {
                return Ok(heard);
            };
            let awaited = |node: Node| self.children.contains(&node) && !has_come(node);
            let letter = self.next(part, self.up_by(part), &awaited).await?;
            let letter = letter.ok_or(TeamError::Missing(missing))?;
            match letter.header.kind {
                Kind::Ready(_) | Kind::Data(_) => work.borrow_mut().take(&letter)?,
                Kind::Up(_) if has_come(letter.from) => return Err(TeamError::Restarted(letter.from)),
                Kind::Up(_) if self.children.contains(&letter.from) => {
                    if part == Part::Begin {
                        work.borrow_mut().hear(&letter)?;
                    }
                    let child = Heard {
                        child: letter.from,
                        call: letter.header.call,
                    };
                    heard.push(child).map_err(|_| TeamError::TooLarge)?;
                }
                _ => {}
            }
        }
    }

    async fn hear_parent(&self, part: Part, parent: Node, work: &Shared<'_>) -> Result<(), TeamError> {
        loop {
            let letter = self.next(part, self.down_by(part), &|node| node == parent).await?;
            let letter = letter.ok_or(TeamError::TimedOut)?;
            match letter.header.kind {
                Kind::Ready(_) | Kind::Data(_) => work.borrow_mut().take(&letter)?,
                // All children have been heard.
                Kind::Up(_) => return Err(TeamError::Restarted(letter.from)),
                Kind::Down(of) if of == part && letter.from == parent && letter.header.call == self.number => {
                    return match part {
                        Part::Begin => work.borrow_mut().responded(Some(&letter)),
                        _ => Ok(()),
                    };
                }
                _ => {}
            }
        }
    }

    /// Waits until both this board and its partner have room for a stage.
    async fn make_ready(&self, stage: u8, partner: Node, work: &Shared<'_>) -> Result<(), TeamError> {
        let ready = letter::write(self.header(Kind::Ready(stage), 0), &()).ok_or(TeamError::TooLarge)?;
        self.send(partner, &ready, self.up_by(Part::Middle)).await?;
        self.receive(work, |work| work.is_ready()).await
    }

    /// Sends and receives concurrently, which prevents deadlock.
    async fn exchange(&self, stage: u8, work: &Shared<'_>) -> Result<(), TeamError> {
        let mut sending = pin!(self.send_values(stage, work));
        let mut receiving = pin!(self.receive(work, |work| work.has_all()));
        match select(sending.as_mut(), receiving.as_mut()).await {
            Either::First(ended) => {
                ended?;
                receiving.await
            }
            Either::Second(ended) => {
                ended?;
                sending.await
            }
        }
    }

    async fn send_values(&self, stage: u8, work: &Shared<'_>) -> Result<(), TeamError> {
        loop {
            let header = self.header(Kind::Data(stage), 0);
            let next = work.borrow_mut().value(header);
            let Some((to, letter)) = next else { return Ok(()) };
            self.send(to, &letter.ok_or(TeamError::TooLarge)?, self.up_by(Part::Middle))
                .await?;
        }
    }

    /// Receives values until all wanted ones are there.
    async fn receive(&self, work: &Shared<'_>, done: fn(&dyn Work) -> bool) -> Result<(), TeamError> {
        while !done(&*work.borrow()) {
            let awaited = |node| work.borrow().awaits(node);
            let letter = self.next(Part::Middle, self.up_by(Part::Middle), &awaited).await?;
            let letter = letter.ok_or(TeamError::TimedOut)?;
            if matches!(letter.header.kind, Kind::Ready(_) | Kind::Data(_)) {
                work.borrow_mut().take(&letter)?;
            }
        }
        Ok(())
    }

    /// The next message of this part, or of values; `None` after the deadline. `awaited` are the boards without which it cannot continue.
    async fn next(
        &self,
        part: Part,
        by: Micros,
        awaited: &dyn Fn(Node) -> bool,
    ) -> Result<Option<ReceivedMessage>, TeamError> {
        let team = self.team;
        // Children may be a part ahead.
        let wanted = |kept: &ReceivedMessage| !matches!(kept.header.kind, Kind::Up(of) if of > part);
        loop {
            let found = poll_fn(|context| team.desk.poll(self.tag, &wanted, awaited, &team.group, context));
            match until(team.mesh, by, found).await {
                Either::Second(()) => return Ok(None),
                Either::First(Found::Ahead(tag)) => return Err(TeamError::Behind(tag)),
                Either::First(Found::Late(late)) => self.tell_late(&late).await,
                Either::First(Found::Letter(letter)) => {
                    let from = letter.from;
                    return match letter.header.kind {
                        Kind::TeamError => Err(TeamError::ToldSo),
                        Kind::Behind => Err(TeamError::Behind(letter.open().unwrap_or(0))),
                        _ if letter.header.purpose != self.purpose => Err(TeamError::Differs(from)),
                        Kind::Up(of) if of < part => Err(TeamError::Restarted(from)),
                        _ => Ok(Some(letter)),
                    };
                }
            }
        }
    }

    /// Tells a board that is late, or has restarted, where the others are.
    async fn tell_late(&self, late: &ReceivedMessage) {
        let header = Header {
            kind: Kind::Behind,
            oldest: self.team.desk.oldest(),
            ..late.header
        };
        if let Some(told) = letter::write(header, &header.oldest) {
            self.post(late.from, &told).await;
        }
    }

    /// Sends a message that may be lost.
    async fn post(&self, to: Node, letter: &[u8]) {
        let team = self.team;
        let node = team.group.board(to);
        let deadline = team.mesh.uptime().saturating_add(PAUSE);
        until(team.mesh, deadline, team.mesh.send(node, team.desk.port(), letter)).await;
    }

    /// Sends a message. A board that has not arrived yet does not serve the port: it is retried until the deadline.
    async fn send(&self, to: Node, letter: &[u8], by: Micros) -> Result<(), TeamError> {
        let (mesh, port) = (self.team.mesh, self.team.desk.port());
        let node = self.team.group.board(to);
        loop {
            match until(mesh, by, mesh.send_confirmed(node, port, letter)).await {
                Either::First(Ok(Outcome::Delivered)) => return Ok(()),
                Either::First(Ok(Outcome::Undeliverable { .. })) if mesh.uptime() < by => mesh.sleep(PAUSE).await,
                _ => return Err(TeamError::Missing(to)),
            }
        }
    }
}

/// A future with a deadline. Not an async function, which would store the future twice.
fn until<'a, F: Future>(mesh: Mesh<'a>, deadline: Micros, future: F) -> Select<F, Sleep<'a>> {
    select(future, mesh.sleep_until(deadline))
}
