//! Patterns of traffic made ready for a network.

use std::sync::Arc;

use hopwise_core::graph::{Factor, Shape};
use hopwise_core::{Family, Network};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use crate::Traffic;

#[derive(Clone, Debug)]
pub struct Destinations {
    rule: Rule,
    nodes: u32,
}

#[derive(Clone, Debug)]
enum Rule {
    Uniform,
    UniformWithSelf,
    /// The destination of every node.
    Fixed(Arc<[u32]>),
    HotSpot {
        node: u32,
        share: f64,
    },
    Neighbors(Box<Network>),
    /// How far each node has got.
    InTurn(Vec<u32>),
    All,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadDestinations(String);

impl Destinations {
    /// Of a pattern on a network. What is drawn once and for all is drawn here; that takes as many numbers from `rng` for
    /// every pattern, so that what is drawn afterwards is the same for all.
    pub fn new(traffic: Traffic, network: &Network, rng: &mut impl Rng) -> Result<Self, BadDestinations> {
        let nodes = checked(traffic, network)?;
        let bits = nodes.ilog2();
        let partners = cycle_through_all(nodes, rng);
        let fixed = |dest: &dyn Fn(u32) -> u32| Rule::Fixed((0..nodes).map(dest).collect());
        let rule = match traffic {
            Traffic::Uniform => Rule::Uniform,
            Traffic::UniformWithSelf => Rule::UniformWithSelf,
            Traffic::Transpose => {
                let side = nodes.isqrt();
                fixed(&|node| node % side * side + node / side)
            }
            Traffic::BitComplement => fixed(&|node| nodes - 1 - node),
            Traffic::BitReverse => fixed(&|node| node.reverse_bits() >> (32 - bits)),
            Traffic::Shuffle => fixed(&|node| (node << 1 | node >> (bits - 1)) & (nodes - 1)),
            Traffic::Tornado => {
                let sizes = ring_sizes(network).unwrap_or_else(|| vec![u64::from(nodes)]);
                fixed(&|node| tornado(&sizes, u64::from(node)) as u32)
            }
            Traffic::Permutation => Rule::Fixed(partners.into()),
            Traffic::HotSpot { node, share } => Rule::HotSpot {
                node: node as u32,
                share,
            },
            Traffic::Neighbors => Rule::Neighbors(Box::new(*network)),
            Traffic::Broadcast | Traffic::BroadcastStorm => Rule::All,
            Traffic::AllToAll | Traffic::PingAll => Rule::InTurn(vec![0; nodes as usize]),
        };
        Ok(Destinations { rule, nodes })
    }

    pub fn check(traffic: Traffic, network: &Network) -> Result<(), BadDestinations> {
        checked(traffic, network).map(|_| ())
    }

    /// Where the next packet of a node goes; `None` is to all.
    #[inline]
    pub fn next(&mut self, source: u32, rng: &mut impl Rng) -> Option<u32> {
        let nodes = self.nodes;
        Some(match &mut self.rule {
            Rule::Uniform => other_than(source, nodes, rng),
            Rule::UniformWithSelf => rng.random_range(0..nodes),
            Rule::Fixed(dests) => dests[source as usize],
            Rule::HotSpot { node, share } => {
                if source != *node && rng.random::<f64>() < *share {
                    *node
                } else {
                    other_than(source, nodes, rng)
                }
            }
            Rule::Neighbors(network) => {
                let (source, unchecked) = (u64::from(source), network.unchecked());
                let port = rng.random_range(0..unchecked.degree(source));
                unchecked.neighbor(source, port)? as u32
            }
            Rule::InTurn(turns) => {
                let turn = turns[source as usize];
                turns[source as usize] = (turn + 1) % (nodes - 1);
                // Each begins with the next node, so that they do not all turn to the same.
                (source + 1 + turn) % nodes
            }
            Rule::All => return None,
        })
    }

    /// Whether every packet of a node would go to itself: on the diagonal of a transpose, say.
    pub fn only_to_itself(&self, source: u32) -> bool {
        matches!(&self.rule, Rule::Fixed(dests) if dests[source as usize] == source)
    }
}

fn checked(traffic: Traffic, network: &Network) -> Result<u32, BadDestinations> {
    let nodes = match u32::try_from(network.nodes()) {
        Ok(nodes) if nodes >= 2 => nodes,
        _ => {
            let nodes = network.nodes();
            let why = format!("{network} has {nodes} nodes: traffic is for 2 to 2^32 - 1");
            return Err(BadDestinations(why));
        }
    };
    let why = match traffic {
        Traffic::BitReverse | Traffic::Shuffle if !nodes.is_power_of_two() => {
            format!("{traffic} needs a power of 2 nodes, and {network} has {nodes}")
        }
        Traffic::Transpose if nodes.isqrt().pow(2) != nodes => {
            format!("transpose needs a square number of nodes, and {network} has {nodes}")
        }
        Traffic::HotSpot { node, .. } if node >= u64::from(nodes) => {
            let last = nodes - 1;
            format!("there is no node {node} to be a hot spot: {network} has nodes 0 to {last}")
        }
        _ => return Ok(nodes),
    };
    Err(BadDestinations(why))
}

#[inline]
fn other_than(source: u32, nodes: u32, rng: &mut impl Rng) -> u32 {
    let other = rng.random_range(0..nodes - 1);
    other + u32::from(other >= source)
}

/// The successor of every node along a random cycle through all of them: nobody is its own.
fn cycle_through_all(nodes: u32, rng: &mut impl Rng) -> Vec<u32> {
    let mut order: Vec<u32> = (0..nodes).collect();
    order.shuffle(rng);
    let mut successors = vec![0; order.len()];
    for (place, &node) in order.iter().enumerate() {
        successors[node as usize] = order[(place + 1) % order.len()];
    }
    successors
}

/// The sizes of the dimensions, if the network is a ring or torus.
pub fn ring_sizes(network: &Network) -> Option<Vec<u64>> {
    let Family::Base(base) = network.family() else {
        return None;
    };
    match base.shape() {
        Shape::Line(Factor::Ring, nodes) => Some(vec![nodes]),
        Shape::Product(Factor::Ring, sizes) => Some(sizes.iter().map(|&size| size.into()).collect()),
        _ => None,
    }
}

fn tornado(sizes: &[u64], node: u64) -> u64 {
    let (mut rest, mut stride, mut dest) = (node, 1, 0);
    for &size in sizes {
        dest += (rest % size + size.div_ceil(2) - 1) % size * stride;
        (rest, stride) = (rest / size, stride * size);
    }
    dest
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use hopwise_testing::rows;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn rng() -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(3)
    }

