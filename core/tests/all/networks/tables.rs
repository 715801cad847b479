//! A graph from a table: a path of four nodes, out of order, with a triangle at one end.

use hopwise_core::network::table::{Table, set_loader};

use super::audit::audit_all;
use super::guarantees::Graph;
use crate::support::*;

const NAME: &str = "triangle with a tail";

/// The neighbors of each node, in ascending order.
const NEIGHBORS: [&[u32]; 5] = [&[2, 3, 4], &[3], &[0, 4], &[0, 1], &[0, 2]];

/// The table, with distances and next hops that are searched here.
fn loaded(name: &str) -> Result<Table, &'static str> {
    if name != NAME {
        return Err("there is no such graph");
    }
    let graph = Graph {
        neighbors: NEIGHBORS
            .map(|near| near.iter().map(|&node| Node::from(node)).collect())
            .into(),
    };
    let hops: Vec<Vec<u64>> = (0..5).map(|dest| graph.hops_to(dest)).collect();
    let pairs = || (0..5).flat_map(|here| (0..5).map(move |dest| (here, dest)));
    let port = |(here, dest): (usize, usize)| {
        let closer = |&near: &u32| hops[dest][near as usize] < hops[dest][here];
        NEIGHBORS[here].iter().position(closer).unwrap_or(0) as u16
    };
    let starts = (0..=5).map(|node| NEIGHBORS[..node].iter().map(|near| near.len() as u32).sum());
    Ok(Table {
        name: NAME,
        starts: starts.collect::<Vec<_>>().leak(),
        neighbors: NEIGHBORS.concat().leak(),
        ports: pairs().map(port).collect::<Vec<_>>().leak(),
        hops: pairs()
            .map(|(here, dest)| hops[dest][here] as u16)
            .collect::<Vec<_>>()
            .leak(),
        diameter: 3,
    })
}

#[test]
fn a_graph_from_a_table_keeps_every_guarantee() {
    set_loader(loaded);
    audit_all(vec!["graph:triangle with a tail"]);
    assert!("graph:another".parse::<Network>().is_err());
}
