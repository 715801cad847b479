use embassy_futures::select::{Either, select};
use heapless::Vec;
use hopwise_core::Node;
use hopwise_node::link::Micros;
use hopwise_node::wire::{AppPort, AppStatus, DropReason};

use super::Stream;
use super::speech::{Response, Speech};
use crate::error::{OpenError, RequestError, SendError};
use crate::mesh::Mesh;
use crate::message::Service;
use crate::persistence::Persistence;
use crate::receive::Receiver;

/// The lowest port for streams, which take free ports from the last one down.
const LOWEST_PORT: u8 = 192;
/// Timeout of opening a stream.
const GIVE_UP: Micros = 10_000_000;
/// Number of accepted streams that a listener remembers.
const REMEMBERED: usize = 4;

/// The reason why a stream was not opened.
#[expect(missing_docs, reason = "the sentences say what they are")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ConnectError {
    /// The node does not exist.
    #[error("{0}")]
    NotSent(SendError),
    /// This node has no free port for it.
    #[error("{0}")]
    NoPort(OpenError),
    #[error("no program there accepts streams on the port")]
    PortUnreachable,
    /// The node was unreachable for ten seconds.
    #[error("it ended at node {at}: {}", .reason.name())]
    Undeliverable { at: Node, reason: DropReason },
    /// The program there has not accepted it for ten seconds.
    #[error("the program there does not accept it")]
    Busy,
}

impl<'a> Mesh<'a> {
    /// Opens a stream to a node whose program [accepts](Self::listener) it on a port. It takes one of this node's receivers.
    pub async fn connect<const ROOM: usize>(self, node: Node, port: AppPort) -> Result<Stream<'a, ROOM>, ConnectError> {
        let session = self.session().await;
        let mut receiver = self.any_receiver().map_err(ConnectError::NoPort)?;
        let speech = Speech::Open.write((receiver.port(), session));
        let (begin, mut persistence) = (self.uptime(), Persistence::new());
        loop {
            // The other end may be open though its response was lost: it then sends by itself.
            let opened = async {
                loop {
                    let incoming = receiver.recv().await;
                    match Speech::read(incoming.bytes()) {
                        Some(((port, of), _)) if (incoming.source, of) == (node, session) => break port,
                        _ => {}
                    }
                }
            };
            let pending = self.try_request_bytes(node, port, &speech);
            let response = self.within(persistence.wait(), select(pending, opened)).await;
            let failure = match response {
                Some(Either::First(Ok(response))) => match Response::read(&response) {
                    Some(Response::Opened(port)) => return Ok(Stream::new(self, receiver, (node, port), session)),
                    _ => return Err(ConnectError::PortUnreachable),
                },
                Some(Either::Second(port)) => return Ok(Stream::new(self, receiver, (node, port), session)),
                Some(Either::First(Err(error))) => match error {
                    RequestError::NotSent(error) => return Err(ConnectError::NotSent(error)),
                    RequestError::PortUnreachable | RequestError::Refused | RequestError::BadFormat => {
                        return Err(ConnectError::PortUnreachable);
                    }
                    RequestError::Undeliverable { at, reason } => ConnectError::Undeliverable { at, reason },
                    RequestError::Busy | RequestError::TimedOut => ConnectError::Busy,
                },
                None => {
                    persistence.lengthen();
                    ConnectError::Busy
                }
            };
            if self.uptime().saturating_sub(begin) >= GIVE_UP {
                return Err(failure);
            }
            self.sleep(persistence.pause()).await;
        }
    }

    /// Opens a port at which [streams](Self::connect) are accepted.
    pub fn listener(self, port: AppPort) -> Result<Listener<'a>, OpenError> {
        Ok(Listener {
            mesh: self,
            receiver: self.receiver(port)?,
            accepted: Vec::new(),
        })
    }

    fn any_receiver(self) -> Result<Receiver<'a>, OpenError> {
        for port in (LOWEST_PORT..=u8::MAX).rev() {
            match self.receiver(AppPort(port)) {
                Err(OpenError::Taken) => {}
                other => return other,
            }
        }
        Err(OpenError::NoRoom)
    }
}

/// A port at which streams are accepted; see [`Mesh::listener`]. It is closed when this is dropped; streams go on.
#[derive(Debug)]
pub struct Listener<'a> {
    mesh: Mesh<'a>,
    receiver: Receiver<'a>,
    /// The last streams: node, session, and port of the stream.
    accepted: Vec<(Node, u32, AppPort), REMEMBERED>,
}

impl<'a> Listener<'a> {
    /// Waits for a stream. It takes one of this node's receivers; while none is free the other end waits.
    pub async fn accept<const ROOM: usize>(&mut self) -> Stream<'a, ROOM> {
        loop {
            let incoming = self.receiver.recv().await;
            if incoming.service != Service::Request || incoming.from_host {
                continue;
            }
            let source = incoming.source;
            let Some(((port, session), Speech::Open)) = Speech::read(incoming.bytes()) else {
                self.receiver.respond(&incoming, AppStatus::Refused, &[]).await;
                continue;
            };
            let known = self
                .accepted
                .iter()
                .find(|known| (known.0, known.1) == (source, session));
            if let Some(&(_, _, here)) = known {
                self.receiver
                    .respond(&incoming, AppStatus::Ok, &Response::Opened(here).write())
                    .await;
                continue;
            }
            let Ok(receiver) = self.mesh.any_receiver() else {
                self.receiver.respond(&incoming, AppStatus::Busy, &[]).await;
                continue;
            };
            let here = receiver.port();
            let stream = Stream::new(self.mesh, receiver, (source, port), session);
            if self.accepted.is_full() {
                self.accepted.remove(0);
            }
            // Cannot fail: room was made.
            let _ = self.accepted.push((source, session, here));
            self.receiver
                .respond(&incoming, AppStatus::Ok, &Response::Opened(here).write())
                .await;
            return stream;
        }
    }
}
