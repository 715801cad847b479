//! Emulated boards: the firmware that people flash, on a mesh wired as a network's expression says.
//!
//! [`firmware`] builds the image from the [`repository`], [`setup`] wires the boards, a [`session`] runs them. Around it are
//! what one has on a desk: a host at every board's serial port ([`hosts`]), the logs ([`log`]), other programs at a
//! serial port ([`serial`]), a debugger ([`gdb`]), a profile of the instructions ([`profile`]), what a packet costs ([`cost`]) and how long it takes ([`hop_time`]), and [`check`], which asks the
//! whole mesh whether it does what it should. [`rig`] emulates the boards of a mesh file behind the traits of real ones, [`doctor`] a
//! board to be examined, [`unwired`] boards to be adopted, [`capture`] logs to be captured, [`rehearsal`] a bench with cables to plug in; [`package`] makes an update of images. [`app`] builds programs of users, and a
//! [`bench::Bench`] runs them in tests.
//!
//! Three boards with a program of two instructions; an image from a file is read with `Image::from_elf`:
//!
//! ```
//! use std::sync::Arc;
//!
//! use hopwise_core::Network;
//! use hopwise_emulate::session::Session;
//! use hopwise_emulate::setup::{self, Differences};
//! use hopwise_emulator::image::Image;
//! use hopwise_emulator::time::MILLISECOND;
//! use hopwise_rig::board_log::LogFormat;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // The stack, where to begin, and there: adds r0, #1 and a branch back to it.
//!     let program = [0x1000u16, 0x2000, 0x0009, 0x0800, 0x3001, 0xe7fd];
//!     let image = Arc::new(Image::from_bytes(program.iter().flat_map(|half| half.to_le_bytes()).collect()));
//!
//!     let network: Network = "ring(3)".parse()?;
//!     let world = setup::build(&network, &image, Differences::new(1, 0.0))?;
//!     let format = LogFormat::none();
//!     let mut session = Session::new(world, format.readers(3));
//!     while session.now() < MILLISECOND {
//!         session.run_slice(MILLISECOND);
//!     }
//!
//!     let figures = session.figures();
//!     assert_eq!((figures.boards, figures.faults), (3, 0));
//!     assert!(figures.instructions > 10_000);
//!     Ok(())
//! }
//! ```

pub mod about;
pub mod app;
pub mod bench;
pub mod by_board;
pub mod capture;
pub mod check;
pub mod cortex_m;
pub mod cost;
pub mod doctor;
pub mod firmware;
pub mod gdb;
pub mod hop_time;
mod host_side;
pub mod hosts;
pub mod log;
pub mod mesh_time;
pub mod package;
pub mod profile;
pub mod rehearsal;
pub mod repository;
pub mod rig;
pub mod script;
pub mod serial;
pub mod session;
pub mod setup;
pub mod unwired;

/// The name of a function as its source has it, without the hash.
pub fn demangle(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}
