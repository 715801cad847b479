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
use serde_json::json;

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

/// JSON as text: figures have numbers of 128 bits, which [`serde_json::Value`] has not.
type Response = Result<String, Box<dyn Error>>;

impl Player {
    /// The response to a request: an object with `ok`, or with `error`, a sentence.
    pub fn respond(&mut self, request: &str) -> String {
        let response = serde_json::from_str(request).map_err(Box::from);
        match response.and_then(|request| self.carry_out(request)) {
            Ok(value) => format!("{{\"ok\":{value}}}"),
            Err(error) => json!({ "error": error.to_string() }).to_string(),
        }
    }

    fn carry_out(&mut self, request: Request) -> Response {
        Ok(match request {
            Request::Operations => serde_json::to_string(&Operation::ALL.map(Operation::name))?,
            Request::Open { network } => self.open(&parse(&network)?)?,
            Request::Topo { network } => serde_json::to_string(&Figures::find(&parse(&network)?, |_, _| ())?)?,
            Request::Route { network, from, to } => {
                serde_json::to_string(&Route::follow(&parse(&network)?, from, to, Rule::Exact)?)?
            }
            Request::Collective { network, operation } => rounds(&parse(&network)?, &operation)?,
            Request::Send { from, message } => serde_json::to_string(&self.mesh()?.send(from, message)?)?,
            Request::Plug { cable, plugged } => serde_json::to_string(&self.mesh()?.plug(cable, plugged)?)?,
            Request::Power { board, on } => serde_json::to_string(&self.mesh()?.power(board, on)?)?,
            Request::Advance { until, one } => serde_json::to_string(&self.mesh()?.advance(until, one))?,
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
        Ok(serde_json::to_string(&Opened {
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
    Ok(json!({ "report": done.report, "held": done.held, "rounds": done.rounds }).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopwise_testing::rows;
    use serde_json::Value;

    fn ok(player: &mut Player, request: Value) -> Value {
        let response: Value = serde_json::from_str(&player.respond(&request.to_string())).unwrap();
        assert_eq!(response["error"], Value::Null, "{request}");
        response["ok"].clone()
    }

    fn opened(network: &str) -> (Player, Value) {
        let mut player = Player::default();
        let opened = ok(&mut player, json!({"do": "open", "network": network}));
        assert_eq!(opened["progress"]["busy"], false, "{network}: all links are up");
        (player, opened)
    }

    /// Cuts a cable, sends over it, and lets the mesh go on until it is quiet; returns all events.
    fn around_a_cut(network: &str, cable: usize) -> Vec<Value> {
        let (mut player, opened) = opened(network);
        let [from, to] = [0, 1].map(|end| opened["links"][cable][end].clone());
        ok(&mut player, json!({"do": "plug", "cable": cable, "plugged": false}));
        let send = json!({"do": "send", "from": from, "message": {"confirmed": to}});
        ok(&mut player, send);
        let mut events = Vec::new();
        for _ in 0..10_000 {
            let advance = json!({"do": "advance", "until": 5_000_000_000u64, "one": true});
            let progress = ok(&mut player, advance);
            let lines = progress["events"].as_array().unwrap().iter();
            events.extend(lines.map(|line| serde_json::from_str::<Value>(line.as_str().unwrap()).unwrap()));
            if progress["busy"] == false {
                return events;
            }
        }
        panic!("{network} is busy for ever");
    }

    #[test]
    fn cables_are_numbered_as_links_are_drawn_and_a_cut_one_is_gone_around() {
        for network in ["rdn(ring(3),1)", "complete(12)", "torus(10,10)"] {
            let (_, opened) = opened(network);
            let cable = opened["links"].as_array().unwrap().len() / 2;
            let (a, b) = (&opened["links"][cable][0], &opened["links"][cable][1]);
            let events = around_a_cut(network, cable);
            let at = |name: &str, node: &Value| {
                let here = |event: &&Value| event["event"] == name && event["node"] == *node;
                events.iter().filter(here).collect::<Vec<_>>()
            };
            for (name, node) in [("link-down", a), ("link-down", b), ("delivered", b)] {
                assert!(!at(name, node).is_empty(), "{network}: {name} at {node}");
            }
            assert!(events.iter().any(|event| event["event"] == "detoured"), "{network}");
            assert!(at("frame", a).iter().any(|event| event["to"] == *b), "{network}");
            assert_eq!(events, around_a_cut(network, cable), "{network}: the same again");
        }
    }

    #[test]
    fn what_cannot_be_done_is_refused_in_a_sentence() {
        let (mut player, _) = opened("ring(3)");
        for (request, sentence) in rows(include_str!("bad-requests.txt")) {
            let response: Value = serde_json::from_str(&player.respond(&request)).unwrap();
            let error = response["error"].as_str().unwrap_or_default();
            assert!(error.starts_with(&sentence), "{request}: {response}");
        }
        ok(&mut player, json!({"do": "power", "board": 0, "on": false}));
        let response = player.respond(r#"{"do":"send","from":0,"message":"broadcast"}"#);
        assert_eq!(response, r#"{"error":"board 0 is off"}"#);
    }
}
