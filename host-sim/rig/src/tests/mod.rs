//! What needs neither the command nor firmware.

mod capture;
mod clocks;
mod mesh;
mod probe_logs;
mod probe_rs;
mod wiring;
