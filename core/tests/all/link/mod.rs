//! Two ends of one wire, whatever happens on it.

mod pair;
mod rate;
mod sessions;
mod torture;
