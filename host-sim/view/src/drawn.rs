//! A network as pages draw it.

use hopwise_core::{Network, Node};
use serde::Serialize;

use super::layout::Drawing;

/// A page draws all nodes many times a second.
pub const MAX_NODES: u64 = 1024;

#[derive(Debug, thiserror::Error)]
#[error("{network} has {nodes} nodes, too many for a page (at most {MAX_NODES})")]
pub struct TooManyNodes {
    network: String,
    nodes: u64,
}

/// Where its nodes and links are, and what they are called.
#[derive(Serialize)]
pub struct DrawnNetwork {
    pub network: String,
    pub addresses: Vec<String>,
    pub places: Vec<[f64; 2]>,
    /// Middle, radius, depth.
    pub clusters: Vec<(f64, f64, f64, usize)>,
    /// Ends, kind, bend.
    pub links: Vec<(Node, Node, usize, f64)>,
    pub link_kinds: Vec<String>,
    /// The neighbors of each node by port.
    pub neighbors: Vec<Vec<Node>>,
}

pub fn draw(network: &Network) -> Result<Drawing, TooManyNodes> {
    match network.nodes() {
        nodes if nodes > MAX_NODES => Err(TooManyNodes {
            network: network.to_string(),
            nodes,
        }),
        _ => Ok(Drawing::of(network)),
    }
}

impl DrawnNetwork {
    pub fn new(network: &Network, drawing: Drawing) -> DrawnNetwork {
        let known = "nodes below the network's size are in it";
        let all = || 0..network.nodes();
        let address = |node| network.address(node).expect(known).to_string();
        let round = |value: f64| (value * 1000.0).round() / 1000.0;
        let clusters = drawing.clusters.iter().map(|cluster| {
            let middle = cluster.middle;
            (round(middle.x), round(middle.y), round(cluster.radius), cluster.depth)
        });
        let (places, links) = (drawing.places.iter(), drawing.links.iter());
        let neighbors = |node| network.neighbors(node).expect(known).collect();

        DrawnNetwork {
            network: network.to_string(),
            addresses: all().map(address).collect(),
            places: places.map(|place| [round(place.x), round(place.y)]).collect(),

            clusters: clusters.collect(),
            links: links.map(|link| (link.a, link.b, link.kind, link.bend)).collect(),
            neighbors: all().map(neighbors).collect(),

            link_kinds: drawing.kinds,
        }
    }
}
