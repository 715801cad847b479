//! What is true of a network, found out on the built-out graph and by formula.
//!
//! `core` answers from addresses alone; here its answers are held against breadth-first search.

pub mod audit;
pub mod base;
pub mod bisection;
pub mod broadcast;
pub mod buffer_classes;
pub mod catalogue;
pub mod choice;
pub mod closed_form;
pub mod connectivity;
pub mod dependency;
pub mod distances;
pub mod figures;
pub mod graph;
pub mod isomorphism;
pub mod levels;
pub mod papers;
pub mod profile;
pub mod routes;
pub mod stretch;