    fn of(traffic: &str, network: &str) -> Destinations {
        Destinations::new(traffic.parse().unwrap(), &network.parse().unwrap(), &mut rng()).unwrap()
    }

    fn reached(traffic: &str, network: &str, source: u32, packets: usize) -> BTreeSet<u32> {
        let (mut destinations, mut rng) = (of(traffic, network), rng());
        let drawn = (0..packets).map(|_| destinations.next(source, &mut rng).unwrap());
        drawn.collect()
    }

    fn fixed(traffic: &str, network: &str, nodes: u32) -> Vec<u32> {
        let (mut destinations, mut rng) = (of(traffic, network), rng());
        let drawn = (0..nodes).map(|node| destinations.next(node, &mut rng).unwrap());
        drawn.collect()
    }

    #[test]
    fn nobody_sends_to_itself_and_every_other_node_is_reached() {
        for traffic in ["uniform", "ping-all", "hot-spot", "hot-spot(2,0.9)", "all-to-all"] {
            for source in 0..7 {
                let others: BTreeSet<u32> = (0..7).filter(|&node| node != source).collect();
                let found = reached(traffic, "ring(7)", source, 300);
                assert_eq!(found, others, "{traffic} from {source}");
            }
        }
        assert_eq!(reached("uniform-with-self", "ring(7)", 3, 300), (0..7).collect());
        assert_eq!(reached("neighbors", "ring(7)", 3, 100), BTreeSet::from([2, 4]));
        assert_eq!(of("broadcast", "ring(7)").next(3, &mut rng()), None);
    }

    #[test]
    fn every_node_begins_with_the_next_and_takes_turns() {
        let (mut destinations, mut rng) = (of("all-to-all", "ring(4)"), rng());
        let mut turns = |source| [(); 4].map(|()| destinations.next(source, &mut rng).unwrap());
        assert_eq!([turns(2), turns(3)], [[3, 0, 1, 3], [0, 1, 2, 0]]);
    }

    #[test]
    fn a_hot_spot_gets_its_share() {
        let (mut destinations, mut rng) = (of("hot-spot(2,0.6)", "ring(11)"), rng());
        let is_hot = |_: &u32| destinations.next(5, &mut rng) == Some(2);
        let hot = (0..10_000).filter(is_hot).count();
        // Its share, and a tenth of the rest.
        assert!((6_200..6_600).contains(&hot), "{hot}");
    }

    #[test]
    fn a_permutation_is_one_cycle() {
        let dests = fixed("permutation", "ring(50)", 50);
        let mut here = 0;
        let visited: BTreeSet<u32> = (0..50)
            .map(|_| {
                here = dests[here as usize];
                here
            })
            .collect();
        assert_eq!((visited.len(), here), (50, 0));
    }

    #[test]
    fn addresses_are_turned_as_the_names_say() {
        assert_eq!(fixed("bit-complement", "ring(5)", 5), [4, 3, 2, 1, 0]);
        assert_eq!(fixed("bit-reverse", "hypercube(3)", 8), [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!(fixed("shuffle", "hypercube(3)", 8), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(fixed("transpose", "torus(3,3)", 9), [0, 3, 6, 1, 4, 7, 2, 5, 8]);
        assert_eq!(fixed("tornado", "ring(6)", 6), [2, 3, 4, 5, 0, 1]);
        assert_eq!(fixed("tornado", "torus(3,3)", 9)[..4], [4, 5, 3, 7]);
        assert!(of("transpose", "torus(3,3)").only_to_itself(4));
        assert!(!of("transpose", "torus(3,3)").only_to_itself(1));
        assert!(!of("uniform", "torus(3,3)").only_to_itself(4));
    }

    #[test]
    fn patterns_that_mean_nothing_are_refused_in_a_sentence() {
        for (pattern, sentence) in rows(
            r#"
            shuffle ring(6) => shuffle needs a power of 2 nodes, and ring(6) has 6
            bit-reverse ring(6) => bit-reverse needs a power of 2 nodes, and ring(6) has 6
            transpose ring(8) => transpose needs a square number of nodes, and ring(8) has 8
            hot-spot(8,0.5) ring(8) => there is no node 8 to be a hot spot: ring(8) has nodes 0 to 7
            "#,
        ) {
            let (traffic, network) = pattern.split_once(' ').unwrap();
            let refusal = Destinations::check(traffic.parse().unwrap(), &network.parse().unwrap());
            assert_eq!(refusal.unwrap_err().to_string(), sentence);
        }
    }
}
