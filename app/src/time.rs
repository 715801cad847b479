//! Timers.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use embassy_futures::select::{Either, select};
use hopwise_node::link::Micros;

use crate::mesh::Mesh;

/// A running timer; see [`Mesh::sleep`]. It is freed when this is dropped.
#[derive(Debug)]
pub struct Sleep<'a> {
    mesh: Mesh<'a>,
    at: Micros,
    /// The number of its timer, once it has one.
    timer: Option<u32>,
}

impl<'a> Mesh<'a> {
    /// Waits for a number of microseconds.
    pub fn sleep(self, micros: Micros) -> Sleep<'a> {
        self.sleep_until(self.uptime().saturating_add(micros))
    }

    /// Waits until a time of [`uptime`](Self::uptime).
    pub fn sleep_until(self, at: Micros) -> Sleep<'a> {
        Sleep {
            mesh: self,
            at,
            timer: None,
        }
    }
}

impl Mesh<'_> {
    /// Waits until a mesh time, that is of [`now`](Self::now): nodes that wait for the same time continue at the same moment.
    pub async fn wait_until(self, at: Micros) {
        while let Some(left) = self
            .now()
            .map_or(Some(LOOK_AGAIN), |now| at.checked_sub(now).filter(|&left| left > 0))
        {
            // The local clock is not as exact.
            self.sleep(left.min(LOOK_AGAIN)).await;
        }
    }

    /// What a future comes to; `None` if it takes longer.
    pub(crate) async fn within<F: Future>(self, micros: Micros, future: F) -> Option<F::Output> {
        match select(future, self.sleep(micros)).await {
            Either::First(output) => Some(output),
            Either::Second(()) => None,
        }
    }
}

/// Interval at which a wait for a mesh time checks the clock again.
const LOOK_AGAIN: Micros = 100_000;

impl Sleep<'_> {
    pub(crate) fn at(&self) -> Micros {
        self.at
    }
}

impl Future for Sleep<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.mesh.uptime() >= self.at {
            return Poll::Ready(());
        }
        let Sleep { mesh, at, timer } = &mut *self;
        mesh.mailbox.set_timer(timer, *at, context.waker());
        Poll::Pending
    }
}

impl Drop for Sleep<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.timer {
            self.mesh.mailbox.end_timer(number);
        }
    }
}
