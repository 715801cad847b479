//! New configs through the mesh. Those that come from afar are on trial: all boards must be there again before they are told to keep them.

use std::collections::BTreeMap;

use hopwise_host::talk::{BoardRequest, Reply, Talk, ask_nodes, read};
use hopwise_node::wire::{CONFIG_BYTES, Command, CommandResult, Status};
use serde::Serialize;

use super::{Boards, LOOK, LOOKS, ask, does, list};

/// How it went. The names are those of the JSON keys of `hopwise update --pages`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConfigsReport {
    pub boards: usize,
    /// How many of them had another one before.
    pub changed: usize,
    /// How long it took, by the boards' time.
    pub seconds: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotChange {
    #[error("{} not respond: {}", does(.0), list(.0))]
    Silent(Vec<u64>),
    #[error(
        "node {0} takes no config from afar: it has no key, so that someone must hold its button, or it has another key than the mesh file"
    )]
    NotAllowed(u64),
    #[error("the network of node {0} is of a family that its image does not have")]
    NotInImage(u64),
    #[error("node {node} does not take its config: {done:?}")]
    Refused { node: u64, done: CommandResult },
    #[error("{} not come back with the new config, and all go back to the one before within a minute: {}", does(.0), list(.0))]
    NotBack(Vec<u64>),
    #[error("{} not keep the new config: {}", does(.0), list(.0))]
    NotKept(Vec<u64>),
}

/// Writes configs. Boards are told in this order: those that are farthest from the host first.
pub fn change_configs(
    boards: &mut dyn Boards,
    configs: &[(u64, [u8; CONFIG_BYTES])],
) -> Result<ConfigsReport, CannotChange> {
    let begin = boards.elapsed();
    let nodes: Vec<u64> = configs.iter().map(|(node, _)| *node).collect();
    let wanted: BTreeMap<u64, [u8; CONFIG_BYTES]> = configs.iter().copied().collect();
    let others = differing(boards, &wanted, &nodes);
    if !others.silent.is_empty() {
        return Err(CannotChange::Silent(others.silent));
    }
    let changed = others.differ;
    let mut open = changed.clone();
    for _ in 0..LOOKS {
        tell(boards, &wanted, &mut open)?;
        if open.is_empty() {
            break;
        }
        boards.wait(LOOK);
    }
    confirm_configs(boards, &wanted, &changed)?;
    let seconds = (boards.elapsed() - begin).as_secs_f64();
    Ok(ConfigsReport {
        boards: nodes.len(),
        changed: changed.len(),
        seconds,
    })
}

/// Waits until nodes are back with their new configs, and has them kept.
pub(crate) fn confirm_configs(
    boards: &mut dyn Boards,
    wanted: &BTreeMap<u64, [u8; CONFIG_BYTES]>,
    changed: &[u64],
) -> Result<(), CannotChange> {
    let mut late = changed.to_vec();
    for _ in 0..LOOKS {
        boards.wait(LOOK);
        let others = differing(boards, wanted, &late);
        late = [others.differ, others.silent].concat();
        if late.is_empty() {
            break;
        }
    }
    if !late.is_empty() {
        return Err(CannotChange::NotBack(late));
    }
    let mut on_trial = changed.to_vec();
    for _ in 0..LOOKS {
        let _: Vec<Option<CommandResult>> = ask(boards, &on_trial, &Command::KeepConfig);
        boards.wait(LOOK);
        let states: Vec<Option<Status>> = ask(boards, &on_trial, &Command::Status);
        let mut kept = states
            .iter()
            .map(|status| status.as_ref().is_some_and(|status| !status.on_trial));
        on_trial.retain(|_| !kept.next().unwrap_or(false));
        if on_trial.is_empty() {
            // One that has gone back to its old config is not on trial either.
            let others = differing(boards, wanted, changed);
            return match others.differ.is_empty() {
                true => Ok(()),
                false => Err(CannotChange::NotKept(others.differ)),
            };
        }
    }
    Err(CannotChange::NotKept(on_trial))
}

struct Others {
    differ: Vec<u64>,
    silent: Vec<u64>,
}

fn differing(boards: &mut dyn Boards, wanted: &BTreeMap<u64, [u8; CONFIG_BYTES]>, nodes: &[u64]) -> Others {
    let talk: &mut dyn Talk = boards;
    let replies = ask_nodes(talk, nodes, Command::ReadConfig.query(), &[]);
    let mut others = Others {
        differ: Vec::new(),
        silent: Vec::new(),
    };
    for (node, reply) in nodes.iter().zip(replies) {
        match reply {
            Some(Reply::Response(bytes)) if bytes[..] == wanted[node][..] => {}
            Some(Reply::Response(_)) => others.differ.push(*node),
            _ => others.silent.push(*node),
        }
    }
    others
}

/// Gives boards their configs; those that have answered are open no more.
fn tell(
    boards: &mut dyn Boards,
    wanted: &BTreeMap<u64, [u8; CONFIG_BYTES]>,
    open: &mut Vec<u64>,
) -> Result<(), CannotChange> {
    let entrances = boards.entrances();
    let request = |node: &u64| {
        let command = Command::WriteConfig(&wanted[node]);
        BoardRequest {
            at: entrances.iter().position(|entrance| entrance == node).unwrap_or(0),
            dest: *node,
            query: command.query(),
            more: command.payload().to_vec(),
        }
    };
    let requests: Vec<BoardRequest> = open.iter().map(request).collect();
    let replies = boards.ask(&requests);
    for (request, reply) in requests.iter().zip(&replies) {
        let node = request.dest;
        match read::<CommandResult>(reply) {
            None | Some(CommandResult::Busy) => {}
            Some(CommandResult::Done) => open.retain(|other| *other != node),
            Some(CommandResult::NotAllowed) => return Err(CannotChange::NotAllowed(node)),
            Some(CommandResult::NotInImage) => return Err(CannotChange::NotInImage(node)),
            Some(done) => return Err(CannotChange::Refused { node, done }),
        }
    }
    Ok(())
}
