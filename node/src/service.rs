//! Requests that a node answers by itself, whether it is a [`Router`](crate::router::Router) or an
//! [`Endpoint`](crate::endpoint::Endpoint): ping, trace, identity, counters. Only requests to the board go to the shell.

use crate::link::Micros;
use crate::wire::{
    AppPort, AppStatus, Bytes, LinkReport, NodeReport, Query, Request, Response, RouterCounters, TraceRecord,
    write_structure,
};
use hopwise_core::Node;

/// The node that requests are about.
pub(crate) trait Subject {
    fn address(&self) -> Node;
    fn report(&self, now: Micros) -> NodeReport;
    fn counters(&self) -> &RouterCounters;
    /// The failure reason for a request to an application. A subject without applications serves none.
    fn refusal(&self, _port: AppPort) -> AppStatus {
        AppStatus::PortUnreachable
    }
    /// The state of a link; `None` if it does not exist.
    fn link_report(&self, link: u8) -> Option<LinkReport>;
}

/// The body of the response to a request with a number; `None` if the request is for the board or relayed, or the response too long. A request to an
/// application is rejected here, since accepted ones go to the application. Clearing the counters is left to the subject.
pub(crate) fn respond<B: Bytes>(request: &Request<'_>, number: u32, subject: &dyn Subject, now: Micros) -> Option<B> {
    let payload: B = match request.query {
        Query::Ping => B::from_slice(request.payload).ok()?,
        Query::Trace => whole_trace(request.payload, subject.address()),
        Query::Identity => write_structure(&subject.report(now))?,
        Query::Counters => write_structure(subject.counters())?,
        Query::Link => write_structure(&request.payload.first().and_then(|&link| subject.link_report(link)))?,
        Query::ClearCounters => B::default(),
        Query::Application(port) => B::from_slice(&[subject.refusal(port) as u8]).ok()?,
        Query::Relay | Query::Board(_) => return None,
    };
    let response = Response {
        query: request.query,
        asked: request.asked,
        number,
        payload: &payload,
    };
    response.write()
}

/// The records of a trace, and the last one, whose waiting time is 0. Records that do not fit are omitted.
fn whole_trace<B: Bytes>(records: &[u8], here: Node) -> B {
    let last = TraceRecord { node: here, waited: 0 };
    let mut bytes = [0; TraceRecord::MAX_BYTES];
    let length = last.write(&mut bytes).unwrap_or(0);
    let mut whole = B::default();
    for part in [records, bytes.get(..length).unwrap_or(&[])] {
        if whole.len() + part.len() + Response::PREFIX <= B::CAPACITY {
            // Cannot fail: the length was checked.
            let _ = whole.extend_from_slice(part);
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::Endpoint;
    use crate::wire::{Body, read_structure, trace_records};
    use std::vec::Vec;

    /// A host that has sent something.
    fn someone() -> Endpoint<1> {
        let mut host = Endpoint::host(3, 1_000_000, 0);
        let packet = host.request(9, Query::Ping, &[], 0).unwrap();
        host.send(packet).unwrap();
        host
    }

    fn ask(query: Query, payload: &[u8]) -> Option<Body<243>> {
        let request = Request::new(query, 99, payload);
        respond(&request, 42, &someone(), 8_000)
    }

    #[test]
    fn every_request_gets_its_response() {
        let read = |query, payload: &[u8]| {
            let body = ask(query, payload).unwrap();
            let response = Response::read(&body).unwrap();
            assert_eq!((response.query, response.asked, response.number), (query, 99, 42));
            response.payload.to_vec()
        };
        assert_eq!(read(Query::Ping, b"hello"), b"hello");
        let trace = read(Query::Trace, &[3, 10]);
        let nodes: Vec<_> = trace_records(&trace)
            .map(|record| (record.node, record.waited))
            .collect();
        assert_eq!(nodes, [(3, 10), (0, 0)]);
        let report: NodeReport = read_structure(&read(Query::Identity, &[])).unwrap();
        assert_eq!((report.epoch, report.uptime_ms), (3, 8));
        let counters: RouterCounters = read_structure(&read(Query::Counters, &[])).unwrap();
        assert_eq!(counters.originated, 1);
        let link = |number: &[u8]| read_structure::<Option<LinkReport>>(&read(Query::Link, number)).unwrap();
        assert!(link(&[0]).is_some() && link(&[1]).is_none() && link(&[]).is_none());
        assert_eq!(read(Query::ClearCounters, b"x"), b"");
        let unserved = [AppStatus::PortUnreachable as u8];
        assert_eq!(read(Query::Application(AppPort(20)), b"x"), unserved);
    }

    #[test]
    fn the_board_answers_for_itself_and_nothing_is_cut() {
        assert_eq!(ask(Query::Board(0), &[]), None);
        assert!(ask(Query::Ping, &[1; 243 - Response::PREFIX]).is_some());
        assert_eq!(ask(Query::Ping, &[1; 244 - Response::PREFIX]), None);
        let full = ask(Query::Trace, &[1; 243 - Response::PREFIX]).unwrap();
        assert_eq!(full.len(), 243);
    }
}
