//! Authorization of commands that change a board with keys: only the host that holds the management key can issue them, each once.
//!
//! A board has a key of its own, derived from the management key and the board's [address](board_key). The host requests a
//! [`Challenge`]: the epoch of the board's boot, which is counted in its flash and never repeats, and the number of the next command
//! since. It sends the command with a tag over both, the command, and its payload. So a recorded command can neither be replayed,
//! nor used after a restart, nor sent to another board; and a stolen board reveals only its own key.
//!
//! The board's responses have a [tag](proven) as well, over the request, too. A request for a challenge contains a nonce of the host. So nobody
//! but the board makes the host sign for an epoch or a number, or believe a result.

use heapless::Vec;
use serde::{Deserialize, Serialize};

use crate::key::{Key, Secret, TAG_BYTES, Tag, same_tag};
use crate::limits::BODY;
use crate::store::Keys;
use hopwise_core::Node;

/// The input of a command's tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Challenge {
    /// The epoch of the board's boot.
    pub epoch: u32,
    /// Number of commands that changed the board since.
    pub number: u32,
}

#[cfg(feature = "keys")]
impl Challenge {
    fn tag(&self, key: &Key, command: u8, payload: &[u8]) -> Tag {
        let context = [
            &self.epoch.to_le_bytes()[..],
            &self.number.to_le_bytes(),
            &[command],
            payload,
        ];
        tag(key, "command", &context)
    }
}

#[cfg(feature = "keys")]
fn tag(key: &Key, purpose: &str, context: &[&[u8]]) -> Tag {
    let [t0, t1, t2, t3, t4, t5, t6, t7, ..] = key.derive(purpose, context);
    [t0, t1, t2, t3, t4, t5, t6, t7]
}

#[cfg(feature = "keys")]
/// The tag of a board's response to a request with these bytes.
fn response_tag(key: &Key, command: u8, request: &[u8], response: &[u8]) -> Tag {
    let length = (request.len() as u16).to_le_bytes();
    tag(key, "response", &[&[command], &length, request, response])
}

#[cfg(feature = "keys")]
/// The response to a request with these bytes, without its tag; `None` if it is not of the board with that key, or to another request.
pub fn proven<'a>(key: &Key, command: u8, request: &[u8], response: &'a [u8]) -> Option<&'a [u8]> {
    let (content, tag) = response.split_last_chunk::<TAG_BYTES>()?;
    same_tag(&response_tag(key, command, request, content), tag).then_some(content)
}

#[cfg(feature = "keys")]
/// The secrets of a mesh on the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshKeys {
    /// For links and payloads. All boards have it.
    pub mesh: Secret,
    /// For commands that change boards. No board has it.
    pub management: Key,
}

#[cfg(feature = "keys")]
impl MeshKeys {
    /// Derives both from the single secret that the user keeps.
    pub fn of(secret: &Secret) -> Self {
        MeshKeys {
            mesh: Secret::new(secret.key.derive_key("mesh", &[]), secret.encrypts),
            management: secret.key.derive_key("management", &[]),
        }
    }

    /// The keys to write into the flash of a board.
    pub fn of_board(&self, address: Node) -> Keys {
        Keys {
            mesh: self.mesh,
            management: board_key(&self.management, address),
        }
    }
}

#[cfg(feature = "keys")]
/// Derives the key of one board, which is stored in its flash.
pub fn board_key(management: &Key, address: Node) -> Key {
    management.derive_key("board", &[&address.to_le_bytes()])
}

#[cfg(feature = "keys")]
/// A command's payload with its tag; `None` if that is too long.
pub fn authorize(key: &Key, challenge: &Challenge, command: u8, payload: &[u8]) -> Option<Vec<u8, BODY>> {
    let mut bytes = Vec::from_slice(payload).ok()?;
    bytes.extend_from_slice(&challenge.tag(key, command, payload)).ok()?;
    Some(bytes)
}

#[cfg(feature = "keys")]
/// The board's side of the authorization.
#[derive(Clone, Debug)]
pub struct Authority {
    key: Key,
    challenge: Challenge,
}

