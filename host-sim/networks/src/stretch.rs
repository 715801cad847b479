//! How long the routes of a rule are, against the shortest paths, over all pairs.

use hopwise_core::{Network, Rule};
use rayon::prelude::*;

use super::distances::hops_from;
use super::graph::Graph;
use super::routes::{RouteFault, RoutesTo};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stretch {
    pub pairs: u64,
    /// Pairs whose route is a shortest path.
    pub shortest: u64,
    /// The hops of the longest route.
    pub longest: u64,
    /// The sum over all pairs of route length over distance.
    sum: f64,
    /// The worst pair by that ratio.
    pub worst: Worst,
}

/// The pair whose route is longest against its distance, the first of them by number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Worst {
    pub from: u64,
    pub to: u64,
    pub hops: u64,
    pub distance: u64,
}

impl Worst {
    /// Route length over distance.
    pub fn ratio(&self) -> f64 {
        self.hops as f64 / (self.distance as f64).max(1.0)
    }
}

impl Stretch {
    pub fn measure(network: &Network, graph: &Graph, rule: Rule) -> Result<Stretch, RouteFault> {
        let of_dest = |dest| {
            let routes = RoutesTo::follow(network, graph, dest, rule)?;
            let distances = hops_from(graph, dest);
            let mut found = Stretch::default();
            for from in (0..graph.nodes()).filter(|&from| from != dest) {
                let (hops, distance) = (u64::from(routes.hops[from]), u64::from(distances[from]));
                let pair = Worst {
                    from: from as u64,
                    to: dest as u64,
                    hops,
                    distance,
                };
                found = found.and(Stretch {
                    pairs: 1,
                    shortest: u64::from(hops == distance),
                    longest: hops,
                    sum: pair.ratio(),
                    worst: pair,
                });
            }
            Ok(found)
        };
        let parts: Result<Vec<Stretch>, RouteFault> = (0..graph.nodes()).into_par_iter().map(of_dest).collect();
        Ok(parts?.into_iter().fold(Stretch::default(), Stretch::and))
    }

    fn and(self, other: Stretch) -> Stretch {
        let is_worse = other.worst.ratio() > self.worst.ratio();

        Stretch {
            pairs: self.pairs + other.pairs,
            shortest: self.shortest + other.shortest,
            longest: self.longest.max(other.longest),
            sum: self.sum + other.sum,
            worst: if is_worse { other.worst } else { self.worst },
        }
    }

    /// Pairs whose route is longer than need be.
    pub fn longer(&self) -> u64 {
        self.pairs - self.shortest
    }

    /// The mean of route length over distance.
    pub fn mean(&self) -> f64 {
        self.sum / self.pairs as f64
    }
}
