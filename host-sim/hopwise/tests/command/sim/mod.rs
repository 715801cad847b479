//! `hopwise sim` from the outside. The guarantees of delivery are held in the crate of the simulator.

mod command;
