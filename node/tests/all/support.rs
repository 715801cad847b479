//! What the tests use of core and node, under the names that they use.

pub(crate) use hopwise_core::network::virtual_channels;
pub(crate) use hopwise_core::{Network, Rule};
pub(crate) use hopwise_node::capacities::Board;
pub(crate) use hopwise_node::limits::{self, BODY, BUFFERS, INBOX, MAX_PAYLOAD, OUTSTANDING, PORTS};
pub(crate) use hopwise_node::link::{Down, FrameResult, Link, Micros, Received, Token, Turn};
pub(crate) use hopwise_node::router::{
    Config, ConfigError, Event, MessageKind, Observer, Outcome, Router, SendError, times,
};
pub(crate) use hopwise_node::wire::{
    AGE_UNIT, AppPort, AppStatus, Body, Confirmation, DropReason, Flooded, Header, Identity, Kind, LinkFault,
    LinkReport, MAX_HEADER, NodeReport, Offer, Query, Request, Response, Role, RouterCounters, TraceRecord, Verdict,
    WIRE, read_structure, trace_records,
};

pub(crate) use hopwise_testing::{Random, cases, networks};

pub(crate) type Node = u64;

pub(crate) const SECOND: Micros = 1_000_000;
pub(crate) const MILLISECOND: Micros = 1_000;

/// When links and meshes are switched on: soon all times that are kept in fewer bits wrap, whether in microseconds, in units of 1024, or in
/// milliseconds.
pub(crate) const START: Micros = (1_000 << 32) - SECOND;

pub(crate) fn network(expression: &str) -> Network {
    expression
        .parse()
        .unwrap_or_else(|error| panic!("{expression}: {error}"))
}
