//! The network as numbered ports.
//!
//! The ports of node `n` are `first[n]..first[n + 1]`. The first is the local port, through which the node sends and
//! receives; the others are its links in core's order.

use hopwise_core::Network;
use hopwise_language::ring_sizes;

pub(super) struct Wiring {
    /// First port of every node, and one past the last port.
    pub(super) first: Vec<u32>,
    /// The port at the other end of the link; a local port is its own.
    pub(super) peer: Vec<u32>,
    pub(super) node: Vec<u32>,
    pub(super) rings: Option<RingPorts>,
}

impl Wiring {
    /// O(links) queries to core.
    pub(super) fn new(network: &Network) -> Self {
        let topology = network.unchecked();
        let nodes = network.nodes();
        let mut first = vec![0u32];
        let mut node = Vec::new();
        for here in 0..nodes {
            let ports = topology.degree(here) as u32 + 1;
            node.extend(std::iter::repeat_n(here as u32, ports as usize));
            first.push(first[here as usize] + ports);
        }
        let mut peer = Vec::with_capacity(node.len());
        for here in 0..nodes {
            peer.push(first[here as usize]);
            for port in 0..topology.degree(here) {
                let there = topology.neighbor(here, port).unwrap_or(here);
                let back = topology.port_to(there, here).unwrap_or(0) as u32;
                peer.push(first[there as usize] + 1 + back);
            }
        }
        let rings = ring_sizes(network).map(|sizes| RingPorts::new(sizes, &first, &peer, &node));
        Self {
            first,
            peer,
            node,
            rings,
        }
    }

    pub(super) fn nodes(&self) -> usize {
        self.first.len() - 1
    }

    pub(super) fn ports(&self) -> usize {
        self.node.len()
    }
}

/// What is special about the ports of rings and tori.
pub(super) struct RingPorts {
    pub(super) sizes: Vec<u64>,
    /// The dimension that a link changes; [`NO_AXIS`] for local ports.
    pub(super) axis: Vec<u8>,
    /// The port at the same node that goes the other way round the ring; the port itself if there is none.
    pub(super) opposite: Vec<u32>,
}

/// No channel, port, flit or packet.
pub(super) const NONE: u32 = u32::MAX;

/// The axis of a port that belongs to no ring.
pub(super) const NO_AXIS: u8 = u8::MAX;

impl RingPorts {
    fn new(sizes: Vec<u64>, first: &[u32], peer: &[u32], node: &[u32]) -> Self {
        let axis_of = |port: usize| {
            let (mut here, mut there) = (u64::from(node[port]), u64::from(node[peer[port] as usize]));
            for (axis, size) in sizes.iter().enumerate() {
                if here % size != there % size {
                    return axis as u8;
                }
                (here, there) = (here / size, there / size);
            }
            NO_AXIS
        };
        let axis: Vec<u8> = (0..node.len()).map(axis_of).collect();
        let opposite_of = |port: u32| {
            let here = node[port as usize] as usize;
            let same = |&other: &u32| other != port && axis[other as usize] == axis[port as usize];
            (first[here]..first[here + 1]).find(same).unwrap_or(port)
        };
        let opposite = (0..node.len() as u32).map(opposite_of).collect();
        Self { sizes, axis, opposite }
    }
}
