//! Messages of up to 64 KiB: sent in pieces, each of which is a [request](request) whose response has the next offset.

mod piece;
mod receive;

use hopwise_core::Node;
use hopwise_node::link::Micros;
use hopwise_node::wire::{AppPort, DropReason, crc32c};

use crate::error::{RequestError, SendError};
use crate::mesh::Mesh;
use crate::persistence::Persistence;

use piece::{PIECE, PieceRequest, PieceResponse};
pub use receive::{LargeMessage, LargeReceiver};

/// Maximum length of a message that [`Mesh::send_large`] sends.
pub const MAX_LARGE: usize = 64 * 1024;

/// Timeout of a sender without progress.
const GIVE_UP: Micros = 30_000_000;

/// The reason why a large message was not sent, or may not have been.
#[expect(missing_docs, reason = "the sentences say what they are")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum LargeError {
    /// The node does not exist, or the message is longer than [`MAX_LARGE`].
    #[error("{0}")]
    NotSent(SendError),
    #[error("no program there receives on the port")]
    PortUnreachable,
    /// The receiver's buffer is too small.
    #[error("the receiver has room for {room} bytes only")]
    NoRoom { room: u32 },
    /// The receiver was busy with other messages, or read nothing, for half a minute.
    #[error("the receiver is busy")]
    Busy,
    /// The node was unreachable for half a minute.
    #[error("it ended at node {at}: {}", .reason.name())]
    Undeliverable { at: Node, reason: DropReason },
    /// The receiver is gone, or has not responded for half a minute. It does not have the message.
    #[error("the receiver has gone")]
    Gone,
    /// The same, but after the last piece: it may have the message or not.
    #[error("the receiver has gone, and may have had the message before")]
    Uncertain,
    /// The received message has a wrong checksum. The receiver has discarded it.
    #[error("what arrived is not what was sent")]
    Damaged,
}

impl<'a> Mesh<'a> {
    /// Sends a message of up to [`MAX_LARGE`] bytes to a [receiver](Self::large_receiver) on a port of a node; returns when it is complete
    /// there. It survives pulled cables and lost pieces, and gives up after 30 seconds without progress. It arrives once, even if
    /// an end restarts.
    pub async fn send_large(self, node: Node, port: AppPort, message: &[u8]) -> Result<(), LargeError> {
        if message.len() > MAX_LARGE {
            return Err(LargeError::NotSent(SendError::TooLong));
        }
        let length = message.len() as u32;
        let begin = PieceRequest::Begin {
            length,
            crc: crc32c([message]),
        };
        let session = self.session().await;
        let mut persistence = Persistence::new();
        let (mut moved, mut reached) = (self.uptime(), false);
        // The next offset, once it has begun.
        let mut next: Option<u32> = None;
        // Whether the last piece may have arrived.
        let mut uncertain = false;
        loop {
            let rest = next.and_then(|offset| message.get(offset as usize..));
            let request = match (next, rest) {
                (Some(offset), Some(rest)) => PieceRequest::Piece {
                    offset,
                    bytes: rest.get(..PIECE).unwrap_or(rest),
                },
                _ => begin,
            };
            let is_last = rest.is_some_and(|rest| rest.len() <= PIECE);
            uncertain |= is_last;
            let asked = self.uptime();
            let request = request.write(session);
            let pending = self.try_request_bytes(node, port, &request);
            let failure = match self.within(persistence.wait(), pending).await {
                Some(Ok(response)) => match PieceResponse::read(&response) {
                    Some(PieceResponse::Done) => return Ok(()),
                    Some(PieceResponse::TooLong { room }) => return Err(LargeError::NoRoom { room }),
                    Some(PieceResponse::Damaged) => return Err(LargeError::Damaged),
                    Some(PieceResponse::Next(offset)) => {
                        // The response names what is missing.
                        uncertain = false;
                        reached = true;
                        let goes_on = next.is_none_or(|before| offset > before);
                        next = Some(offset.min(length));
                        if goes_on {
                            persistence.encourage(self.uptime().saturating_sub(asked));
                            moved = self.uptime();
                            continue;
                        }
                        LargeError::Gone
                    }
                    Some(PieceResponse::Unknown) if uncertain => return Err(LargeError::Uncertain),
                    // The receiver has started over, and so do we.
                    Some(PieceResponse::Unknown) => {
                        next = None;
                        LargeError::Gone
                    }
                    Some(PieceResponse::Busy) => LargeError::Busy,
                    // The program there has another protocol.
                    None => return Err(LargeError::PortUnreachable),
                },
                Some(Err(RequestError::NotSent(error))) => return Err(LargeError::NotSent(error)),
                Some(Err(RequestError::PortUnreachable | RequestError::Refused | RequestError::BadFormat))
                    if !reached =>
                {
                    return Err(LargeError::PortUnreachable);
                }
                Some(Err(RequestError::Undeliverable { at, reason })) => LargeError::Undeliverable { at, reason },
                Some(Err(RequestError::Busy)) => LargeError::Busy,
                Some(Err(_)) => LargeError::Gone,
                None => {
                    persistence.lengthen();
                    LargeError::Gone
                }
            };
            if self.uptime().saturating_sub(moved) >= GIVE_UP {
                return Err(if uncertain { LargeError::Uncertain } else { failure });
            }
            self.sleep(persistence.pause()).await;
        }
    }
}
