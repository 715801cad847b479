//! The best wirings known: cyclic lifts found by search, and how near to the bound they are.
//!
//! [`bound`] is what no graph can beat, [`anneal`] looks for lifts, and [`Catalogue`] keeps the best that were found: a file with
//! a line for each number of nodes and ports, `lifts.txt` beside this crate's manifest. `hopwise lifts` looks further.

pub mod anneal;
pub mod bound;
pub mod grow;

use std::collections::BTreeMap;
use std::fmt::Write;

use hopwise_core::Network;

use crate::distances;
use crate::graph::Graph;
use anneal::Effort;
use bound::Bound;

/// The best lifts found so far.
const KEPT: &str = include_str!("../../lifts.txt");

/// Maximum number of orbits up to which all are tried.
pub const MAX_ORBITS: u64 = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub expression: String,
    pub distance_sum: u64,
    pub diameter: u64,
    /// Steps that were spent on this size so far, so that a search goes on where it was.
    pub steps: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalogue {
    entries: BTreeMap<(u64, u64), Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct BadCatalogue {
    pub line: usize,
    pub what: String,
}

impl Catalogue {
    /// The one that comes with the program.
    pub fn kept() -> Catalogue {
        Catalogue::read(KEPT).expect("the tests read it")
    }

    /// Reads a catalogue, and measures every line afresh instead of trusting its claims.
    pub fn read(text: &str) -> Result<Catalogue, BadCatalogue> {
        let mut catalogue = Catalogue::default();
        let lines = text.lines().enumerate();
        for (at, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            let wrong = |what: &str| BadCatalogue {
                line: at + 1,
                what: what.into(),
            };
            let mut words = line.split_whitespace();
            let mut number = |what: &str| {
                let word = words.next().and_then(|word| word.parse::<u64>().ok());
                word.ok_or_else(|| wrong(what))
            };
            let nodes = number("nodes are missing")?;
            let ports = number("ports are missing")?;
            let entry = Entry {
                distance_sum: number("the sum of distances is missing")?,
                diameter: number("the diameter is missing")?,
                steps: number("the steps are missing")?,
                expression: words.next().unwrap_or_default().into(),
            };
            catalogue.entries.insert((nodes, ports), entry);
        }
        Ok(catalogue)
    }

    pub fn write(&self) -> String {
        let mut text = String::from(HEADING);
        for ((nodes, ports), entry) in &self.entries {
            let Entry {
                expression,
                distance_sum,
                diameter,
                steps,
            } = entry;
            let _ = writeln!(text, "{nodes} {ports} {distance_sum} {diameter} {steps} {expression}");
        }
        text
    }

    /// The best lift of a size.
    pub fn get(&self, nodes: u64, ports: u64) -> Option<&Entry> {
        self.entries.get(&(nodes, ports))
    }

    /// All, by nodes and ports.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64, &Entry)> {
        self.entries
            .iter()
            .map(|(&(nodes, ports), entry)| (nodes, ports, entry))
    }

    /// Looks for a better lift of a size, on from where the last search ended, and keeps it; whether it is one.
    ///
    /// The same steps and the same seed find the same, and no search is longer than the effort says.
    pub fn improve(&mut self, nodes: u64, ports: u64, effort: Effort) -> bool {
        let before = self.entries.get(&(nodes, ports)).cloned();
        let bound = Bound::new(nodes, ports);
        let spent = before.as_ref().map_or(0, |entry| entry.steps);
        let is_best = |entry: &Entry| entry.distance_sum <= bound.distance_sum();
        if before.as_ref().is_some_and(is_best) {
            return false;
        }
        // Another seed for every part of a search, or it would find the same again.
        let effort = Effort {
            seed: effort.seed ^ spent.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            ..effort
        };
        let found = anneal::search(nodes, ports, effort);
        let rank = |entry: &Entry| (entry.distance_sum, entry.diameter);
        let is_better = |found: &Entry| before.as_ref().is_none_or(|before| rank(found) < rank(before));
        let better = found.as_ref().is_some_and(is_better);

        let best = if better { found } else { before };
        if let Some(best) = best {
            let entry = Entry {
                steps: spent + effort.steps,
                ..best
            };
            self.entries.insert((nodes, ports), entry);
        }
        better
    }
}

const HEADING: &str = "\
# The best cyclic lifts found: nodes, ports, sum of the distances over ordered pairs, diameter, steps spent, expression.
# `hopwise lifts` goes on with the search; docs/wiring.md says how.
";

/// The figures of a lift, measured.
pub fn measure(expression: &str) -> Option<(Network, u64, u64)> {
    let network: Network = expression.parse().ok()?;
    let graph = Graph::build(&network).ok()?;
    let sources: Vec<usize> = (0..graph.nodes()).collect();
    let found = distances::from_sources(&graph, &sources, |_| ());
    found.connected.then_some((network, found.sum as u64, found.largest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every line is a lift of the size and the ports it claims, with the distances it claims.
    #[test]
    fn the_catalogue_is_true() {
        let catalogue = Catalogue::kept();
        for (nodes, ports, entry) in catalogue.iter() {
            let (network, sum, diameter) = measure(&entry.expression).expect("a connected lift");
            assert_eq!(network.nodes(), nodes, "{}", entry.expression);
            let degrees = (0..nodes).map(|node| network.unchecked().degree(node));
            assert_eq!(degrees.max(), Some(ports), "{}", entry.expression);
            let found = (sum, diameter);
            assert_eq!(found, (entry.distance_sum, entry.diameter), "{}", entry.expression);
            assert!(sum >= Bound::new(nodes, ports).distance_sum(), "{}", entry.expression);
            assert_eq!(network.to_string(), entry.expression, "in its canonical spelling");
        }
        assert_eq!(Catalogue::read(&catalogue.write()), Ok(catalogue));
    }

    #[test]
    fn a_search_goes_on_and_is_the_same_each_time() {
        let effort = Effort { steps: 2_000, seed: 7 };
        let mut one = Catalogue::default();
        assert!(one.improve(20, 3, effort));
        let mut other = Catalogue::default();
        other.improve(20, 3, effort);
        assert_eq!(one, other);
        let before = one.get(20, 3).cloned().expect("it was found");
        one.improve(20, 3, effort);
        let after = one.get(20, 3).expect("it is kept");
        assert!(after.distance_sum <= before.distance_sum);
    }

    #[test]
    fn a_damaged_catalogue_names_its_line() {
        let error = Catalogue::read("# heading\n32 3 x\n").expect_err("no number");
        assert_eq!(error.to_string(), "line 2: the sum of distances is missing");
    }
}
