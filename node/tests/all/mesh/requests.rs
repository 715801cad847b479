//! Requests and answers, and hosts.

use super::harness::{Got, Mesh};
use crate::support::*;

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
