use core::future::poll_fn;
use core::task::Poll;

use heapless::Vec;
use hopwise_core::Node;
use hopwise_node::link::Micros;
use hopwise_node::wire::{AppPort, AppStatus, crc32c};

use super::piece::{PieceRequest, PieceResponse};
use crate::error::OpenError;
use crate::mesh::Mesh;
use crate::message::{Incoming, Service};
use crate::receive::Receiver;

/// Idle time after which a message is discarded if another sender wants to begin.
const IDLE: Micros = 5_000_000;
/// Number of completed messages that a receiver remembers.
const REMEMBERED: usize = 8;

impl<'a> Mesh<'a> {
    /// Opens a port for messages of [`send_large`](Self::send_large).
    pub fn large_receiver(self, port: AppPort) -> Result<LargeReceiver<'a>, OpenError> {
        Ok(LargeReceiver {
            mesh: self,
            receiver: self.receiver(port)?,
            under_way: None,
            had: Vec::new(),
        })
    }
}

#[derive(Clone, Copy, Debug)]
struct UnderWay {
    /// Its source, and the session there.
    session: (Node, u32),
    length: u32,
    crc: u32,
    next: u32,
    /// When something last came.
    at: Micros,
}

/// A port for large messages; see [`Mesh::large_receiver`]. It is closed when this is dropped.
#[derive(Debug)]
pub struct LargeReceiver<'a> {
    mesh: Mesh<'a>,
    receiver: Receiver<'a>,
    under_way: Option<UnderWay>,
    /// The last messages that came, by source and session.
    had: Vec<(Node, u32), REMEMBERED>,
}

/// A received large message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LargeMessage<'b> {
    /// The sender.
    pub source: Node,
    /// The bytes of the message.
    pub bytes: &'b [u8],
}

/// The effect of a request.
enum Step {
    Respond(PieceResponse),
    Whole(usize),
}

impl LargeReceiver<'_> {
    /// Waits for the next message, and puts it into the buffer. A longer one is refused, and its sender notified.
    ///
    /// Senders are served one after the other. Dropping this future discards a partial message; its sender starts over.
    pub async fn recv_large<'b>(&mut self, buffer: &'b mut [u8]) -> LargeMessage<'b> {
        // The previous message in progress was in another buffer.
        self.under_way = None;
        let (source, length) = loop {
            let incoming = self.receiver.recv().await;
            if incoming.service != Service::Request || incoming.from_host {
                continue;
            }
            let Some((session, request)) = PieceRequest::read(incoming.bytes()) else {
                self.receiver.respond(&incoming, AppStatus::Refused, &[]).await;
                continue;
            };
            match self.take_in((incoming.source, session), request, buffer) {
                Step::Respond(response) => self.receiver.respond(&incoming, AppStatus::Ok, &response.write()).await,
                Step::Whole(length) => {
                    self.confirm(&incoming).await;
                    break (incoming.source, length);
                }
            }
        };
        LargeMessage {
            source,
            bytes: buffer.get(..length).unwrap_or(&[]),
        }
    }

    fn take_in(&mut self, session: (Node, u32), request: PieceRequest<'_>, buffer: &mut [u8]) -> Step {
        let now = self.mesh.uptime();
        if self.had.contains(&session) {
            return Step::Respond(PieceResponse::Done);
        }
        let under_way = self.under_way.as_mut();
        let response = match (request, under_way) {
            (PieceRequest::Begin { .. }, Some(one)) if one.session == session => PieceResponse::Next(one.next),
            (PieceRequest::Begin { .. }, Some(one)) if now.saturating_sub(one.at) < IDLE => PieceResponse::Busy,
            (PieceRequest::Begin { length, .. }, _) if length as usize > buffer.len() => PieceResponse::TooLong {
                room: buffer.len().min(u32::MAX as usize) as u32,
            },
            (PieceRequest::Begin { length, crc }, _) => {
                self.under_way = Some(UnderWay {
                    session,
                    length,
                    crc,
                    next: 0,
                    at: now,
                });
                PieceResponse::Next(0)
            }
            (PieceRequest::Piece { offset, bytes }, Some(one)) if one.session == session => {
                one.at = now;
                if offset != one.next || !one.put(bytes, buffer) {
                    return Step::Respond(PieceResponse::Next(one.next));
                }
                if one.next < one.length {
                    return Step::Respond(PieceResponse::Next(one.next));
                }
                let (length, crc) = (one.length as usize, one.crc);
                self.under_way = None;
                if crc32c([buffer.get(..length).unwrap_or(&[])]) == crc {
                    if self.had.is_full() {
                        self.had.remove(0);
                    }
                    // Cannot fail: room was made.
                    let _ = self.had.push(session);
                    return Step::Whole(length);
                }
                PieceResponse::Damaged
            }
            (PieceRequest::Piece { .. }, _) => PieceResponse::Unknown,
        };
        Step::Respond(response)
    }

    /// Reports that the message is complete, without waiting: a waiting future could be dropped, and the message with it. If there is no place
    /// for the response, the sender retransmits.
    async fn confirm(&self, request: &Incoming) {
        let (port, done) = (self.receiver.port(), PieceResponse::Done.write());
        poll_fn(|context| {
            self.mesh.post_response(request, port, &done, context);
            Poll::Ready(())
        })
        .await;
    }
}

impl UnderWay {
    /// Puts the next piece into the buffer, if it has the right length.
    fn put(&mut self, bytes: &[u8], buffer: &mut [u8]) -> bool {
        let begin = self.next as usize;
        let end = begin.saturating_add(bytes.len());
        if end > self.length as usize {
            return false;
        }
        let Some(place) = buffer.get_mut(begin..end) else {
            return false;
        };
        place.copy_from_slice(bytes);
        self.next = end as u32;
        true
    }
}
