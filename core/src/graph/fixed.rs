//! Graphs of one size, the Petersen and the Heawood graph, as tables built at compile time.

use super::Graph;
use crate::arith::{Number, Vertex, sub_mod};

/// A cubic graph of `N` nodes with all its distances and next hops.
struct Table<const N: usize> {
    neighbors: [[u8; 3]; N],
    /// The distance, and in the two bits below it the next port: the first that leads closer.
    routes: [[u8; N]; N],
    /// The broadcast of node 0 in the fewest steps: the parents of all nodes, and their steps. Node 0 has no parent and step 0.
    told: [[u8; N]; 2],
}

/// `petersen`: outer cycle 0..4, spokes i - i+5, inner 5+i - 5+(i+2)%5; ports in ascending order of the neighbors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Petersen;

/// `heawood`: the scheme II of Jan, Hwang, Lin and Liang. Port 0 to i+1 (plus), port 1 to i-1 (minus), port 2 to i+5 for odd i
/// and i-5 for even i (distance), modulo 14.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Heawood;

const PETERSEN: Table<10> = Table::new(
    [
        [1, 4, 5],
        [0, 2, 6],
        [1, 3, 7],
        [2, 4, 8],
        [0, 3, 9],
        [0, 7, 8],
        [1, 8, 9],
        [2, 5, 9],
        [3, 5, 6],
        [4, 6, 7],
    ],
    // 4 steps, found by search; the tree of least depth takes 5.
    [[0, 0, 1, 2, 0, 0, 1, 2, 3, 4], [0, 1, 2, 3, 2, 3, 3, 4, 4, 3]],
);

const HEAWOOD: Table<14> = {
    let mut neighbors = [[0; 3]; 14];
    let mut i = 0;
    while i < 14 {
        let distance = if i % 2 == 1 { i + 5 } else { i + 14 - 5 };
        neighbors[i] = [((i + 1) % 14) as u8, ((i + 13) % 14) as u8, (distance % 14) as u8];
        i += 1;
    }
    // 4 steps, found by search; the tree of least depth takes 5.
    let told = [
        [0, 0, 1, 2, 3, 6, 1, 8, 9, 0, 9, 2, 13, 0],
        [0, 1, 2, 3, 4, 4, 3, 4, 3, 2, 4, 4, 4, 3],
    ];
    Table::new(neighbors, told)
};

impl<const N: usize> Table<N> {
    /// Relaxes all distances until nothing changes. Runs in the compiler, where an index out of range is a build error.
    const fn new(neighbors: [[u8; 3]; N], told: [[u8; N]; 2]) -> Self {
        let far = u8::MAX;
        let mut distance = [[far; N]; N];
        let mut routes = [[0; N]; N];
        let mut to = 0;
        while to < N {
            distance[to][to] = 0;
            let mut round = 0;
            while round < N {
                let mut from = 0;
                while from < N {
                    let mut port = 3;
                    while port > 0 {
                        port -= 1;
                        let through = distance[neighbors[from][port] as usize][to];
                        if through != far && from != to && through < distance[from][to] {
                            distance[from][to] = through + 1;
                            routes[from][to] = distance[from][to] << 2 | port as u8;
                        }
                    }
                    from += 1;
                }
                round += 1;
            }
            to += 1;
        }
        Table {
            neighbors,
            routes,
            told,
        }
    }

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        let neighbors = self.neighbors.get(usize::try_from(node).ok()?)?;
        neighbors
            .get(usize::try_from(port).ok()?)
            .map(|&node| Number::from(node))
    }

    fn route(&self, from: Vertex, to: Vertex) -> u8 {
        let row = self.routes.get(from as usize);
        row.and_then(|row| row.get(to as usize)).copied().unwrap_or(0)
    }

    fn step(&self, here: Vertex, dest: Vertex) -> Vertex {
        if here == dest {
            return here;
        }
        let port = self.route(here, dest) & 3;
        self.neighbor(here, Number::from(port)).unwrap_or(here)
    }

    fn hops(&self, from: Vertex, to: Vertex) -> Number {
        Number::from(self.route(from, to) >> 2)
    }

    fn diameter(&self) -> Number {
        let farthest = self.routes.iter().flatten().max();
        farthest.map_or(0, |&route| Number::from(route >> 2))
    }

    /// The send priority of a link in the broadcast of fewest steps, after both ends are mapped by the symmetry that takes the source to
    /// node 0; `None` if the broadcast does not use the link.
    fn scheduled(&self, here: Vertex, child: Vertex) -> Option<u64> {
        let [tellers, steps] = &self.told;
        let (&teller, &step) = (tellers.get(child as usize)?, steps.get(child as usize)?);
        (Number::from(teller) == here).then_some(N as u64 - u64::from(step))
    }
}

impl Petersen {
    /// The outer and the inner cycle exchanged if the source is on the inner one, then a rotation of both.
    fn as_from_zero(node: Vertex, source: Vertex) -> Vertex {
        let exchanged = |node: Vertex| if node < 5 { 5 + node * 2 % 5 } else { (node - 5) * 2 % 5 };
        let (node, source) = if source < 5 {
            (node, source)
        } else {
            (exchanged(node), exchanged(source))
        };
        if node < 5 {
            sub_mod(node, source, 5)
        } else {
            5 + sub_mod(node - 5, source, 5)
        }
    }
}

impl Heawood {
    /// A rotation by an even number, or a reflection.
    fn as_from_zero(node: Vertex, source: Vertex) -> Vertex {
        if source.is_multiple_of(2) {
            sub_mod(node, source, 14)
        } else {
            sub_mod(source, node, 14)
        }
    }
}

macro_rules! graph_of_table {
    ($Name:ident, $table:ident, $nodes:literal, send_priority: $send_priority:expr) => {
        impl Graph for $Name {
            fn nodes(&self) -> Number {
                $nodes
            }

            fn degree(&self, _node: Vertex) -> Number {
                3
            }

            fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
                $table.neighbor(node, port)
            }

            fn step(&self, here: Vertex, dest: Vertex) -> Vertex {
                $table.step(here, dest)
            }

            fn hops(&self, from: Vertex, to: Vertex) -> Number {
                $table.hops(from, to)
            }

            fn diameter(&self) -> Number {
                $table.diameter()
            }

            fn send_priority(&self, _here: Vertex, port: Number, _source: Vertex) -> u64 {
                let by_port: [u64; 3] = $send_priority;
                by_port.get(port as usize).copied().unwrap_or(0)
            }

            fn fewest_steps_send_priority(&self, here: Vertex, port: Number, source: Vertex) -> Option<u64> {
                let child = self.neighbor(here, port).filter(|&child| child != source)?;
                $table.scheduled(
                    $Name::as_from_zero(here, source),
                    $Name::as_from_zero(child, source),
                )
            }

            fn broadcast_steps(&self) -> Number {
                5
            }
        }
    };
}

graph_of_table!(Petersen, PETERSEN, 10, send_priority: [0, 0, 0]);
// Minus, distance, plus: 5 steps, the best for the tree of least depth.
graph_of_table!(Heawood, HEAWOOD, 14, send_priority: [0, 2, 1]);
