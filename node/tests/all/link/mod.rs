//! Two ends of one wire, whatever happens on it.

mod auto_rate;
mod frames;
#[cfg(feature = "keys")]
mod keys;
mod liveness;
mod pair;
mod pausing;
mod rate;
mod sessions;
mod torture;
