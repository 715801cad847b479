//! What needs neither the command nor firmware.

mod capture;
mod clocks;
mod mesh;
mod wiring;
