//! The rig: from a box of boards to a mesh that runs, is checked and is logged.
//!
//! - [`boards`]: which pins are links, on every kind of board; [`headers`]: a picture of them; [`mesh`]: the mesh file;
//! - [`plan`]: which cable goes where, and in which order; [`drawing`]: the same as a picture;
//! - [`serial_line`]: boards at serial ports;
//! - [`survey`]: what the boards say they see; [`wiring_check`]: how that differs from the plan;
//! - [`ports`]: which serial ports lead to boards; [`bench`](mod@bench): emulated boards in their place; [`assign`]: which board is which node;
//! - [`adopt`]: boards without a config find out how they are wired, and get one;
//! - [`doctor`]: a self-test of one board;
//! - [`probe_rs`]: every call of probe-rs; [`flash`]: image and configs, through it;
//! - [`update`]: a new image into all boards, through the mesh;
//! - [`capture`]: the logs of all boards as one trace; [`event_text`]: its lines in words; [`clocks`]: boards' clocks made one;
//! - [`probe_logs`]: logs from boards at probes; [`log_sources`]: logs from elsewhere; [`board_log`]: what their bytes say.
//!
//! Emulated boards are plugged in from outside, behind the same traits as serial ports: [`Talk`](hopwise_host::talk::Talk),
//! [`Boards`](update::Boards), [`Patient`](doctor::Patient) and [`Capture`](capture::Capture).
//!
//! ```
//! use hopwise_rig::mesh::Mesh;
//! use hopwise_rig::plan::WiringPlan;
//!
//! let mesh = Mesh::parse("network = \"ring(3)\"\nboard = \"nucleo-f446re\"\n")?;
//! let plan = WiringPlan::new(&mesh);
//! for cable in &plan.cables {
//!     let (from, to) = (&cable.from, &cable.to);
//!     println!("{}: board {} pin {} to board {} pin {}", cable.number, from.node, from.tx, to.node, to.rx);
//! }
//! assert_eq!(plan.cables.len(), 3);
//! assert_eq!((plan.cables[0].from.uart, plan.cables[0].from.tx_header), ("USART1", "CN10-21"));
//!
//! let broken = Mesh::parse("network = \"ring(3)\"\nboard = \"toaster\"\n").unwrap_err();
//! assert!(broken.to_string().starts_with("line 2: there is no board 'toaster', only nucleo-f446re"));
//! # Ok::<(), hopwise_rig::mesh::BrokenRule>(())
//! ```

pub mod adopt;
pub mod assign;
pub mod bench;
pub mod board_log;
pub mod capture;
mod clock_notes;
pub mod clocks;
pub mod doctor;
pub mod drawing;
pub mod event_text;
pub mod flash;
pub mod headers;
pub mod live;
pub mod log_sources;
pub mod mesh;
pub mod plan;
pub mod ports;
pub mod probe_logs;
pub mod probe_rs;
pub mod serial_line;
pub mod survey;
mod time_line;
pub mod update;
pub mod wiring_check;

pub use hopwise_boards as boards;

#[cfg(all(test, unix))]
mod tests;
