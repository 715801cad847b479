//! CRC-32C, which guards frames and configuration pages.

use crc::{CRC_32_ISCSI, Crc};

#[cfg(feature = "large-tables")]
type Tables = crc::Table<16>;
#[cfg(not(feature = "large-tables"))]
type Tables = crc::Table<1>;

pub(super) static CRC: Crc<u32, Tables> = Crc::<u32, Tables>::new(&CRC_32_ISCSI);
