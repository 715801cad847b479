//! The rig: from a box of boards to a mesh that runs, is checked and is logged.
//!
//! - [`boards`]: which pins are links, on every kind of board; [`mesh`]: the mesh file;
//! - [`plan`]: which cable goes where, and in which order; [`drawing`]: the same as a picture;
//! - [`emulated`]: the mesh on emulated boards; [`serial_line`]: a real board's serial port; [`talk`]: asking through either;
//! - [`survey`]: what the boards say they see; [`wiring_check`]: how that differs from the plan;
//! - [`flash`]: image and configuration pages, through probe-rs;
//! - [`log_sources`]: where logs come from; [`log_text`]: events in logs; [`clocks`]: boards' clocks made one; [`capture`]: the
//!   logs of all boards as one trace.

pub mod boards;
pub mod capture;
pub mod clocks;
pub mod drawing;
pub mod emulated;
pub mod flash;
pub mod log_sources;
pub mod log_text;
pub mod mesh;
pub mod plan;
pub mod serial_line;
pub mod survey;
pub mod talk;
pub mod wiring_check;
