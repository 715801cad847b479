//! Authentication of the other end, in a mesh that has a key.

#[cfg(not(feature = "keys"))]
mod off;
#[cfg(feature = "keys")]
mod on;

#[cfg(not(feature = "keys"))]
pub(super) use off::{CanonicalSecurity, Security};
#[cfg(feature = "keys")]
pub(super) use on::{CanonicalSecurity, Security};

/// The authenticity of a hello.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is authenticated, fresh, and names this end.
    Authenticated,
    /// It has the mesh's key, may be old, and names no end.
    Announced,
    /// The same, and a new nonce was taken to answer it.
    AnnouncedAnew,
    Unkeyed,
    WrongKey,
    /// Its sender could be anyone.
    Worthless,
}
