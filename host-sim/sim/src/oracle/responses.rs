//! The expected response to a request, as far as it can be known from outside.

use hopwise_core::limits::VIRTUAL_CHANNELS;
use hopwise_core::{Network, Node};
use hopwise_node::limits::BODY;
use hopwise_node::wire::{
    LinkReport, NodeReport, Query, Response, RouterCounters, TraceRecord, read_structure, trace_records,
};

#[derive(Clone, Copy, Debug)]
pub(super) struct Requested {
    pub(super) query: Query,
    pub(super) source: Node,
    pub(super) dest: Node,
    /// There are boards that do not put their names into it.
    pub(super) faulty_boards: bool,
}

/// What comes with a request, of a drawn number: nodes are asked for links that they have, and for one that they have not.
pub(super) fn payload(query: Query, network: &Network, dest: Node, drawn: u64) -> Vec<u8> {
    match query {
        Query::Link => vec![(drawn % (network.degree(dest).unwrap_or(0) + 2)) as u8],
        _ => Vec::new(),
    }
}

/// Whether a node of this many links can have sent this response. The payload of a ping is known to its sender.
pub(super) fn is_response(network: &Network, links: usize, asked: &Requested, with: &[u8], response: &[u8]) -> bool {
    match asked.query {
        Query::Ping => with == response,
        Query::Trace => is_path(network, asked, response),
        Query::Identity => read_structure(response).is_some_and(|report: NodeReport| {
            (report.network, report.address, usize::from(report.links)) == (network.id(), asked.dest, links)
        }),
        Query::Counters => read_structure(response).is_some_and(|counters: RouterCounters| {
            let most = hopwise_node::limits::BUFFERS * (links + VIRTUAL_CHANNELS);
            counters.held() as usize <= most
        }),
        Query::Link => read_structure(response).is_some_and(|report: Option<LinkReport>| {
            let asked = with.first().is_some_and(|&link| usize::from(link) < links);
            report.is_some() == asked
        }),
        Query::ClearCounters => response.is_empty(),
        Query::Application(_) | Query::Relay | Query::Board(_) => false,
    }
}

/// Whether a trace leads from the source to the destination along cables; what does not fit into a packet is left out of it.
fn is_path(network: &Network, asked: &Requested, response: &[u8]) -> bool {
    let nodes: Vec<Node> = trace_records(response).map(|record| record.node).collect();
    let whole = response.len() + Response::PREFIX + TraceRecord::MAX_BYTES <= BODY;
    let linked = |pair: &[Node]| network.port_to(pair[0], pair[1]).is_ok_and(|port| port.is_some());
    nodes.first() == Some(&asked.source)
        && (!whole || nodes.last() == Some(&asked.dest) && (asked.faulty_boards || nodes.windows(2).all(linked)))
}
