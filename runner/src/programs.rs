//! User programs and their messages.

use core::task::{Context, Poll};

use embassy_sync::blocking_mutex::raw::RawMutex;
use hopwise_app::{Due, Micros, Shared};
use hopwise_node::capacities::Capacities;
use hopwise_node::router::MessageOf;

use crate::observer::BoardObserver;
use hopwise_node::router::Router;

/// The handler of a message for no program.
pub(crate) type Others<'a, C> = dyn FnMut(&mut Router<C>, &mut BoardObserver, &MessageOf<<C as Capacities>::Body>) + 'a;

/// The interface of a node to its programs, independent of their capacities. It is a [`Shared`].
#[allow(private_interfaces, reason = "nobody else implements it or calls it")]
pub trait Programs<C: Capacities> {
    /// Moves messages between the two.
    #[doc(hidden)]
    fn exchange(
        &self,
        router: &mut Router<C>,
        now: Micros,
        observer: &mut BoardObserver,
        others: &mut Others<'_, C>,
    ) -> Due;

    /// Tells the router the room that they have made. Returns whether all is free.
    #[doc(hidden)]
    fn tell_room(&self, router: &mut Router<C>) -> bool;

    /// Whether one of them has work; otherwise the task is woken when one does.
    #[doc(hidden)]
    fn poll_work(&self, context: &mut Context<'_>) -> Poll<()>;

    /// When the node must restart because one of them asked for it.
    #[doc(hidden)]
    fn watched_until(&self) -> Micros;

    /// What they want of the LED.
    #[doc(hidden)]
    fn led(&self) -> Option<bool>;

    /// The button was pressed.
    #[doc(hidden)]
    fn press_button(&self);
}

#[allow(private_interfaces, reason = "nobody else implements it or calls it")]
impl<C: Capacities, const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize, M: RawMutex> Programs<C>
    for Shared<SENDS, RECEIVERS, DEPTH, M>
{
    fn exchange(
        &self,
        router: &mut Router<C>,
        now: Micros,
        observer: &mut BoardObserver,
        others: &mut Others<'_, C>,
    ) -> Due {
        Shared::exchange(self, router, now, observer, others)
    }

    fn tell_room(&self, router: &mut Router<C>) -> bool {
        Shared::tell_room(self, router)
    }

    fn poll_work(&self, context: &mut Context<'_>) -> Poll<()> {
        Shared::poll_work(self, context)
    }

    fn watched_until(&self) -> Micros {
        Shared::watched_until(self)
    }

    fn led(&self) -> Option<bool> {
        Shared::led(self)
    }

    fn press_button(&self) {
        Shared::press_button(self);
    }
}
