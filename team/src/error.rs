//! The reasons why a call fails.

use hopwise_app::Node;

/// The reason why a call has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum TeamError {
    /// This board, by its number in the group, did not arrive or is unreachable.
    #[error("board {0} did not come")]
    Missing(Node),
    /// This board arrived twice: it has restarted.
    #[error("board {0} has restarted")]
    Restarted(Node),
    /// This board makes another call with the same tag.
    #[error("board {0} makes another call by this tag")]
    Differs(Node),
    /// Another board reports that the call has failed.
    #[error("another board says that it has come to nothing")]
    ToldSo,
    /// The others are at this tag already: the next call to make.
    #[error("the others are at tag {0}")]
    Behind(u32),
    /// No result came in time.
    #[error("no result came in time")]
    TimedOut,
    /// A message would have more pieces or bytes than there is room for, or the group more boards.
    #[error("a message or the group would be too large")]
    TooLarge,
    /// More calls at once than there is room for.
    #[error("there are too many calls at once")]
    TooMany,
    /// The number of boards is not a power of two.
    #[error("the number of boards is no power of two")]
    NoCube,
    /// The dimension does not exist.
    #[error("there is no such dimension to shift along")]
    NoDimension,
    /// The board is not in the group.
    #[error("the board is not in the group")]
    NotAMember,
    /// The port is not open.
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
