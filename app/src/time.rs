//! Waiting.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use embassy_futures::select::{Either, select};
use hopwise_node::link::Micros;

use crate::mesh::Mesh;
use crate::shared::Timer;
use crate::wakers::replace;

/// Waits; see [`Mesh::sleep`]. Its timer is free for others when this is dropped.
#[derive(Debug)]
pub struct Sleep<'a, const SENDS: usize = 4, const RECEIVERS: usize = 6, const DEPTH: usize = 2> {
    mesh: Mesh<'a, SENDS, RECEIVERS, DEPTH>,
    at: Micros,
    /// The number of its timer, once it has one.
    timer: Option<u32>,
}

impl<'a, const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> Mesh<'a, SENDS, RECEIVERS, DEPTH> {
    /// Waits for so many microseconds.
    pub fn sleep(self, micros: Micros) -> Sleep<'a, SENDS, RECEIVERS, DEPTH> {
        self.sleep_until(self.uptime().saturating_add(micros))
    }

    /// Waits until a time of [`uptime`](Self::uptime).
    pub fn sleep_until(self, at: Micros) -> Sleep<'a, SENDS, RECEIVERS, DEPTH> {
        Sleep {
            mesh: self,
            at,
            timer: None,
        }
    }
}

impl<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> Mesh<'_, SENDS, RECEIVERS, DEPTH> {
    /// Waits until a time of the mesh, that is of [`now`](Self::now): nodes that wait for the same time go on at the same moment.
    pub async fn wait_until(self, at: Micros) {
        while let Some(left) = self
            .now()
            .map_or(Some(LOOK_AGAIN), |now| at.checked_sub(now).filter(|&left| left > 0))
        {
            // The node's own clock is not as exact.
            self.sleep(left.min(LOOK_AGAIN)).await;
        }
    }
}

/// Who waits for a time of the mesh looks again after this.
const LOOK_AGAIN: Micros = 100_000;

impl<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> Sleep<'_, SENDS, RECEIVERS, DEPTH> {
    /// When it ends.
    pub(crate) fn at(&self) -> Micros {
        self.at
    }
}

impl<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> Future for Sleep<'_, SENDS, RECEIVERS, DEPTH> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.mesh.uptime() >= self.at {
            return Poll::Ready(());
        }
        let inner = &mut *self.mesh.shared.inner.borrow_mut();
        let waker = context.waker();
        let own = inner
            .timers
            .iter_mut()
            .flatten()
            .find(|timer| Some(timer.number) == self.timer);
        if let Some(timer) = own {
            replace(&mut timer.waker, waker);
            return Poll::Pending;
        }
        match inner.timers.iter_mut().find(|place| place.is_none()) {
            Some(place) => {
                inner.timer_number = inner.timer_number.wrapping_add(1);
                *place = Some(Timer {
                    number: inner.timer_number,
                    at: self.at,
                    waker: waker.clone(),
                });
                self.timer = Some(inner.timer_number);
                inner.call_runner();
            }
            // It looks again when a timer is free.
            None => inner.sleepers.add(waker),
        }
        Poll::Pending
    }
}

impl<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> Drop for Sleep<'_, SENDS, RECEIVERS, DEPTH> {
    fn drop(&mut self) {
        let Some(number) = self.timer else { return };
        let inner = &mut *self.mesh.shared.inner.borrow_mut();
        for place in &mut inner.timers {
            if place.take_if(|timer| timer.number == number).is_some() {
                inner.sleepers.wake();
            }
        }
    }
}

/// Waits for something, but not for ever.
pub(crate) trait AwaitWithin: Future + Sized {
    /// `None` if it takes longer.
    async fn await_within<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize>(
        self,
        mesh: Mesh<'_, SENDS, RECEIVERS, DEPTH>,
        micros: Micros,
    ) -> Option<Self::Output> {
        match select(self, mesh.sleep(micros)).await {
            Either::First(output) => Some(output),
            Either::Second(()) => None,
        }
    }
}

impl<F: Future> AwaitWithin for F {}
