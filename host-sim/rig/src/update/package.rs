//! The update file: one program, linked for either slot of a board.
//!
//! A line `HOPWISE-UPDATE 1`, a line of JSON with board, lengths and hashes, and the bytes of both images.

use std::io;
use std::path::Path;

use hopwise_node::boot::RECORD;
use hopwise_node::signature::{SEED_BYTES, SIGNATURE_BYTES, Signature, sign};
use hopwise_node::store::Slot;
use hopwise_node::wire::{BLOCK, Block, UpdatePlan, VERSION, crc32c};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

const FIRST_LINE: &[u8] = b"HOPWISE-UPDATE 1\n";

#[derive(Debug, thiserror::Error)]
pub enum BadPackage {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it is no update file; `hopwise update --save` writes one")]
    NoUpdate,
    #[error("it is cut short or damaged: the image for the {} slot does not have its hash", in_words(*.0))]
    Damaged(Slot),
    #[error("the image does not say which board it is for")]
    NoBoard,
    #[error("the images are for {0} and {1}")]
    TwoBoards(&'static str, &'static str),
    #[error("its signature for the {} slot is damaged; `hopwise sign` makes a new one", in_words(*.0))]
    Signature(Slot),
    #[error("the image is not linked for the {} slot", in_words(*.0))]
    OtherSlot(Slot),
}

/// One program, linked for either slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    pub board: String,
    pub wire: u8,
    images: [Linked; 2],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    pub plan: UpdatePlan,
    pub signature: Option<Signature>,
    bytes: Vec<u8>,
}

impl Linked {
    pub fn block(&self, index: u16) -> Vec<u8> {
        let bytes = self.bytes.chunks(BLOCK).nth(index.into()).unwrap_or(&[]);
        let block = Block {
            id: self.plan.id(),
            index,
            bytes,
        };
        block.write().to_vec()
    }

