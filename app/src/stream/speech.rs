//! The protocol between the two ends of a stream.
//!
//! | request or message | after its first byte |
//! |---|---|
//! | 0: open | port of the sender, session (4 bytes) |
//! | 1: piece | port of the sender, session, offset (4), up to [`PIECE`] bytes |
//! | 2: end | port, session, offset |
//! | 3: room, a message without response | port, session, room (4) |
//!
//! | response | after its first byte |
//! |---|---|
//! | 0: opened | the port of the stream |
//! | 1: next | offset of the first missing byte (4), room for bytes from there (4) |
//! | 2: gone | |
//!
//! Numbers are little-endian; offsets count bytes from the beginning and wrap after 2^32, the end counts as one. A piece without
//! bytes probes the other end and its room.

use heapless::Vec;
use hopwise_node::wire::AppPort;

use crate::MAX_MESSAGE;

/// Bytes of the stream in one piece.
pub(super) const PIECE: usize = MAX_MESSAGE - 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speech<'m> {
    Open,
    Piece { offset: u32, bytes: &'m [u8] },
    End { offset: u32 },
    Room { room: u32 },
}

/// The sender of a message: the port where it listens, and the session.
pub(super) type Speaker = (AppPort, u32);

impl<'m> Speech<'m> {
    pub(super) fn write(self, (port, session): Speaker) -> Vec<u8, MAX_MESSAGE> {
        let (kind, number, bytes) = match self {
            Speech::Open => (0, None, &[][..]),
            Speech::Piece { offset, bytes } => (1, Some(offset), bytes),
            Speech::End { offset } => (2, Some(offset), &[][..]),
            Speech::Room { room } => (3, Some(room), &[][..]),
        };
        let mut out = Vec::new();
        // Cannot fail: the size of a piece leaves room.
        let _ = out.extend_from_slice(&[kind, port.0]);
        let _ = out.extend_from_slice(&session.to_le_bytes());
        if let Some(number) = number {
            let _ = out.extend_from_slice(&number.to_le_bytes());
        }
        let _ = out.extend_from_slice(bytes);
        out
    }

    pub(super) fn read(bytes: &'m [u8]) -> Option<(Speaker, Self)> {
        let (&[kind, port], rest) = bytes.split_first_chunk()?;
        let (&session, rest) = rest.split_first_chunk()?;
        let speaker = (AppPort(port), u32::from_le_bytes(session));
        if kind == 0 {
            return Some((speaker, Speech::Open));
        }
        let (&number, bytes) = rest.split_first_chunk()?;
        let number = u32::from_le_bytes(number);
        let speech = match kind {
            1 => Speech::Piece { offset: number, bytes },
            2 => Speech::End { offset: number },
            3 => Speech::Room { room: number },
            _ => return None,
        };
        Some((speaker, speech))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Response {
    Opened(AppPort),
    Next { offset: u32, room: u32 },
    Gone,
}

impl Response {
    pub(super) fn write(self) -> Vec<u8, 9> {
        let mut out = Vec::new();
        // Cannot fail: there is room for the longest.
        let _ = match self {
            Response::Opened(port) => out.extend_from_slice(&[0, port.0]),
            Response::Next { offset, room } => {
                let _ = out.push(1);
                let _ = out.extend_from_slice(&offset.to_le_bytes());
                out.extend_from_slice(&room.to_le_bytes())
            }
            Response::Gone => out.extend_from_slice(&[2]),
        };
        out
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        match bytes.split_first()? {
            (0, &[port]) => Some(Response::Opened(AppPort(port))),
            (1, rest) => {
                let (&offset, room) = rest.split_first_chunk()?;
                Some(Response::Next {
                    offset: u32::from_le_bytes(offset),
                    room: u32::from_le_bytes(room.try_into().ok()?),
                })
            }
            (2, []) => Some(Response::Gone),
            _ => None,
        }
    }
}
