use core::future::poll_fn;
use core::task::{Context, Poll};

use hopwise_node::wire::{AppPort, AppStatus};

use crate::error::OpenError;
use crate::mesh::Mesh;
use crate::message::Incoming;

/// A port that a program serves; see [`Mesh::receiver`]. It is closed when this is dropped.
#[derive(Debug)]
pub struct Receiver<'a> {
    mesh: Mesh<'a>,
    place: usize,
    port: AppPort,
}

impl<'a> Mesh<'a> {
    /// Opens a port: messages sent to it from now on arrive here. While it is not read, confirmed messages wait at their senders, and
    /// others are dropped and counted.
    pub fn receiver(self, port: AppPort) -> Result<Receiver<'a>, OpenError> {
        if port.is_reserved() {
            return Err(OpenError::Reserved);
        }
        self.reserved_receiver(port)
    }

    /// Opens one of Hopwise's own ports, for firmware.
    pub fn reserved_receiver(self, port: AppPort) -> Result<Receiver<'a>, OpenError> {
        let place = self.mailbox.open(port)?;
        Ok(Receiver {
            mesh: self,
            place,
            port,
        })
    }
}

impl Receiver<'_> {
    /// The number of the port.
    pub fn port(&self) -> AppPort {
        self.port
    }

    /// The next message, once there is one.
    pub async fn recv(&mut self) -> Incoming {
        poll_fn(
            |context| match self.mesh.mailbox.has_message(self.place, Some(context.waker())) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            },
        )
        .await;
        self.take()
    }

    /// Answers a request, which has come here, with a response that is short enough.
    pub(crate) async fn respond(&self, request: &Incoming, status: AppStatus, response: &[u8]) {
        // Cannot fail: the requesting node exists.
        let _ = self.mesh.respond_with(request, self.port, status, response).await;
    }

    /// The next message without removing it; if there is none, wakes the task when there is one.
    pub(crate) fn peek(&self, context: &mut Context<'_>) -> Option<Incoming> {
        self.mesh.mailbox.peek(self.place, context.waker())
    }

    /// The next message, if there is one.
    pub fn try_recv(&mut self) -> Option<Incoming> {
        let has_message = self.mesh.mailbox.has_message(self.place, None);
        has_message.then(|| self.take())
    }

    fn take(&mut self) -> Incoming {
        let mut incoming = Incoming::empty();
        self.mesh.mailbox.take(self.place, &mut incoming);
        incoming
    }
}

impl Drop for Receiver<'_> {
    fn drop(&mut self) {
        self.mesh.mailbox.close(self.place);
    }
}
