//! Many nodes in virtual time: the same state machine that runs on the boards, wires with the exact time of every byte, and
//! seeded and scripted faults. Every packet is accounted for, and a violated delivery guarantee is reported with the
//! command that reproduces it.
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
//! - [`settings`]: the parameters of a run; [`swarm`]: seeded random runs; [`reduce`]: minimized runs;
//! - [`run`]: one run from beginning to end; `applications`: its senders and requests; `sizes`: networks of any width; [`report`]: its report;
//! - [`programs`]: user programs instead of generated traffic;
//! - [`oracle`]: checks what was sent and what arrived; the record of a run is a trace of [`hopwise_trace`];
//! - `faults`: faults of boards and cables; `failover`: how soon they are noticed; `notes`: the observers of nodes; [`shell`]: where tests make nodes faulty;
//! - [`world`]: boards, cables, time; [`faulty_node`]: faulty nodes; [`host`]: hosts at serial ports; [`tap`]: an attacker on a cable;
//!   [`wire`]: cables and their effect on bytes;
//! - [`agenda`]: the event queue; [`clock`]: the clocks of boards; [`mesh_time`]: how well they agree;
//! - `stage`: the actions of scripts. The words of scripts and traffic are those of [`hopwise_language`].
//!
//! Arrows go one way: settings make a run, a run plays a world, a world knows neither.

pub mod agenda;
mod applications;
pub mod clock;
mod failover;
mod faults;
pub mod faulty_node;
pub mod host;
pub mod mesh_time;
mod notes;
pub mod oracle;
pub mod programs;
mod recovery;
pub mod reduce;
pub mod report;
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
