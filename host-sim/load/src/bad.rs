//! Why there is no load.

/// Why settings make no experiment: a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadLoad(String);

pub(crate) fn bad(why: impl ToString) -> BadLoad {
    BadLoad(why.to_string())
}
