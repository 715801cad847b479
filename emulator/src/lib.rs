#![doc = include_str!("../README.md")]
//!
//! # Layers
//!
//! From the inside out, each knows only those above it:
//!
//! - [`time`]: virtual time.
//! - [`image`] and [`memory`]: the firmware that all boards share, and the flash and RAM of each.
//! - [`cpu`]: the core. It knows instructions, exceptions and its own registers, and asks a [`cpu::Bus`] for the rest.
//! - [`chip`]: the peripherals of a microcontroller, which are that bus.
//! - [`boards`]: which chip is on a board, and which pins lead where.
//! - [`world`]: boards with their clocks, wires between their serial ports, and what happens to both.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod boards;
pub mod chip;
pub mod cpu;
mod data_cache;
pub mod hash;
pub mod image;
mod interrupted_flash_op;
pub mod memory;
mod rtt;
pub mod time;
pub mod world;
