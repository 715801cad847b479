//! Links that would run through nodes are bent around them.

use std::collections::HashMap;

use super::Link;
use super::point::Point;

/// A link closer than this to a node's place seems to belong to it.
const CLEAR: f64 = 0.24;
/// Bends to choose from; the straight one is the best if it is as good as any.
const BENDS: [f64; 9] = [0.0, 0.16, -0.16, 0.28, -0.28, 0.45, -0.45, 0.7, -0.7];
/// A point of the curve is looked at in each such length.
const STEP: f64 = 0.2;
/// What it costs to lead a link so far aside, in nodes run through.
const BEND_COST: f64 = 0.15;

/// Which nodes are in each square of side 1.
struct Squares<'a> {
    places: &'a [Point],
    nodes: HashMap<(i64, i64), Vec<usize>>,
}

impl<'a> Squares<'a> {
    fn new(places: &'a [Point]) -> Self {
        let mut nodes: HashMap<_, Vec<usize>> = HashMap::new();
        for (node, place) in places.iter().enumerate() {
            nodes.entry(Self::square(*place)).or_default().push(node);
        }
        Squares { places, nodes }
    }

    fn square(place: Point) -> (i64, i64) {
        (place.x.floor() as i64, place.y.floor() as i64)
    }

    /// The nodes that a point is too near to.
    fn near(&self, point: Point) -> impl Iterator<Item = usize> + '_ {
        let (x, y) = Self::square(point);
        let around = (x - 1..=x + 1).flat_map(move |x| (y - 1..=y + 1).map(move |y| (x, y)));
        let nodes = around.filter_map(|square| self.nodes.get(&square)).flatten().copied();
        nodes.filter(move |&node| self.places[node].distance(point) < CLEAR)
    }

    /// How many nodes a curve runs through, besides its ends.
    fn met(&self, link: &Link, bend: f64) -> usize {
        let (a, b) = (link.a as usize, link.b as usize);
        let (from, to) = (self.places[a], self.places[b]);
        let control = control(from, to, bend);
        let steps = (from.distance(to) / STEP).ceil() as usize;
        let points = (1..steps).map(|i| on_curve(from, control, to, i as f64 / steps as f64));
        let mut met: Vec<usize> = points.flat_map(|point| self.near(point)).collect();
        met.sort_unstable();
        met.dedup();
        met.iter().filter(|&&node| node != a && node != b).count()
    }
}

fn control(from: Point, to: Point, bend: f64) -> Point {
    let middle = Point::new(f64::midpoint(from.x, to.x), f64::midpoint(from.y, to.y));
    let side = Point::new(from.y - to.y, to.x - from.x);
    middle.plus(side, bend)
}

fn on_curve(from: Point, control: Point, to: Point, share: f64) -> Point {
    let rest = 1.0 - share;
    Point::default()
        .plus(from, rest * rest)
        .plus(control, 2.0 * rest * share)
        .plus(to, share * share)
}

/// Chooses for each link the bend that runs through the fewest nodes; straight ones that meet none stay so.
pub(super) fn bend(places: &[Point], links: &mut [Link]) {
    let squares = Squares::new(places);
    for link in links {
        if squares.met(link, 0.0) == 0 {
            continue;
        }
        let length = places[link.a as usize].distance(places[link.b as usize]);
        let cost = |bend: f64| squares.met(link, bend) as f64 + BEND_COST * bend.abs() * length;
        let costs = BENDS.map(|bend| (cost(bend), bend));
        let best = costs.into_iter().min_by(|one, other| one.0.total_cmp(&other.0));
        link.bend = best.map_or(0.0, |(_, bend)| bend);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_goes_round_a_node_in_its_way() {
        let places = [Point::new(0.0, 0.0), Point::new(1.0, 0.0), Point::new(2.0, 0.0)];
        let link = |a, b| Link {
            a,
            b,
            kind: 0,
            bend: 0.0,
        };
        let mut links = [link(0, 1), link(0, 2)];
        bend(&places, &mut links);
        assert_eq!(links[0].bend, 0.0);
        assert!(links[1].bend != 0.0);
        assert_eq!(Squares::new(&places).met(&links[1], links[1].bend), 0);
    }
}
