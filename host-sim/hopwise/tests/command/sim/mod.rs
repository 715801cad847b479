//! `hopwise sim` from the outside. The promises of delivery are held in the crate of the simulator.

mod command;
