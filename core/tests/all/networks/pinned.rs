//! Every next hop, port, address and broadcast of small networks, pinned: boards of different versions of the program must
//! agree on them, or broadcasts go round and detours do not end. They are the same whether networks compute with 64 bits or 32.
//!
//! `core/tests/golden/pinned.txt` has a line for each network. `HOPWISE_PIN=1 cargo test -p hopwise-core --test all pinned`
//! writes it anew, when a network is added or its rule is meant to change.

use std::fmt::Write;

use crc::{CRC_32_ISCSI, Crc};

use crate::support::*;

const PINNED: &str = include_str!("../../golden/pinned.txt");

/// So many nodes of a network are looked at, and so many of a large one, where each response may take a search.
const MAX_NODES: u64 = 28;
const MAX_NODES_IF_LARGE: u64 = 12;
const LARGE: u64 = 400;

fn hash(text: &str) -> u32 {
    Crc::<u32>::new(&CRC_32_ISCSI).checksum(text.as_bytes())
}

fn line(network: &Network) -> String {
    // An odd step meets all digits of the addresses.
    let is_large = network.nodes() >= LARGE;
    let most = if is_large { MAX_NODES_IF_LARGE } else { MAX_NODES };
    let step = (network.nodes() / most) as usize | 1;
    let nodes = (0..network.nodes()).step_by(step);
    let mut texts: [String; 7] = Default::default();
    let [links, addresses, methods, exact, paper, depth, steps] = &mut texts;
    for here in nodes.clone() {
        let neighbors: Vec<Node> = network.neighbors(here).unwrap().collect();
        write!(links, "{neighbors:?} ").unwrap();
        write!(addresses, "{} ", network.address(here).unwrap()).unwrap();
        for there in nodes.clone() {
            let [one, other] = [Rule::Exact, Rule::Paper].map(|rule| network.next_hop(here, there, rule).unwrap());
            write!(exact, "{one} ").unwrap();
            write!(paper, "{other} ").unwrap();
            let method = network.method(here, there, Rule::Exact).unwrap();
            let paper_method = network.method(here, there, Rule::Paper).unwrap();
            let distance = network.distance(here, there).unwrap();
            write!(methods, "{} {} {distance:?} ", method as u8, paper_method as u8).unwrap();
            for (tree, out) in [(Tree::LeastDepth, &mut *depth), (Tree::FewestSteps, &mut *steps)] {
                for (port, _) in network.fanout_by(here, there, tree).unwrap() {
                    write!(out, "{port} ").unwrap();
                }
                out.push(',');
            }
        }
    }
    let mut line = format!(
        "{network} id {:08x} longest {} {} diameter {} transitive {}",
        network.id(),
        network.longest_route(Rule::Exact),
        network.longest_route(Rule::Paper),
        network
            .diameter()
            .map_or("unknown".to_string(), |hops| hops.to_string()),
        network.vertex_transitive()
    );
    let names = ["links", "addresses", "methods", "exact", "paper", "depth", "steps"];
    for (name, text) in names.iter().zip(&texts) {
        write!(line, " {name} {:08x}", hash(text)).unwrap();
    }
    line
}

#[test]
fn networks_are_as_they_were() {
    let first = |pinned: &'static str| line(&network(pinned.split(' ').next().unwrap_or_default()));
    let found: Vec<String> = PINNED.lines().map(first).collect();
    if std::env::var_os("HOPWISE_PIN").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/pinned.txt");
        std::fs::write(path, found.join("\n") + "\n").unwrap();
    }
    assert!(found.len() > 100);
    for (found, pinned) in found.iter().zip(PINNED.lines()) {
        assert_eq!(found, pinned);
    }
}
