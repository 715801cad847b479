//! The substitute without keys: the type is uninhabited, so the compiler removes all code that uses it.

use super::Verdict;
use crate::key::Credentials;
use crate::wire::{Hello, Identity, Proof, Seal, Tagged};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::link) enum Security {}

pub(in crate::link) type CanonicalSecurity = Security;

impl Security {
    pub(in crate::link) fn canonical(&self) -> CanonicalSecurity {
        match *self {}
    }

    pub(in crate::link) fn new(credentials: &Credentials, _: &Identity) -> Self {
        match credentials.never {}
    }

    pub(in crate::link) fn renew(&mut self, _: bool) {
        match *self {}
    }

    pub(in crate::link) fn is_paired(&self) -> bool {
        match *self {}
    }

    pub(in crate::link) fn verify(&mut self, _: &Hello, _: &[u8], _: bool, _: bool, _: bool) -> Verdict {
        match *self {}
    }

    pub(in crate::link) fn authenticates(&mut self, _: &Tagged<'_>) -> bool {
        match *self {}
    }

    pub(in crate::link) fn seal(&mut self) -> Option<Seal<'_>> {
        match *self {}
    }

    pub(in crate::link) fn with_proof<T>(&mut self, _: impl FnOnce(Proof<'_>) -> T) -> T {
        match *self {}
    }
}