    /// The bytes of an image for a slot of a board.
    pub fn new(board: &str, slot: Slot, mut bytes: Vec<u8>) -> Self {
        bytes.resize(bytes.len().next_multiple_of(RECORD), 0xff);
        let plan = UpdatePlan {
            board: UpdatePlan::board_named(board),
            slot,
            length: bytes.len() as u32,
            crc: crc32c([&bytes]),
            hash: Sha256::digest(&bytes).into(),
        };
        Linked {
            plan,
            signature: None,
            bytes,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Contents {
    board: String,
    /// Older files do not say it.
    #[serde(default = "version_3")]
    wire: u8,
    images: [Entry; 2],
}

fn version_3() -> u8 {
    3
}

#[derive(Serialize, Deserialize)]
struct Entry {
    bytes: usize,
    sha256: String,
    /// Version, floor and signature as boards are told them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
}

fn in_words(slot: Slot) -> &'static str {
    match slot {
        Slot::First => "first",
        Slot::Second => "second",
    }
}

/// As people read it.
pub fn hex(bytes: &[u8]) -> String {
    digits(bytes)
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read_signature(digits: &str) -> Option<Signature> {
    let pairs = digits.as_bytes().chunks(2).map(str::from_utf8);
    let bytes = pairs.map(|pair| u8::from_str_radix(pair.ok()?, 16).ok());
    let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
    Signature::read(&bytes).filter(|_| bytes.len() == SIGNATURE_BYTES)
}

impl Package {
    /// Of images for the first and for the second slot of a board.
    pub fn new(board: &str, images: [Linked; 2]) -> Self {
        Package {
            board: board.into(),
            wire: VERSION,
            images,
        }
    }

    pub fn for_slot(&self, slot: Slot) -> &Linked {
        match slot {
            Slot::First => &self.images[0],
            Slot::Second => &self.images[1],
        }
    }

    /// Signs both images with the owner's private key.
    pub fn sign(&mut self, seed: &[u8; SEED_BYTES], version: u32, floor: u32) {
        for image in &mut self.images {
            image.signature = Some(sign(seed, &image.plan, version, floor));
        }
    }

    pub fn write(&self) -> Vec<u8> {
        let entry = |image: &Linked| Entry {
            bytes: image.bytes.len(),
            sha256: hex(&image.plan.hash),
            signature: image.signature.map(|signature| digits(&signature.write())),
        };
        let contents = Contents {
            board: self.board.clone(),
            wire: self.wire,
            images: [entry(&self.images[0]), entry(&self.images[1])],
        };
        let contents = serde_json::to_string(&contents).unwrap_or_default();
        [
            FIRST_LINE,
            contents.as_bytes(),
            b"\n",
            &self.images[0].bytes,
            &self.images[1].bytes,
        ]
        .concat()
    }

    pub fn load(path: &Path) -> Result<Self, BadPackage> {
        Self::read(&hopwise_files::read(path, hopwise_files::MAX_IMAGE)?)
    }

    pub fn read(bytes: &[u8]) -> Result<Self, BadPackage> {
        let rest = bytes.strip_prefix(FIRST_LINE).ok_or(BadPackage::NoUpdate)?;
        let end = rest.iter().position(|byte| *byte == b'\n');
        let end = end.ok_or(BadPackage::NoUpdate)?;
        let (contents, rest) = rest.split_at(end);
        let contents: Contents = serde_json::from_slice(contents).map_err(|_| BadPackage::NoUpdate)?;
        let mut rest = &rest[1..];
        let mut take = |entry: &Entry, slot: Slot| {
            let damaged = || BadPackage::Damaged(slot);
            let (bytes, after) = rest.split_at_checked(entry.bytes).ok_or_else(damaged)?;
            rest = after;
            let mut image = Linked::new(&contents.board, slot, bytes.to_vec());
            if let Some(digits) = &entry.signature {
                image.signature = Some(read_signature(digits).ok_or(BadPackage::Signature(slot))?);
            }
            match hex(&image.plan.hash) == entry.sha256 {
                true => Ok(image),
                false => Err(damaged()),
            }
        };
        let [first, second] = &contents.images;
        let images = [take(first, Slot::First)?, take(second, Slot::Second)?];
        Ok(Package {
            board: contents.board,
            wire: contents.wire,
            images,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package() -> Package {
        let board = "nucleo-f446re";
        let images = [
            Linked::new(board, Slot::First, vec![3; 1_000]),
            Linked::new(board, Slot::Second, vec![4; 1_010]),
        ];
        Package::new(board, images)
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let package = package();
        assert_eq!(Package::read(&package.write()).expect("a package"), package);
        assert_eq!(package.for_slot(Slot::Second).plan.length, 1_024, "whole records");
        let blocks = package.for_slot(Slot::Second).plan.blocks() as u16;
        let block = |index| package.for_slot(Slot::Second).block(index).split_off(4);
        let sent: Vec<u8> = (0..blocks).flat_map(block).collect();
        assert_eq!(sent, package.for_slot(Slot::Second).bytes);
    }

    #[test]
    fn a_signed_file_is_read_as_it_was_written() {
        let mut package = package();
        package.sign(&[3; SEED_BYTES], 7, 5);
        let bytes = package.write();
        assert_eq!(Package::read(&bytes).expect("a package"), package);
        let signature = digits(&package.images[1].signature.expect("a signature").write());
        let text = String::from_utf8_lossy(&bytes[..1_000]).into_owned();
        let place = text.find(&signature).expect("the signature");
        for wrong in [b'x', b'"', 0xff] {
            let mut bytes = bytes.clone();
            bytes[place] = wrong;
            assert!(Package::read(&bytes).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_cut_short_or_damaged_is_refused() {
        let bytes = package().write();
        let refused = |bytes: &[u8]| Package::read(bytes).expect_err("a refusal").to_string();
        assert!(refused(&bytes[..bytes.len() - 1]).contains("second slot does not have its hash"));
        assert!(refused(&bytes[..bytes.len() - 1_100]).contains("first slot does not have its hash"));
        let mut flipped = bytes.clone();
        *flipped.last_mut().expect("bytes") ^= 1;
        assert!(refused(&flipped).contains("second slot"));
        for wrong in [&b"ELF"[..], &bytes[..20], b"HOPWISE-UPDATE 1\n{}\n"] {
            assert!(refused(wrong).starts_with("it is no update file"));
        }
    }
}
