//! Where nodes, clusters and links are drawn.
//!
//! - [`point`]: a place on the page; `shapes`: base graphs and arrangements of clusters; `stress`: graphs without a shape of their own;
//! - [`family`]: how each family of networks is nested;
//! - `nested`: places from nested arrangements; `bend`: links that would run through nodes are bent.

mod bend;
pub mod family;
mod nested;
pub mod point;
mod shapes;
mod stress;

use hopwise_core::{Network, Node};

use point::Point;

/// A drawing of a network. Neighboring nodes are about 1 apart.
pub struct Drawing {
    /// Of each node.
    pub places: Vec<Point>,
    /// Circles around clusters, outer ones first.
    pub clusters: Vec<Cluster>,
    /// Every link once.
    pub links: Vec<Link>,
    /// What kinds of links there are, by [`Link::kind`].
    pub kinds: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cluster {
    pub middle: Point,
    /// All its nodes are within.
    pub radius: f64,
    /// 0 for the outermost.
    pub depth: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The lower node.
    pub a: Node,
    /// The higher node.
    pub b: Node,
    pub kind: usize,
    /// The control point of the curve from a to b lies so far to the side of its middle, as a share of the length.
    pub bend: f64,
}

impl Drawing {
    /// Draws a network. Time O(nodes + links), times the levels; a base graph without a shape takes O(nodes^2).
    pub fn of(network: &Network) -> Drawing {
        let nesting = family::nesting(network);
        let digits: Vec<Vec<usize>> = (0..network.nodes()).map(|node| (nesting.digits)(node)).collect();
        let (places, clusters) = nested::places(&nesting.levels, &digits);
        let mut links = Vec::new();
        for a in 0..network.nodes() {
            let neighbors = network.neighbors(a).into_iter().flatten();
            for b in neighbors.filter(|&b| a < b) {
                let kind = (nesting.kind)(a, b, &digits[a as usize], &digits[b as usize]);
                links.push(Link { a, b, kind, bend: 0.0 });
            }
        }
        bend::bend(&places, &mut links);
        Drawing {
            places,
            clusters,
            links,
            kinds: nesting.kinds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopwise_testing::networks;

    #[test]
    fn no_two_nodes_are_too_near() {
        for expression in networks("drawn") {
            let drawing = Drawing::of(&expression.parse().unwrap());
            let least = nested::least_distance(&drawing.places);
            assert!(least > 0.6, "{expression}: {least}");
            let is_finite = |place: &Point| place.x.is_finite() && place.y.is_finite();
            assert!(drawing.places.iter().all(is_finite));
        }
    }

    #[test]
    fn every_link_is_there_once_and_has_a_kind() {
        for expression in networks("drawn") {
            let network: Network = expression.parse().unwrap();
            let drawing = Drawing::of(&network);
            let ends: u64 = (0..network.nodes()).map(|node| network.degree(node).unwrap()).sum();
            assert_eq!(2 * drawing.links.len() as u64, ends, "{expression}");
            let have_kinds = drawing.links.iter().all(|link| link.kind < drawing.kinds.len());
            assert!(have_kinds, "{expression}");
            for kind in 0..drawing.kinds.len() {
                let is_used = drawing.links.iter().any(|link| link.kind == kind);
                assert!(is_used, "{expression}: {}", drawing.kinds[kind]);
            }
        }
    }

    #[test]
    fn clusters_of_a_level_do_not_overlap() {
        for expression in networks("drawn") {
            let clusters = Drawing::of(&expression.parse().unwrap()).clusters;
            for (i, one) in clusters.iter().enumerate() {
                for other in clusters[..i].iter().filter(|other| other.depth == one.depth) {
                    let gap = one.middle.distance(other.middle) - one.radius - other.radius;
                    assert!(gap > 0.0, "{expression}: {one:?} {other:?}");
                }
            }
        }
    }
}
