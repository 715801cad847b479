//! Properties of networks, computed on the built-out graph and in closed form.
//!
//! `hopwise-core` answers from addresses alone; here its responses are held against breadth-first search. [`routes`] follows
//! routes, [`broadcast`] trees, [`figures`] finds diameters and distances, [`profile`] and [`choice`] compare networks,
//! [`dependency`] looks for deadlocks, [`audit`] checks all of that on one network, and [`papers`] measures what papers claim.
//!
//! A route with its figures, and those of the whole network:
//!
//! ```
//! use hopwise_core::{Network, Rule};
//! use hopwise_networks::figures::Figures;
//! use hopwise_networks::routes::Route;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let network: Network = "rdn(ring(3),1)".parse()?;
//!     let route = Route::follow(&network, 0, 17, Rule::Exact)?;
//!     assert_eq!(route.path, [0, 2, 15, 17]);
//!     assert_eq!((route.hops, route.distance), (3, Some(3)));
//!
//!     let searched = Figures::by_search(&network, |_, _| ())?;
//!     assert_eq!((searched.nodes, searched.edges, searched.diameter), (18, 27, Some(4)));
//!     let formula = Figures::by_formula(&network).ok_or("no closed form")?;
//!     assert!(searched.differences(&formula).is_empty());
//!     Ok(())
//! }
//! ```
//!
//! What cannot be examined is told in a sentence, [`CannotExamine`]; routes that do not arrive are a [`routes::RouteFault`].

pub mod almost;
pub mod audit;
pub mod base;
pub mod binary_tree;
pub mod bisection;
pub mod broadcast;
pub mod buffer_classes;
pub mod catalogue;
pub mod choice;
pub mod closed_form;
pub mod connectivity;
pub mod dependency;
pub mod distances;
pub mod drawing;
pub mod embedding;
pub mod export;
pub mod figures;
pub mod graph;
pub mod isomorphism;
pub mod levels;
pub mod lifts;
pub mod papers;
pub mod profile;
pub mod recognise;
pub mod routes;
pub mod stretch;
pub mod tables;
pub mod usage;

/// Why a network is not examined, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CannotExamine(String);
