//! A claim of a paper, what was measured, and what that says of the claim.

use std::cmp::Ordering;

use hopwise_core::named;
use serde::{Serialize, Serializer};

named! {
    /// The papers, in the order of the report.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Paper {
        /// Y. Li, S. Peng, W. Chu: Recursive Dual-Net
        Rdn = "rdn",
        /// H. Shen, R.-J. Back: Construction of Large-Size Interconnection Networks with High Performance
        Re = "re",
        /// G. E. Jan, Y.-S. Hwang, M.-B. Lin, D. Liang: Novel Hierarchical Interconnection Networks
        Heawood = "heawood",
        /// C.-H. Yeh, B. Parhami: Swapped Networks
        Swapped = "swapped",
        /// Y. Sun, P. Y. S. Cheung, X. Lin: Recursive Cube of Rings
        Rcr = "rcr",
    }
}

impl Paper {
    /// Author and title.
    pub fn title(self) -> &'static str {
        match self {
            Paper::Rdn => {
                "Y. Li, S. Peng, W. Chu, Recursive Dual-Net: A New Universal Network for Supercomputers of the Next \
                 Generation"
            }
            Paper::Re => {
                "H. Shen, R.-J. Back, Construction of Large-Size Interconnection Networks with High Performance, 1993"
            }
            Paper::Heawood => {
                "G. E. Jan, Y.-S. Hwang, M.-B. Lin, D. Liang, Novel Hierarchical Interconnection Networks for \
                 High-Performance Multicomputer Systems, 2004"
            }
            Paper::Swapped => {
                "C.-H. Yeh, B. Parhami, Swapped Networks: Unifying the Architectures and Algorithms of a Wide Class of \
                 Hierarchical Parallel Processors, 1996"
            }
            Paper::Rcr => {
                "Y. Sun, P. Y. S. Cheung, X. Lin, Recursive Cube of Rings: A New Topology for Interconnection Networks, \
                 2000"
            }
        }
    }
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum How {
        /// Breadth-first search or routes from every node to every node, or from one node of each symmetry class.
        AllPairs = "all pairs",
        /// Breadth-first search from one node of a vertex-transitive network.
        SingleSource = "single source",
        /// A proven formula, or an exact distance computed from addresses.
        ClosedForm = "closed form",
        /// Counted at every node or link of the built-out network.
        Counted = "counted",
        /// The printed construction or algorithm, executed as it stands.
        AsPrinted = "done as printed",
        /// Every possibility tried.
        Exhaustive = "all cases tried",
        /// The smallest cut into halves that was found: all cuts tried up to 32 nodes, local search above.
        BestCut = "best cut found",
        /// Searched for at random; what was found is checked, what was not may still be there.
        Found = "random search",
    }
}

named! {
    /// What the measurement says of the claim.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Verdict {
        Holds = "holds",
        /// Said as an equality, it is an upper bound.
        HoldsAsABound = "holds as a bound",
        /// It is not so; the counterexample tells.
        False = "false",
        /// The paper can be read in ways that come to different answers, contradicts itself, or what would decide is lost.
        Ambiguous = "ambiguous",
        /// Said of growth without bound: the sizes that were measured do not contradict it, and no more can be said.
        Consistent = "consistent with",
        /// Not in the paper: found here, and so on all that was measured.
        Finding = "our finding",
    }
}

impl Verdict {
    pub(super) fn of(so: bool) -> Verdict {
        if so { Verdict::Holds } else { Verdict::False }
    }

    /// Of a claim that another reading may save.
    pub(super) fn of_reading(so: bool) -> Verdict {
        if so { Verdict::Holds } else { Verdict::Ambiguous }
    }

    /// Of an equality: whether it is one everywhere, and whether nothing is above it.
    pub(super) fn of_equality(equal: bool, bound: bool) -> Verdict {
        match bound && !equal {
            true => Verdict::HoldsAsABound,
            false => Verdict::of(equal),
        }
    }
}

