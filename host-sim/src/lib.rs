//! The tools around Hopwise: analysis of networks, and the `hopwise` command.
//!
//! - [`analysis`]: networks built out as graphs, and what is measured on them;
//! - [`command`]: one file a command, from arguments to output;
//! - [`emulate`]: the real firmware on emulated boards;
//! - [`firmware`]: the image itself; [`host_port`]: talking to a board through its serial port;
//! - [`papers`]: what the papers claim, measured afresh;
//! - [`load`]: latency against load, by simulation of routers cycle by cycle;
//! - [`sim`]: many nodes in virtual time, over wires that fail;
//! - [`trace`]: what nodes recorded, read back and summed up; [`view`]: a page that draws and replays it;
//! - [`rig`]: real boards, from the mesh file to the trace;
//! - [`refusal`]: what is said of bad input.

pub mod analysis;
pub mod command;
pub mod emulate;
pub mod firmware;
pub mod host_port;
pub mod load;
pub mod papers;
pub mod refusal;
pub mod rig;
pub mod sim;
pub mod trace;
pub mod view;
