//! Meshes of which little is left: confirmed packets arrive wherever there is a path.

use hopwise_core::Network;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::*;

/// The cables of a network: node, port and the node at the other end.
pub(super) fn cables(network: &Network) -> Vec<(u64, u64, u64)> {
    let upwards = |node: u64| {
        let neighbors = (0..).zip(network.neighbors(node).unwrap());
        let ports = neighbors.filter(move |&(_, neighbor)| neighbor > node);
        ports.map(move |(port, neighbor)| (node, port, neighbor))
    };
    (0..network.nodes()).flat_map(upwards).collect()
}

/// The script that cuts all cables but those of a tree, drawn by a seed.
fn all_but_a_tree(network: &Network, seed: u64) -> String {
    let mut cables = cables(network);
    cables.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    let mut part: Vec<u64> = (0..network.nodes()).collect();
    let mut cuts = Vec::new();
    for (node, port, other) in cables {
        let (one, two) = (part[node as usize], part[other as usize]);
        if one == two {
            cuts.push(format!("0s cut {node}.{port}"));
        } else {
            part.iter_mut()
                .filter(|part| **part == one)
                .for_each(|part| *part = two);
        }
    }
    cuts.join("; ")
}

/// Every confirmed packet arrives though only a tree is left of a network.
pub(super) fn assert_a_tree_is_enough(
    network: &str,
    payload: usize,
    packets: u64,
    rate: f64,
    seeds: std::ops::Range<u64>,
) {
    for seed in seeds {
        // Of the whole mesh, so that there is time for searches.
        let rate = rate / on(network).run().unwrap().build.network.nodes() as f64;
        let events = all_but_a_tree(&network.parse().unwrap(), seed);
        let more = format!("--packets {packets} --payload {payload} --rate {rate} --seed {seed}");
        let settings = on(&format!("{network} --confirmed {more} --events '{events}'"));
        assert_all_delivered(&settings, &run(&settings));
    }
}

#[test]
fn only_a_tree_is_left() {
    for (network, payload) in [
        ("torus(8,8)", 32),
        ("torus(8,8)", 200),
        ("hypercube(5)", 200),
        ("rdn(ring(3),1)", 200),
        ("heawood", 200),
        ("re(ring(4),complete(3),2)", 100),
    ] {
        assert_a_tree_is_enough(network, payload, 100, 20.0, 1..4);
    }
}
