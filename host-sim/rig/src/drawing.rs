//! The wiring plan as a picture to print: boards around a circle, cables between them, pins and cables listed below.
//!
//! Addresses run around the circle, so boards of one part of a network are side by side. Each cable has the color of the
//! serial port at either end, and its number beside both boards.

use std::collections::BTreeSet;
use std::f64::consts::TAU;
use std::fmt::Write;

use hopwise_figures::escape;

use super::boards::BoardKind;
use super::mesh::{Mesh, NodePort};
use super::plan::{Cable, WiringPlan, describe};

/// The width of A4 at 96 dots an inch.
const WIDTH: f64 = 794.0;
const MARGIN: f64 = 34.0;
/// How deep a board is, seen from the center, and how wide at least.
const DEPTH: f64 = 30.0;
const WIDEST_NUMBER: f64 = 52.0;
/// Between two cables at a board.
const SPREAD: f64 = 16.0;
/// How far a cable leaves its board straight on, with its number.
const STRAIGHT: f64 = 30.0;
/// Between two boards.
const GAP: f64 = 10.0;
const LINE: f64 = 15.0;
const CABLE_COLUMNS: usize = 3;
/// One for each link, told apart also in print and by people who see colors differently.
const COLORS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d00", "#333333"];

type Point = (f64, f64);

/// Where boards are: around a circle, each with its inner side towards the center.
struct Circle {
    center: Point,
    radius: f64,
    boards: u64,
    /// How wide boards are: each has room for all its cables.
    width: f64,
}

impl Circle {
    fn direction(&self, node: u64) -> Point {
        let angle = TAU * node as f64 / self.boards as f64 - TAU / 4.0;
        (angle.cos(), angle.sin())
    }

    fn place(&self, node: u64) -> Point {
        let (x, y) = self.direction(node);
        (self.center.0 + self.radius * x, self.center.1 + self.radius * y)
    }

    /// How far a board is turned, in degrees.
    fn turn(&self, node: u64) -> f64 {
        360.0 * node as f64 / self.boards as f64
    }
}

fn circle_of(mesh: &Mesh) -> Circle {
    let boards = mesh.network.nodes();
    let degree = mesh.nodes().map(|node| mesh.degree(node)).max().unwrap_or(0);
    let width = WIDEST_NUMBER.max(SPREAD * degree as f64 + 6.0);
    let radius = (WIDTH / 2.0 - MARGIN - 50.0).max((width + GAP) * boards as f64 / TAU);
    Circle {
        center: (radius + 50.0 + MARGIN, 96.0 + radius),
        radius,
        boards,
        width,
    }
}

pub fn svg(mesh: &Mesh, plan: &WiringPlan) -> String {
    let circle = circle_of(mesh);
    let (boards, width) = (circle.boards, 2.0 * circle.center.0);
    let top = circle.center.1 + circle.radius + 66.0;
    let legend_lines: usize = mesh.kinds().iter().map(|kind| used_links(mesh, kind).len() + 1).sum();
    let cable_lines = plan.cables.len().div_ceil(CABLE_COLUMNS) + 1;
    let height = top + LINE * (legend_lines + cable_lines + 3) as f64 + MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{MARGIN}\" y=\"34\" font-size=\"18\" font-weight=\"bold\">{}</text>\n\
         <text x=\"{MARGIN}\" y=\"52\">{boards} boards {}, {} cables, {} baud. Each cable: TX to RX, RX to TX, ground to ground.</text>\n",
        escape(&mesh.network.to_string()),
        Vec::from_iter(mesh.kinds().iter().map(|kind| kind.name)).join(", "),
        plan.cables.len(),
        mesh.baud,
    );
    draw_cables(&mut out, mesh, plan, &circle);
    draw_boards(&mut out, mesh, &circle);
    let below = list_pins(&mut out, mesh, top);
    list_cables(&mut out, mesh, plan, below + LINE, width);
    out += "</svg>\n";
    out
}

