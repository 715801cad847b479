//! Places for a graph without a shape of its own: as far apart on the page as they are in hops.
//!
//! E. R. Gansner, Y. Koren, S. North, Graph Drawing by Stress Majorization, GD 2004.

use hopwise_core::Network;
use hopwise_networks::distances::{UNREACHED, hops_from};
use hopwise_networks::graph::Graph;

use super::point::{Point, centerd};

/// Rounds after which little changes.
const ROUNDS: usize = 120;

/// Moves every node, again and again, to the mean of where the others want it; the weight of a wish is one over the square
/// of the hops. Time O(rounds nodes^2), memory O(nodes^2).
pub(super) fn places(network: &Network) -> Vec<Point> {
    let graph = Graph::build(network).expect("what is drawn is small");
    let nodes = graph.nodes();
    // Nodes out of reach are as far as there are nodes.
    let wished = |hops: u32| match hops {
        UNREACHED => nodes as f64,
        hops => hops.into(),
    };

    let hops_of = |node| hops_from(&graph, node).into_iter().map(wished).collect();
    let hops: Vec<Vec<f64>> = (0..nodes).map(hops_of).collect();
    // A spiral: no two at the same place, and no symmetry that could hold them there.
    let place = |node| Point::at(2.4 * node as f64, (node as f64 + 1.0).sqrt());
    let mut places: Vec<Point> = (0..nodes).map(place).collect();
    for _ in 0..ROUNDS {
        for node in 0..nodes {
            let here = places[node];
            let (mut sum, mut weights) = (Point::default(), 0.0);
            for other in (0..nodes).filter(|&other| other != node) {
                let wanted = hops[node][other];
                let weight = 1.0 / (wanted * wanted);
                let stretch = wanted / here.distance(places[other]).max(1e-9);
                let away = here.plus(places[other], -1.0);
                sum = sum.plus(places[other].plus(away, stretch), weight);
                weights += weight;
            }
            if weights > 0.0 {
                places[node] = Point::default().plus(sum, 1.0 / weights);
            }
        }
    }
    centerd(places)
}
