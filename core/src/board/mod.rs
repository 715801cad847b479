//! What a board and a computer agree on: the configuration in the board's flash, and what can be asked of the board around
//! a node.
//!
//! The node itself knows nothing of this: it hands [`Query::Board`](crate::node::Query::Board) to its shell.

mod command;
mod page;

pub use command::{BadTraffic, BoardState, Command, Done, Pattern, Status, Traffic, TrafficReport};
pub use page::{BadPage, DEFAULT_BAUD, MAX_EXPRESSION, PAGE_BYTES, Page, packet_logging, paper_rule};
