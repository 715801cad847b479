//! What experiments are written in: the words that the simulator, the load simulator, emulated boards, mesh files and
//! boards share, so that each of them means one thing everywhere.
//!
//! - [`Time`]: `1.5s`, `20ms`, `300us`;
//! - [`Traffic`]: who sends to whom, `uniform` or `hot-spot(3,0.2)`; [`Destinations`]: the same made ready for a network;
//! - [`Script`]: what happens to boards and cables, and when: `1s cut 3.0; 2s plug 3.0`; [`Failure`]: one of them, `5` or `5-7`.
//!
//! Not everybody can do everything: a board makes four patterns of traffic, and a simulated board has no button to press.
//! Everybody reads all words, and refuses what it cannot do with a sentence that lists what it can.
//!
//! ```
//! use hopwise_node::wire::Pattern;
//! use hopwise_language::{Script, Time, Traffic};
//!
//! let time: Time = "1.5s".parse()?;
//! assert_eq!(time.nanos(), 1_500_000_000);
//!
//! let script = Script::parse("2s plug 3.0   # whole again\n1s cut 3.0; 1s off 7")?;
//! assert_eq!(script.to_string(), "1s cut 3.0; 1s off 7; 2s plug 3.0");
//!
//! let traffic: Traffic = "tornado".parse()?;
//! let refusal = Pattern::try_from(traffic).unwrap_err();
//! assert_eq!(
//!     refusal.to_string(),
//!     "a board cannot make tornado traffic; it can make uniform, neighbors, bit-complement, broadcast"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

/// Its examples are tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Has serde write a type as it prints, and read it as it is parsed.
#[doc(hidden)]
#[macro_export]
macro_rules! as_text {
    ($Type:ty) => {
        impl serde::Serialize for $Type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $Type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

mod destinations;
mod failure;
pub mod script;
mod time;
mod traffic;

pub use destinations::{BadDestinations, Destinations, ring_sizes};
pub use failure::Failure;
pub use script::Script;
pub use time::{BadTime, Time};
pub use traffic::{BadTraffic, Traffic, UnsuitableTraffic};
