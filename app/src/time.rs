//! Waiting.

use core::future::poll_fn;
use core::task::Poll;

use hopwise_core::link::Micros;

use crate::mesh::Mesh;
use crate::shared::Timer;

impl<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> Mesh<'_, SENDS, RECEIVERS, DEPTH> {
    /// Waits for so many microseconds.
    pub async fn sleep(self, micros: Micros) {
        self.sleep_until(self.now().saturating_add(micros)).await;
    }

    /// Waits until a time of [`now`](Self::now).
    pub async fn sleep_until(self, at: Micros) {
        poll_fn(|context| {
            if self.now() >= at {
                return Poll::Ready(());
            }
            let mut inner = self.shared.inner.borrow_mut();
            let waker = context.waker();
            let known = inner
                .timers
                .iter()
                .flatten()
                .any(|timer| timer.at == at && timer.waker.will_wake(waker));
            if !known {
                let timer = Timer {
                    at,
                    waker: waker.clone(),
                };
                match inner.timers.iter_mut().find(|place| place.is_none()) {
                    Some(place) => *place = Some(timer),
                    // It looks again when a timer has run out.
                    None => inner.sleepers.add(waker),
                }
                inner.call_runner();
            }
            Poll::Pending
        })
        .await
    }
}
