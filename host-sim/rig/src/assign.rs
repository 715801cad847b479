//! Which board is which node: boards are plugged in one after the other, and each new probe is the next node's.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use crate::mesh::{Mesh, NodePort, is_same_probe};
use crate::plan::describe;
use crate::probe_rs::{Call, Program, Target, output_within};

/// How long probe-rs may take to look for probes, or to restart a board.
const LIMIT: Duration = Duration::from_secs(20);
/// How often a board is restarted, so that its LED goes out and on, and how long it is left alone in between.
const BLINKS: usize = 3;
const BLINK: Duration = Duration::from_millis(400);

/// A probe that is plugged in: `0483:374b:066DFF515055657867152331`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probe(pub String);

impl Probe {
    /// The probes of ST-LINKs in what `probe-rs list` says: `[0]: STLink V2-1 -- 0483:374b:066DFF51 (ST-LINK)`.
    pub fn read_list(said: &str) -> BTreeSet<Probe> {
        let probe = |line: &str| {
            let (number, rest) = line.trim().split_once("]: ")?;
            number.strip_prefix('[')?.parse::<u32>().ok()?;
            let selector = rest.split(" -- ").nth(1)?.split_whitespace().next()?;
            (selector.split(':').count() == 3 && selector.starts_with("0483:")).then(|| Probe(selector.into()))
        };
        said.lines().filter_map(probe).collect()
    }

    pub fn find(program: &Program) -> std::io::Result<BTreeSet<Probe>> {
        Ok(Probe::read_list(&Probe::list(program)?))
    }

    fn list(program: &Program) -> std::io::Result<String> {
        let output = output_within(&mut program.command(Call::List), LIMIT)?;
        Ok(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    }

    /// What kind of probe one is, by its number, in what `probe-rs list` says: `STLink V2-1`.
    pub fn kind_in_list(said: &str, number: &str) -> Option<String> {
        let line = said.lines().find(|line| !number.is_empty() && line.contains(number))?;
        let (kind, _) = line.split_once("]: ")?.1.split_once(" -- ")?;
        Some(kind.into())
    }

    /// The same, of a probe that is plugged in; `None` if probe-rs does not know.
    pub fn kind_of(number: &str) -> Option<String> {
        let program = Program::find("probe-rs").ok()?;
        Probe::kind_in_list(&Probe::list(&program).ok()?, number)
    }

    /// As the mesh file has it: without vendor and product if those are the board's usual ones.
    pub fn written(&self, mesh: &Mesh, node: u64) -> String {
        let usual = self.0.strip_prefix(mesh.kind_of(node).probe);
        let number = usual.and_then(|rest| rest.strip_prefix(':'));
        number.unwrap_or(&self.0).into()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    Done,
    PlugIn(u64),
    Assign(u64, Probe),
    /// Several new probes are there: all but one must go.
    Several(u64, BTreeSet<Probe>),
}

pub fn next(mesh: &Mesh, seen: &BTreeSet<Probe>) -> Next {
    let Some(node) = mesh.real_nodes().find(|node| mesh.probe(*node).is_none()) else {
        return Next::Done;
    };
    let taken: Vec<String> = mesh.nodes().filter_map(|node| mesh.probe(node)).collect();
    let is_taken = |probe: &Probe| taken.iter().any(|other| is_same_probe(other, &probe.0));
    let mut new: BTreeSet<Probe> = seen.iter().filter(|probe| !is_taken(probe)).cloned().collect();
    match (new.len(), new.pop_first()) {
        (_, None) => Next::PlugIn(node),
        (1, Some(probe)) => Next::Assign(node, probe),
        (_, Some(first)) => {
            new.insert(first);
            Next::Several(node, new)
        }
    }
}

/// Restarts a board a few times: its LED goes out and on, so that one sees which it is.
pub fn blink(program: &Program, mesh: &Mesh, node: u64, probe: &Probe) -> std::io::Result<()> {
    let target = Target {
        chip: mesh.kind_of(node).chip,
        probe: &probe.0,
    };
    for _ in 0..BLINKS {
        output_within(&mut program.command(Call::Reset(target)), LIMIT)?;
        std::thread::sleep(BLINK);
    }
    Ok(())
}

/// What a label on a board says: its node, and where each of its cables goes.
pub fn label(mesh: &Mesh, node: u64) -> String {
    let name = match mesh.name(node) {
        "" => String::new(),
        name => format!(" {name}"),
    };
    let mut text = format!("node {node}{name}  {}  {}\n", mesh.network, mesh.kind_of(node).name);
    for port in 0..mesh.degree(node) {
        let end = NodePort { node, port };
        let uart = mesh.uart(end);
        let far = mesh.far_end(end).map(|far| far.to_string());
        let far = far.as_deref().unwrap_or("nothing");
        let (tx, rx) = (describe(&uart.tx), describe(&uart.rx));
        let _ = writeln!(text, "  {port}  {:7}  TX {tx}  RX {rx}  to {far}", uart.name);
    }
    text
}
