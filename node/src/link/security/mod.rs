//! Whom one end of a link believes, in a mesh that has a key.

#[cfg(not(feature = "keys"))]
mod off;
#[cfg(feature = "keys")]
mod on;

#[cfg(not(feature = "keys"))]
pub(super) use off::{CanonicalSecurity, Security};
#[cfg(feature = "keys")]
pub(super) use on::{CanonicalSecurity, Security};

/// What a hello is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It comes from the other end, now, and names this one.
    Proven,
    /// It comes from someone with the mesh's key, now or earlier, who names nobody.
    Announced,
    /// The same, and a new nonce was taken to answer it.
    AnnouncedAnew,
    /// From someone who has no key.
    Unkeyed,
    /// From someone who has another key.
    WrongKey,
    /// Anyone may have sent it.
    Worthless,
}
