//! A network as a picture, for the book: the drawing of the page, with a path in it if one is said.

use std::fmt::Write;

use hopwise_core::{Network, Node};
use hopwise_figures::escape;
use hopwise_trace::report::path;

use super::drawn::{TooManyNodes, draw};
use super::layout::Link;
use super::layout::point::{Point, bounds};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// Nodes have their addresses beside their numbers.
    pub addresses: bool,
    pub route: Option<(Node, Node)>,
}

/// Dots for a length of 1, at least and at most.
const SCALE: (f64, f64) = (26.0, 74.0);
const WIDTH: f64 = 760.0;
const MARGIN: f64 = 46.0;
const PATH: &str = "#d55e00";
/// Links within clusters, and of the levels above.
const LINKS: [&str; 4] = ["#9aa6b2", "#56b4e9", "#e69f00", "#009e73"];

impl Picture {
    pub fn svg(&self, network: &Network) -> Result<String, TooManyNodes> {
        let drawing = draw(network)?;
        let path = self.path(network);
        let corners = drawing.clusters.iter().flat_map(|cluster| {
            let corner = |sign: f64| cluster.middle.plus(Point::new(cluster.radius, cluster.radius), sign);
            [corner(-1.0), corner(1.0)]
        });
        let all: Vec<Point> = drawing.places.iter().copied().chain(corners).collect();
        let (Point { x: left, y: top }, Point { x: right, y: bottom }) = bounds(&all);
        let scale = ((WIDTH - 2.0 * MARGIN) / (right - left).max(1.0)).clamp(SCALE.0, SCALE.1);
        let at = |x: f64, y: f64| ((x - left) * scale + MARGIN, (y - top) * scale + MARGIN);
        let width = (right - left) * scale + 2.0 * MARGIN;
        let height = (bottom - top) * scale + 2.0 * MARGIN;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             font-family=\"Helvetica, Arial, sans-serif\" text-anchor=\"middle\">\n<title>{}</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
            escape(&self.title(network, &path))
        );
        for cluster in &drawing.clusters {
            let (x, y) = at(cluster.middle.x, cluster.middle.y);
            let _ = writeln!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{:.1}\" fill=\"#0072b2\" fill-opacity=\"0.06\" stroke=\"#0072b2\" \
                 stroke-opacity=\"0.3\"/>",
                cluster.radius * scale
            );
        }
        let ends = |hop: &[Node]| (hop[0].min(hop[1]), hop[0].max(hop[1]));
        let on_path = |link: &&Link| path.windows(2).any(|hop| ends(hop) == (link.a, link.b));

        let plain = drawing.links.iter().filter(|link| !on_path(link));
        let marked = drawing.links.iter().filter(on_path);
        let plain = plain.map(|link| (link, LINKS[link.kind % LINKS.len()], 1.8));
        for (link, color, thick) in plain.chain(marked.map(|link| (link, PATH, 4.0))) {
            let [a, b] = [link.a, link.b].map(|node| &drawing.places[node as usize]);
            let control_x = (a.x + b.x) / 2.0 + link.bend * (a.y - b.y);
            let control_y = (a.y + b.y) / 2.0 + link.bend * (b.x - a.x);
            let ((ax, ay), (cx, cy), (bx, by)) = (at(a.x, a.y), at(control_x, control_y), at(b.x, b.y));
            let _ = writeln!(
                out,
                "<path d=\"M{ax:.1} {ay:.1}Q{cx:.1} {cy:.1} {bx:.1} {by:.1}\" fill=\"none\" stroke=\"{color}\" \
                 stroke-width=\"{thick}\"/>"
            );
        }
        let radius = (scale * 0.24).min(17.0);
        for (node, place) in (0..).zip(&drawing.places) {
            let (x, y) = at(place.x, place.y);
            let (fill, text) = match path.contains(&node) {
                true => (PATH, "white"),
                false => ("white", "#1c2530"),
            };
            let _ = writeln!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{fill}\" stroke=\"#5b6877\" stroke-width=\"1.5\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"{:.1}\" font-weight=\"bold\" fill=\"{text}\">{node}</text>",
                y + radius * 0.33,
                radius * 0.95
            );
            if self.addresses
                && let Ok(address) = network.address(node)
            {
                let _ = writeln!(
                    out,
                    "<text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"10\" fill=\"#0072b2\" stroke=\"white\" stroke-width=\"3\" \
                     paint-order=\"stroke\">{}</text>",
                    y + radius + 11.0,
                    escape(&address.to_string())
                );
            }
        }
        out += "</svg>\n";
        Ok(out)
    }

    fn path(&self, network: &Network) -> Vec<Node> {
        let route = |(from, to)| path(network, from, to);
        self.route.map_or_else(Vec::new, route)
    }

    fn title(&self, network: &Network, path: &[Node]) -> String {
        match path {
            [] => format!("{network}: {} nodes", network.nodes()),
            path => {
                let path: Vec<String> = path.iter().map(Node::to_string).collect();
                format!("{network}: the path {}", path.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_every_node_and_edge_and_the_path() {
        let network: Network = "rdn(ring(3),1)".parse().unwrap();
        let picture = Picture {
            addresses: true,
            route: Some((0, 17)),
        };
        let svg = picture.svg(&network).unwrap();
        assert_eq!(svg.matches("<path ").count(), 27);
        assert_eq!(svg.matches("font-weight=\"bold\"").count(), 18);
        assert_eq!(svg.matches("stroke-width=\"4\"").count(), 3, "three hops");
        assert_eq!(svg.matches("fill=\"white\">").count(), 4, "the nodes of the path");
        let has_path = svg.contains("the path 0, 2, 15, 17") && svg.contains(">(1,2,2)<");
        assert!(has_path, "{svg}");
        let plain = Picture::default().svg(&network).unwrap();
        assert!(!plain.contains(PATH) && !plain.contains("(1,2,2)"));
        assert!(Picture::default().svg(&"hypercube(11)".parse().unwrap()).is_err());
    }
}
