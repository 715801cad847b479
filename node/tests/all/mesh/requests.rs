//! Requests and answers, and hosts.

use super::datagrams::{beside, header, with};
use super::harness::{Got, Mesh};
use crate::support::*;
use hopwise_node::router::Message;

fn ask(mesh: &mut Mesh, from: Node, to: Node, query: Query, more: &[u8]) -> Got {
    let known = mesh.board(from).got.len();
    let asked = mesh.now as u32;
    let number = mesh.ask(from, to, query, more).unwrap();
    let answered = mesh.run_until(SECOND, |mesh| mesh.board(from).got.len() > known);
    assert!(answered, "{query:?} is not answered");
    let got = mesh.board(from).got[known].clone();
    assert_eq!((got.kind, got.source), (MessageKind::Response(query), to));
    let found = (got.number, got.asked);
    assert_eq!(found, (number, asked), "it is told which request it answers");
    got
}

/// The structure with which a node answers node 0.
fn asked<T: for<'a> serde::Deserialize<'a>>(mesh: &mut Mesh, to: Node, query: Query, more: &[u8]) -> T {
    read_structure(&ask(mesh, 0, to, query, more).payload).unwrap()
}

#[test]
fn a_ping_comes_back_as_it_was() {
    for expression in ["path(4)", "rdn(ring(3),1)"] {
        let mut mesh = Mesh::up(expression);
        for to in 0..mesh.network.nodes() {
            let response = ask(&mut mesh, 1, to, Query::Ping, &[to as u8, 2, 3]);
            assert_eq!(response.payload, [to as u8, 2, 3]);
        }
        mesh.run(20 * MILLISECOND);
        mesh.assert_at_rest();
    }
}

#[test]
fn a_trace_names_every_node_and_how_long_it_took() {
    let mut mesh = Mesh::up("path(5)");
    let response = ask(&mut mesh, 0, 4, Query::Trace, b"");
    let records: Vec<TraceRecord> = trace_records(&response.payload).collect();
    let nodes: Vec<_> = records.iter().map(|record| record.node).collect();
    assert_eq!(nodes, [0, 1, 2, 3, 4]);
    let are_quick = records.iter().all(|record| record.waited < 2 * MILLISECOND);
    assert!(are_quick, "{records:?}");
    // One that waits somewhere tells where.
    mesh.set_mute(2, 3, true);
    mesh.set_mute(3, 2, true);
    let asked = mesh.now;
    mesh.ask(0, 4, Query::Trace, b"").unwrap();
    mesh.run(4 * MILLISECOND);
    mesh.restore(2, 3);
    assert!(mesh.run_until(SECOND, |mesh| mesh.board(0).got.len() > 1));
    let took = mesh.now - asked;
    let records: Vec<TraceRecord> = trace_records(&mesh.board(0).got[1].payload).collect();
    assert_eq!(records.len(), 5);
    let waited: Micros = records.iter().map(|record| record.waited).sum();
    assert!(waited < took, "{records:?} of {took}");
}

#[test]
fn a_node_says_who_it_is() {
    let mut mesh = Mesh::up("ring(5)");
    mesh.cut(3, 4);
    mesh.run(SECOND);
    *mesh.board_mut(3).router.card_mut() = hopwise_node::wire::BoardInfo {
        reset_cause: 6,
        stack_free: 1_234,
        ..Default::default()
    };
    let report: NodeReport = asked(&mut mesh, 3, Query::Identity, b"");
    let found = (report.address, report.epoch, report.network);
    assert_eq!(found, (3, 1, mesh.network.id()));
    let found = (report.links, report.neighbors, report.neighbors_up);
    assert_eq!(found, (PORTS as u8, 2, 1));
    assert_eq!((report.card.reset_cause, report.card.stack_free), (6, 1_234));
    let uptime = (mesh.now - START) / 1_000;
    let told = report.uptime_ms;
    assert!((uptime - 10..=uptime).contains(&told), "{told} of {uptime}");
    assert_eq!(mesh.board(3).router.network(), &mesh.network);
}

