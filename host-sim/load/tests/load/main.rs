//! The load simulator held against theory and against what it guarantees.

mod behavior;
mod failures;
mod paths;
mod schedule;
mod support;
mod truth;
