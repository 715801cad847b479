//! The protocol of large messages.
//!
//! | request | after its first byte | |
//! |---|---|---|
//! | 0: begin | session (4 bytes), length (4), CRC-32C (4) | |
//! | 1: piece | session, offset (4), up to [`PIECE`] bytes | the last is the one that reaches the length |
//!
//! | response | after its first byte | |
//! |---|---|---|
//! | 0: next | offset | send what begins there |
//! | 1: done | | the whole message is there, and has the right checksum |
//! | 2: too long | room (4) | |
//! | 3: busy | | another message is in progress |
//! | 4: unknown | | the session is not known: begin |
//! | 5: damaged | | the checksum is wrong |
//!
//! Numbers are little-endian. A session's number differs from all earlier ones of the same node, including before a restart. Requests are
//! idempotent, so a sender without a response retransmits. A piece counts only after a beginning; so a retransmitted last piece whose
//! response was lost never makes a second message.

use heapless::Vec;

use crate::MAX_MESSAGE;

/// Bytes of the message in one piece.
pub(super) const PIECE: usize = MAX_MESSAGE - 9;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceRequest<'m> {
    Begin { length: u32, crc: u32 },
    Piece { offset: u32, bytes: &'m [u8] },
}

impl<'m> PieceRequest<'m> {
    pub(super) fn write(self, session: u32) -> Vec<u8, MAX_MESSAGE> {
        let (kind, first, rest) = match self {
            PieceRequest::Begin { length, crc } => (0, length, &crc.to_le_bytes()[..]),
            PieceRequest::Piece { offset, bytes } => (1, offset, bytes),
        };
        let mut out = Vec::new();
        // Cannot fail: the size of a piece leaves room.
        let _ = out.push(kind);
        let _ = out.extend_from_slice(&session.to_le_bytes());
        let _ = out.extend_from_slice(&first.to_le_bytes());
        let _ = out.extend_from_slice(rest);
        out
    }

    pub(super) fn read(bytes: &'m [u8]) -> Option<(u32, Self)> {
        let (&kind, rest) = bytes.split_first()?;
        let (&session, rest) = rest.split_first_chunk()?;
        let (&first, rest) = rest.split_first_chunk()?;
        let first = u32::from_le_bytes(first);
        let request = match kind {
            0 => PieceRequest::Begin {
                length: first,
                crc: u32::from_le_bytes(rest.try_into().ok()?),
            },
            1 => PieceRequest::Piece {
                offset: first,
                bytes: rest,
            },
            _ => return None,
        };
        Some((u32::from_le_bytes(session), request))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceResponse {
    Next(u32),
    Done,
    TooLong { room: u32 },
    Busy,
    Unknown,
    Damaged,
}

impl PieceResponse {
    pub(super) fn write(self) -> [u8; 5] {
        let (kind, number) = match self {
            PieceResponse::Next(offset) => (0, offset),
            PieceResponse::Done => (1, 0),
            PieceResponse::TooLong { room } => (2, room),
            PieceResponse::Busy => (3, 0),
            PieceResponse::Unknown => (4, 0),
            PieceResponse::Damaged => (5, 0),
        };
        let [a, b, c, d] = number.to_le_bytes();
        [kind, a, b, c, d]
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (&kind, number) = bytes.split_first()?;
        let number = u32::from_le_bytes(number.try_into().ok()?);
        Some(match kind {
            0 => PieceResponse::Next(number),
            1 => PieceResponse::Done,
            2 => PieceResponse::TooLong { room: number },
            3 => PieceResponse::Busy,
            4 => PieceResponse::Unknown,
            5 => PieceResponse::Damaged,
            _ => return None,
        })
    }
}
