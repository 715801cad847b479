//! The wiring plan as a picture to print: boards around a circle, cables between them, pins and cables listed below.
//!
//! Addresses run around the circle, so boards of one part of a network are side by side. Each cable has the colour of the
//! serial port at either end, and its number beside both boards.

use std::f64::consts::TAU;
use std::fmt::Write;

use hopwise_figures::escape;

use super::mesh::{Mesh, NodePort};
use super::plan::{WiringPlan, describe};

/// The width of A4 at 96 dots an inch.
const WIDTH: f64 = 794.0;
const MARGIN: f64 = 34.0;
/// Size of a board.
const BOARD: (f64, f64) = (52.0, 30.0);
/// Between two cables at a board.
const SPREAD: f64 = 16.0;
/// How far a cable leaves its board straight on, with its number.
const STRAIGHT: f64 = 30.0;
/// How much of the circle a board takes at least.
const ROOM: f64 = 62.0;
const LINE: f64 = 15.0;
const CABLE_COLUMNS: usize = 3;
/// One for each link, told apart also in print and by people who see colours differently.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d00", "#333333"];

type Point = (f64, f64);

struct Circle {
    centre: Point,
    radius: f64,
    boards: u64,
}

impl Circle {
    fn direction(&self, node: u64) -> Point {
        let angle = TAU * node as f64 / self.boards as f64 - TAU / 4.0;
        (angle.cos(), angle.sin())
    }

    fn place(&self, node: u64) -> Point {
        let (x, y) = self.direction(node);
        (self.centre.0 + self.radius * x, self.centre.1 + self.radius * y)
    }
}

/// The picture, as SVG.
pub fn svg(mesh: &Mesh, plan: &WiringPlan) -> String {
    let boards = mesh.network.nodes();
    let radius = (WIDTH / 2.0 - MARGIN - 50.0).max(ROOM * boards as f64 / TAU);
    let width = 2.0 * (radius + 50.0 + MARGIN);
    let circle = Circle {
        centre: (width / 2.0, 96.0 + radius),
        radius,
        boards,
    };
    let top = circle.centre.1 + radius + 66.0;
    let legend_lines: usize = mesh.kinds().iter().map(|kind| kind.links.len() + 1).sum();
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

/// Where a cable meets its board: cables to boards further clockwise are further clockwise, so that they do not cross.
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
    (x - 8.0 * dx + aside * dy, y - 8.0 * dy - aside * dx)
}

fn draw_cables(out: &mut String, mesh: &Mesh, plan: &WiringPlan, circle: &Circle) {
    for cable in &plan.cables {
        let ends = [cable.from.node_port(), cable.to.node_port()];
        let feet = ends.map(|end| foot(mesh, circle, end));
        let inwards = |end: NodePort, (x, y): Point, far: f64| {
            let (dx, dy) = circle.direction(end.node);
            (x - far * dx, y - far * dy)
        };
        let [a, b] = [0, 1].map(|side| inwards(ends[side], feet[side], STRAIGHT));
        // Bent towards the centre: cables between near boards stay away from those between far ones.
        let bent = |a: f64, b: f64, centre: f64| (a + b) / 2.0 * 0.65 + centre * 0.35;
        let control = (bent(a.0, b.0, circle.centre.0), bent(a.1, b.1, circle.centre.1));
        let half = middle(middle(a, control), middle(control, b));
        for (side, begin) in [a, b].into_iter().enumerate() {
            let (end, foot) = (ends[side], feet[side]);
            let knee = middle(begin, control);
            let label = inwards(end, foot, STRAIGHT * 0.6);
            let colour = colour(mesh.link(end));
            let _ = writeln!(
                out,
                "<path d=\"M{:.1} {:.1}L{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\
                 <circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"7.5\" fill=\"white\" stroke=\"{colour}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" font-size=\"9\" text-anchor=\"middle\">{}</text>",
                foot.0,
                foot.1,
                begin.0,
                begin.1,
                knee.0,
                knee.1,
                half.0,
                half.1,
                label.0,
                label.1,
                label.0,
                label.1 + 3.0,
                cable.number
            );
        }
    }
}

fn middle(a: Point, b: Point) -> Point {
    ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0)
}

fn draw_boards(out: &mut String, mesh: &Mesh, circle: &Circle) {
    for node in mesh.nodes() {
        let ((x, y), (dx, dy)) = (circle.place(node), circle.direction(node));
        // A little outwards, so that the cables come out at the inner side.
        let (x, y) = (x + 14.0 * dx, y + 12.0 * dy);
        let _ = writeln!(
            out,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{}\" height=\"{}\" rx=\"5\" fill=\"#f4f4f0\" stroke=\"#333\"/>",
            x - BOARD.0 / 2.0,
            y - BOARD.1 / 2.0,
            BOARD.0,
            BOARD.1
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
    let mut y = top;
    let kinds = mesh.kinds();
    for kind in &kinds {
        // Boards that are all alike need no name.
        let name = if kinds.len() == 1 {
            String::new()
        } else {
            format!("{}  ", kind.name)
        };
        for (link, uart) in kind.links.iter().enumerate() {
            let _ = writeln!(
                out,
                "<rect x=\"{MARGIN}\" y=\"{:.1}\" width=\"14\" height=\"9\" fill=\"{}\"/>\
                 <text x=\"{:.1}\" y=\"{y:.1}\"><tspan font-weight=\"bold\">{name}{}</tspan>  TX {}  RX {}</text>",
                y - 9.0,
                colour(link),
                MARGIN + 22.0,
                uart.name,
                describe(&uart.tx),
                describe(&uart.rx)
            );
            y += LINE;
        }
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{y:.1}\"><tspan font-weight=\"bold\">{name}ground</tspan>  {}</text>",
            MARGIN + 22.0,
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
        let colours = [cable.from, cable.to].map(|end| colour(mesh.link(end.node_port())));
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"9\" height=\"9\" fill=\"none\" stroke=\"#333\"/>\
             <text x=\"{:.1}\" y=\"{y:.1}\"><tspan font-weight=\"bold\">{}</tspan>  {} \
             <tspan fill=\"{}\">{}</tspan> – {} <tspan fill=\"{}\">{}</tspan></text>",
            y - 9.0,
            x + 15.0,
            cable.number,
            cable.from.node,
            colours[0],
            cable.from.uart,
            cable.to.node,
            colours[1],
            cable.to.uart
        );
    }
}

fn colour(link: usize) -> &'static str {
    COLOURS[link % COLOURS.len()]
}
