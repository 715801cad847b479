//! The reasons why a call fails.

use core::fmt;

use hopwise_app::Node;

/// The reason why a call has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum TeamError {
    /// This board, by its number in the group, did not arrive or is unreachable.
    Missing(Node),
    /// This board arrived twice: it has restarted.
    Restarted(Node),
    /// This board makes another call with the same tag.
    Differs(Node),
    /// Another board reports that the call has failed.
    ToldSo,
    /// The others are at this tag already: the next call to make.
    Behind(u32),
    /// No result came in time.
    TimedOut,
    /// A message would have more pieces or bytes than there is room for, or the group more boards.
    TooLarge,
    /// More calls at once than there is room for.
    TooMany,
    /// The number of boards is not a power of two.
    NoCube,
    /// The dimension does not exist.
    NoDimension,
    /// The board is not in the group.
    NotAMember,
    /// The port is not open.
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

impl fmt::Display for TeamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TeamError::Missing(node) => write!(f, "board {node} did not come"),
            TeamError::Restarted(node) => write!(f, "board {node} has restarted"),
            TeamError::Differs(node) => write!(f, "board {node} makes another call by this tag"),
            TeamError::ToldSo => f.write_str("another board says that it has come to nothing"),
            TeamError::Behind(tag) => write!(f, "the others are at tag {tag}"),
            TeamError::TimedOut => f.write_str("no result came in time"),
            TeamError::TooLarge => f.write_str("a message or the group would be too large"),
            TeamError::TooMany => f.write_str("there are too many calls at once"),
            TeamError::NoCube => f.write_str("the number of boards is no power of two"),
            TeamError::NoDimension => f.write_str("there is no such dimension to shift along"),
            TeamError::NotAMember => f.write_str("the board is not in the group"),
            TeamError::Closed => f.write_str("the port is not open"),
        }
    }
}

impl core::error::Error for TeamError {}
