//! What the page asks, and the responses.

use std::error::Error;

use hopwise_collective::{self as collective, Request as Job};
use hopwise_core::collective::Operation;
use hopwise_core::{Network, Node, Rule};
use hopwise_networks::figures::Figures;
use hopwise_networks::routes::Route;
use hopwise_view::data::{MAX_HOPS, NoPage};
use hopwise_view::drawn::{DrawnNetwork, draw};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::live::{self, LiveMesh, Message};

/// A request; the names are those of the JSON keys.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
enum Request {
    /// The operations of collectives.
    Operations,
    /// Draws a network, and starts a mesh of it.
    Open { network: String },
    /// The output of `hopwise topo --json`.
    Topo { network: String },
    /// The output of `hopwise route --json`.
    Route { network: String, from: Node, to: Node },
    /// The rounds of a collective, in which every node's value is its number.
    Collective { network: String, operation: String },
    /// A board sends to another, or to all.
    Send { from: u32, message: Message },
    /// Plugs a cable in, or pulls it.
    Plug { cable: u32, plugged: bool },
    /// Switches a board on or off.
    Power { board: u32, on: bool },
    /// Lets the mesh go on until a time in nanoseconds; to the next event only, if said so.
    Advance { until: u64, one: bool },
}

/// What a network is drawn from, with its figures.
#[derive(Serialize)]
struct Opened {
    #[serde(flatten)]
    drawn: DrawnNetwork,
    figures: Figures,
    progress: live::Progress,
}

/// The mesh of the page, if one is open.
#[derive(Default)]
pub struct Player {
    mesh: Option<Box<dyn LiveMesh>>,
}

type Response = Result<Value, Box<dyn Error>>;

impl Player {
    /// The response to a request: an object with `ok`, or with `error`, a sentence.
    pub fn respond(&mut self, request: &str) -> String {
        let response = serde_json::from_str(request).map_err(Box::from);
        match response.and_then(|request| self.carry_out(request)) {
            Ok(value) => json!({ "ok": value }).to_string(),
            Err(error) => json!({ "error": error.to_string() }).to_string(),
        }
    }

    fn carry_out(&mut self, request: Request) -> Response {
        Ok(match request {
            Request::Operations => json!(Operation::ALL.map(Operation::name)),
            Request::Open { network } => self.open(&parse(&network)?)?,
            Request::Topo { network } => serde_json::to_value(Figures::find(&parse(&network)?, |_, _| ())?)?,
            Request::Route { network, from, to } => {
                serde_json::to_value(Route::follow(&parse(&network)?, from, to, Rule::Exact)?)?
            }
            Request::Collective { network, operation } => rounds(&parse(&network)?, &operation)?,
            Request::Send { from, message } => json!(self.mesh()?.send(from, message)?),
            Request::Plug { cable, plugged } => json!(self.mesh()?.plug(cable, plugged)?),
            Request::Power { board, on } => json!(self.mesh()?.power(board, on)?),
            Request::Advance { until, one } => serde_json::to_value(self.mesh()?.advance(until, one))?,
        })
    }

    fn mesh(&mut self) -> Result<&mut dyn LiveMesh, Box<dyn Error>> {
        Ok(self.mesh.as_mut().ok_or("no network is open")?.as_mut())
    }

    fn open(&mut self, network: &Network) -> Response {
        let drawing = draw(network)?;
        let figures = Figures::find(network, |_, _| ())?;
        let mut mesh = live::start(network)?;
        let progress = mesh.bring_up();
        self.mesh = Some(mesh);
        let drawn = DrawnNetwork::new(network, drawing);
        Ok(serde_json::to_value(Opened {
            drawn,
            figures,
            progress,
        })?)
    }
}

/// A network that may search as much as on a host, as the command has it.
fn parse(expression: &str) -> Result<Network, String> {
    let parsed: Result<Network, _> = expression.parse();
    let network = parsed.map_err(|error| format!("'{expression}' is not a network: {error}"))?;
    Ok(network.with_search_memory(usize::MAX))
}

fn rounds(network: &Network, name: &str) -> Response {
    let mut all = Operation::ALL.into_iter();
    let operation = all.find(|operation| operation.name() == name);
    let operation = operation.ok_or_else(|| format!("there is no collective '{name}'"))?;
    draw(network)?;
    let job = Job {
        write_down: true,
        ..Job::new(operation, (0..network.nodes() as i64).collect())
    };
    let done = collective::run(network, &job)?;
    let messages = done.rounds.iter().map(Vec::len).sum();
    if messages > MAX_HOPS {
        let operation = name.into();
        return Err(NoPage::TooManyMessages { operation, messages }.into());
    }
    Ok(json!({ "report": done.report, "held": done.held, "rounds": done.rounds }))
}
