//! Sending of messages.

use core::future::poll_fn;
use core::task::{Context, Poll};

use hopwise_core::Node;
use hopwise_node::router::Outcome;
use hopwise_node::wire::{AppPort, DropReason};

use crate::error::SendError;
use crate::mesh::Mesh;
use crate::message::{Bytes, Job, SendMode, SendResult};
use crate::retry_timer::RetryTimer;

/// A place among the messages being sent. Dropping it gives the message up if it has not left.
#[derive(Debug)]
pub(crate) struct Ticket<'a> {
    mesh: Mesh<'a>,
    place: usize,
}

impl Ticket<'_> {
    /// The result of the message, once it is known.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<SendResult> {
        self.mesh.mailbox.poll_result(self.place, context.waker())
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.mesh.mailbox.give_up(self.place);
    }
}

impl<'a> Mesh<'a> {
    /// Sends a message to an application of a node, reliable on each hop; returns when the router has taken it. It is lost if a board dies
    /// with it.
    pub async fn send(self, node: Node, port: AppPort, message: &[u8]) -> Result<(), SendError> {
        let result = self.carry(SendMode::Datagram, node, port, message).await?;
        self.sent(result)
    }

    /// Like [`send`](Self::send), to the host at a node.
    pub async fn send_to_host(self, at: Node, port: AppPort, message: &[u8]) -> Result<(), SendError> {
        let result = self.carry(SendMode::ToHost, at, port, message).await?;
        self.sent(result)
    }

    /// Sends a message to an application of every other node; returns when the router has taken it.
    pub async fn broadcast(self, port: AppPort, message: &[u8]) -> Result<(), SendError> {
        let result = self.carry(SendMode::Broadcast, self.address(), port, message).await?;
        self.sent(result)
    }

    /// Sends a message to an application of a node, and waits until delivery succeeds or fails. It is delivered exactly once, unless an end
    /// restarts. While the application does not read its messages, this waits, for up to ten seconds.
    pub async fn send_confirmed(self, node: Node, port: AppPort, message: &[u8]) -> Result<Outcome, SendError> {
        let mut retry_timer = RetryTimer::new(self);
        loop {
            let outcome = self.try_send_confirmed(node, port, message).await?;
            let full = matches!(
                outcome,
                Outcome::Undeliverable {
                    reason: DropReason::InboxFull,
                    ..
                }
            );
            if !full || !retry_timer.wait().await {
                return Ok(outcome);
            }
        }
    }

    /// Like [`send_confirmed`](Self::send_confirmed), but if the application has no room, that is the result.
    pub async fn try_send_confirmed(self, node: Node, port: AppPort, message: &[u8]) -> Result<Outcome, SendError> {
        match self.carry(SendMode::Confirmed, node, port, message).await? {
            SendResult::Completed(outcome) => Ok(outcome),
            SendResult::NotSent(error) => Err(error),
            // A confirmed message has no other result.
            _ => Ok(Outcome::Unknown),
        }
    }

    fn sent(self, result: SendResult) -> Result<(), SendError> {
        match result {
            SendResult::NotSent(error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Gives a message to the router, and waits for its result.
    pub(crate) async fn carry(
        self,
        how: SendMode,
        dest: Node,
        port: AppPort,
        message: &[u8],
    ) -> Result<SendResult, SendError> {
        let mut job = Some(self.job(how, dest, port, message)?);
        let mut ticket = poll_fn(|context| match self.mailbox.start(&mut job, false, context.waker()) {
            Some(place) => Poll::Ready(Ticket { mesh: self, place }),
            None => Poll::Pending,
        })
        .await;
        Ok(poll_fn(|context| ticket.poll(context)).await)
    }

    /// Gives a message to the router if there is a place for it, or else wakes the task when there is.
    pub(crate) fn try_carry(self, job: &mut Option<Job>, context: &mut Context<'_>) -> Option<Ticket<'a>> {
        let place = self.mailbox.start(job, false, context.waker())?;
        Some(Ticket { mesh: self, place })
    }

    /// The same for a message without a result. Returns whether there was a place.
    pub(crate) fn post(self, job: Job, context: &mut Context<'_>) -> bool {
        self.mailbox.start(&mut Some(job), true, context.waker()).is_some()
    }

    /// The message to send, if it is valid.
    pub(crate) fn job(self, how: SendMode, dest: Node, port: AppPort, message: &[u8]) -> Result<Job, SendError> {
        self.network().check(dest).map_err(|_| SendError::NoSuchNode)?;
        let payload = Bytes::from_slice(message).map_err(|_| SendError::TooLong)?;
        Ok(Job {
            how,
            dest,
            port,
            payload,
        })
    }
}
