//! Power control, the PWR.

pub(super) mod f4;
pub(super) mod l4_g4_h7;

/// DBP in the first register of every PWR: whether software may write to the backup domain.
const DBP: u32 = 1 << 8;