#[test]
fn a_node_tells_its_counters_and_those_of_its_links_and_clears_them() {
    let mut mesh = Mesh::up("path(3)");
    for number in 0..5 {
        mesh.send(0, 2, &[number]).unwrap();
    }
    mesh.send(1, 2, b"x").unwrap();
    mesh.run(50 * MILLISECOND);
    let counters: RouterCounters = asked(&mut mesh, 1, Query::Counters, b"");
    assert_eq!((counters.received, counters.originated, counters.forwarded), (6, 1, 6));
    let found = (counters.delivered, counters.dropped_in_all(), counters.copied);
    assert_eq!(found, (0, 0, 0));
    assert!((1..=6).contains(&counters.buffers_used));
    let to_two = mesh.network.port_to(1, 2).unwrap().unwrap() as u8;
    let report = asked::<Option<LinkReport>>(&mut mesh, 1, Query::Link, &[to_two]).unwrap();
    let found = (report.up, report.fault, report.host, report.wired);
    assert_eq!(found, (true, LinkFault::None, false, true));
    assert_eq!(report.peer, Some((mesh.network.id(), 2, 0)));
    assert_eq!((report.counters.packets_sent, report.counters.packets_received), (6, 0));
    assert_eq!((report.counters.sessions, report.waiting), (1, 0));
    let found = asked::<Option<LinkReport>>(&mut mesh, 1, Query::Link, &[PORTS as u8]);
    assert_eq!(found, None);
    assert!(ask(&mut mesh, 0, 1, Query::ClearCounters, b"").payload.is_empty());
    let counters: RouterCounters = asked(&mut mesh, 1, Query::Counters, b"");
    assert_eq!((counters.received, counters.delivered), (1, 1));
    let report = asked::<Option<LinkReport>>(&mut mesh, 1, Query::Link, &[to_two]).unwrap();
    assert_eq!(report.counters.packets_sent, 0);
    mesh.run(20 * MILLISECOND);
    mesh.assert_at_rest();
}

#[test]
fn requests_that_are_none_are_malformed() {
    let (mut mesh, [zero]) = beside("path(3)", [(1, 0)]);
    for (number, body) in [
        (1, &[][..]),
        (2, &[0, 1, 2, 3]),
        (3, &[6, 0, 0, 0, 0]),
        (4, &[0x3f, 0, 0, 0, 0]),
    ] {
        mesh.post(zero, &header(Kind::Request, 0, 1, number), body);
    }
    mesh.run(20 * MILLISECOND);
    assert_eq!(mesh.board(1).dropped(DropReason::Malformed), 4);
    assert!(mesh.stranger(zero).heard.is_empty());
}

/// Node 2 replies.
fn reply(mesh: &mut Mesh, request: &Message<BODY>, payload: &[u8]) -> Result<(), SendError> {
    mesh.act(2, |router, now, note| router.reply(request, payload, now, note))
}

#[test]
fn requests_for_the_board_are_left_to_it() {
    let mut mesh = Mesh::up("path(3)");
    let asked = mesh.now as u32;
    let number = mesh.ask(0, 2, Query::Board(9), b"how?").unwrap();
    mesh.board_mut(2).fetches = false;
    mesh.run(20 * MILLISECOND);
    let request = mesh.board_mut(2).router.next_message().unwrap();
    assert_eq!(request.kind, MessageKind::BoardRequest { number: 9 });
    let found = (&request.payload[..], request.number, request.asked);
    assert_eq!(found, (&b"how?"[..], number, asked));
    assert_eq!(reply(&mut mesh, &request, b"well"), Ok(()));
    assert_eq!(reply(&mut mesh, &request, &[0; BODY]), Err(SendError::TooLong));
    mesh.run(20 * MILLISECOND);
    let got = &mesh.board(0).got[0];
    assert_eq!(got.kind, MessageKind::Response(Query::Board(9)));
    assert_eq!((&got.payload[..], got.number, got.asked), (&b"well"[..], number, asked));
    // Only a request is answered.
    let mut response = request.clone();
    response.kind = MessageKind::Datagram;
    assert_eq!(reply(&mut mesh, &response, b""), Ok(()));
    mesh.run(20 * MILLISECOND);
    assert_eq!(mesh.board(0).got.len(), 1);
    mesh.assert_at_rest();
}

/// What a host sends, as it writes it: its source is none.
fn from_host(dest: Node, number: u32) -> Header {
    with(header(Kind::Request, 0, dest, number), |header| header.hops_left = 0)
}

#[test]
fn a_host_asks_through_its_board() {
    let mut mesh = Mesh::up("path(4)");
    let host = mesh.host(1);
    let body = Request::new(Query::Ping, 77, b"hello");
    let body = body.write::<Body<BODY>>().unwrap();
    for (number, dest) in [(5, 3), (6, 1), (7, 0)] {
        mesh.say(host, &from_host(dest, number), &body, 50);
        let heard = mesh.stranger(host).heard.last().expect("a response");
        let Header { kind, source, .. } = heard.header;
        assert_eq!((kind, source, heard.header.dest), (Kind::Response, dest, 1));
        assert!(heard.header.to_host && !heard.header.from_host);
        let response = Response::read(&heard.body).unwrap();
        let found = (response.query, response.asked, response.number);
        assert_eq!(found, (Query::Ping, 77, number));
        assert_eq!(response.payload, b"hello");
    }
    // One that cannot be delivered comes back to the host.
    mesh.cut(2, 3);
    mesh.run(SECOND);
    mesh.say(host, &from_host(3, 8), &body, 50);
    let heard = mesh.stranger(host).heard.last().unwrap();
    assert_eq!((heard.header.kind, heard.header.to_host), (Kind::Undeliverable, true));
    mesh.assert_at_rest();
}

