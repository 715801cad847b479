//! The port of a team: letters come in for all calls that are under way, and for some that have not begun.

use core::cell::RefCell;
use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use heapless::Vec;
use hopwise_app::{Node, Receiver};

use crate::Group;
use crate::error::TeamError;
use crate::letter::{Kind, ReceivedMessage};

/// Calls that are under way at once.
pub const MAX_CALLS: usize = 4;

/// Letters that nobody has read yet. Who finds no room waits and tries again.
const LETTERS: usize = 8;

struct UnderWay {
    tag: u32,
    waker: Option<Waker>,
}

struct Inner<'a> {
    receiver: Receiver<'a>,
    calls: Vec<UnderWay, MAX_CALLS>,
    /// The lowest tag that has not begun, nor has any above it.
    next: u32,
    letters: Vec<ReceivedMessage, LETTERS>,
}

/// The port, and what has come.
pub(crate) struct Mailbox<'a>(RefCell<Inner<'a>>);

/// What a call finds at the desk.
pub(crate) enum Found {
    /// A letter of its own.
    Letter(ReceivedMessage),
    /// A board that is at an old tag, which has to be told.
    Late(ReceivedMessage),
    /// A board that it waits for is at this tag.
    Ahead(u32),
}

impl<'a> Mailbox<'a> {
    pub(crate) fn new(receiver: Receiver<'a>) -> Self {
        Mailbox(RefCell::new(Inner {
            receiver,
            calls: Vec::new(),
            next: 0,
            letters: Vec::new(),
        }))
    }

    /// A call begins. Its tag is above all before it.
    pub(crate) fn begin(&self, tag: u32) -> Result<(), TeamError> {
        let inner = &mut *self.0.borrow_mut();
        if tag < inner.next {
            return Err(TeamError::Behind(inner.next));
        }
        let waker = None;
        inner
            .calls
            .push(UnderWay { tag, waker })
            .map_err(|_| TeamError::TooMany)?;
        inner.next = tag.saturating_add(1);
        // Of tags that were left out nobody will ask.
        let Inner { calls, letters, .. } = inner;
        letters.retain(|kept| kept.header.tag >= tag || is_under_way(calls, kept.header.tag));
        Ok(())
    }

    /// A call has ended. The others look for themselves again at what comes.
    pub(crate) fn end(&self, tag: u32) {
        let inner = &mut *self.0.borrow_mut();
        inner.calls.retain(|call| call.tag != tag);
        inner.letters.retain(|kept| kept.header.tag != tag);
        inner.wake_all();
    }

    /// The lowest tag that this board is at.
    pub(crate) fn oldest(&self) -> u32 {
        let inner = self.0.borrow();
        inner.calls.iter().map(|call| call.tag).min().unwrap_or(inner.next)
    }

    /// What there is for a call: the first of its letters that is `wanted`, or who needs to be told something. `awaited` are the boards
    /// without which it cannot go on.
    pub(crate) fn poll(
        &self,
        tag: u32,
        wanted: &dyn Fn(&ReceivedMessage) -> bool,
        awaited: &dyn Fn(Node) -> bool,
        group: &Group,
        context: &mut Context<'_>,
    ) -> Poll<Found> {
        let inner = &mut *self.0.borrow_mut();
        loop {
            let own = inner
                .letters
                .iter()
                .position(|kept| kept.header.tag == tag && wanted(kept));
            if let Some(place) = own {
                if inner.letters.is_full() {
                    inner.wake_all();
                }
                // In the order in which they came.
                return Poll::Ready(Found::Letter(inner.letters.remove(place)));
            }
            let ahead = |kept: &&ReceivedMessage| kept.header.oldest > tag && awaited(kept.from);
            if let Some(kept) = inner.letters.iter().find(ahead) {
                return Poll::Ready(Found::Ahead(kept.header.oldest));
            }
            if let Some(call) = inner.calls.iter_mut().find(|call| call.tag == tag) {
                call.waker = Some(context.waker().clone());
            }
            if inner.letters.is_full() {
                return Poll::Pending;
            }
            let Poll::Ready(incoming) = pin!(inner.receiver.recv()).poll(context) else {
                return Poll::Pending;
            };
            let Some(kept) = ReceivedMessage::read(group, &incoming) else {
                continue;
            };
            let of = kept.header.tag;
            if of < inner.next && !is_under_way(&inner.calls, of) {
                match kept.header.kind {
                    Kind::Up(_) => return Poll::Ready(Found::Late(kept)),
                    // What is left of a call that has ended.
                    _ => continue,
                }
            }
            // There is room: that was looked at.
            let _ = inner.letters.push(kept);
            let other = inner.calls.iter_mut().find(|call| call.tag == of && of != tag);
            if let Some(waker) = other.and_then(|call| call.waker.take()) {
                waker.wake();
            }
        }
    }

    /// The port's number.
    pub(crate) fn port(&self) -> hopwise_app::AppPort {
        self.0.borrow().receiver.port()
    }
}

fn is_under_way(calls: &[UnderWay], tag: u32) -> bool {
    calls.iter().any(|call| call.tag == tag)
}

impl Inner<'_> {
    fn wake_all(&mut self) {
        for waker in self.calls.iter_mut().filter_map(|call| call.waker.take()) {
            waker.wake();
        }
    }
}
