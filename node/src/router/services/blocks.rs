//! Blocks of an image for the board around the node.
//!
//! Writing one into the flash takes longer than receiving it where the flash is slow, and nothing else runs meanwhile. So the board writes
//! a piece at a time, and blocks wait in the buffers in which they came, as packets do that wait for a link. What comes after waits at the
//! neighbors, and in the end at the host: nothing is sent in vain.

use crate::router::forwarding::Place;

/// The blocks that wait for the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::router) enum Blocks {
    /// There is no board that wants any.
    Unwanted,
    #[cfg(feature = "update")]
    None,
    /// This one is next.
    #[cfg(feature = "update")]
    Waiting(Place),
}

impl Blocks {
    pub(in crate::router) fn is_wanted(self) -> bool {
        self != Blocks::Unwanted
    }

    /// From now on the board wants blocks, and none waits.
    #[cfg(feature = "update")]
    pub(in crate::router) fn take(&mut self) {
        *self = Blocks::None;
    }

    /// The next one.
    pub(in crate::router) fn waiting(self) -> Option<Place> {
        match self {
            #[cfg(feature = "update")]
            Blocks::Waiting(place) => Some(place),
            _ => None,
        }
    }

    /// Has a block wait.
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
