use core::future::poll_fn;
use core::task::{Context, Poll};

use hopwise_core::Node;
use hopwise_node::router::Outcome;
use hopwise_node::wire::{AppPort, DropReason};

use crate::MAX_MESSAGE;
use crate::error::SendError;
use crate::mesh::Mesh;
use crate::message::{Job, Payload, SendMode, SendResult};
use crate::retry_timer::RetryTimer;

/// A place among the messages being sent. Dropping it gives the message up if it has not left.
#[derive(Debug)]
pub(crate) struct Ticket<'a> {
    mesh: Mesh<'a>,
    place: usize,
}

impl Ticket<'_> {
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<SendResult> {
        self.mesh.mailbox.poll_result(self.place, context.waker())
    }

    pub(crate) async fn result(&mut self) -> SendResult {
        poll_fn(|context| self.poll(context)).await
    }

    /// The bytes of the response, if that is the result.
    pub(crate) fn response(&self) -> Payload {
        self.mesh.mailbox.response(self.place)
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
        self.carry(Job::new(SendMode::Datagram, node, port), message)
            .await?
            .sent()
    }

    /// Like [`send`](Self::send), to the host at a node.
    pub async fn send_to_host(self, at: Node, port: AppPort, message: &[u8]) -> Result<(), SendError> {
        self.carry(Job::new(SendMode::ToHost, at, port), message).await?.sent()
    }

    /// Sends a message to an application of every other node; returns when the router has taken it.
    pub async fn broadcast(self, port: AppPort, message: &[u8]) -> Result<(), SendError> {
        let job = Job::new(SendMode::Broadcast, self.address(), port);
        self.carry(job, message).await?.sent()
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
        match self.carry(Job::new(SendMode::Confirmed, node, port), message).await? {
            SendResult::Completed(outcome) => Ok(outcome),
            SendResult::NotSent(error) => Err(error),
            // A confirmed message has no other result.
            _ => Ok(Outcome::Unknown),
        }
    }

    /// Gives a message to the router, and waits for its result.
    pub(crate) async fn carry(self, job: Job, message: &[u8]) -> Result<SendResult, SendError> {
        Ok(self.begin(job, message).await?.result().await)
    }

    /// Gives a message to the router, once there is a place for it.
    pub(crate) async fn begin(self, job: Job, message: &[u8]) -> Result<Ticket<'a>, SendError> {
        self.check(job.dest, message)?;
        poll_fn(|context| match self.try_carry(job, message, context) {
            Some(ticket) => Poll::Ready(Ok(ticket)),
            None => Poll::Pending,
        })
        .await
    }

    /// Gives a message to the router if there is a place for it, or else wakes the task when there is.
    pub(crate) fn try_carry(self, job: Job, message: &[u8], context: &mut Context<'_>) -> Option<Ticket<'a>> {
        let place = self.mailbox.start(job, message, false, context.waker())?;
        Some(Ticket { mesh: self, place })
    }

    /// The same for a message without a result. Returns whether there was a place.
    pub(crate) fn post(self, job: Job, message: &[u8], context: &mut Context<'_>) -> bool {
        let place = self.mailbox.start(job, message, true, context.waker());
        place.is_some()
    }

    fn check(self, dest: Node, message: &[u8]) -> Result<(), SendError> {
        self.network().check(dest).map_err(|_| SendError::NoSuchNode)?;
        match message.len() > MAX_MESSAGE {
            true => Err(SendError::TooLong),
            false => Ok(()),
        }
    }
}
