//! Blocks of an image for the board around the node.
//!
//! Writing one into slow flash takes longer than receiving it, and nothing else runs meanwhile. So the board writes
//! a piece at a time, and blocks wait in the buffers in which they arrived, like packets that wait for a link. What comes after waits at
//! the neighbors, and finally at the host: nothing is sent in vain.

use crate::router::forwarding::Place;

/// The blocks that wait for the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::router) enum Blocks {
    Unwanted,
    #[cfg(feature = "update")]
    None,
    #[cfg(feature = "update")]
    Waiting(Place),
}

impl Blocks {
    pub(in crate::router) fn is_wanted(self) -> bool {
        self != Blocks::Unwanted
    }

    /// Makes the board want blocks; none waits.
    #[cfg(feature = "update")]
    pub(in crate::router) fn take(&mut self) {
        *self = Blocks::None;
    }

    pub(in crate::router) fn waiting(self) -> Option<Place> {
        match self {
            #[cfg(feature = "update")]
            Blocks::Waiting(place) => Some(place),
            _ => None,
        }
    }

    pub(super) fn hold(&mut self, place: Place) {
        #[cfg(feature = "update")]
        if *self == Blocks::None {
            *self = Blocks::Waiting(place);
        }
        #[cfg(not(feature = "update"))]
        let _ = place;
    }

    /// The board has written a block, and this one is next.
    pub(in crate::router) fn written(&mut self, next: Option<Place>) {
        #[cfg(feature = "update")]
        {
            *self = next.map_or(Blocks::None, Blocks::Waiting);
        }
        #[cfg(not(feature = "update"))]
        let _ = next;
    }
}
