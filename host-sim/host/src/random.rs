//! Random numbers of the system.

use std::io;

/// Random bytes for a key or a nonce.
pub fn random_bytes() -> io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
