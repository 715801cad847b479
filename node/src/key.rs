//! Secret keys: what is derived from them, and tags that only who has the key can make.
//!
//! Two functions, both by others and both keyed by 128 bits: BLAKE2s (RFC 7693) makes keys, nonces and the tags of commands, where a few
//! thousand instructions are nothing; SipHash-2-4 (Aumasson and Bernstein 2012) makes the tags of frames, of which a board reads and
//! writes thousands a second.

use core::fmt;
#[cfg(feature = "keys")]
use core::hash::Hasher;
use core::str::FromStr;

#[cfg(feature = "keys")]
use blake2::Blake2sMac;
#[cfg(feature = "keys")]
use blake2::digest::consts::U16;
#[cfg(feature = "keys")]
use blake2::digest::{FixedOutput, Update};
#[cfg(feature = "keys")]
use siphasher::sip::SipHasher24;

/// The bytes of a key.
pub const KEY_BYTES: usize = 16;

/// The bytes of a tag.
pub const TAG_BYTES: usize = 8;

/// Proof that whoever wrote something has a key.
pub type Tag = [u8; TAG_BYTES];

/// A secret, as random as its length: 16 bytes that a good generator made, never a word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key([u8; KEY_BYTES]);

/// Never shown, in no log and no message.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Key {
    /// A key of these bytes.
    pub const fn new(bytes: [u8; KEY_BYTES]) -> Self {
        Key(bytes)
    }

    /// Its bytes, for where it is kept.
    pub const fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }
}

#[cfg(feature = "keys")]
impl Key {
    /// 128 bits that follow from this key, what they are for, and `context`, and tell nobody anything of the key: BLAKE2s, keyed, of the
    /// length of the purpose (one byte), the purpose, and the context.
    pub fn derive(&self, purpose: &str, context: &[&[u8]]) -> [u8; KEY_BYTES] {
        // Not `new_from_slice`, which refuses keys that are too long: this one never is.
        let mut mac = match Blake2sMac::<U16>::new_with_salt_and_personal(&self.0, &[], &[]) {
            Ok(mac) => mac,
            Err(_) => return [0; KEY_BYTES],
        };
        mac.update(&[purpose.len() as u8]);
        mac.update(purpose.as_bytes());
        for part in context {
            mac.update(part);
        }
        mac.finalize_fixed().into()
    }

    /// The same, as a key.
    pub fn derive_key(&self, purpose: &str, context: &[&[u8]]) -> Key {
        Key(self.derive(purpose, context))
    }

    /// A tag of a frame: SipHash-2-4 of its number among those of its key, and of its bytes.
    pub fn tag(&self, number: u64, bytes: &[u8]) -> Tag {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write_u64(number.to_le());
        hasher.hash(bytes).to_le_bytes()
    }
}

/// A key that all boards of a mesh share, or from which such a key follows, and what it is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secret {
    /// As random as its length.
    pub key: Key,
    /// Whether payloads are encrypted from end to end, not only links proven.
    pub encrypts: bool,
}

impl Secret {
    /// What comes after the digits of a secret with which payloads are encrypted.
    pub const ENCRYPTS: &str = "+encrypt";
}

impl FromStr for Secret {
    type Err = BadKey;

    fn from_str(text: &str) -> Result<Self, BadKey> {
        let digits = text.strip_suffix(Secret::ENCRYPTS);
        Ok(Secret {
            key: digits.unwrap_or(text).parse()?,
            encrypts: digits.is_some(),
        })
    }
}

/// Text that is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadKey;

impl fmt::Display for BadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key is 32 hexadecimal digits, and `+encrypt` after them to encrypt payloads; `hopwise mesh key` makes one")
    }
}

impl core::error::Error for BadKey {}

impl FromStr for Key {
    type Err = BadKey;

    fn from_str(text: &str) -> Result<Self, BadKey> {
        let mut bytes = [0; KEY_BYTES];
        let digits = text.as_bytes().chunks_exact(2);
        if text.len() != 2 * KEY_BYTES {
            return Err(BadKey);
        }
        for (byte, digits) in bytes.iter_mut().zip(digits) {
            let mut number = 0;
            for digit in digits {
                let value = char::from(*digit).to_digit(16).ok_or(BadKey)?;
                number = number << 4 | value as u8;
            }
            *byte = number;
        }
        Ok(Key(bytes))
    }
}

/// Whether two tags are the same, in a time that does not depend on where they differ.
pub fn same_tag(one: &Tag, other: &Tag) -> bool {
    u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other) == 0
}

/// What an end of a link needs to prove that it belongs to the mesh.
///
/// Without the feature `keys` there is no value of this type, so the compiler leaves out what would be done with one: a node without it
/// cannot be in a mesh that has a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// Of the mesh.
    pub secret: Secret,
    /// As random as the board can make it, and different on every board. An [epoch](crate::wire::Identity::epoch) that is never used again
    /// makes up for a board that has no random numbers.
    pub random: [u8; 16],
    #[cfg(not(feature = "keys"))]
    pub(crate) never: core::convert::Infallible,
}

#[cfg(feature = "keys")]
impl Credentials {
    /// The key of links. Who encrypts has another one than who does not, since they would not understand each other.
    pub(crate) fn link_key(&self) -> Key {
        if self.secret.encrypts {
            self.secret.key.derive_key("link, encrypted", &[])
        } else {
            self.secret.key
        }
    }
}
