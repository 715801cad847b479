//! Tasks that wait for the same thing.

use core::task::Waker;

use heapless::Vec;

/// So many tasks wait for one thing without waking each other.
const MOST: usize = 4;

/// Tasks that wait for the same thing.
#[derive(Debug)]
pub(crate) struct Wakers(Vec<Waker, MOST>);

impl Wakers {
    pub(crate) const fn new() -> Self {
        Wakers(Vec::new())
    }

    /// Adds a task. If there are too many the first is woken, looks again and comes back.
    pub(crate) fn add(&mut self, waker: &Waker) {
        if self.0.iter().any(|known| known.will_wake(waker)) {
            return;
        }
        if self.0.is_full() {
            self.0.remove(0).wake();
        }
        // There is room: it was made.
        let _ = self.0.push(waker.clone());
    }

    /// Wakes them all.
    pub(crate) fn wake(&mut self) {
        while let Some(waker) = self.0.pop() {
            waker.wake();
        }
    }
}

/// Keeps a waker, unless it is the one that is there.
pub(crate) fn keep(place: &mut Option<Waker>, waker: &Waker) {
    match place {
        Some(known) if known.will_wake(waker) => {}
        _ => *place = Some(waker.clone()),
    }
}

/// The same where there always is one.
pub(crate) fn replace(place: &mut Waker, waker: &Waker) {
    if !place.will_wake(waker) {
        *place = waker.clone();
    }
}

/// Wakes who waits, once.
pub(crate) fn wake(place: &mut Option<Waker>) {
    if let Some(waker) = place.take() {
        waker.wake();
    }
}
