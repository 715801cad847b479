//! Tasks that wait for the same event.

use core::task::Waker;

use heapless::Vec;

/// Maximum number of tasks that wait for one event without waking each other.
const MOST: usize = 4;

#[derive(Debug)]
pub(crate) struct Wakers(Vec<Waker, MOST>);

impl Wakers {
    pub(crate) const fn new() -> Self {
        Wakers(Vec::new())
    }

    /// Adds a task. If there are too many, the first is woken, polls again and returns.
    pub(crate) fn add(&mut self, waker: &Waker) {
        if self.0.iter().any(|known| known.will_wake(waker)) {
            return;
        }
        if self.0.is_full() {
            self.0.remove(0).wake();
        }
        // Cannot fail: room was made.
        let _ = self.0.push(waker.clone());
    }

    pub(crate) fn wake(&mut self) {
        while let Some(waker) = self.0.pop() {
            waker.wake();
        }
    }
}

/// Stores a waker, unless it is the same one.
pub(crate) fn keep(place: &mut Option<Waker>, waker: &Waker) {
    match place {
        Some(known) if known.will_wake(waker) => {}
        _ => *place = Some(waker.clone()),
    }
}

/// The same for a waker that is always present.
pub(crate) fn replace(place: &mut Waker, waker: &Waker) {
    if !place.will_wake(waker) {
        *place = waker.clone();
    }
}

pub(crate) fn wake(place: &mut Option<Waker>) {
    if let Some(waker) = place.take() {
        waker.wake();
    }
}
