//! What the tests use of core and node, under the names that they use.

pub(crate) use hopwise_core::network::lanes;
pub(crate) use hopwise_core::{Network, Rule};
pub(crate) use hopwise_node::capacities::Board;
pub(crate) use hopwise_node::limits::{self, BODY, BUFFERS, INBOX, MAX_PAYLOAD, OUTSTANDING, PORTS};
pub(crate) use hopwise_node::link::{Down, Fate, Link, Micros, Received, Token, Turn};
pub(crate) use hopwise_node::router::{
    Config, ConfigError, Event, MessageKind, Observer, Outcome, Router, SendError, times,
};
pub(crate) use hopwise_node::wire::{
    AGE_UNIT, AppPort, AppStatus, Body, Confirmation, DropReason, Flooded, Header, Identity, Kind, LinkReport,
    LinkTrouble, MAX_HEADER, NodeReport, Offer, Query, Request, Response, Role, RouterCounters, TraceRecord, Verdict,
    WIRE, read_structure, trace_records,
};

/// The number of a node.
pub(crate) type Node = u64;

pub(crate) const SECOND: Micros = 1_000_000;
pub(crate) const MILLISECOND: Micros = 1_000;

pub(crate) fn network(expression: &str) -> Network {
    expression
        .parse()
        .unwrap_or_else(|error| panic!("{expression}: {error}"))
}

/// How often a property is tried: `HOPWISE_CASES` percent of `cases`, at least once.
pub(crate) fn cases(cases: u32) -> u32 {
    let percent = std::env::var("HOPWISE_CASES").ok().and_then(|text| text.parse().ok());
    (cases * percent.unwrap_or(100) / 100).max(1)
}

/// A generator of numbers, the same for the same seed (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}
