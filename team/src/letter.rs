//! The messages between boards of a team.

use heapless::Vec;
use hopwise_app::{Incoming, MAX_MESSAGE, Node};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Group;

/// A value that can be folded or sent.
pub trait Value: Clone + Serialize + DeserializeOwned {}

impl<T: Clone + Serialize + DeserializeOwned> Value for T {}

/// The operation of a tag, so that boards that disagree notice.
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
    /// Whether values go from board to board, in addition to the tree.
    pub(crate) fn sends_values(self) -> bool {
        !matches!(
            self,
            Purpose::Barrier | Purpose::Broadcast | Purpose::Reduce | Purpose::Fold | Purpose::AnyOrder
        )
    }
}

/// The parts of a call: tree operations only have the first, others all three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Part {
    /// All have arrived.
    Begin,
    /// Values are in transit.
    Middle,
    /// All have their values.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// To the parent: the values of a board and its subtree.
    Up(Part),
    /// To a child: the response to that.
    Down(Part),
    /// To any board: there is room for the values of a stage.
    Ready(u8),
    /// To any board: values.
    Data(u8),
    /// The call has failed.
    TeamError,
    /// The others are ahead, at the tag that follows.
    Behind,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) tag: u32,
    pub(crate) purpose: Purpose,
    pub(crate) kind: Kind,
    /// The lowest active tag of the sender: those below have ended there.
    pub(crate) oldest: u32,
    /// The number of the child's call, so that one that has restarted does not take a response for its own.
    pub(crate) call: u32,
}

pub(crate) type Bytes = Vec<u8, MAX_MESSAGE>;

#[derive(Clone, Debug)]
pub(crate) struct ReceivedMessage {
    /// The sender's number in the group.
    pub(crate) from: Node,
    pub(crate) header: Header,
    pub(crate) body: Bytes,
}

impl ReceivedMessage {
    /// Parses a message; `None` if it is malformed, or not of the group.
    pub(crate) fn read(group: &Group, incoming: &Incoming) -> Option<ReceivedMessage> {
        let (header, body) = postcard::take_from_bytes::<Header>(incoming.bytes()).ok()?;
        Some(ReceivedMessage {
            from: group.place(incoming.source)?,
            header,
            body: Vec::from_slice(body).ok()?,
        })
    }

    /// Parses the body; `None` if it does not have the expected type.
    pub(crate) fn open<T: DeserializeOwned>(&self) -> Option<T> {
        postcard::from_bytes(&self.body).ok()
    }
}

/// Writes a message; `None` if it is too long.
pub(crate) fn write<T: Serialize>(header: Header, body: &T) -> Option<Bytes> {
    let mut bytes = [0; MAX_MESSAGE];
    let used = postcard::to_slice(&(header, body), &mut bytes).ok()?;
    Vec::from_slice(used).ok()
}
