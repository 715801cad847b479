//! The guarantees of delivery, held in the simulator: see `docs/delivery.md`.

mod as_they_come;
mod cuts;
mod delivery;
mod faults;
mod faulty_nodes;
mod hosts;
mod keys;
mod liars;
mod links;
mod programs;
mod pulls;
mod runs;
mod settings;

use hopwise_sim::run::Account;
use hopwise_sim::{Settings, simulate};
use serde_json::Value;
use settings::{also, assert_all_delivered, flag, kept, on, run};

/// The networks that are tortured and saturated.
const TORTURED: [&str; 5] = [
    "rdn(ring(3),1)",
    "re(ring(4),complete(3),3)",
    "rcr(2,2,1)",
    "heawood",
    "rsn(2,hypercube(2))",
];

fn traced(settings: &Settings) -> (Account, Vec<u8>) {
    let mut trace = Vec::new();
    let run = settings.run().unwrap();
    let account = simulate(&run, Some(&mut trace), &mut |_| ()).unwrap();
    (kept(settings, account), trace)
}

fn events(trace: &[u8], name: &str) -> Vec<Value> {
    let lines = trace.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let events = lines.map(|line| serde_json::from_slice::<Value>(line).unwrap());
    events.filter(|event| event["event"] == name).collect()
}
