//! Both ends of a link and the wires between them: all states that they reach in so many steps. `docs/testing.md` says how many those are.
//!
//! A failure prints the shortest way to what is wrong: each step with what becomes of the frames that are sent in it, and the end at which
//! it happens. The test `model-long` goes further.

mod end;
mod machine;
mod scenarios;

/// Steps beyond those of the scenarios.
const FURTHER: usize = 0;
