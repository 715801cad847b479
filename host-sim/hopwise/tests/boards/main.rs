//! The firmware that people flash, on emulated boards.

mod about;
mod doctor;
mod firmware;
mod firmware_and_sim;
mod firmware_board;
mod firmware_busy;
mod firmware_copy;
mod firmware_failover;
mod firmware_keys;
mod firmware_panic;
mod firmware_power;
mod firmware_programs;
mod firmware_rates;
mod firmware_recovery;
mod firmware_ring;
mod firmware_speed;
mod firmware_strict;
mod firmware_support;
mod firmware_together;
mod firmware_trials;
#[allow(dead_code, reason = "boards-long uses the rest")]
mod kinds;
mod next_hop;
mod signed;
mod update;
#[allow(dead_code, reason = "boards-long uses the rest")]
mod update_cuts;
mod update_waves;
mod versions;
