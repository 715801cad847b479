//! Who sends to whom.

use std::fmt;
use std::str::FromStr;

use hopwise_core::Network;
use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A traffic pattern as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Traffic {
    /// Every node alike, the sender included.
    Uniform,
    /// Every other node alike.
    UniformOthers,
    /// The two halves of the address exchanged: bits if the nodes are a power of 4, else the row and column of a square.
    Transpose,
    /// Node `n` to the last node minus `n`; that is every bit inverted if the nodes are a power of 2.
    BitComplement,
    /// The bits of the address in reverse.
    BitReverse,
    /// The bits of the address rotated by one.
    Shuffle,
    /// Just less than half way round, in every dimension of a ring or torus, else in the numbering.
    Tornado,
    /// A random permutation, drawn from the seed.
    RandomPermutation,
    /// A share of the packets to one node, the others uniform.
    HotSpot {
        /// The node.
        node: u64,
        /// The share.
        share: f64,
    },
    /// A random neighbour.
    NearestNeighbor,
    /// Every packet to all nodes, along the tree of the network: each node hands on the copies for its children.
    Broadcast,
    /// Every node to all others in turn, beginning with the next.
    AllToAll,
}

const NAMES: [(&str, Traffic); 11] = [
    ("uniform", Traffic::Uniform),
    ("uniform-others", Traffic::UniformOthers),
    ("transpose", Traffic::Transpose),
    ("bit-complement", Traffic::BitComplement),
    ("bit-reverse", Traffic::BitReverse),
    ("shuffle", Traffic::Shuffle),
    ("tornado", Traffic::Tornado),
    ("random-permutation", Traffic::RandomPermutation),
    ("nearest-neighbor", Traffic::NearestNeighbor),
    ("broadcast", Traffic::Broadcast),
    ("all-to-all", Traffic::AllToAll),
];

impl FromStr for Traffic {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(&(_, traffic)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Ok(traffic);
        }
        let inner = text.strip_prefix("hotspot(").and_then(|rest| rest.strip_suffix(')'));
        if let Some((node, share)) = inner.and_then(|inner| inner.split_once(','))
            && let (Ok(node), Ok(share)) = (node.trim().parse(), share.trim().parse::<f64>())
        {
            return if (0.0..=1.0).contains(&share) {
                Ok(Traffic::HotSpot { node, share })
            } else {
                Err("the share of a hot spot is from 0 to 1".into())
            };
        }
        let names: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
        Err(format!(
            "'{text}' is not a traffic pattern: {} or hotspot(NODE,SHARE)",
            names.join(", ")
        ))
    }
}

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Traffic::HotSpot { node, share } = self {
            return write!(f, "hotspot({node},{share})");
        }
        let name = NAMES
            .iter()
            .find(|(_, traffic)| traffic == self)
            .map_or("", |(name, _)| *name);
        f.write_str(name)
    }
}

/// A pattern made ready for a network.
#[derive(Debug, PartialEq)]
pub(super) enum Pattern {
    Uniform {
        nodes: u32,
    },
    UniformOthers {
        nodes: u32,
    },
    /// The destination of every node.
    Fixed(Vec<u32>),
    HotSpot {
        node: u32,
        share: f64,
        nodes: u32,
    },
    Neighbors(Box<Network>),
    Broadcast,
    /// How far each node has got.
    AllToAll {
        turns: Vec<u32>,
    },
}

impl Pattern {
    /// One sentence if the pattern means nothing on this network.
    pub(super) fn new(traffic: Traffic, network: &Network, seed: u64) -> Result<Self, String> {
        let nodes = u32::try_from(network.nodes()).map_err(|_| "too many nodes to simulate".to_string())?;
        let fixed = |dest: &dyn Fn(u32) -> u32| Ok(Pattern::Fixed((0..nodes).map(dest).collect()));
        let bits = nodes.ilog2();
        let power = |pattern: &str| {
            let refusal = format!("{pattern} needs a power of 2 nodes, and {network} has {nodes}");
            if nodes.is_power_of_two() { Ok(()) } else { Err(refusal) }
        };
        match traffic {
            Traffic::Uniform => Ok(Pattern::Uniform { nodes }),
            Traffic::UniformOthers => Ok(Pattern::UniformOthers { nodes }),
            Traffic::Transpose => {
                let side = nodes.isqrt();
                if side * side != nodes {
                    return Err(format!(
                        "transpose needs a square number of nodes, and {network} has {nodes}"
                    ));
                }
                fixed(&|node| node % side * side + node / side)
            }
            Traffic::BitComplement => fixed(&|node| nodes - 1 - node),
            Traffic::BitReverse => {
                power("bit-reverse")?;
                fixed(&|node| node.reverse_bits() >> (32 - bits))
            }
            Traffic::Shuffle => {
                power("shuffle")?;
                fixed(&|node| (node << 1 | node >> (bits - 1)) & (nodes - 1))
            }
            Traffic::Tornado => {
                let sizes = super::wiring::ring_sizes(network).unwrap_or_else(|| vec![u64::from(nodes)]);
                fixed(&|node| tornado(&sizes, u64::from(node)) as u32)
            }
            Traffic::RandomPermutation => {
                let mut dests: Vec<u32> = (0..nodes).collect();
                dests.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x7065_726d));
                Ok(Pattern::Fixed(dests))
            }
            Traffic::HotSpot { node, share } => match u32::try_from(node) {
                Ok(node) if node < nodes => Ok(Pattern::HotSpot { node, share, nodes }),
                _ => Err(format!(
                    "there is no node {node} to be a hot spot: {network} has nodes 0 to {}",
                    nodes - 1
                )),
            },
            Traffic::NearestNeighbor => Ok(Pattern::Neighbors(Box::new(*network))),
            Traffic::Broadcast => Ok(Pattern::Broadcast),
            Traffic::AllToAll => Ok(Pattern::AllToAll {
                turns: vec![0; nodes as usize],
            }),
        }
    }

    /// Where the next packet of a node goes.
    pub(super) fn destination(&mut self, node: u32, rng: &mut Xoshiro256PlusPlus) -> Option<u32> {
        match self {
            Pattern::Uniform { nodes } => Some(rng.random_range(0..*nodes)),
            Pattern::UniformOthers { nodes } => {
                let other = rng.random_range(0..*nodes - 1);
                Some(other + u32::from(other >= node))
            }
            Pattern::Fixed(dests) => Some(dests[node as usize]),
            Pattern::HotSpot {
                node: hot,
                share,
                nodes,
            } => Some(if rng.random::<f64>() < *share {
                *hot
            } else {
                rng.random_range(0..*nodes)
            }),
            Pattern::Neighbors(network) => {
                let (node, topology) = (u64::from(node), network.unchecked());
                let port = rng.random_range(0..topology.degree(node));
                topology.neighbor(node, port).map(|neighbor| neighbor as u32)
            }
            Pattern::Broadcast => None,
            Pattern::AllToAll { turns } => {
                let nodes = turns.len() as u32;
                let turn = turns[node as usize];
                turns[node as usize] = (turn + 1) % (nodes - 1);
                Some((node + 1 + turn) % nodes)
            }
        }
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