#[cfg(feature = "keys")]
impl Authority {
    /// The state of a board with this key that has just booted.
    pub fn new(key: Key, epoch: u32) -> Self {
        let challenge = Challenge { epoch, number: 0 };
        Authority { key, challenge }
    }

    /// The challenge for the next command.
    pub fn challenge(&self) -> Challenge {
        self.challenge
    }

    /// The payload of a command without its tag; `None` if the tag is not that of the current challenge.
    pub fn check<'a>(&mut self, command: u8, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let (payload, tag) = bytes.split_last_chunk::<TAG_BYTES>()?;
        if !same_tag(&self.challenge.tag(&self.key, command, payload), tag) {
            return None;
        }
        // After the last number every command is rejected until the next boot.
        self.challenge.number = self.challenge.number.checked_add(1)?;
        Some(payload)
    }

    /// The tag of a response to a request with these bytes.
    pub fn prove(&self, command: u8, request: &[u8], response: &[u8]) -> Tag {
        response_tag(&self.key, command, request, response)
    }
}

/// The board's side. Without the feature `keys` this type is uninhabited, so the compiler removes all code that uses it.
#[cfg(not(feature = "keys"))]
#[derive(Clone, Debug)]
pub enum Authority {}

#[cfg(not(feature = "keys"))]
impl Authority {
    /// The challenge for the next command.
    pub fn challenge(&self) -> Challenge {
        match *self {}
    }

    /// The payload of a command without its tag; `None` if the tag is not that of the current challenge.
    pub fn check<'a>(&mut self, _: u8, _: &'a [u8]) -> Option<&'a [u8]> {
        match *self {}
    }

    /// The tag of a response to a request with these bytes.
    pub fn prove(&self, _: u8, _: &[u8], _: &[u8]) -> Tag {
        match *self {}
    }
}

#[cfg(all(test, feature = "keys"))]
mod tests {
    use super::*;
    use std::{assert, assert_eq};

    const KEY: Key = Key::new(*b"of the manager!!");

    #[test]
    fn a_command_is_accepted_once_by_the_board_it_is_for_and_in_its_start() {
        let (mine, other) = (board_key(&KEY, 7), board_key(&KEY, 8));
        let mut board = Authority::new(mine, 5);
        let told = authorize(&mine, &board.challenge(), 3, b"words").unwrap();
        assert_eq!(Authority::new(mine, 6).check(3, &told), None, "another start");
        assert_eq!(Authority::new(other, 5).check(3, &told), None, "another board");
        assert_eq!(board.check(2, &told), None, "another command");
        for bit in 0..told.len() * 8 {
            let mut changed = told.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(board.check(3, &changed), None, "bit {bit}");
        }
        assert_eq!((board.check(3, &[]), board.check(3, b"words")), (None, None));
        assert_eq!(board.check(3, &told), Some(&b"words"[..]));
        assert_eq!(board.check(3, &told), None, "again");
        let next = authorize(&mine, &board.challenge(), 3, b"words").unwrap();
        assert!(board.check(3, &next).is_some());
    }

    #[test]
    fn a_response_is_of_its_board_and_to_its_request() {
        let mut response = b"done".to_vec();
        response.extend(Authority::new(KEY, 5).prove(3, b"request", b"done"));
        assert_eq!(proven(&KEY, 3, b"request", &response), Some(&b"done"[..]));
        assert_eq!(
            proven(&board_key(&KEY, 7), 3, b"request", &response),
            None,
            "another board"
        );
        assert_eq!(proven(&KEY, 2, b"request", &response), None, "another command");
        let moved = [b"one", &response[4..]].concat();
        assert_eq!(proven(&KEY, 3, b"requestd", &moved), None, "another request");
        for bit in 0..response.len() * 8 {
            let mut changed = response.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(proven(&KEY, 3, b"request", &changed), None, "bit {bit}");
        }
        assert_eq!(proven(&KEY, 3, b"request", b"done"), None);
    }

    #[test]
    fn what_is_too_long_is_not_authorized() {
        let challenge = Challenge { epoch: 1, number: 0 };
        assert!(authorize(&KEY, &challenge, 2, &[0; BODY - TAG_BYTES]).is_some());
        assert!(authorize(&KEY, &challenge, 2, &[0; BODY - TAG_BYTES + 1]).is_none());
    }
}
