//! What core guarantees, tested from outside: the language, the networks and the collectives.
//!
//! `support` names everything of core that is used here.

mod collective;
mod expressions;
mod language;
mod networks;
mod support;
mod total;
