//! Secret keys, derivation from them, and message authentication tags.
//!
//! Two published functions, both keyed by 128 bits: BLAKE2s (RFC 7693) derives keys and nonces and tags commands, where a few
//! thousand instructions do not matter; SipHash-2-4 (Aumasson and Bernstein 2012) tags frames, of which a board reads and
//! writes thousands per second.

use core::fmt;
use core::str::FromStr;

#[cfg(feature = "keys")]
use crate::blake2s::Blake2s;

/// The size of a key.
pub const KEY_BYTES: usize = 16;

/// The size of a tag.
pub const TAG_BYTES: usize = 8;

/// Proof that the author of a message has the key.
pub type Tag = [u8; TAG_BYTES];

/// A 128-bit secret from a good random generator, never a password.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key([u8; KEY_BYTES]);

/// Never prints the key, in no log and no message.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Key {
    /// A key with these bytes.
    pub const fn new(bytes: [u8; KEY_BYTES]) -> Self {
        Key(bytes)
    }

    /// The bytes of the key, to store it.
    pub const fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }
}

#[cfg(feature = "keys")]
impl Key {
    /// 128 bits derived from this key, a purpose and a context, which reveal nothing about the key: keyed BLAKE2s of the
    /// length of the purpose (one byte), the purpose, and the context.
    pub fn derive(&self, purpose: &str, context: &[&[u8]]) -> [u8; KEY_BYTES] {
        let mut mac = Blake2s::new(&self.0);
        mac.update(&[purpose.len() as u8]);
        mac.update(purpose.as_bytes());
        for part in context {
            mac.update(part);
        }
        mac.finish()
    }

    /// [`derive`](Self::derive) as a key.
    pub fn derive_key(&self, purpose: &str, context: &[&[u8]]) -> Key {
        Key(self.derive(purpose, context))
    }

    /// The tag of a frame: SipHash-2-4 of its number under this key and its bytes, in consecutive parts.
    pub fn tag(&self, number: u64, parts: &[&[u8]]) -> Tag {
        hopwise_codec::siphash(&self.0, number, parts).to_le_bytes()
    }
}

/// A key shared by all boards of a mesh, or from which such a key is derived, and its use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secret {
    /// The random key.
    pub key: Key,
    /// Whether payloads are encrypted end to end, in addition to authenticated links.
    pub encrypts: bool,
}

impl Secret {
    /// The suffix of a secret with which payloads are encrypted.
    pub const ENCRYPTS: &str = "+encrypt";

    /// A key, and whether payloads are encrypted with it.
    pub const fn new(key: Key, encrypts: bool) -> Self {
        Secret { key, encrypts }
    }
}

impl FromStr for Secret {
    type Err = BadKey;

    fn from_str(text: &str) -> Result<Self, BadKey> {
        let digits = text.strip_suffix(Secret::ENCRYPTS);
        Ok(Secret::new(digits.unwrap_or(text).parse()?, digits.is_some()))
    }
}

/// The error for a text that is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    /// It does not have the form of one.
    #[error(
        "a key is 32 hexadecimal digits, and `+encrypt` after them to encrypt payloads; `hopwise mesh key` makes one"
    )]
    Form,
    /// It can be guessed.
    #[error("a key whose bytes are all the same can be guessed: `hopwise mesh key` makes a random one")]
    Weak,
}

impl FromStr for Key {
    type Err = BadKey;

    fn from_str(text: &str) -> Result<Self, BadKey> {
        let mut bytes = [0; KEY_BYTES];
        let digits = text.as_bytes().chunks_exact(2);
        if text.len() != 2 * KEY_BYTES {
            return Err(BadKey::Form);
        }
        for (byte, digits) in bytes.iter_mut().zip(digits) {
            let mut number = 0;
            for digit in digits {
                let value = char::from(*digit).to_digit(16).ok_or(BadKey::Form)?;
                number = number << 4 | value as u8;
            }
            *byte = number;
        }
        match bytes {
            [first, rest @ ..] if rest.iter().all(|byte| *byte == first) => Err(BadKey::Weak),
            _ => Ok(Key(bytes)),
        }
    }
}

/// Compares two tags in constant time.
pub fn same_tag(one: &Tag, other: &Tag) -> bool {
    u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other) == 0
}

/// What a link needs to prove that it belongs to the mesh.
///
/// Without the feature `keys` this type is uninhabited, so the compiler removes all code that uses it: a node without the feature
/// cannot be in a mesh that has a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// The secret of the mesh.
    pub secret: Secret,
    /// As random as the board can make it, and different on every board. An [epoch](crate::wire::Identity::epoch) that never repeats
    /// compensates for a board without random numbers.
    pub random: [u8; 16],
    #[cfg(not(feature = "keys"))]
    pub(crate) never: core::convert::Infallible,
}

#[cfg(feature = "keys")]
impl Credentials {
    /// The key of links. It depends on whether payloads are encrypted, so that boards that could not understand each other do not link up.
    pub(crate) fn link_key(&self) -> Key {
        if self.secret.encrypts {
            self.secret.key.derive_key("link, encrypted", &[])
        } else {
            self.secret.key
        }
    }
}
