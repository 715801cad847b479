//! Many nodes in virtual time: the same state machine that runs on the boards, wires that take the time of every byte, and
//! faults by seed and by script.
//!
//! - [`wire`]: cables and what they do to bytes; [`world`]: boards, cables, time; [`agenda`]: what happens when;
//! - [`traffic`]: who sends to whom; [`script`]: what happens to boards and cables;
//! - [`oracle`]: the judge, who knows what was sent and what came;
//! - [`settings`]: what a person says of a run; [`scenario`]: many runs in a file;
//! - [`run`]: one run from beginning to end; [`sizes`]: for networks of any width; [`report`]: what is said of it.

pub mod agenda;
pub mod oracle;
pub mod report;
pub mod run;
pub mod scenario;
pub mod script;
pub mod settings;
pub mod sizes;
pub mod traffic;
pub mod wire;
pub mod world;
