//! Teams on simulated boards.

mod faults;
mod results;
mod speed;
mod support;
