//! Lower bounds for all graphs of a number of nodes and ports.

/// The Moore bound on distances (Cerf, Cowan, Mullin, Stanton 1974): at distance h a node has at most d (d-1)^(h-1) others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    nodes: u64,
    from_one: u64,
    diameter: u64,
}

impl Bound {
    /// The bound for nodes of at most this many links.
    pub fn new(nodes: u64, ports: u64) -> Bound {
        let mut left = nodes.saturating_sub(1);
        let mut level = ports;
        let (mut from_one, mut diameter) = (0u64, 0);
        while left > 0 && level > 0 {
            diameter += 1;
            let here = level.min(left);
            from_one = from_one.saturating_add(here.saturating_mul(diameter));
            left -= here;
            // With a single link there are no nodes farther out.
            level = level.saturating_mul(ports - 1);
        }
        Bound {
            nodes,
            from_one: if left == 0 { from_one } else { u64::MAX / nodes.max(1) },
            diameter,
        }
    }

    pub fn distance_sum(&self) -> u64 {
        self.from_one.saturating_mul(self.nodes)
    }

    pub fn mean(&self) -> f64 {
        self.from_one as f64 / (self.nodes as f64 - 1.0)
    }

    pub fn diameter(&self) -> u64 {
        self.diameter
    }

    /// By which share a mean distance is above it.
    pub fn excess(&self, mean: f64) -> f64 {
        mean / self.mean() - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moore_graphs_meet_it() {
        assert_eq!(Bound::new(10, 3).distance_sum(), 150);
        assert_eq!(Bound::new(50, 7).mean(), (7.0 + 2.0 * 42.0) / 49.0);
        assert_eq!(Bound::new(256, 3).diameter(), 7);
        assert!((Bound::new(256, 3).mean() - 5.588).abs() < 1e-3);
    }
}
