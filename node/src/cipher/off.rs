//! The substitute without the feature `cipher`, which neither encrypts nor decrypts.

use super::payload_of;
use crate::key::Secret;
use crate::wire::{Bytes, PacketOf};

#[derive(Clone, Debug)]
pub(crate) struct Cipher;

impl Cipher {
    pub(crate) fn of(mesh: &Secret) -> Option<Self> {
        mesh.encrypts.then_some(Cipher)
    }

    pub(crate) fn has_room<B: Bytes>(packet: &PacketOf<B>) -> bool {
        payload_of(packet).is_none()
    }

    pub(crate) fn seal<B: Bytes>(&mut self, packet: &mut PacketOf<B>) -> Option<()> {
        payload_of(packet).is_none().then_some(())
    }

    pub(crate) fn open<B: Bytes>(&self, packet: &mut PacketOf<B>) -> Option<()> {
        payload_of(packet).is_none().then_some(())
    }
}
