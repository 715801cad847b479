//! Networks and routes in the formats of other programs.
//!
//! Each format is a template in `export/`: a line with `{node}` is there for each node, one with `{u}` for each link, its end with the
//! lower number first. So the same network gives the same text.

use std::fmt::Write;

use hopwise_core::{Network, Rule};

use crate::CannotExamine;
use crate::drawing::address;

/// Networks with more links are not exported.
pub const MAX_LINKS: u64 = 1 << 22;
/// Routes of larger networks are not exported: there is a line for each pair of nodes.
pub const MAX_ROUTED: u64 = 4_096;

/// The formats by name.
pub const FORMATS: [(&str, &str); 6] = [
    ("booksim", include_str!("export/booksim.txt")),
    ("sst", include_str!("export/sst.py")),
    ("ned", include_str!("export/network.ned")),
    ("graphml", include_str!("export/graphml.xml")),
    ("dot", include_str!("export/graph.dot")),
    ("edges", include_str!("export/links.edges")),
];

/// A network in a format. O(links) queries to core.
pub fn network(network: &Network, format: &str) -> Result<String, CannotExamine> {
    let Some((_, template)) = FORMATS.iter().find(|(name, _)| *name == format) else {
        let names = FORMATS.map(|(name, _)| name).join(", ");
        let why = format!("'{format}' is not a format; the formats are {names}");
        return Err(CannotExamine(why));
    };
    let topology = network.unchecked();
    let nodes = 0..network.nodes();
    let mut ends = 0;
    for node in nodes.clone() {
        ends += topology.degree(node);
        if ends.max(node) > 2 * MAX_LINKS {
            let why = format!("{network} has too many links to export (at most {MAX_LINKS})");
            return Err(CannotExamine(why));
        }
    }
    // No name of a file can end a comment or a quoted text.
    let title = network.to_string();
    let title = title.replace(|letter: char| letter.is_control() || "\"\\<>&".contains(letter), "_");
    let words = title.split(|letter: char| !letter.is_ascii_alphanumeric());
    let name = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
    let others = |node| (0..topology.degree(node)).filter_map(move |port| topology.neighbor(node, port));
    let mut text = String::new();
    for line in template.split_inclusive('\n') {
        if line.contains("{node}") {
            for node in nodes.clone() {
                let routers: String = others(node).map(|other| format!(" router {other}")).collect();
                let line = line.replace("{node}", &node.to_string()).replace("{routers}", &routers);
                let line = line.replace("{degree}", &topology.degree(node).to_string());
                text += &line.replace("{address}", &address(network, node));
            }
        } else if line.contains("{u}") {
            let links = nodes
                .clone()
                .flat_map(|u| (0..).zip(others(u)).map(move |(port, v)| (u, port, v)));
            for (u, port, v) in links.filter(|(u, _, v)| u < v) {
                let back = topology.port_to(v, u).unwrap_or_default();
                let ends = [("{u}", u), ("{port}", port), ("{v}", v), ("{other}", back)];
                let fill = |line: String, (mark, value): (&str, u64)| line.replace(mark, &value.to_string());
                text += &ends.into_iter().fold(line.into(), fill);
            }
        } else {
            let line = line.replace("{title}", &title).replace("{name}", &name);
            text += &line.replace("{nodes}", &network.nodes().to_string());
        }
    }
    Ok(text)
}

/// The port that leads on from each node to each other.
pub fn routes(network: &Network, rule: Rule) -> Result<String, CannotExamine> {
    let nodes = network.nodes();
    if nodes > MAX_ROUTED {
        let why = format!("{network} has {nodes} nodes, too many to export all routes (at most {MAX_ROUTED})");
        return Err(CannotExamine(why));
    }
    let topology = network.unchecked();
    let pairs = (0..nodes).flat_map(|node| (0..nodes).map(move |dest| (node, dest)));
    let mut text = "node,destination,port\n".to_string();
    for (node, dest) in pairs.filter(|(node, dest)| node != dest) {
        let next = topology.next(node, dest, rule);
        let port = topology.port_to(node, next).unwrap_or_default();

        let _ = writeln!(text, "{node},{dest},{port}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use hopwise_testing::networks;

    use super::*;

    fn numbers(text: &str) -> Vec<u64> {
        let words = text.split(|letter: char| !letter.is_ascii_digit());
        words.filter_map(|word| word.parse().ok()).collect()
    }

    /// For each format but BookSim's, the places of node, port, node and port in the line of a link, and that line, with # for a number.
    const LINKS: &str = include_str!("export/links.txt");

    /// Networks of every family: what is read again from each format is what core says.
    #[test]
    fn every_format_has_all_links_with_their_ports_and_all_routes() {
        let groups = hopwise_testing::audited_groups().chain(["named_lifts"]);
        let all = groups.flat_map(|group| networks(group).into_iter().take(3));
        let all = all.map(|expression| expression.parse::<Network>().unwrap());
        let small: Vec<Network> = all.filter(|graph| graph.nodes() <= 400).collect();
        assert!(small.len() > 40, "{} networks", small.len());
        for graph in small {
            let topology = graph.unchecked();
            let (mut routers, mut links) = (String::new(), Vec::new());
            for node in 0..graph.nodes() {
                let _ = write!(routers, "router {node} node {node}");
                for port in 0..topology.degree(node) {
                    let other = topology.neighbor(node, port).unwrap();
                    let _ = write!(routers, " router {other}");
                    let back = (0..).find(|&port| topology.neighbor(other, port) == Some(node));
                    links.extend((node < other).then(|| [node, port, other, back.unwrap()]));
                }
                routers += "\n";
            }
            assert_eq!(network(&graph, "booksim").unwrap(), routers, "{graph}");
            let table = routes(&graph, Rule::Exact).unwrap();
            let pairs = graph.nodes() * (graph.nodes() - 1);
            assert_eq!(table.lines().count() as u64, 1 + pairs, "{graph}");
            for route in table.lines().skip(1).map(numbers) {
                let next = topology.neighbor(route[0], route[2]);
                assert_eq!(next, Some(topology.next(route[0], route[1], Rule::Exact)), "{graph}");
            }
            for row in LINKS.lines() {
                let [format, places, pattern] = row.splitn(3, '|').collect::<Vec<_>>()[..] else {
                    panic!("{row}")
                };
                let read = |line: &str| {
                    let found = numbers(line);
                    let put = |text: String, number: &u64| text.replacen('#', &number.to_string(), 1);
                    let is_link = found.iter().fold(pattern.into(), put) == line && found.len() == 4;
                    let mut places = places.bytes().map(|place| found[usize::from(place - b'0')]);
                    is_link.then(|| [0; 4].map(|_| places.next().unwrap()))
                };
                let text = network(&graph, format).unwrap();
                let found: Vec<[u64; 4]> = text.lines().filter_map(read).collect();
                assert_eq!(found, links, "{graph} as {format}");
            }
        }
    }
}
