//! Collectives: every operation on every kind of network, and schedules that are broken on purpose.

mod broken;
mod figures;
mod operations;
mod support;
