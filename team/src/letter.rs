//! What boards of a team send each other.

use heapless::Vec;
use hopwise_app::{Incoming, MAX_MESSAGE, Node};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A board has at most this many children in a tree.
pub const MAX_CHILDREN: usize = 12;

/// What comes up from a board is folded to at most this many pieces of consecutive nodes.
pub const MAX_PIECES: usize = 16;

/// What can be folded: it is copied and sent.
pub trait Value: Clone + Serialize + DeserializeOwned {}

impl<T: Clone + Serialize + DeserializeOwned> Value for T {}

/// What a letter is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// To the parent: the pieces of a board and all behind it.
    Up,
    /// To a child: the total, and what comes before each of its pieces.
    Down,
    /// The call has come to nothing.
    Broken,
    /// The others are ahead, at the tag that follows.
    Behind,
}

/// How every letter begins.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) tag: u32,
    pub(crate) kind: Kind,
    /// Which call of the child it is: the time it began there, so that one that has restarted does not take an answer for its own.
    pub(crate) call: u64,
}

/// The values of consecutive nodes, folded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Piece<T> {
    pub(crate) first: u32,
    /// The one after the last.
    pub(crate) end: u32,
    pub(crate) value: T,
}

/// What goes down.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Answer<T> {
    pub(crate) total: T,
    /// For each piece that came up, in order.
    pub(crate) before: Vec<Option<T>, MAX_PIECES>,
}

pub(crate) type Bytes = Vec<u8, MAX_MESSAGE>;

/// A letter that has come.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    /// The sender's number in the group.
    pub(crate) from: Node,
    pub(crate) header: Header,
    pub(crate) body: Bytes,
}

impl Kept {
    /// Reads a letter; `None` if it is none, or not of the group.
    pub(crate) fn read(first: Node, incoming: &Incoming) -> Option<Kept> {
        let (header, body) = postcard::take_from_bytes::<Header>(incoming.bytes()).ok()?;
        Some(Kept {
            from: incoming.source.checked_sub(first)?,
            header,
            body: Vec::from_slice(body).ok()?,
        })
    }
}

/// A letter; `None` if it is too long.
pub(crate) fn write<T: Serialize>(header: Header, body: &T) -> Option<Bytes> {
    let mut bytes = [0; MAX_MESSAGE];
    let used = postcard::to_slice(&(header, body), &mut bytes).ok()?;
    Vec::from_slice(used).ok()
}

/// That a call has come to nothing.
pub(crate) fn broken(tag: u32) -> Bytes {
    let kind = Kind::Broken;
    write(Header { tag, kind, call: 0 }, &()).unwrap_or_default()
}

/// That the others are at another tag.
pub(crate) fn behind(tag: u32, newest: u32) -> Bytes {
    let kind = Kind::Behind;
    write(Header { tag, kind, call: 0 }, &newest).unwrap_or_default()
}
