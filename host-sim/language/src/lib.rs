//! What experiments are written in: the words that the simulator, the load simulator, emulated boards, mesh files and
//! boards share, so that each of them means one thing.
//!
//! - [`Time`]: `1.5s`, `20ms`, `300us`.
//!
//! ```
//! use hopwise_language::Time;
//!
//! let time: Time = "1.5s".parse()?;
//! assert_eq!(time.nanos(), 1_500_000_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod time;

pub use time::{BadTime, Time};
