//! Places for a graph without a shape of its own: as far apart on the page as they are in hops.
//!
//! E. R. Gansner, Y. Koren, S. North, Graph Drawing by Stress Majorization, GD 2004.

use std::collections::VecDeque;

use hopwise_core::Node;
use hopwise_core::network::Unchecked;

use super::point::{Point, centerd};

/// Rounds after which little changes.
const ROUNDS: usize = 120;

/// Moves every node, again and again, to the mean of where the others want it; the weight of a wish is one over the square
/// of the hops. Time O(rounds nodes^2), memory O(nodes^2).
pub(super) fn places(graph: Unchecked<'_>) -> Vec<Point> {
    let nodes = graph.nodes() as usize;
    let hops: Vec<Vec<f64>> = (0..nodes).map(|node| hops_from(graph, node)).collect();
    // A spiral: no two at the same place, and no symmetry that could hold them there.
    let mut places: Vec<Point> = (0..nodes)
        .map(|node| Point::at(2.4 * node as f64, (node as f64 + 1.0).sqrt()))
        .collect();
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

/// By breadth-first search; nodes out of reach are as far as there are nodes.
fn hops_from(graph: Unchecked<'_>, source: usize) -> Vec<f64> {
    let nodes = graph.nodes() as usize;
    let mut hops = vec![nodes as f64; nodes];
    hops[source] = 0.0;
    let mut waiting = VecDeque::from([source]);
    while let Some(here) = waiting.pop_front() {
        let ports = 0..graph.degree(here as Node);
        for next in ports.filter_map(|port| graph.neighbor(here as Node, port)) {
            let next = next as usize;
            if next != source && hops[next] == nodes as f64 {
                hops[next] = hops[here] + 1.0;
                waiting.push_back(next);
            }
        }
    }
    hops
}
