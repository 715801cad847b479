//! Two ends of one wire, whatever happens on it.

mod frames;
#[cfg(feature = "keys")]
mod keys;
mod pair;
mod pausing;
mod rate;
mod sessions;
mod torture;
