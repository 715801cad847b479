//! Where the nodes of a base graph are drawn.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI, TAU};

use hopwise_core::{Base, Network};
use hopwise_networks::base::Formulas;

use super::point::{Point, bounds, centerd};
use super::stress;

/// A longer path is folded into rows.
const LONGEST_LINE: usize = 12;
/// Layers of a third dimension are drawn one behind the other up to this number, else side by side.
const MAX_LAYERS: u64 = 3;

/// So many orbits of a lift are drawn within each other.
const MAX_NESTED: usize = 5;

/// The name and the parameters of a base graph, which tells them only as people write it.
pub(super) fn written(base: &Base) -> (String, Vec<u64>) {
    let text = base.to_string();
    let (name, rest) = text.split_once('(').unwrap_or((&text, ""));
    let numbers = rest.trim_end_matches(')').split(',');
    let numbers = numbers.filter_map(|number| number.parse().ok());
    (name.to_string(), numbers.collect())
}

/// The nodes of a base graph, in their order.
pub(super) fn base(base: &Base) -> Vec<Point> {
    let (name, numbers) = written(base);
    let nodes = base.nodes() as usize;
    match (name.as_str(), &numbers[..]) {
        ("path", _) | ("mesh", [_]) => rows(nodes),
        ("star", _) => std::iter::once(Point::default()).chain(circle(nodes - 1)).collect(),
        ("hypercube" | "folded-hypercube", &[bits]) => cube(bits as u32),
        ("torus" | "mesh" | "ghc", [_, _, ..]) => lattice(&numbers, name == "torus"),
        ("petersen", _) => circle(5).into_iter().chain(scaled(&circle(5), 0.5)).collect(),
        ("lift", &[places, ..]) => turned_orbits(places as usize, nodes / places as usize),
        ("nstar", _) if nodes > 6 => stress::places(&Network::from(*base)),
        _ => circle(nodes),
    }
}

/// The orbits of a lift: around one middle, so that turning the drawing by one place changes nothing. A few long orbits are circles
/// within each other; many short ones take turns on one circle.
fn turned_orbits(places: usize, orbits: usize) -> Vec<Point> {
    let nested = orbits <= MAX_NESTED && places > orbits;
    let place = |orbit: usize, place: usize| {
        let share = orbit as f64 / orbits as f64;
        // Each orbit a little further round, or links between them would run through nodes.
        let turn = place as f64 + if nested { share / 2.0 } else { share };
        let radius = if nested { 1.0 - 0.8 * share } else { 1.0 };
        Point::at(-FRAC_PI_2 + TAU * turn / places as f64, radius)
    };
    let all = (0..orbits).flat_map(|orbit| (0..places).map(move |at| place(orbit, at)));
    all.collect()
}

fn scaled(points: &[Point], times: f64) -> Vec<Point> {
    let scaled = |&point: &Point| Point::default().plus(point, times);
    points.iter().map(scaled).collect()
}

/// Evenly on a circle of radius 1, the first on top; four make an upright square.
pub(super) fn circle(count: usize) -> Vec<Point> {
    let begin = match count {
        2 => PI,
        4 => -3.0 * FRAC_PI_4,
        _ => -FRAC_PI_2,
    };
    let angles = (0..count).map(|i| begin + TAU * i as f64 / count as f64);
    angles.map(|angle| Point::at(angle, 1.0)).collect()
}

/// Two halves of a circle that face each other: `left` places from top to bottom, then `right` places.
pub(super) fn halves(left: usize, right: usize) -> Vec<Point> {
    // Somewhat less than a half, so that there is a gap between the halves.
    let arc = PI * 0.94;
    let half = |count: usize, side: f64| {
        (0..count).map(move |i| {
            let up = arc * ((i as f64 + 0.5) / count as f64 - 0.5);
            Point::new(side * up.cos(), up.sin())
        })
    };
    half(left, -1.0).chain(half(right, 1.0)).collect()
}

