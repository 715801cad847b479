//! The command from the outside: what it prints, what it refuses, and with which status it ends.

mod bench;
mod emulate;
#[path = "../../../../emulator/tests/support/mod.rs"]
#[allow(dead_code, reason = "shared with the emulator's own tests")]
mod emulator_support;
mod new_app;
mod play;
mod python;
mod rig_capture;
mod running;
mod support;
mod transcripts;
mod view;
