//! Receiving.

use core::future::poll_fn;
use core::task::{Context, Poll};

use heapless::Deque;
use hopwise_core::Node;
use hopwise_node::wire::AppPort;

use crate::error::OpenError;
use crate::mesh::Mesh;
use crate::shared::{Asker, Bytes, Open};
use crate::wakers::keep;

/// How a message was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Service {
    /// [`Mesh::send`].
    Datagram,
    /// [`Mesh::broadcast`].
    Broadcast,
    /// [`Mesh::send_confirmed`].
    Confirmed,
    /// [`Mesh::request`]: its sender waits for an answer.
    Request,
}

/// A message that has come.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// Who sent it.
    pub source: Node,
    /// Whether the computer at that node sent it, not the node.
    pub from_computer: bool,
    /// How it was sent.
    pub service: Service,
    pub(crate) payload: Bytes,
    pub(crate) asker: Asker,
}

impl Incoming {
    /// What it says.
    pub fn bytes(&self) -> &[u8] {
        &self.payload
    }
}

/// A port that a program serves; see [`Mesh::receiver`]. It is closed when this is dropped.
#[derive(Debug)]
pub struct Receiver<'a, const SENDS: usize = 4, const RECEIVERS: usize = 6, const DEPTH: usize = 2> {
    mesh: Mesh<'a, SENDS, RECEIVERS, DEPTH>,
    place: usize,
    port: AppPort,
}

impl<'a, const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> Mesh<'a, SENDS, RECEIVERS, DEPTH> {
    /// Opens a port: what is sent to it from now on comes here. While nobody reads it, confirmed messages wait at their senders, and
    /// others are dropped and counted.
    pub fn receiver(self, port: AppPort) -> Result<Receiver<'a, SENDS, RECEIVERS, DEPTH>, OpenError> {
        if port.is_reserved() {
            return Err(OpenError::Reserved);
        }
        self.reserved_receiver(port)
    }

    /// The same for one of Hopwise's own ports, for firmware.
    pub fn reserved_receiver(self, port: AppPort) -> Result<Receiver<'a, SENDS, RECEIVERS, DEPTH>, OpenError> {
        let mut inner = self.shared.inner.borrow_mut();
        if inner.open.iter().flatten().any(|open| open.port == port) {
            return Err(OpenError::Taken);
        }
        // A place is free again once the router knows that its last port is closed.
        let busy = inner.open.iter().flatten().count() + inner.closed.len();
        let place = inner.open.iter().position(Option::is_none);
        let Some(place) = place.filter(|_| busy < RECEIVERS) else {
            return Err(OpenError::NoRoom);
        };
        inner.closed.retain(|closed| *closed != port);
        if let Some(open) = inner.open.get_mut(place) {
            *open = Some(Open {
                port,
                queue: Deque::new(),
                waker: None,
                told: false,
            });
        }
        inner.call_runner();
        Ok(Receiver {
            mesh: self,
            place,
            port,
        })
    }
}

impl<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> Receiver<'_, SENDS, RECEIVERS, DEPTH> {
    /// The port.
    pub fn port(&self) -> AppPort {
        self.port
    }

    /// The next message, once there is one.
    pub async fn recv(&mut self) -> Incoming {
        poll_fn(|context| match self.try_recv() {
            Some(incoming) => Poll::Ready(incoming),
            None => {
                let mut inner = self.mesh.shared.inner.borrow_mut();
                if let Some(Some(open)) = inner.open.get_mut(self.place) {
                    keep(&mut open.waker, context.waker());
                }
                Poll::Pending
            }
        })
        .await
    }

    /// The next message, which stays where it is; or else the task is woken when there is one.
    pub(crate) fn peek(&self, context: &mut Context<'_>) -> Option<Incoming> {
        let mut inner = self.mesh.shared.inner.borrow_mut();
        let open = inner.open.get_mut(self.place)?.as_mut()?;
        if open.queue.is_empty() {
            keep(&mut open.waker, context.waker());
        }
        open.queue.front().cloned()
    }

    /// The next message, if there is one.
    pub fn try_recv(&mut self) -> Option<Incoming> {
        let mut inner = self.mesh.shared.inner.borrow_mut();
        let open = inner.open.get_mut(self.place)?.as_mut()?;
        let incoming = open.queue.pop_front()?;
        open.told = false;
        inner.call_runner();
        Some(incoming)
    }
}

impl<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> Drop for Receiver<'_, SENDS, RECEIVERS, DEPTH> {
    fn drop(&mut self) {
        let mut inner = self.mesh.shared.inner.borrow_mut();
        if let Some(open) = inner.open.get_mut(self.place) {
            *open = None;
        }
        // There is room: a port is opened only if there is.
        let _ = inner.closed.push(self.port);
        inner.call_runner();
    }
}