/// Two blocks of rows side by side, for more places than a circle can hold.
pub(super) fn blocks(left: usize, right: usize) -> Vec<Point> {
    let most = left.max(right);
    // Higher than wide, since there are two of them.
    let columns = ((most as f64 / 2.0).sqrt().round() as usize).max(1);
    let block = |count: usize, from: f64| {
        (0..count).map(move |i| Point::new(from + (i % columns) as f64, (i / columns) as f64))
    };
    centerd(block(left, 0.0).chain(block(right, columns as f64 + 1.6)).collect())
}

/// In rows, as near to a square as can be.
pub(super) fn grid(count: usize) -> Vec<Point> {
    let columns = ((count as f64).sqrt().ceil() as usize).max(1);
    let place = |i: usize| Point::new((i % columns) as f64, (i / columns) as f64);
    centerd((0..count).map(place).collect())
}

/// A path: a line, or rows that go to and fro.
fn rows(count: usize) -> Vec<Point> {
    let of_square = (count as f64).sqrt().ceil() as usize;
    let columns = if count <= LONGEST_LINE { count } else { of_square };
    let place = |i: usize| {
        let (row, column) = (i / columns, i % columns);
        let from_right = columns - 1 - column;
        let column = if row.is_multiple_of(2) { column } else { from_right };
        Point::new(column as f64, row as f64)
    };
    centerd((0..count).map(place).collect())
}

/// A hypercube: squares, cubes in parallel projection, and cubes of cubes; what is larger is doubled to the side and down.
pub(super) fn cube(bits: u32) -> Vec<Point> {
    let step: f64 = if bits > 5 { 4.2 } else { 2.4 };
    let mut points = vec![Point::default()];
    for bit in 0..bits {
        let (low, high) = bounds(&points);
        let extent = high.plus(low, -1.0);
        // Larger cubes are a little askew, or their links would run along those of the smaller ones.
        let direction = match bit {
            0 => Point::new(1.0, 0.0),
            1 => Point::new(0.0, 1.0),
            2 => Point::new(0.46, -0.38),
            3 => Point::new(step, 0.28 * step),
            4 => Point::new(-0.28 * step, step),
            5 => Point::new(0.46 * step, -0.38 * step),
            _ if bit % 2 == 0 => Point::new(1.15 * extent.x, 0.1 * extent.y),
            _ => Point::new(-0.1 * extent.x, 1.15 * extent.y),
        };
        points.extend_from_within(..);
        let half = points.len() / 2;
        for point in &mut points[half..] {
            *point = point.plus(direction, 1.0);
        }
    }
    centerd(points)
}

/// A product of lines or rings: rows and columns, a few layers behind each other, more of them around a circle if they are
/// rings. The first dimension is least significant.
fn lattice(sizes: &[u64], rings: bool) -> Vec<Point> {
    let mut extent = Point::default();
    let mut axes: Vec<Vec<Point>> = Vec::new();
    for (axis, &size) in sizes.iter().enumerate() {
        let along = |direction: Point| (0..size).map(|i| Point::default().plus(direction, i as f64)).collect();
        let places: Vec<Point> = match axis {
            0 => along(Point::new(1.0, 0.0)),
            1 => along(Point::new(0.0, 1.0)),
            2 if size <= MAX_LAYERS => along(Point::new(1.0 / size as f64, -0.8 / size as f64)),
            _ if rings && size > 2 => {
                let apart = extent.x.hypot(extent.y) + 1.5;
                let radius = apart / 2.0 / (PI / size as f64).sin();
                // Turned, or links to the next layer would run along rows and columns.
                let places = scaled(&circle(size as usize), radius);
                places.iter().map(|place| place.turned(0.2)).collect()
            }
            _ if axis % 2 == 0 => along(Point::new(extent.x + 1.6, 0.3)),
            _ => along(Point::new(0.3, extent.y + 1.6)),
        };
        let (low, high) = bounds(&places);
        extent = extent.plus(high.plus(low, -1.0), 1.0);
        axes.push(places);
    }
    let place = |node: u64| {
        let mut rest = node;
        axes.iter().zip(sizes).fold(Point::default(), |place, (axis, &size)| {
            let along = rest % size;
            rest /= size;
            place.plus(axis[along as usize], 1.0)
        })
    };
    centerd((0..sizes.iter().product()).map(place).collect())
}
