//! What the papers claim, measured afresh: one file a paper, each a list of measurements that make rows of a report.

mod claim;
mod heawood;
mod rcr;
mod rdn;
mod re;
mod swapped;

use hopwise_core::{Base, Network, Node, ParseError, Rule};

use claim::Case;
pub use claim::{Claim, How, Paper, Verdict};

use crate::CannotExamine;
use crate::closed_form;
use crate::distances::hops_from;
use crate::figures::Figures;
use crate::graph::Graph;
use crate::routes::RouteFault;
use crate::stretch::Stretch;

/// Why claims were not measured.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CannotMeasure {
    #[error(transparent)]
    Examine(#[from] CannotExamine),
    #[error(transparent)]
    Route(#[from] RouteFault),
}

fn no_network(expression: &str, error: &ParseError) -> CannotMeasure {
    CannotExamine(format!("'{expression}' is not a network: {error}")).into()
}

fn no_formula(expression: &str) -> CannotMeasure {
    CannotExamine(format!("{expression}: no closed form is known for its figures")).into()
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
    let network = parsed.map_err(|error| no_network(expression, &error))?;
    Ok(network.with_search_memory(usize::MAX))
}

fn base(expression: &str) -> Result<Base, CannotMeasure> {
    expression.parse().map_err(|error| no_network(expression, &error))
}

fn built(expression: &str) -> Result<(Network, Graph), CannotMeasure> {
    let network = network(expression)?;
    let graph = Graph::build(&network)?;
    Ok((network, graph))
}

/// A network, and how long its paper's routes are.
fn routed(run: &Run, expression: &str) -> Result<(Network, Stretch), CannotMeasure> {
    (run.progress)(expression);
    let (network, graph) = built(expression)?;
    let stretch = Stretch::measure(&network, &graph, Rule::Paper)?;
    Ok((network, stretch))
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
    let disconnected = || CannotExamine(format!("{} is not connected", figures.expression)).into();
    figures.diameter.ok_or_else(disconnected)
}

fn searched_diameter(run: &Run, expression: &str) -> Result<u64, CannotMeasure> {
    diameter(&searched(run, expression)?)
}

/// Diameters that are said of networks, beside those that are found.
fn diameters(run: &Run, said: impl IntoIterator<Item = (String, u64)>) -> Result<Vec<Case>, CannotMeasure> {
    let case = |(expression, said): (String, u64)| {
        let found = searched_diameter(run, &expression)?;
        Ok(Case::new(expression, said, found))
    };
    said.into_iter().map(case).collect()
}

/// Nodes, largest degree and diameter by formula, of networks too large to search.
fn by_formula(expression: &str) -> Result<(u64, u64, u64), CannotMeasure> {
    let network = network(expression)?;
    let form = closed_form::figures(&network);
    let figures = form.and_then(|form| Some((network.nodes(), form.degree_max, form.diameter?)));
    figures.ok_or_else(|| no_formula(expression))
}

/// The node whose address is written so, if there is one.
fn node_at(network: &Network, address: &str) -> Option<Node> {
    let is = |&node: &Node| network.address(node).is_ok_and(|found| found.to_string() == address);
    (0..network.nodes()).find(is)
}

/// The links of the shortest cycle through a link.
fn shortest_cycle(graph: &Graph, u: usize, v: usize) -> u32 {
    let without = graph.edge_list().filter(|&edge| edge != (u, v));
    hops_from(&Graph::from_edges(graph.nodes(), without), u)[v] + 1
}

/// The degree of all nodes; where they differ, one that is not the claimed one.
fn regular_degree(figures: &Figures, said: u64) -> u64 {
    let (least, most) = (figures.degree_min, figures.degree_max);
    if most == said { least } else { most }
}
