//! Networks held against breadth-first search, golden figures and the papers, family by family.

mod audit;
mod exhaustive;
mod golden;
mod huge;
mod lanes;
mod papers;
mod random;
mod steps;
mod stretch;
