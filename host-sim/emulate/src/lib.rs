//! Emulated boards: the firmware that people flash, on a mesh wired by a network's expression.

pub mod check;
pub mod computers;
pub mod cortex_m;
pub mod firmware;
pub mod gdb;
pub mod host_port;
pub mod log;
pub mod profile;
pub mod repository;
pub mod script;
pub mod serial;
pub mod session;
pub mod setup;

/// The name of a function as its source has it, without the hash.
pub fn demangle(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}
