//! STM32F4 boards without boards: the very firmware that people flash, on many boards in one process, in virtual time.
//!
//! It is for tests of firmware that cannot wait for hardware, or need more of it than there is: load an ELF file, wire the
//! serial ports of some boards, let virtual time pass, read logs, pins, memory and serial ports, cut cables, press
//! buttons, assert. The same inputs give the same result to the last byte of RAM, however many threads run it: no part
//! asks the host for the time or for chance.
//!
//! A program of two instructions, on one board:
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
//!
//! let mut world = World::new(1);
//! world.add(Board::new(&Arc::new(Image::from_bytes(flash)), BoardOptions::default()));
//! world.run_until(MILLISECOND);
//! let board = &world.boards()[0];
//! assert_eq!(board.cpu.r[0], 42);
//! // Out of reset the chip runs at 16 MHz: a millisecond has 16,000 cycles, and a taken branch takes three.
//! assert!((5_300..5_400).contains(&board.cpu.instructions));
//! assert!(board.faults().is_empty());
//! ```
//!
//! Two boards that run an ELF file, a cable between them that is cut for a while, and a computer at the second:
//!
//! ```no_run
//! use std::sync::Arc;
//! use hopwise_emulator::image::Image;
//! use hopwise_emulator::time::SECOND;
//! use hopwise_emulator::world::{Action, Board, BoardOptions, Port, Script, World};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let image = Arc::new(Image::from_elf(&std::fs::read("firmware.elf")?)?);
//! let mut world = World::new(7);
//! for _ in 0..2 {
//!     world.add(Board::new(&image, BoardOptions::default()));
//! }
//! // 0 is USART1, 1 is USART2.
//! let cable = Port { board: 0, uart: 0 };
//! world.wire(cable, Port { board: 1, uart: 0 })?;
//! world.connect_host(Port { board: 1, uart: 1 })?;
//! world.set_script(Script::new(vec![(SECOND, Action::Cut(cable)), (2 * SECOND, Action::Plug(cable))]))?;
//! world.run_until(3 * SECOND);
//!
//! let board = &mut world.boards_mut()[1];
//! println!("the computer received {:?}", board.take_bytes(1));
//! println!("LED: {:?}", board.output(0, 5));
//! println!("{} bytes of log", board.take_log().iter().map(|(_, bytes)| bytes.len()).sum::<usize>());
//! assert!(board.faults().is_empty() && board.remarks().is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! The layers, from the inside out:
//!
//! - [`cpu`]: a Cortex-M4F. It knows instructions, exceptions and its own registers, and asks a [`cpu::Bus`] for the rest.
//! - [`image`] and [`memory`]: the firmware that all boards share, and the flash and RAM of each.
//! - [`chip`]: the peripherals of a microcontroller, which are that bus.
//! - [`boards`]: which chip is on a board, and which pins lead where.
//! - [`world`]: boards with their clocks, wires between their serial ports, and what happens to both.
//! - [`time`]: virtual time.
#![forbid(unsafe_code)]

pub mod boards;
pub mod chip;
pub mod cpu;
mod hash;
pub mod image;
pub mod memory;
mod rtt;
pub mod time;
mod unfinished;
pub mod world;
