//! What mesh files have to keep, and how a broken rule is told.

use std::io;
use std::path::PathBuf;

use hopwise_node::key::BadKey;

use crate::boards;

#[derive(Debug, thiserror::Error)]
pub enum BadMesh {
    #[error("{}: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{} {broken}", path.display())]
    InFile { path: PathBuf, broken: BrokenRule },
    #[error("{}: {error}", path.display())]
    Key { path: PathBuf, error: BadKey },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {rule}")]
pub struct BrokenRule {
    pub line: usize,
    pub rule: MeshRule,
}

/// What a mesh has to keep.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeshRule {
    /// It is told apart from all else: its name may be like that of one that there is.
    #[error("there is no board '{0}', only {known}", known = boards::names())]
    UnknownBoard(String),
    #[error("{0}")]
    Other(String),
}

impl MeshRule {
    pub(super) fn other(why: impl ToString) -> Self {
        MeshRule::Other(why.to_string())
    }
}
