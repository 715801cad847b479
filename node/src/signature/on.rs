//! Signatures by ed25519.

use core::fmt;
use core::str::FromStr;

use super::{KEY_BYTES, SIGNATURE_BYTES};
use crate::boot::put;
use crate::store::RECORD;
use crate::store::slot::{number, put_at};
use crate::wire::{CommandResult, PLAN_BYTES, UpdatePlan, crc32c};

/// What distinguishes this signature from others with the same key.
const PURPOSE: &[u8; 16] = b"hopwise image 1\0";
/// The number of signed bytes.
const SIGNED_BYTES: usize = PURPOSE.len() + PLAN_BYTES + 8;

/// The owner's public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnerKey(pub [u8; KEY_BYTES]);

impl fmt::Display for OwnerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The error of a text that is not a public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an owner is a public key of 64 hexadecimal digits, which `hopwise mesh key --owner FILE` prints")]
pub struct BadOwner;

impl FromStr for OwnerKey {
    type Err = BadOwner;

    fn from_str(text: &str) -> Result<Self, BadOwner> {
        let mut key = [0; KEY_BYTES];
        let digit = |letter: u8| char::from(letter).to_digit(16).map(|digit| digit as u8);
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != KEY_BYTES || !rest.is_empty() {
            return Err(BadOwner);
        }
        for (byte, &[high, low]) in key.iter_mut().zip(pairs) {
            *byte = digit(high)
                .zip(digit(low))
                .map(|(high, low)| high << 4 | low)
                .ok_or(BadOwner)?;
        }
        // Not every number is a point of the curve, and a key that is none would keep every image out.
        salty::PublicKey::try_from(&key).map_err(|_| BadOwner)?;
        Ok(OwnerKey(key))
    }
}

/// The owner of a board, and what the board may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The public key.
    pub key: OwnerKey,
    /// The lowest version that the board takes.
    pub floor: u32,
    /// The floor of the image that has just started on trial.
    pub next_floor: u32,
}

/// The offsets in a commit record: whether there is an owner, the floor, the CRC of the key.
const IS_OWNED: usize = 14;
const FLOOR: usize = 16;
const KEY_CRC: usize = 20;
/// The kinds of records of a floor: one in force, and that of the image that is tried next.
const FLOORS: [[u8; 4]; 2] = [*b"FLOR", *b"NEXT"];

impl Owner {
    pub(crate) fn new(key: OwnerKey) -> Self {
        Owner {
            key,
            floor: 0,
            next_floor: 0,
        }
    }

    pub(crate) fn key_bytes(&self) -> &[u8; KEY_BYTES] {
        &self.key.0
    }

    /// What is committed: the floor of an image on trial is not.
    pub(crate) fn committed(self) -> Self {
        Owner { next_floor: 0, ..self }
    }

    /// Puts the owner into a commit record.
    pub(crate) fn commit(&self, record: &mut [u8; RECORD]) {
        put_at(record, IS_OWNED, &[1]);
        put_at(record, FLOOR, &self.floor.to_le_bytes());
        put_at(record, KEY_CRC, &crc32c([&self.key.0]).to_le_bytes());
    }

    /// The owner of a commit record and the record of the key. Other records keep their places whether a key's is right or not.
    pub(crate) fn read(record: &[u8; RECORD], key: &[u8; RECORD]) -> Option<Self> {
        let is_key = number(record, KEY_CRC) == crc32c([key]);
        let is_owned = record.get(IS_OWNED) == Some(&1) && is_key;
        is_owned.then(|| Owner {
            floor: number(record, FLOOR),
            ..Owner::new(OwnerKey(*key))
        })
    }

    /// The record of a floor, as of a boot with this epoch.
    pub(crate) fn mark(mark: &mut [u8; RECORD], floor: u32, is_next: bool) {
        let kind = FLOORS[usize::from(is_next)];
        let parts: [&[u8]; 4] = [
            &mark.first_chunk::<8>().copied().unwrap_or_default(),
            &kind,
            &floor.to_le_bytes(),
            &(!floor).to_le_bytes(),
        ];
        put(mark, &parts);
    }

    /// Reads a record behind the commit record. Returns whether it is one of a floor; a torn one changes nothing.
    pub(crate) fn look(&mut self, mark: &[u8; RECORD]) -> bool {
        self.next_floor = 0;
        let floor = number(mark, 12);
        let kind = FLOORS.map(u32::from_le_bytes).map(|kind| kind == number(mark, 8));
        match kind {
            _ if number(mark, 16) != !floor => {}
            // A floor never falls.
            [true, _] => self.floor = self.floor.max(floor),
            [_, true] => self.next_floor = floor,
            _ => {}
        }
        kind.contains(&true)
    }
}

/// The owner's signature of an announcement, and the two numbers that it covers too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The version of the image.
    pub version: u32,
    /// The floor from when the image is kept. At most the version.
    pub floor: u32,
    /// R and S of RFC 8032.
    pub bytes: [u8; 64],
}