/// The links that boards of a kind have cables at.
fn used_links(mesh: &Mesh, kind: &BoardKind) -> BTreeSet<usize> {
    let boards = mesh.nodes().filter(|node| mesh.kind_of(*node).name == kind.name);
    let ends = boards.flat_map(|node| (0..mesh.degree(node)).map(move |port| NodePort { node, port }));
    ends.map(|end| mesh.link(end)).collect()
}

/// Where a cable meets its board, at the inner side: cables to boards further clockwise are further clockwise, so that they do not cross.
fn foot(mesh: &Mesh, circle: &Circle, end: NodePort) -> Point {
    let clockwise = |other: NodePort| {
        let far = mesh.far_end(other).map_or(0, |far| far.node);
        ((far + circle.boards - end.node) % circle.boards, other.port)
    };
    let degree = mesh.degree(end.node);
    let ends = (0..degree).map(|port| NodePort { node: end.node, port });
    let before = ends.filter(|other| clockwise(*other) < clockwise(end)).count() as f64;
    // The way to the next board clockwise begins at the side of that board.
    let aside = (before - (degree as f64 - 1.0) / 2.0) * SPREAD;
    let ((x, y), (dx, dy)) = (circle.place(end.node), circle.direction(end.node));
    let inwards = DEPTH / 2.0;
    (x - inwards * dx + aside * dy, y - inwards * dy - aside * dx)
}

/// The way of a cable: from its feet straight on, then bent towards the center, so that cables between near boards stay away from those
/// between far ones.
struct Way {
    feet: [Point; 2],
    begins: [Point; 2],
    control: Point,
}

impl Way {
    fn of(mesh: &Mesh, circle: &Circle, cable: &Cable) -> Self {
        let ends = [cable.from.node_port(), cable.to.node_port()];
        let feet = ends.map(|end| foot(mesh, circle, end));
        let begins = [0, 1].map(|side| inwards(circle, ends[side].node, feet[side], STRAIGHT));
        let [a, b] = begins;
        // Shallow between neighbors, deeper the further apart the boards are: no two cables run side by side.
        let apart = ends[0].node.abs_diff(ends[1].node);
        let apart = apart.min(circle.boards - apart) as f64 / (circle.boards as f64 / 2.0);
        let share = 0.1 + 0.5 * apart;
        let bent = |a: f64, b: f64, center: f64| (a + b) / 2.0 * (1.0 - share) + center * share;
        let control = (bent(a.0, b.0, circle.center.0), bent(a.1, b.1, circle.center.1));
        Way { feet, begins, control }
    }
}

fn inwards(circle: &Circle, node: u64, (x, y): Point, far: f64) -> Point {
    let (dx, dy) = circle.direction(node);
    (x - far * dx, y - far * dy)
}

fn draw_cables(out: &mut String, mesh: &Mesh, plan: &WiringPlan, circle: &Circle) {
    for cable in &plan.cables {
        let ends = [cable.from.node_port(), cable.to.node_port()];
        let Way { feet, begins, control } = Way::of(mesh, circle, cable);
        let [a, b] = begins;

        let half = middle(middle(a, control), middle(control, b));
        for (side, begin) in begins.into_iter().enumerate() {
            let (end, foot) = (ends[side], feet[side]);
            let way = [foot, begin, middle(begin, control), half].map(|(x, y)| format!("{x:.1} {y:.1}"));
            let [foot_at, begin_at, knee_at, half_at] = way;
            let (x, y) = inwards(circle, end.node, foot, STRAIGHT * 0.6);
            let (color, below, number) = (color(mesh.link(end)), y + 3.0, cable.number);
            let _ = writeln!(
                out,
                "<path d=\"M{foot_at}L{begin_at}Q{knee_at} {half_at}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>\
                 <circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"7.5\" fill=\"white\" stroke=\"{color}\"/>\
                 <text x=\"{x:.1}\" y=\"{below:.1}\" font-size=\"9\" text-anchor=\"middle\">{number}</text>"
            );
        }
    }
}

fn middle(a: Point, b: Point) -> Point {
    ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0)
}

