use core::convert::Infallible;
use core::task::Context;

use hopwise_core::Node;
use hopwise_node::wire::{AppPort, AppStatus, Body};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::MAX_MESSAGE;
use crate::error::{OpenError, RequestError, SendError};
use crate::mesh::Mesh;
use crate::message::{Incoming, Job, SendMode, SendResult, Service};
use crate::retry_timer::RetryTimer;

/// Maximum length of a response: its status takes one byte.
const MAX_RESPONSE: usize = MAX_MESSAGE - 1;

/// The bytes of a response.
pub type Response = Result<Body<MAX_MESSAGE>, RequestError>;

impl Mesh<'_> {
    /// Sends a request to an application of a node, and waits for the response. It is sent at most once; the caller may retry. While the
    /// application has no room for requests, this waits, for up to ten seconds.
    pub async fn request<T: Serialize, U: DeserializeOwned>(
        self,
        node: Node,
        port: AppPort,
        request: &T,
    ) -> Result<U, RequestError> {
        self.ask(SendMode::Request, node, port, request).await
    }

    /// [`request`](Self::request) with bytes.
    pub async fn request_bytes(self, node: Node, port: AppPort, request: &[u8]) -> Response {
        self.insist(SendMode::Request, node, port, request).await
    }

    /// [`request_bytes`](Self::request_bytes) without waiting: if the application has no room, it returns an error.
    pub async fn try_request_bytes(self, node: Node, port: AppPort, request: &[u8]) -> Response {
        self.request_once(SendMode::Request, node, port, request).await
    }

    /// Sends a request to an application of the host at a node, like [`request`](Self::request).
    pub async fn request_host<T: Serialize, U: DeserializeOwned>(
        self,
        at: Node,
        port: AppPort,
        request: &T,
    ) -> Result<U, RequestError> {
        self.ask(SendMode::RequestToHost, at, port, request).await
    }

    /// [`request_host`](Self::request_host) with bytes.
    pub async fn request_host_bytes(self, at: Node, port: AppPort, request: &[u8]) -> Response {
        self.insist(SendMode::RequestToHost, at, port, request).await
    }

    async fn ask<T: Serialize, U: DeserializeOwned>(
        self,
        how: SendMode,
        node: Node,
        port: AppPort,
        request: &T,
    ) -> Result<U, RequestError> {
        let mut bytes = [0; MAX_MESSAGE];
        let bytes = postcard::to_slice(request, &mut bytes).map_err(|_| RequestError::BadFormat)?;
        let response = self.insist(how, node, port, bytes).await?;
        postcard::from_bytes(&response).map_err(|_| RequestError::BadFormat)
    }

    /// Retries while the application has no room, for up to ten seconds.
    async fn insist(self, how: SendMode, node: Node, port: AppPort, request: &[u8]) -> Response {
        let mut retry_timer = RetryTimer::new(self);
        loop {
            let response = self.request_once(how, node, port, request).await;
            if response != Err(RequestError::Busy) || !retry_timer.wait().await {
                return response;
            }
        }
    }

    async fn request_once(self, how: SendMode, node: Node, port: AppPort, request: &[u8]) -> Response {
        let ticket = self.begin(Job::new(how, node, port), request).await;
        let mut ticket = ticket.map_err(RequestError::NotSent)?;
        match ticket.result().await {
            SendResult::Response => Ok(ticket.response()),
            SendResult::Failed(error) => Err(error),
            SendResult::NotSent(error) => Err(RequestError::NotSent(error)),
            // A request has no other result.
            SendResult::Sent | SendResult::Completed(_) => Err(RequestError::TimedOut),
        }
    }

    /// Answers the requests to a port, one after the other. Other messages to it are ignored. It returns only if the port cannot be opened.
    pub async fn serve<T: DeserializeOwned, U: Serialize>(
        self,
        port: AppPort,
        mut response: impl FnMut(T) -> U,
    ) -> Result<Infallible, OpenError> {
        let mut receiver = self.receiver(port)?;
        loop {
            let request = receiver.recv().await;
            if request.service != Service::Request {
                continue;
            }
            let mut bytes = [0; MAX_RESPONSE];
            let response = postcard::from_bytes(request.bytes())
                .ok()
                .map(&mut response)
                .and_then(|value| postcard::to_slice(&value, &mut bytes).ok());
            let (status, bytes) = match response {
                Some(bytes) => (AppStatus::Ok, &*bytes),
                None => (AppStatus::Refused, &[][..]),
            };
            receiver.respond(&request, status, bytes).await;
        }
    }

    /// Answers a request to a port, with bytes.
    pub async fn respond(self, request: &Incoming, port: AppPort, response: &[u8]) -> Result<(), SendError> {
        if response.len() > MAX_RESPONSE {
            return Err(SendError::TooLong);
        }
        self.respond_with(request, port, AppStatus::Ok, response).await
    }

    pub(crate) async fn respond_with(
        self,
        request: &Incoming,
        port: AppPort,
        status: AppStatus,
        response: &[u8],
    ) -> Result<(), SendError> {
        if request.service != Service::Request {
            return Ok(());
        }
        let how = SendMode::Response(request.asker, status);
        self.carry(Job::new(how, request.source, port), response).await?.sent()
    }

    /// Gives the router the response to a request if there is a place for it, or else wakes the task when there is. Returns whether there was.
    pub(crate) fn post_response(
        self,
        request: &Incoming,
        port: AppPort,
        response: &[u8],
        context: &mut Context<'_>,
    ) -> bool {
        let how = SendMode::Response(request.asker, AppStatus::Ok);
        self.post(Job::new(how, request.source, port), response, context)
    }
}

/// The result of a request, by the status of its response, and the bytes of that.
pub(crate) fn result_of(response: &[u8]) -> (SendResult, &[u8]) {
    let failed = |error| (SendResult::Failed(error), &[][..]);
    match AppStatus::read(response) {
        Some((AppStatus::Ok, bytes)) => (SendResult::Response, bytes),
        Some((AppStatus::PortUnreachable, _)) => failed(RequestError::PortUnreachable),
        Some((AppStatus::Busy, _)) => failed(RequestError::Busy),
        Some((AppStatus::Refused, _)) => failed(RequestError::Refused),
        None => failed(RequestError::BadFormat),
    }
}
