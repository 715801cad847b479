//! What nodes hold in the end, and what they must.

use hopwise_core::Node;
use hopwise_core::collective::Operation;

use crate::Request;
use crate::fourier::{Complex, direct};
use crate::operation::{Job, personal};

#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    One(Vec<i64>),
    Many(Vec<Vec<i64>>),
    Terms(Vec<Complex>),
}

impl Outcome {
    /// Whether it is what it should be. Rounding makes up to 2^-40 of the sum of all values.
    pub(crate) fn agrees(&self, expected: &Outcome, values: &[i64]) -> bool {
        match (self, expected) {
            (Outcome::Terms(found), Outcome::Terms(expected)) => {
                let scale: f64 = values.iter().map(|&value| (value as f64).abs()).sum();
                let near = |(found, expected): (&Complex, &Complex)| {
                    found.distance(*expected) <= scale / 1e12_f64.min(2f64.powi(40))
                };
                found.len() == expected.len() && found.iter().zip(expected).all(near)
            }
            _ => self == expected,
        }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        match self {
            Outcome::One(values) => values.iter().map(ToString::to_string).collect(),
            Outcome::Many(values) => values
                .iter()
                .map(|values| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
                .collect(),
            Outcome::Terms(terms) => terms.iter().map(|term| format!("{} {}", term.re, term.im)).collect(),
        }
    }
}

impl Job<'_> {
    pub(crate) fn expected(&self) -> Outcome {
        let Request {
            operation,
            operator,
            values,
            root,
            ..
        } = self.request;
        let nodes = self.nodes();
        let total = || operator.fold_all(values.iter().copied());
        let at_root = |value: i64| {
            let mut held = values.clone();
            held[*root as usize] = value;
            held
        };
        match operation {
            Operation::Barrier => Outcome::One(vec![nodes as i64; nodes]),
            Operation::Broadcast => Outcome::One(vec![values[*root as usize]; nodes]),
            Operation::Reduce => Outcome::One(at_root(total())),
            Operation::AllReduce => Outcome::One(vec![total(); nodes]),
            Operation::Scan => Outcome::One(self.prefixes(values, true)),
            Operation::ExclusiveScan => Outcome::One(self.prefixes(values, false)),
            Operation::Gather => {
                let mut held: Vec<Vec<i64>> = values.iter().map(|&value| vec![value]).collect();
                held[*root as usize] = values.clone();
                Outcome::Many(held)
            }
            Operation::Scatter => Outcome::One(values.clone()),
            Operation::AllGather => Outcome::Many(vec![values.clone(); nodes]),
            Operation::AllToAll => {
                let received = |to| values.iter().map(|&value| personal(value, to)).collect();
                Outcome::Many((0..nodes as Node).map(received).collect())
            }
            Operation::Permute | Operation::Shift => {
                let mut held = vec![Vec::new(); nodes];
                for (&value, to) in values.iter().zip(self.permutation) {
                    to.iter().for_each(|&to| held[to as usize].push(value));
                }
                Outcome::Many(held)
            }
            Operation::Sort => {
                let mut held = values.clone();
                held.sort_unstable();
                Outcome::One(held)
            }
            Operation::Fft => Outcome::Terms(direct(values)),
        }
    }
}
