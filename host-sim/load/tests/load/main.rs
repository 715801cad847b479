//! The load simulator held against theory, against what it promises, and against its own study.

mod behaviour;
mod failures;
mod paths;
mod schedule;
mod study;
mod support;
mod truth;
