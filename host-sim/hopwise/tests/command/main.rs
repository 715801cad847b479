//! The command from the outside: what it prints, what it refuses, and with which status it ends.

mod bench;
mod book;
mod emulate;
mod emulate_rules;
#[path = "../../../../emulator/tests/support/mod.rs"]
#[allow(dead_code, reason = "shared with the emulator's own tests")]
mod emulator_support;
mod files;
mod host;
mod new_app;
mod play;
mod processes;
mod python;
mod report;
mod rig_capture;
mod rig_flash;
mod running;
mod support;
mod transcripts;
mod view;
