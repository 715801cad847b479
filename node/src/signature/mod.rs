//! Signatures of images: who has the owner's private key decides what boards run.
//!
//! A board has the public key in its flash, from `hopwise flash`. It then takes an announcement only with a [`Signature`] of all of it, so of
//! board, slot, length, checksum and SHA-256, and of two numbers: the version of the image, and a floor. The board refuses versions below its own
//! floor, which rises to that of an image when this image is kept. Nothing is erased before the signature is verified.
//!
//! Verifying takes a while, so a board does that below its node's tasks: [`Gate::job`] says what is to be verified, and [`Gate::finish`]
//! takes the verdict. There is one job at a time, and another announcement is told to come again.
//!
//! Without the feature `signed` the types here are uninhabited, and the compiler removes all code that uses them.

#[cfg(not(feature = "signed"))]
mod off;
#[cfg(feature = "signed")]
mod on;

#[cfg(not(feature = "signed"))]
pub use off::{Gate, Job, Owner, OwnerKey, Signature};
#[cfg(feature = "signed")]
pub use on::{Gate, Job, Owner, OwnerKey, SEED_BYTES, Signature, owner_key, sign};

/// The size of the owner's public key.
pub const KEY_BYTES: usize = 32;
/// The size of a [`Signature`] on the wire: version, floor, and the signature proper.
pub const SIGNATURE_BYTES: usize = 8 + 64;