impl Serialize for How {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A row of the report. The names are those of its JSON keys.
#[derive(Clone, Debug, Serialize)]
pub struct Claim {
    pub paper: Paper,
    /// Where it stands there.
    pub place: String,
    pub says: String,
    pub measured: String,
    pub how: How,
    pub verdict: Verdict,
    pub counterexample: Option<String>,
}

impl Claim {
    /// The same as something that the paper does not say, if it holds.
    pub(super) fn finding(self) -> Claim {
        self.rather(Verdict::Holds, Verdict::Finding)
    }

    /// The same as something said of growth without bound, if it holds.
    pub(super) fn growth(self) -> Claim {
        self.rather(Verdict::Holds, Verdict::Consistent)
    }

    /// The same as an equality that is of no use as a bound.
    pub(super) fn no_bound(self) -> Claim {
        self.rather(Verdict::HoldsAsABound, Verdict::False)
    }

    fn rather(mut self, this: Verdict, other: Verdict) -> Claim {
        if self.verdict == this {
            self.verdict = other;
        }
        self
    }

    /// A claim that nothing was measured for yet: `place: what it says`.
    pub(super) fn at(paper: Paper, text: &str) -> Claim {
        let (place, says) = text.split_once(": ").unwrap_or(("", text));
        Claim {
            paper,
            place: place.into(),
            says: says.into(),
            measured: String::new(),
            how: How::Counted,
            verdict: Verdict::Ambiguous,
            counterexample: None,
        }
    }

    /// Whether it is so, and how that was found.
    pub(super) fn so(self, how: How, so: bool) -> Claim {
        self.judged(how, Verdict::of(so))
    }

    /// What is to be said of it, and how that was found.
    pub(super) fn judged(self, how: How, verdict: Verdict) -> Claim {
        Claim { how, verdict, ..self }
    }

    pub(super) fn measured(self, measured: String) -> Claim {
        Claim { measured, ..self }
    }

    /// Where it fails.
    pub(super) fn except(self, counterexample: Option<String>) -> Claim {
        Claim { counterexample, ..self }
    }

    /// Compares an equality of the paper with what was measured, network by network: as long as no figure is above the paper's, it
    /// still holds as a bound.
    pub(super) fn exactly(self, how: How, cases: &[Case]) -> Claim {
        let below = cases.iter().find(|case| case.found < case.said);
        let bound = self.at_most(how, cases);
        match below {
            Some(case) if bound.verdict == Verdict::Holds => Claim {
                verdict: Verdict::HoldsAsABound,
                counterexample: Some(case.mismatch()),
                ..bound
            },
            _ => bound,
        }
    }

    pub(super) fn at_most(self, how: How, cases: &[Case]) -> Claim {
        let above = cases.iter().find(|case| case.found > case.said);
        Claim {
            measured: listed(cases),
            how,
            verdict: Verdict::of(above.is_none()),
            counterexample: above.map(Case::mismatch),
            ..self
        }
    }
}

/// One network for which a paper's figure and a measured one can be compared.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) network: String,
    /// What the paper's formula comes to.
    pub(super) said: u128,
    pub(super) found: u128,
}

impl Case {
    pub(super) fn new(network: impl ToString, said: impl Into<u128>, found: impl Into<u128>) -> Case {
        Case {
            network: network.to_string(),
            said: said.into(),
            found: found.into(),
        }
    }

    fn mismatch(&self) -> String {
        format!("{}: {}, not {}", self.network, self.found, self.said)
    }
}

/// More cases than this are summed up, not listed.
const MAX_LISTED: usize = 6;

fn listed(cases: &[Case]) -> String {
    if cases.len() <= MAX_LISTED {
        let all = cases.iter().map(|case| format!("{}: {}", case.network, case.found));
        return all.collect::<Vec<_>>().join(", ");
    }
    let count = |order| cases.iter().filter(|case| case.found.cmp(&case.said) == order).count();
    let shares = [
        (count(Ordering::Equal), "equal"),
        (count(Ordering::Less), "below"),
        (count(Ordering::Greater), "above"),
    ];
    let shares = shares.iter().filter(|share| share.0 > 0);
    let shares: Vec<String> = shares.map(|(count, what)| format!("{what} on {count}")).collect();
    let (first, last) = (&cases[0].network, &cases[cases.len() - 1].network);
    format!("{} of {} networks, {first} to {last}", shares.join(", "), cases.len())
}
