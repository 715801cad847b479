//! Places from nested arrangements: each cluster is a copy of the next arrangement, in a place of this one.

use std::collections::BTreeSet;
use std::f64::consts::PI;

use super::Cluster;
use super::family::Level;
use super::point::Point;

/// Space between clusters, and its share of their diameter.
const GAP: f64 = 0.7;
const GAP_SHARE: f64 = 0.12;
/// From the outermost nodes of a cluster to its border.
const BORDER: f64 = 0.5;

/// The levels from the outermost, each of its size: how far its places are apart, and how far it reaches.
fn sizes(levels: &[Level]) -> Vec<(f64, f64)> {
    let mut sizes = Vec::new();
    let mut inner = None;
    for level in levels.iter().rev() {
        let apart = match inner {
            None => 1.0,
            Some(radius) => 2.0 * radius * (1.0 + GAP_SHARE) + GAP,
        };
        let scale = apart / least_distance(&level.places);
        let distances = level.places.iter().map(|place| place.distance(Point::default()));
        let farthest = distances.fold(0.0, f64::max);
        let radius = scale * farthest + inner.unwrap_or(BORDER);
        sizes.push((scale, radius));
        inner = Some(radius);
    }
    sizes.reverse();
    sizes
}

/// The place of each node, given its digits from the outermost level, and the clusters. Time O(nodes levels).
pub(super) fn places(levels: &[Level], digits: &[Vec<usize>]) -> (Vec<Point>, Vec<Cluster>) {
    let sizes = sizes(levels);
    let mut seen = BTreeSet::new();
    let mut clusters = Vec::new();
    let mut places = Vec::with_capacity(digits.len());
    for digits in digits {
        let (mut here, mut turn) = (Point::default(), 0.0);
        for (depth, (level, &(scale, radius))) in levels.iter().zip(&sizes).enumerate() {
            if depth > 0 && seen.insert(&digits[..depth]) {
                clusters.push(Cluster {
                    middle: here,
                    radius,
                    depth: depth - 1,
                });
            }
            let step = level.places[digits[depth]];
            here = here.plus(step.turned(turn), scale);
            if level.faces_middle
                && let Some(inner) = levels.get(depth + 1)
            {
                turn += step.angle() + PI - inner.places[0].angle();
            }
        }
        places.push(here);
    }
    clusters.sort_by_key(|cluster| cluster.depth);
    (places, clusters)
}

/// Between the two points that are nearest to each other; 1 if there are not two. Sorted by x, only those less than the least
/// so far apart are compared.
pub(super) fn least_distance(points: &[Point]) -> f64 {
    let mut points = points.to_vec();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let mut least = f64::INFINITY;
    for (i, here) in points.iter().enumerate() {
        for there in &points[i + 1..] {
            if there.x - here.x >= least {
                break;
            }
            least = least.min(here.distance(*there));
        }
    }
    if least.is_finite() { least } else { 1.0 }
}
