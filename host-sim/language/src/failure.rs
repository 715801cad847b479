//! One thing that fails.

use std::str::FromStr;

use hopwise_core::Node;

/// What fails: a board, `5`, or the cable between two, `5-7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A board loses its power.
    Board(Node),
    /// The cable between two boards is pulled.
    Cable(Node, Node),
}

impl FromStr for Failure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let node = |text: &str| text.trim().parse().ok();
        let read = match text.split_once('-') {
            Some((a, b)) => node(a).zip(node(b)).map(|(a, b)| Failure::Cable(a, b)),
            None => node(text).map(Failure::Board),
        };
        read.ok_or_else(|| "a board, such as 5, or the cable between two, such as 5-7".into())
    }
}
