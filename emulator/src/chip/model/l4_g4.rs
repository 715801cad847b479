//! What L4 and G4 have in common.

use super::kinds::*;

pub(super) const SYSTEM: SystemMemory = SystemMemory {
    constants: &[(0x1fff_0000, 0x1fff_6fff, 0xffff_ffff)],
    unique_id: 0x1fff_7590,
    flash_size: 0x1fff_75e0,
};
