//! STM32F4 boards without boards: the very firmware that people flash, on many boards in one process, in virtual time.
//!
//! The layers, from the inside out:
//!
//! - [`cpu`]: a Cortex-M4F. It knows instructions, exceptions and its own registers, and asks a [`cpu::Bus`] for the rest.
//! - [`memory`] and [`image`]: flash and RAM, and the firmware that all boards share.
//! - [`chip`]: the peripherals of an STM32F4, which are that bus.
//! - [`world`]: boards with their clocks, wires between their serial ports, and what happens to both.
//! - [`time`]: virtual time.
//!
//! One principle: the same inputs give the same result to the last byte of RAM, however many threads run it. No part
//! asks the host for the time or for chance.
//!
//! ```
//! use std::sync::Arc;
//! use hopwise_emulator::image::Image;
//! use hopwise_emulator::time::MILLISECOND;
//! use hopwise_emulator::world::{Board, BoardOptions, World};
//!
//! // Vectors: stack pointer and reset handler; then `movs r0, #42` and a branch to itself.
//! let mut flash = Vec::new();
//! flash.extend(0x2000_1000u32.to_le_bytes());
//! flash.extend(0x0800_0009u32.to_le_bytes());
//! flash.extend([0x2a, 0x20, 0xfe, 0xe7]);
//! let mut world = World::new(1);
//! world.add(Board::new(&Arc::new(Image::from_bytes(flash)), BoardOptions::default()));
//! world.run_until(MILLISECOND);
//! assert_eq!(world.boards()[0].cpu.r[0], 42);
//! ```
#![forbid(unsafe_code)]

pub mod chip;
pub mod cpu;
mod hash;
pub mod image;
pub mod memory;
mod rtt;
pub mod time;
pub mod world;
