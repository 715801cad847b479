//! Graphs of one size, the Petersen and the Heawood graph, as tables built at compile time.

use crate::arith::{Number, Vertex};

/// A cubic graph of `N` nodes with all its distances and next hops.
pub(super) struct Fixed<const N: usize> {
    neighbors: [[u8; 3]; N],
    distance: [[u8; N]; N],
    /// The port to take; the first that leads closer.
    next_port: [[u8; N]; N],
}

/// Outer cycle 0..4, spokes i - i+5, inner 5+i - 5+(i+2)%5; ports in ascending order of the neighbours.
pub(super) const PETERSEN: Fixed<10> = Fixed::new([
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
]);

/// The scheme II of Jan, Hwang, Lin and Liang: port 0 to i+1 (plus), port 1 to i-1 (minus), port 2 to i+5 for odd i and
/// i-5 for even i (distance), modulo 14.
pub(super) const HEAWOOD: Fixed<14> = {
    let mut neighbors = [[0; 3]; 14];
    let mut i = 0;
    while i < 14 {
        let distance = if i % 2 == 1 { i + 5 } else { i + 14 - 5 };
        neighbors[i] = [((i + 1) % 14) as u8, ((i + 13) % 14) as u8, (distance % 14) as u8];
        i += 1;
    }
    Fixed::new(neighbors)
};

impl<const N: usize> Fixed<N> {
    /// Relaxes all distances until nothing changes. Runs in the compiler, where an index out of range is a build error.
    const fn new(neighbors: [[u8; 3]; N]) -> Self {
        let far = u8::MAX;
        let mut distance = [[far; N]; N];
        let mut next_port = [[0; N]; N];
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
                            next_port[from][to] = port as u8;
                        }
                    }
                    from += 1;
                }
                round += 1;
            }
            to += 1;
        }
        Fixed {
            neighbors,
            distance,
            next_port,
        }
    }

    pub(super) fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        let neighbors = self.neighbors.get(usize::try_from(node).ok()?)?;
        neighbors
            .get(usize::try_from(port).ok()?)
            .map(|&node| Number::from(node))
    }

    pub(super) fn next(&self, here: Vertex, dest: Vertex) -> Vertex {
        if here == dest {
            return here;
        }
        let port = self
            .next_port
            .get(here as usize)
            .and_then(|row| row.get(dest as usize))
            .copied()
            .unwrap_or(0);
        self.neighbor(here, Number::from(port)).unwrap_or(here)
    }

    pub(super) fn distance(&self, from: Vertex, to: Vertex) -> Number {
        self.distance
            .get(from as usize)
            .and_then(|row| row.get(to as usize))
            .map_or(0, |&hops| Number::from(hops))
    }

    pub(super) fn diameter(&self) -> Number {
        self.distance
            .iter()
            .flatten()
            .map(|&hops| Number::from(hops))
            .max()
            .unwrap_or(0)
    }

    pub(super) fn distance_sum(&self) -> u128 {
        self.distance.iter().flatten().map(|&hops| u128::from(hops)).sum()
    }
}
