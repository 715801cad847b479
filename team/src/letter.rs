//! What boards of a team send each other.

use heapless::Vec;
use hopwise_app::{Incoming, MAX_MESSAGE, Node};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Group;

/// What can be folded or sent: it is copied.
pub trait Value: Clone + Serialize + DeserializeOwned {}

impl<T: Clone + Serialize + DeserializeOwned> Value for T {}

/// What the boards do by a tag, so that two that do not mean the same find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Purpose {
    Barrier,
    Broadcast,
    Reduce,
    Fold,
    AnyOrder,
    Gather,
    Scatter,
    AllGather,
    AllToAll,
    Permute,
    Sort,
    Ascend,
    Descend,
}

impl Purpose {
    /// Whether values go from board to board, besides up and down the tree.
    pub(crate) fn sends_values(self) -> bool {
        !matches!(
            self,
            Purpose::Barrier | Purpose::Broadcast | Purpose::Reduce | Purpose::Fold | Purpose::AnyOrder
        )
    }
}

/// The parts of a call: those that go up and down the tree only have the first, others all three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Part {
    /// All have come.
    Begin,
    /// Values are under way.
    Middle,
    /// All have what they wait for.
    End,
}

/// What a letter is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// To the parent: what a board and all behind it have.
    Up(Part),
    /// To a child: the answer to that.
    Down(Part),
    /// To any board: there is room for what comes in a stage.
    Ready(u8),
    /// To any board: values.
    Data(u8),
    /// The call has come to nothing.
    TeamError,
    /// The others are ahead, at the tag that follows.
    Behind,
}

/// How every letter begins.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) tag: u32,
    pub(crate) purpose: Purpose,
    pub(crate) kind: Kind,
    /// The lowest tag that the sender is at: those below have ended there.
    pub(crate) oldest: u32,
    /// Which call of the child it is, so that one that has restarted does not take an answer for its own.
    pub(crate) call: u32,
}

pub(crate) type Bytes = Vec<u8, MAX_MESSAGE>;

/// A letter that has come.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedMessage {
    /// The sender's number in the group.
    pub(crate) from: Node,
    pub(crate) header: Header,
    pub(crate) body: Bytes,
}

impl ReceivedMessage {
    /// Reads a letter; `None` if it is none, or not of the group.
    pub(crate) fn read(group: &Group, incoming: &Incoming) -> Option<ReceivedMessage> {
        let (header, body) = postcard::take_from_bytes::<Header>(incoming.bytes()).ok()?;
        Some(ReceivedMessage {
            from: group.place(incoming.source)?,
            header,
            body: Vec::from_slice(body).ok()?,
        })
    }

    /// What it says; `None` if that is not what was expected.
    pub(crate) fn open<T: DeserializeOwned>(&self) -> Option<T> {
        postcard::from_bytes(&self.body).ok()
    }
}

/// A letter; `None` if it is too long.
pub(crate) fn write<T: Serialize>(header: Header, body: &T) -> Option<Bytes> {
    let mut bytes = [0; MAX_MESSAGE];
    let used = postcard::to_slice(&(header, body), &mut bytes).ok()?;
    Vec::from_slice(used).ok()
}