fn draw_boards(out: &mut String, mesh: &Mesh, circle: &Circle) {
    for node in mesh.nodes() {
        let (x, y) = circle.place(node);
        let _ = writeln!(
            out,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{DEPTH}\" rx=\"5\" fill=\"#f4f4f0\" stroke=\"#333\" \
             transform=\"rotate({:.2} {x:.1} {y:.1})\"/>",
            x - circle.width / 2.0,
            y - DEPTH / 2.0,
            circle.width,
            circle.turn(node),
        );
        let name = mesh.name(node);
        let number_at = if name.is_empty() { y + 5.0 } else { y - 1.0 };
        let _ = writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{number_at:.1}\" font-size=\"14\" font-weight=\"bold\" text-anchor=\"middle\">{node}</text>"
        );
        if !name.is_empty() {
            let _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"8\" text-anchor=\"middle\">{}</text>",
                y + 10.0,
                escape(name)
            );
        }
    }
}

/// Pins by serial port, of each kind of board. Returns where the list ends.
fn list_pins(out: &mut String, mesh: &Mesh, top: f64) -> f64 {
    let (mut y, left) = (top, MARGIN + 22.0);
    let kinds = mesh.kinds();
    for kind in &kinds {
        // Boards that are all alike need no name.
        let kind_name = format!("{}  ", kind.name);
        let name = if kinds.len() == 1 { "" } else { &kind_name };
        for link in used_links(mesh, kind) {
            let uart = &kind.links[link];
            let (above, color, link) = (y - 9.0, color(link), uart.name);
            let [tx, rx] = [&uart.tx, &uart.rx].map(describe);
            let _ = writeln!(
                out,
                "<rect x=\"{MARGIN}\" y=\"{above:.1}\" width=\"14\" height=\"9\" fill=\"{color}\"/>\
                 <text x=\"{left:.1}\" y=\"{y:.1}\"><tspan font-weight=\"bold\">{name}{link}</tspan>  TX {tx}  RX {rx}</text>"
            );
            y += LINE;
        }
        let _ = writeln!(
            out,
            "<text x=\"{left:.1}\" y=\"{y:.1}\"><tspan font-weight=\"bold\">{name}ground</tspan>  {}</text>",
            kind.ground.join(", ")
        );
        y += LINE;
    }
    y
}

fn list_cables(out: &mut String, mesh: &Mesh, plan: &WiringPlan, top: f64, width: f64) {
    let rows = plan.cables.len().div_ceil(CABLE_COLUMNS).max(1);
    let column = (width - 2.0 * MARGIN) / CABLE_COLUMNS as f64;
    for (place, cable) in plan.cables.iter().enumerate() {
        let x = MARGIN + column * (place / rows) as f64;
        let y = top + LINE * (place % rows) as f64;
        let [from, to] = [cable.from, cable.to].map(|end| {
            let color = color(mesh.link(end.node_port()));
            format!("{} <tspan fill=\"{color}\">{}</tspan>", end.node, end.uart)
        });
        let (above, beside, number) = (y - 9.0, x + 15.0, cable.number);
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{above:.1}\" width=\"9\" height=\"9\" fill=\"none\" stroke=\"#333\"/>\
             <text x=\"{beside:.1}\" y=\"{y:.1}\"><tspan font-weight=\"bold\">{number}</tspan>  {from} – {to}</text>"
        );
    }
}