#[test]
fn the_board_is_told_that_a_host_asks() {
    let mut mesh = Mesh::up("path(3)");
    let host = mesh.host(0);
    mesh.board_mut(2).fetches = false;
    let body = Request::new(Query::Board(3), 1, b"");
    mesh.say(host, &from_host(2, 9), &body.write::<Body<BODY>>().unwrap(), 50);
    let request = mesh.board_mut(2).router.next_message().unwrap();
    let kind = MessageKind::BoardRequest { number: 3 };
    assert_eq!((request.kind, request.source, request.from_host), (kind, 0, true));
    reply(&mut mesh, &request, b"!").unwrap();
    mesh.run(50 * MILLISECOND);
    assert_eq!(mesh.stranger(host).heard.len(), 1);
    let nothing = mesh.board(0).got.is_empty();
    assert!(nothing, "it is not for the board at which the host is");
}

#[test]
fn a_packet_of_its_own_host_that_comes_back_is_passed_on() {
    let (mut mesh, [zero]) = beside("path(3)", [(1, 0)]);
    // A copy that has been round: the host's epoch is not the board's.
    let of_host = Header {
        copied: true,
        from_host: true,
        epoch: 9,
        ..header(Kind::Datagram, 1, 2, 1)
    };
    mesh.say(zero, &of_host, b"on a detour", 20);
    assert_eq!(mesh.board(2).payloads(), [(1, &b"on a detour"[..])]);
    // The board's own can only be from this start, and none comes back that is not on a detour.
    for (number, copied, from_host) in [(2, true, false), (3, false, true)] {
        let lie = Header {
            copied,
            from_host,
            number,
            ..of_host
        };
        mesh.post(zero, &lie, b"a lie");
    }
    mesh.run(20 * MILLISECOND);
    assert_eq!(mesh.board(1).dropped(DropReason::Malformed), 2);
    assert_eq!(mesh.board(2).got.len(), 1);
}

#[test]
fn without_a_host_there_is_nobody_to_have_its_packets() {
    let (mut mesh, [zero]) = beside("path(3)", [(1, 0)]);
    let to_host = with(header(Kind::Datagram, 0, 2, 1), |header| header.to_host = true);
    mesh.say(zero, &to_host, b"x", 20);
    assert_eq!(mesh.board(2).dropped(DropReason::NoHost), 1);
    assert_eq!(mesh.stranger(zero).heard[0].header.kind, Kind::Undeliverable);
    // With one it comes, in virtual channel 0 and as it was.
    let host = mesh.host(2);
    mesh.say(zero, &Header { number: 2, ..to_host }, b"y", 20);
    let heard = &mesh.stranger(host).heard[0];
    assert_eq!((heard.channel, heard.header.source, &heard.body[..]), (0, 0, &b"y"[..]));
    assert!(mesh.board(2).got.is_empty());
    // What comes a second time does not reach it again.
    mesh.say(zero, &Header { number: 2, ..to_host }, b"y", 20);
    assert_eq!(mesh.stranger(host).heard.len(), 1);
    assert_eq!(mesh.board(2).dropped(DropReason::Duplicate), 1);
    // It leaves with a packet on the way to it.
    mesh.stranger_mut(host).takes = false;
    mesh.say(zero, &Header { number: 3, ..to_host }, b"z", 20);
    mesh.unplug(2, PORTS as u8 - 1);
    mesh.run(SECOND);
    assert_eq!(mesh.board(2).router.host_link(), None);
    assert_eq!(mesh.board(2).dropped(DropReason::NoHost), 2);
    mesh.assert_at_rest();
}

#[test]
fn more_requests_than_answers_have_room_are_dropped_and_reported_busy() {
    let mut mesh = Mesh::up("star(6)");
    for round in 0..6 {
        for from in 1..6 {
            mesh.ask(from, 0, Query::Ping, &[round; 100]).unwrap();
        }
    }
    mesh.run(SECOND);
    let responses: usize = mesh.boards().map(|board| board.got.len()).sum();
    let busy = mesh.board(0).dropped(DropReason::Busy);
    assert_eq!(responses as u32 + busy, 30);
    assert!(responses > limits::SERVICE, "{responses}");
    mesh.assert_at_rest();
}
