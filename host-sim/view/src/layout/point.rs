//! Places on the page.

/// A place on the page; y points down.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

impl Point {
    pub const fn new(x: f64, y: f64) -> Self {
        Point { x, y }
    }

    /// At an angle, clockwise from the right.
    pub fn at(angle: f64, radius: f64) -> Self {
        Point::new(radius * angle.cos(), radius * angle.sin())
    }

    /// Moved by another, taken so many times.
    pub fn plus(self, other: Point, times: f64) -> Self {
        Point::new(self.x + times * other.x, self.y + times * other.y)
    }

    pub fn distance(self, other: Point) -> f64 {
        (self.x - other.x).hypot(self.y - other.y)
    }

    pub fn turned(self, angle: f64) -> Self {
        let (sin, cos) = angle.sin_cos();
        Point::new(self.x * cos - self.y * sin, self.x * sin + self.y * cos)
    }

    /// The angle at which it is seen from the origin.
    pub fn angle(self) -> f64 {
        self.y.atan2(self.x)
    }
}

/// Moved so that the middle of all is at the origin.
pub(super) fn centerd(points: Vec<Point>) -> Vec<Point> {
    let (low, high) = bounds(&points);
    let middle = Point::new(f64::midpoint(low.x, high.x), f64::midpoint(low.y, high.y));
    points.into_iter().map(|point| point.plus(middle, -1.0)).collect()
}

pub(crate) fn bounds(points: &[Point]) -> (Point, Point) {
    let fold = |pick: fn(&Point) -> f64, best: fn(f64, f64) -> f64| points.iter().map(pick).reduce(best).unwrap_or(0.0);
    (
        Point::new(fold(|p| p.x, f64::min), fold(|p| p.y, f64::min)),
        Point::new(fold(|p| p.x, f64::max), fold(|p| p.y, f64::max)),
    )
}
