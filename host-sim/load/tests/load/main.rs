//! The load simulator held against theory and against what it promises.

mod behaviour;
mod failures;
mod paths;
mod schedule;
mod support;
mod truth;