impl Signature {
    /// The wire layout: version and floor in little-endian order, and the signature.
    pub fn write(&self) -> [u8; SIGNATURE_BYTES] {
        let mut bytes = [0; SIGNATURE_BYTES];
        put(
            &mut bytes,
            &[&self.version.to_le_bytes(), &self.floor.to_le_bytes(), &self.bytes],
        );
        bytes
    }

    /// Parses a signature; `None` if it is malformed.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (version, rest) = bytes.split_first_chunk()?;
        let (floor, rest) = rest.split_first_chunk()?;
        Some(Signature {
            version: u32::from_le_bytes(*version),
            floor: u32::from_le_bytes(*floor),
            bytes: rest.try_into().ok()?,
        })
    }
}

fn signed_bytes(plan: &UpdatePlan, version: u32, floor: u32) -> [u8; SIGNED_BYTES] {
    let mut bytes = [0; SIGNED_BYTES];
    put(
        &mut bytes,
        &[PURPOSE, &plan.write(), &version.to_le_bytes(), &floor.to_le_bytes()],
    );
    bytes
}

/// An announcement to verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    key: OwnerKey,
    plan: UpdatePlan,
    signature: Signature,
}

impl Job {
    /// Whether the owner has signed it. This takes a while: it is for a task that holds up no other.
    pub fn is_valid(&self) -> bool {
        let Signature { version, floor, bytes } = &self.signature;
        let signed = signed_bytes(&self.plan, *version, *floor);
        let key = salty::PublicKey::try_from(&self.key.0);
        key.is_ok_and(|key| key.verify(&signed, &bytes.into()).is_ok())
    }
}

/// What an announcement must pass.
#[derive(Clone, Debug)]
pub struct Gate {
    owner: Option<Owner>,
    /// The announcement that is verified, or was refused.
    job: Option<Job>,
    is_refused: bool,
    /// Version and floor of the last one that was admitted.
    admitted: Option<(u32, u32)>,
}

impl Gate {
    /// The gate of a board; one without an owner admits everything.
    pub fn new(owner: Option<Owner>) -> Self {
        Gate {
            owner,
            job: None,
            is_refused: false,
            admitted: None,
        }
    }

    /// Whether the announcement that was admitted last had this signature.
    pub fn has_admitted(&self, signature: Option<&Signature>) -> bool {
        let numbers = signature.map(|signature| (signature.version, signature.floor));
        self.owner.is_none() || numbers.is_some() && numbers == self.admitted
    }

    /// Admits an announcement, or says why not: [`CommandResult::Busy`] until the signature is verified.
    pub fn admit(&mut self, plan: &UpdatePlan, signature: Option<&Signature>) -> Result<(), CommandResult> {
        let Some(owner) = &self.owner else { return Ok(()) };
        let signature = *signature.ok_or(CommandResult::NoSignature)?;
        if signature.version < owner.floor.max(signature.floor) {
            return Err(CommandResult::Outdated);
        }
        let job = Job {
            key: owner.key,
            plan: *plan,
            signature,
        };
        match &self.job {
            Some(same) if *same == job && self.is_refused => return Err(CommandResult::BadSignature),
            Some(_) if !self.is_refused => {}
            _ => {
                self.job = Some(job);
                self.is_refused = false;
            }
        }
        Err(CommandResult::Busy)
    }

    /// The announcement to verify, if there is one.
    pub fn job(&self) -> Option<&Job> {
        self.job.as_ref().filter(|_| !self.is_refused)
    }

    /// Takes the verdict about the [job](Self::job). Returns what was announced if it is admitted.
    pub fn finish(&mut self, is_valid: bool) -> Option<UpdatePlan> {
        let job = *self.job()?;
        self.is_refused = !is_valid;
        if !is_valid {
            return None;
        }
        self.job = None;
        self.admitted = Some((job.signature.version, job.signature.floor));
        Some(job.plan)
    }

    /// The floor of the image that was admitted, to be recorded before it is tried; `None` if nobody owns the board.
    pub fn floor_to_try(&self) -> Option<u32> {
        self.owner.and(self.admitted).map(|(_, floor)| floor)
    }

    /// The floor to record before the image on trial is kept, if it is higher than that in force.
    pub fn floor_to_keep(&self) -> Option<u32> {
        let owner = self.owner.as_ref()?;
        Some(owner.next_floor).filter(|floor| *floor > owner.floor)
    }

    /// Must be called when a floor is recorded and in force.
    pub fn raise(&mut self, floor: u32) {
        if let Some(owner) = &mut self.owner {
            owner.floor = owner.floor.max(floor);
        }
    }
}

/// The size of a private key.
pub const SEED_BYTES: usize = 32;

/// The public key of a private one.
pub fn owner_key(seed: &[u8; SEED_BYTES]) -> OwnerKey {
    OwnerKey(salty::Keypair::from(seed).public.to_bytes())
}

/// Signs an announcement with a private key.
pub fn sign(seed: &[u8; SEED_BYTES], plan: &UpdatePlan, version: u32, floor: u32) -> Signature {
    let signature = salty::Keypair::from(seed).sign(&signed_bytes(plan, version, floor));
    Signature {
        version,
        floor,
        bytes: signature.to_bytes(),
    }
}
