//! A graph of your own, given by its links, beside the families: the same queries, answered from tables that a host computes once.
//!
//! `cargo run -p hopwise-core --example own_network --features tables`

use std::collections::VecDeque;
use std::error::Error;

use hopwise_core::network::table::{Table, set_loader};
use hopwise_core::{Network, Rule};

/// Two squares, joined by one link.
const LINKS: [(u32, u32); 9] = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (2, 4)];
const NODES: usize = 8;

fn squares(name: &str) -> Result<Table, &'static str> {
    if name != "squares" {
        return Err("there is only `squares` here");
    }
    let mut neighbors = vec![Vec::new(); NODES];
    for (a, b) in LINKS {
        neighbors[a as usize].push(b);
        neighbors[b as usize].push(a);
    }
    neighbors.iter_mut().for_each(|list| list.sort_unstable());
    let (mut hops, mut ports) = (vec![0; NODES * NODES], vec![0; NODES * NODES]);
    for destination in 0..NODES {
        // From the destination outwards: whoever is reached sends to the node that it was reached from.
        let (mut to_visit, mut seen) = (VecDeque::from([destination]), [false; NODES]);
        seen[destination] = true;
        while let Some(node) = to_visit.pop_front() {
            for &next in &neighbors[node] {
                let next = next as usize;
                if !std::mem::replace(&mut seen[next], true) {
                    let back = neighbors[next].iter().position(|&end| end as usize == node);
                    ports[next * NODES + destination] = back.ok_or("links lead back")? as u16;
                    hops[next * NODES + destination] = hops[node * NODES + destination] + 1;
                    to_visit.push_back(next);
                }
            }
        }
    }
    let mut starts = vec![0];
    for list in &neighbors {
        starts.push(starts.last().copied().unwrap_or(0) + list.len() as u32);
    }
    Ok(Table {
        name: "squares",
        starts: starts.leak(),
        neighbors: neighbors.concat().leak(),
        diameter: hops.iter().copied().max().unwrap_or(0),
        ports: ports.leak(),
        hops: hops.leak(),
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    set_loader(squares);
    let network: Network = "graph:squares".parse()?;
    let (mut node, destination) = (0, 6);
    while node != destination {
        let next = network.next_hop(node, destination, Rule::Exact)?;
        println!("from node {node} to node {next}");
        node = next;
    }
    Ok(())
}