pub(super) fn color(link: usize) -> &'static str {
    COLORS[link % COLORS.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boards::KINDS;
    use hopwise_testing::networks;

    fn drawn(expression: &str) -> (Mesh, WiringPlan, String) {
        let mesh = Mesh::new(expression.parse().unwrap(), KINDS[0]).unwrap();
        let plan = WiringPlan::new(&mesh);
        let picture = svg(&mesh, &plan);
        (mesh, plan, picture)
    }

    /// The numbers of an attribute of each element of a kind.
    fn numbers(picture: &str, mark: &str, attribute: &str) -> Vec<Vec<f64>> {
        let lines = picture.lines().flat_map(|line| line.split('<'));
        let lines = lines.filter(|line| line.contains(mark));
        let value = |line: &str| {
            let (_, rest) = line.split_once(&format!(" {attribute}=\"")).unwrap();
            let text = rest.split('"').next().unwrap().replace("rotate", "");
            let numbers = text.split(|letter: char| !letter.is_ascii_digit() && letter != '.' && letter != '-');
            numbers.filter_map(|number| number.parse().ok()).collect()
        };
        lines.map(value).collect()
    }

    #[test]
    fn cables_end_at_the_inner_sides_of_their_boards() {
        for expression in networks("wired_boards") {
            let (_, plan, picture) = drawn(expression);
            let turns = numbers(&picture, "rotate(", "transform");
            let widths = numbers(&picture, "rotate(", "width");
            let feet = numbers(&picture, "path ", "d");
            let ends = plan.cables.iter().flat_map(|cable| [cable.from.node, cable.to.node]);
            assert_eq!(feet.len(), 2 * plan.cables.len());
            for (node, foot) in ends.zip(feet) {
                let [turn, x, y] = turns[node as usize][..] else {
                    panic!("{turns:?}")
                };
                let (sin, cos) = (-turn.to_radians()).sin_cos();
                let (dx, dy) = (foot[0] - x, foot[1] - y);
                // As if the board had not been turned.
                let (across, down) = (dx * cos - dy * sin, dx * sin + dy * cos);
                assert!((down - DEPTH / 2.0).abs() < 0.2, "{expression}: {node} {down}");
                let within = widths[node as usize][0] / 2.0 - 7.0;
                assert!(across.abs() <= within, "{expression}: {node} {across}");
            }
        }
    }

    #[test]
    fn boards_do_not_overlap() {
        for expression in networks("wired_boards") {
            let (_, _, picture) = drawn(expression);
            let places = numbers(&picture, "rotate(", "transform");
            let width = numbers(&picture, "rotate(", "width")[0][0];
            for (one, other) in places.iter().zip(places.iter().skip(1)) {
                let apart = (one[1] - other[1]).hypot(one[2] - other[2]);
                assert!(apart > width || places.len() < 6, "{expression}: {apart} {width}");
            }
        }
    }

    fn points(way: &Way) -> Vec<Point> {
        let [a, b] = way.begins;
        let along = |t: f64| {
            let mix = |a: f64, c: f64, b: f64| (1.0 - t).powi(2) * a + 2.0 * t * (1.0 - t) * c + t * t * b;
            (mix(a.0, way.control.0, b.0), mix(a.1, way.control.1, b.1))
        };
        let length = (a.0 - b.0).hypot(a.1 - b.1).max(20.0);
        let count = (length / 2.0) as u32;
        let steps = (0..=count).map(|step| f64::from(step) / f64::from(count));
        steps.map(along).collect()
    }

    #[test]
    fn no_two_cables_are_on_one_line() {
        for expression in networks("wired_boards") {
            let (mesh, plan, _) = drawn(expression);
            let circle = circle_of(&mesh);
            let ways = plan.cables.iter().map(|cable| points(&Way::of(&mesh, &circle, cable)));
            let ways: Vec<Vec<Point>> = ways.collect();
            for (place, one) in ways.iter().enumerate() {
                for (other, way) in ways.iter().enumerate().skip(place + 1) {
                    let near = |point: &&Point| way.iter().any(|far| (point.0 - far.0).hypot(point.1 - far.1) < 2.0);
                    let together = 2 * one.iter().filter(near).count();
                    let [one, two] = [place, other].map(|place| plan.cables[place].number);
                    let what = format!("{expression}: {one} and {two}");
                    assert!(together < 22, "{what} are together for {together}");
                }
            }
        }
    }

    #[test]
    fn the_legend_has_what_is_used_and_nothing_else() {
        for (expression, used) in [("ring(4)", 2), ("rdn(ring(3),1)", 3), ("complete(6)", 5)] {
            let (_, _, picture) = drawn(expression);
            let names = KINDS[0].links.iter();
            let listed = names.filter(|uart| picture.contains(&format!(">{}</tspan>  TX ", uart.name)));
            assert_eq!(listed.count(), used, "{expression}");
        }
    }
}
