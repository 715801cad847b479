//! What a node guarantees, tested from outside: one cable, and a small mesh.
//!
//! `support` names everything of core and node that is used here.

mod link;
mod memory;
mod mesh;
mod support;
