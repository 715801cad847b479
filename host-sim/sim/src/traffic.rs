//! Who sends to whom.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A pattern of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Traffic {
    /// To any other node, all equally often
    Uniform,
    /// Every node pings every other, in turn
    PingAll,
    /// A third of the packets to node 0, the rest to any
    HotSpot,
    /// Every node to one other, drawn by the seed
    Permutation,
    /// Every node broadcasts in turn
    BroadcastAll,
    /// All nodes broadcast at once, as fast as they can
    BroadcastStorm,
    /// Every node to every other, in turn
    AllToAll,
}

/// The destinations of each node.
pub struct Destinations {
    traffic: Traffic,
    nodes: u32,
    partners: Vec<u32>,
    turns: Vec<u32>,
    random: Xoshiro256PlusPlus,
}

impl Destinations {
    /// For a mesh of so many nodes, at least two.
    pub fn new(traffic: Traffic, nodes: u32, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut order: Vec<u32> = (0..nodes).collect();
        order.shuffle(&mut random);
        // Along a circle through all nodes nobody sends to itself.
        let mut partners = vec![0; nodes as usize];
        for (place, &node) in order.iter().enumerate() {
            partners[node as usize] = order[(place + 1) % order.len()];
        }
        Destinations {
            traffic,
            nodes,
            partners,
            turns: vec![0; nodes as usize],
            random,
        }
    }

    /// Where the next packet of a node goes; a broadcast, to itself.
    pub fn next(&mut self, source: u32) -> u32 {
        let other = |place: u32| if place < source { place } else { place + 1 };
        match self.traffic {
            Traffic::Uniform => other(self.random.random_range(0..self.nodes - 1)),
            Traffic::HotSpot if source != 0 && self.random.random_ratio(1, 3) => 0,
            Traffic::HotSpot => other(self.random.random_range(0..self.nodes - 1)),
            Traffic::Permutation => self.partners[source as usize],
            Traffic::PingAll | Traffic::AllToAll => {
                let turn = &mut self.turns[source as usize];
                let place = *turn % (self.nodes - 1);
                *turn = (place + 1) % (self.nodes - 1);
                // Each begins with its own successor, so that they do not all turn to the same.
                (source + 1 + place) % self.nodes
            }
            Traffic::BroadcastAll | Traffic::BroadcastStorm => source,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_sends_to_itself_and_every_node_is_reached() {
        for traffic in [Traffic::Uniform, Traffic::PingAll, Traffic::HotSpot, Traffic::AllToAll] {
            let mut destinations = Destinations::new(traffic, 7, 3);
            for source in 0..7 {
                let reached: std::collections::BTreeSet<u32> = (0..200).map(|_| destinations.next(source)).collect();
                let others: std::collections::BTreeSet<u32> = (0..7).filter(|&node| node != source).collect();
                assert_eq!(reached, others, "{traffic:?} from {source}");
            }
        }
    }

    #[test]
    fn a_permutation_is_one() {
        let mut destinations = Destinations::new(Traffic::Permutation, 50, 9);
        let mut reached: Vec<u32> = (0..50).map(|source| destinations.next(source)).collect();
        assert!(reached.iter().enumerate().all(|(source, &dest)| source as u32 != dest));
        reached.sort_unstable();
        assert_eq!(reached, (0..50).collect::<Vec<_>>());
    }
}
