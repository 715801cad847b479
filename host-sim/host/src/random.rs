//! What nobody can guess.

use std::io;

/// Bytes of a key, or of something that must not come twice, from the system.
pub fn random_bytes() -> io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
