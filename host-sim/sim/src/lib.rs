//! Many nodes in virtual time: the same state machine that runs on the boards, wires that take the time of every byte, and
//! faults by seed and by script. Every packet is accounted for, and a promise of delivery that is broken is told with the
//! command that shows it again.
//!
//! ```
//! use hopwise_sim::{Settings, simulate};
//!
//! let settings = Settings {
//!     network: Some("rdn(ring(3),1)".into()),
//!     packets: Some(200),
//!     confirmed: true,
//!     events: Some("0s cut 3.0; 600ms off 7; 1s on 7".into()),
//!     ..Settings::default()
//! };
//! let account = simulate(&settings.run()?, None, &mut |_| ())?;
//! assert_eq!(account.violation, None);
//! assert_eq!((account.tally.sent, account.tally.lost), (200, 0));
//! assert!(account.detours > 0, "packets went round the cable that was cut");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`settings`]: what a person says of a run; [`swarm`]: runs drawn by a seed; [`reduce`]: short ones of them;
//! - [`run`]: one run from beginning to end; `applications`: who sends and asks in it; `sizes`: for networks of any width; [`report`]: what is said of it;
//! - [`programs`]: the programs of users, in place of that;
//! - [`oracle`]: the judge, who knows what was sent and what came; the record of it all is a trace of [`hopwise_trace`];
//! - `faults`: what happens to boards and cables in it; `notes`: who watches the nodes; [`shell`]: where a test makes them lie;
//! - [`world`]: boards, cables, time; [`rogue`]: boards that misbehave; [`host`]: who asks at a serial port; [`tap`]: who listens at a cable, and speaks; [`wire`]: cables and what they do to bytes;
//! - [`agenda`]: what happens when; [`clock`]: how boards tell the time; [`mesh_time`]: how well they agree on it;
//! - `stage`: what a script can do here. The words of scripts and traffic are those of [`hopwise_language`].
//!
//! Arrows go one way: settings make a run, a run plays a world, a world knows neither.

pub mod agenda;
mod applications;
pub mod clock;
mod faults;
pub mod host;
pub mod mesh_time;
mod notes;
pub mod oracle;
pub mod programs;
pub mod reduce;
pub mod report;
pub mod rogue;
pub mod run;
pub mod settings;
pub mod shell;
mod sizes;
mod stage;
pub mod swarm;
pub mod tap;
pub mod wire;
pub mod world;

pub use run::SimRun;
pub use settings::Settings;
pub use sizes::{simulate, simulate_programs, simulate_with};
