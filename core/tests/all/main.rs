//! What core promises, tested from outside: the language and the networks, one wire, and a small mesh.
//!
//! `support` names everything of core that is used here.

mod collective;
mod expressions;
mod language;
mod link;
mod memory;
mod mesh;
mod networks;
mod support;
mod total;
