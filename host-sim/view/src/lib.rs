//! One page of HTML, with nothing to load from elsewhere, that draws a network and replays a trace on it.
//!
//! - [`layout`]: where nodes, clusters and links are drawn;
//! - [`data`]: what the page is told; [`page`]: the page, whose script and style are in `page/`.

pub mod data;
pub mod layout;
pub mod page;
