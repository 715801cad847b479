//! Any graph at all, `graph:FILE`, routed by tables.
//!
//! For comparing a custom topology with those of this crate, on a host: the tables grow with the square of the nodes,
//! and boards have none. This crate reads no files; the program provides a [`Loader`] of [`Table`]s once, with [`set_loader`].
//!
//! Ports are the neighbors in ascending order.

use std::sync::OnceLock;

use crate::arith::{Number, Vertex};
use crate::expr_writer::{ExprWriter, WriteExpr};
use crate::network::expression::{BrokenRule, Reader};
use crate::topology::{Rule, Topology};

/// A graph with all its distances and next hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    /// The name after `graph:`.
    pub name: &'static str,
    /// The start of each node's neighbors, and the end of the last node's.
    pub starts: &'static [u32],
    /// The neighbors of all nodes, in ascending order for each.
    pub neighbors: &'static [u32],
    /// The port from each node to each, `here * nodes + dest`.
    pub ports: &'static [u16],
    /// The distances, in the same layout.
    pub hops: &'static [u16],
    /// The largest distance.
    pub diameter: u16,
}

/// Loads the table of a name, or returns the failure reason.
pub type Loader = fn(&str) -> Result<Table, &'static str>;

static LOADER: OnceLock<Loader> = OnceLock::new();

/// Sets the loader of tables; only the first call takes effect.
pub fn set_loader(loader: Loader) {
    let _ = LOADER.set(loader);
}

impl Table {
    pub(crate) fn parse(reader: &mut Reader<'_>) -> Option<Self> {
        const FILE: &str = "FILE of graph:FILE";
        reader.expect(b':', FILE, "preceded by ':'")?;
        let name = reader.rest();
        let loaded = match LOADER.get() {
            Some(loader) => loader(name),
            None => Err("this program reads no graphs"),
        };
        loaded.map_or_else(|why| reader.refuse(FILE, BrokenRule::Unreadable(why)), Some)
    }

    fn pair(&self, here: Vertex, dest: Vertex) -> usize {
        here as usize * self.nodes() as usize + dest as usize
    }

    fn first(&self, node: Vertex) -> u32 {
        self.starts.get(node as usize).copied().unwrap_or(0)
    }
}

impl Topology for Table {
    fn nodes(&self) -> Number {
        self.starts.len().saturating_sub(1) as Number
    }

    fn degree(&self, node: Vertex) -> Number {
        Number::from(self.first(node + 1).saturating_sub(self.first(node)))
    }

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        if port >= self.degree(node) {
            return None;
        }
        let place = self.first(node) as usize + usize::try_from(port).ok()?;
        self.neighbors.get(place).map(|&neighbor| Number::from(neighbor))
    }

    fn port_to(&self, node: Vertex, neighbor: Vertex) -> Option<Number> {
        let own = self.first(node) as usize..self.first(node + 1) as usize;
        let port = self.neighbors.get(own)?.binary_search(&(neighbor as u32)).ok()?;
        Some(port as Number)
    }

    fn next(&self, here: Vertex, dest: Vertex, _rule: Rule) -> Vertex {
        if here == dest {
            return here;
        }
        let port = self.ports.get(self.pair(here, dest)).copied().unwrap_or(0);
        self.neighbor(here, Number::from(port)).unwrap_or(here)
    }

    fn distance(&self, from: Vertex, to: Vertex) -> Option<Number> {
        self.hops.get(self.pair(from, to)).map(|&hops| Number::from(hops))
    }

    fn known_diameter(&self) -> Option<Number> {
        Some(Number::from(self.diameter))
    }
}

impl WriteExpr for Table {
    fn write_expr(&self, out: &mut ExprWriter<'_>) {
        out.text("graph:").text(self.name);
    }
}
