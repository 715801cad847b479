//! The reasons why a call fails.

use hopwise_app::Node;

/// The reason why a call has no result.
#[expect(missing_docs, reason = "the sentences say what they are")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum TeamError {
    /// This board, by its number in the group, did not arrive or is unreachable.
    #[error("board {0} did not come")]
    Missing(Node),
    #[error("board {0} has restarted")]
    Restarted(Node),
    #[error("board {0} makes another call by this tag")]
    Differs(Node),
    /// Another board reports that the call has failed.
    #[error("another board says that it has come to nothing")]
    ToldSo,
    /// The others are at this tag already: the next call to make.
    #[error("the others are at tag {0}")]
    Behind(u32),
    #[error("no result came in time")]
    TimedOut,
    /// A message would have more pieces or bytes than there is room for, or the group more boards.
    #[error("a message or the group would be too large")]
    TooLarge,
    /// More calls at once than there is room for.
    #[error("there are too many calls at once")]
    TooMany,
    #[error("the number of boards is no power of two")]
    NoCube,
    #[error("there is no such dimension to shift along")]
    NoDimension,
    #[error("the board is not in the group")]
    NotAMember,
    #[error("the port is not open")]
    Closed,
}

impl TeamError {
    /// The tag to continue with after a call of this tag has failed.
    pub fn next_tag(self, tag: u32) -> u32 {
        match self {
            TeamError::Behind(newest) => newest,
            _ => tag.saturating_add(1),
        }
    }
}
