//! The substitute without signatures: nobody owns the board.

use crate::store::RECORD;
use crate::wire::{CommandResult, UpdatePlan};

/// The owner's public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerKey {}

/// The owner of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {}

impl Owner {
    pub(crate) fn new(key: OwnerKey) -> Self {
        match key {}
    }

    pub(crate) fn key_bytes(&self) -> &[u8; RECORD] {
        match *self {}
    }

    pub(crate) fn committed(self) -> Self {
        self
    }

    pub(crate) fn commit(&self, _: &mut [u8; RECORD]) {
        match *self {}
    }

    pub(crate) fn read(_: &[u8; RECORD], _: &[u8; RECORD]) -> Option<Self> {
        None
    }

    pub(crate) fn look(&mut self, _: &[u8; RECORD]) -> bool {
        match *self {}
    }
}

/// A signature of an announcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signature {}

impl Signature {
    /// The wire layout.
    pub fn write(&self) -> [u8; super::SIGNATURE_BYTES] {
        match *self {}
    }

    /// Parses a signature: there is none.
    pub fn read(_: &[u8]) -> Option<Self> {
        None
    }
}

/// An announcement to verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {}

impl Job {
    /// Whether the owner has signed it.
    pub fn is_valid(&self) -> bool {
        match *self {}
    }
}

/// What an announcement must pass: nothing.
#[derive(Clone, Debug)]
pub struct Gate;

impl Gate {
    /// The gate of a board.
    pub fn new(_: Option<Owner>) -> Self {
        Gate
    }

    /// Whether the announcement that was admitted last had this signature.
    pub fn has_admitted(&self, _: Option<&Signature>) -> bool {
        true
    }

    /// Admits an announcement.
    pub fn admit(&mut self, _: &UpdatePlan, _: Option<&Signature>) -> Result<(), CommandResult> {
        Ok(())
    }

    /// The announcement to verify.
    pub fn job(&self) -> Option<&Job> {
        None
    }

    /// Takes the verdict about a job.
    pub fn finish(&mut self, _: bool) -> Option<UpdatePlan> {
        None
    }

    /// The floor of the image that was admitted.
    pub fn floor_to_try(&self) -> Option<u32> {
        None
    }

    /// The floor to record before the image on trial is kept.
    pub fn floor_to_keep(&self) -> Option<u32> {
        None
    }

    /// Must be called when a floor is recorded.
    pub fn raise(&mut self, _: u32) {}
}
