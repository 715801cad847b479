//! One page of HTML, with nothing to load from elsewhere, that draws a network and replays a trace on it.
//!
//! - [`layout`]: where nodes, clusters and links are drawn;
//! - [`drawn`]: a network as pages draw it; [`data`]: what the page is told besides, with the feature `wiring` of mesh files too; [`page`]: the page, whose script and style are in `page/`;
//! - [`picture`]: a network alone, as a picture.
//!
//! ```
//! use hopwise_view::data::PageData;
//! use hopwise_view::page;
//!
//! let network = "rdn(ring(3),1)".parse()?;
//! let html = page::html(&PageData::new(&network)?);
//! // std::fs::write("page.html", html)?, and open it in a browser.
//! assert!(html.starts_with("<!doctype html>") && html.contains("rdn(ring(3),1)"));
//!
//! let large = "hypercube(20)".parse()?;
//! assert!(PageData::new(&large).is_err(), "a page holds the next hops of all pairs");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod data;
pub mod drawn;
pub mod layout;
pub mod page;
pub mod picture;
mod rounds;
#[cfg(feature = "wiring")]
mod wiring;

#[cfg(test)]
mod tests;
