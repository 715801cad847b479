//! What experiments are written in: traffic, scripts of faults, durations.
