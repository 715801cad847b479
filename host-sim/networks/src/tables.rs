//! Graphs from files: `graph:FILE`, a list of edges, routed by tables.
//!
//! A file has an edge a line, two node numbers from 0; what follows a `#` is a remark. Routes are shortest paths; of several
//! closer neighbors another for another destination, so that all links are used alike.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::sync::{Mutex, PoisonError};

use hopwise_core::network::Table;
use hopwise_core::network::table::set_loader;

use crate::distances::{UNREACHED, hops_from};
use crate::graph::Graph;

/// Maximum number of nodes of a graph from a file: its tables take 4 bytes for each pair.
pub const MAX_NODES: usize = 4_096;

/// Maximum size of a file in bytes: each edge of the complete graph of so many nodes twice, in short.
const MAX_BYTES: u64 = 128 << 20;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadEdges {
    #[error("line {0} must be two node numbers")]
    Line(usize),
    #[error("line {0} joins a node with itself")]
    Loop(usize),
    #[error("line {line} has a node above {most}", most = MAX_NODES - 1)]
    TooManyNodes { line: usize },
    #[error("there is no edge in it")]
    Empty,
    #[error("it falls into {0} parts without an edge between them")]
    Parts(usize),
}

/// From now on, `graph:FILE` is read as a network wherever an expression is.
pub fn install() {
    set_loader(load);
}

/// The table of a file. Tables are kept for as long as the program runs, as networks that are copied about refer to them.
fn load(name: &str) -> Result<Table, &'static str> {
    static LOADED: Mutex<Option<HashMap<String, Table>>> = Mutex::new(None);
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let loaded = loaded.get_or_insert_default();
    if let Some(table) = loaded.get(name) {
        return Ok(*table);
    }
    let why = |text: String| -> &'static str { text.leak() };
    let mut text = String::new();
    let file = File::open(name).and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text));
    let bytes = file.map_err(|error| why(error.to_string()))? as u64;
    if bytes > MAX_BYTES {
        return Err("it has more than 128 MiB");
    }
    let graph = read(&text).map_err(|error| why(error.to_string()))?;
    let table = table(name, &graph);
    loaded.insert(name.into(), table);
    Ok(table)
}

pub fn read(text: &str) -> Result<Graph, BadEdges> {
    let graph = read_parts(text)?;
    match graph.parts() {
        1 => Ok(graph),
        parts => Err(BadEdges::Parts(parts)),
    }
}

/// As [`read`], but it may fall into parts.
pub fn read_parts(text: &str) -> Result<Graph, BadEdges> {
    let mut edges = Vec::new();
    let mut nodes = 0;
    for (at, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let numbers: Result<Vec<usize>, _> = line.split_whitespace().map(str::parse).collect();
        let (u, v) = match numbers.as_deref() {
            Ok([]) => continue,
            Ok(&[u, v]) => (u, v),
            _ => return Err(BadEdges::Line(at)),
        };
        if u == v {
            return Err(BadEdges::Loop(at));
        }
        if u.max(v) >= MAX_NODES {
            return Err(BadEdges::TooManyNodes { line: at });
        }
        nodes = nodes.max(u + 1).max(v + 1);
        edges.push((u, v));
    }
    if edges.is_empty() {
        return Err(BadEdges::Empty);
    }
    Ok(Graph::from_edges(nodes, edges))
}

pub fn table(name: &str, graph: &Graph) -> Table {
    let nodes = graph.nodes();
    let mut ports = vec![0u16; nodes * nodes];
    let mut all_hops = vec![0u16; nodes * nodes];
    let mut diameter = 0;
    for dest in 0..nodes {
        let hops = hops_from(graph, dest);
        for here in (0..nodes).filter(|&here| here != dest && hops[here] != UNREACHED) {
            let near = graph.neighbors(here);
            let first = dest % near.len();
            let turn = (first..near.len()).chain(0..first);
            let closer = turn.into_iter().find(|&port| hops[near[port] as usize] < hops[here]);
            ports[here * nodes + dest] = closer.unwrap_or(0) as u16;
            all_hops[here * nodes + dest] = hops[here] as u16;
            diameter = diameter.max(hops[here] as u16);
        }
    }
    let starts: Vec<u32> = (0..=nodes).map(|node| graph.first_link(node) as u32).collect();
    let neighbors: Vec<u32> = (0..nodes).flat_map(|node| graph.neighbors(node).to_vec()).collect();
    Table {
        name: name.to_string().leak(),
        starts: starts.leak(),
        neighbors: neighbors.leak(),
        ports: ports.leak(),
        hops: all_hops.leak(),
        diameter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Audit;
    use hopwise_core::Network;

    #[test]
    fn what_is_no_list_of_edges_is_refused() {
        for (text, why) in [
            ("", "there is no edge in it"),
            ("0 1 # one\n\n1\n", "line 3 must be two node numbers"),
            ("0 1\n1 x\n", "line 2 must be two node numbers"),
            ("0 0\n", "line 1 joins a node with itself"),
            ("0 4096\n", "line 1 has a node above 4095"),
            ("0 18446744073709551615\n", "line 1 has a node above 4095"),
            ("0 1\n2 3\n", "it falls into 2 parts without an edge between them"),
        ] {
            let found = read(text).err().map(|error| error.to_string());
            assert_eq!(found.as_deref(), Some(why), "{text}");
        }
    }

    /// A graph that core knows, written to a file and read again, keeps every guarantee, and has the distances of the original.
    #[test]
    fn a_graph_from_a_file_keeps_every_guarantee() {
        install();
        let original: Network = "rdn(ring(3),1)".parse().expect("a network");
        let edges = Graph::build(&original).expect("it is small");
        let path = std::env::temp_dir().join(format!("hopwise-edges-{}", std::process::id()));
        let text: String = edges.edge_list().map(|(u, v)| format!("{v} {u}\n")).collect();
        std::fs::write(&path, text).expect("a file can be written");
        let expression = format!("graph:{}", path.display());
        let network: Network = expression.parse().expect("it was written");
        std::fs::remove_file(&path).expect("it is there");
        assert_eq!(network.to_string(), expression);
        for from in 0..18 {
            for to in 0..18 {
                assert_eq!(network.distance(from, to), original.distance(from, to));
            }
        }
        let graph = Graph::build(&network).expect("it is small");
        let audit = Audit::of(&network, &graph).expect("sound routes");
        assert!(audit.passed(), "{audit:?}");
        assert!("graph:no-such-file".parse::<Network>().is_err());
        #[cfg(unix)]
        assert!("graph:/dev/zero".parse::<Network>().is_err(), "it never ends");
    }
}
