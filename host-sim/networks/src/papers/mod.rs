//! What the papers claim, measured afresh: one file a paper, each a list of measurements that make rows of a report.

mod claim;
mod heawood;
mod rcr;
mod rdn;
mod re;
mod swapped;

use hopwise_core::{Base, Network, ParseError};

pub use claim::{Claim, How, Paper, Verdict};

use crate::closed_form::{self, NoFormula};
use crate::figures::{CannotSearch, Figures};
use crate::graph::{Graph, TooLarge};
use crate::levels::TooManyToSearch;
use crate::routes::RouteFault;

#[derive(Clone, Debug, thiserror::Error)]
pub enum CannotMeasure {
    #[error("'{expression}' is not a network: {error}")]
    Expression { expression: String, error: ParseError },
    #[error(transparent)]
    Search(#[from] CannotSearch),
    #[error(transparent)]
    Formula(#[from] NoFormula),
    #[error("{expression} is not connected")]
    Disconnected { expression: String },
    #[error(transparent)]
    Route(#[from] RouteFault),
}

impl From<TooLarge> for CannotMeasure {
    fn from(error: TooLarge) -> Self {
        CannotMeasure::Search(error.into())
    }
}

impl From<TooManyToSearch> for CannotMeasure {
    fn from(error: TooManyToSearch) -> Self {
        CannotMeasure::Search(error.into())
    }
}

pub struct Run<'a> {
    /// Also what takes long.
    pub long: bool,
    /// Told what is being measured.
    pub progress: &'a (dyn Fn(&str) + Sync),
}

type Claims = Result<Vec<Claim>, CannotMeasure>;

/// A measurement: it makes one or more rows.
type Measurement = fn(&Run) -> Claims;

pub fn measurements(paper: Paper) -> usize {
    list(paper).len()
}

fn list(paper: Paper) -> &'static [Measurement] {
    match paper {
        Paper::Rdn => rdn::MEASUREMENTS,
        Paper::Re => re::MEASUREMENTS,
        Paper::Heawood => heawood::MEASUREMENTS,
        Paper::Swapped => swapped::MEASUREMENTS,
        Paper::Rcr => rcr::MEASUREMENTS,
    }
}

/// The claims of a paper, measured now. `done` is called after every measurement.
pub fn measure(paper: Paper, run: &Run, done: impl Fn()) -> Claims {
    let mut claims = Vec::new();
    for measurement in list(paper) {
        claims.extend(measurement(run)?);
        done();
    }
    Ok(claims)
}

/// Reads an expression. Exact searches may take what a host has to spare.
fn network(expression: &str) -> Result<Network, CannotMeasure> {
    let parsed: Result<Network, _> = expression.parse();
    let network = parsed.map_err(|error| CannotMeasure::Expression {
        expression: expression.into(),
        error,
    })?;
    Ok(network.with_search_memory(usize::MAX))
}

fn base(expression: &str) -> Result<Base, CannotMeasure> {
    expression.parse().map_err(|error| CannotMeasure::Expression {
        expression: expression.into(),
        error,
    })
}

fn built(expression: &str) -> Result<(Network, Graph), CannotMeasure> {
    let network = network(expression)?;
    let graph = Graph::build(&network)?;
    Ok((network, graph))
}

fn searched(run: &Run, expression: &str) -> Result<Figures, CannotMeasure> {
    let network = network(expression)?;
    (run.progress)(expression);
    let figures = Figures::by_search(&network, |done, all| {
        if all > 1_000_000 {
            (run.progress)(&format!("{expression}: {done} of {all} nodes"));
        }
    });
    Ok(figures?)
}

fn diameter(figures: &Figures) -> Result<u64, CannotMeasure> {
    figures.diameter.ok_or_else(|| CannotMeasure::Disconnected {
        expression: figures.expression.clone(),
    })
}

fn searched_diameter(run: &Run, expression: &str) -> Result<u64, CannotMeasure> {
    diameter(&searched(run, expression)?)
}

/// Nodes, largest degree and diameter by formula, of networks too large to search.
fn by_formula(expression: &str) -> Result<(u64, u64, u64), CannotMeasure> {
    let network = network(expression)?;
    let form = closed_form::figures(&network);
    let figures = form.and_then(|form| Some((network.nodes(), form.degree_max, form.diameter?)));
    Ok(figures.ok_or_else(|| NoFormula::of(expression))?)
}

/// The degree of all nodes; where they differ, one that is not the claimed one.
fn regular_degree(figures: &Figures, said: u64) -> u64 {
    let (least, most) = (figures.degree_min, figures.degree_max);
    if most == said { least } else { most }
}
