//! CRC-32C, which guards frames, configs and what a board keeps in its flash.

use crc::{CRC_32_ISCSI, Crc};

#[cfg(feature = "large-tables")]
type Tables = crc::Table<16>;
#[cfg(not(feature = "large-tables"))]
type Tables = crc::Table<1>;

pub(super) static CRC: Crc<u32, Tables> = Crc::<u32, Tables>::new(&CRC_32_ISCSI);

/// CRC-32C of bytes that follow each other.
pub fn crc32c(parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> u32 {
    let mut digest = CRC.digest();
    parts.into_iter().for_each(|part| digest.update(part.as_ref()));
    digest.finalize()
}
