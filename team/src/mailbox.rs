//! The port of a team: messages of all active calls, and of some that have not begun.

use core::cell::RefCell;
use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use heapless::Vec;
use hopwise_app::{Node, Receiver};

use crate::Group;
use crate::error::TeamError;
use crate::letter::{Kind, ReceivedMessage};

/// Maximum number of active calls.
pub const MAX_CALLS: usize = 4;

/// Maximum number of unread messages. A sender that finds no room retries.
const LETTERS: usize = 8;

struct UnderWay {
    tag: u32,
    waker: Option<Waker>,
}

struct Inner<'a> {
    receiver: Receiver<'a>,
    calls: Vec<UnderWay, MAX_CALLS>,
    /// The lowest tag such that neither it nor any above has begun.
    next: u32,
    letters: Vec<ReceivedMessage, LETTERS>,
}

pub(crate) struct Mailbox<'a>(RefCell<Inner<'a>>);

/// What a call finds in the mailbox.
pub(crate) enum Found {
    /// A letter of its own.
    Letter(ReceivedMessage),
    /// A board at an old tag, which has to be notified.
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

    /// Starts a call, whose tag is above all before it.
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
        // No board will use skipped tags.
        let Inner { calls, letters, .. } = inner;
        letters.retain(|kept| kept.header.tag >= tag || is_under_way(calls, kept.header.tag));
        Ok(())
    }

    pub(crate) fn end(&self, tag: u32) {
        let inner = &mut *self.0.borrow_mut();
        inner.calls.retain(|call| call.tag != tag);
        inner.letters.retain(|kept| kept.header.tag != tag);
        inner.wake_all();
    }

    /// The lowest active tag of this board.
    pub(crate) fn oldest(&self) -> u32 {
        let inner = self.0.borrow();
        inner.calls.iter().map(|call| call.tag).min().unwrap_or(inner.next)
    }

    /// The next event of a call: the first of its messages that is `wanted`, or a board that needs a notification. `awaited` are the boards
    /// without which it cannot continue.
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
                // In order of arrival.
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
                    // A leftover of a call that has ended.
                    _ => continue,
                }
            }
            // Cannot fail: the room was checked.
            let _ = inner.letters.push(kept);
            let other = inner.calls.iter_mut().find(|call| call.tag == of && of != tag);
            if let Some(waker) = other.and_then(|call| call.waker.take()) {
                waker.wake();
            }
        }
    }

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
