//! Programs of users: what comes for them, and what they send.

use core::task::{Context, Poll};

use embassy_sync::blocking_mutex::raw::RawMutex;
use hopwise_app::{Due, Micros, Shared};
use hopwise_node::limits::BODY;
use hopwise_node::router::Message;

use crate::observer::BoardObserver;
use crate::router::Router;

/// What to do with a message that is for no program.
pub(crate) type Others<'a, const PORTS: usize> = dyn FnMut(&mut Router<PORTS>, &mut BoardObserver, &Message<BODY>) + 'a;

/// What a node must know of its programs, however much room they have. It is a [`Shared`].
#[allow(private_interfaces, reason = "nobody else implements it or calls it")]
pub trait Programs<const PORTS: usize> {
    /// Moves messages from one to the other.
    #[doc(hidden)]
    fn exchange(
        &self,
        router: &mut Router<PORTS>,
        now: Micros,
        observer: &mut BoardObserver,
        others: &mut Others<'_, PORTS>,
    ) -> Due;

    /// Whether one of them wants something; otherwise the task is woken when one does.
    #[doc(hidden)]
    fn poll_work(&self, context: &mut Context<'_>) -> Poll<()>;
}

#[allow(private_interfaces, reason = "nobody else implements it or calls it")]
impl<const PORTS: usize, const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize, M: RawMutex> Programs<PORTS>
    for Shared<SENDS, RECEIVERS, DEPTH, M>
{
    fn exchange(
        &self,
        router: &mut Router<PORTS>,
        now: Micros,
        observer: &mut BoardObserver,
        others: &mut Others<'_, PORTS>,
    ) -> Due {
        Shared::exchange(self, router, now, observer, others)
    }

    fn poll_work(&self, context: &mut Context<'_>) -> Poll<()> {
        Shared::poll_work(self, context)
    }
}
