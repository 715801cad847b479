//! New firmware through the mesh: into all boards, from the serial port of one of them.
//!
//! Boards are asked what they run, and told what is to come; they make room for it. Then the host broadcasts every block, as fast as the
//! mesh takes them: the board at its port takes one when there is room for it. What boards lack they get from their neighbors, or it is sent
//! again, until each has the whole image. Only then they switch, all together or wave by wave, and are told to keep what they run. A board
//! that is not told so goes back within a minute.

mod configs;
mod package;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hopwise_host::talk::{BoardRequest, Talk, ask_nodes, read};
use hopwise_node::store::Slot;
use hopwise_node::wire::{Command, CommandResult, UpdatePhase, UpdateState, VERSION};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) use configs::confirm_configs;
pub use configs::{CannotChange, ConfigsReport, change_configs};
pub use package::{BadPackage, Linked, Package, hex};

/// Blocks that are sent before anyone looks what became of them.
const BATCH: usize = 64;
/// Between two looks at boards that are busy with themselves.
const LOOK: Duration = Duration::from_millis(200);
/// So often: erasing takes seconds, and a restart one or two.
const LOOKS: usize = 150;
/// A board that has been told to switch is back by then, with the new image or, after a minute on trial, with the one before.
const BACK_WITHIN: Duration = Duration::from_secs(65);
/// After so many looks without a change boards get no more from each other: they have asked three neighbors.
const AT_REST: usize = 8;
/// Maximum number of attempts to hand a block to the board at the port, until it has room to forward it.
const ATTEMPTS: usize = 20;
/// Maximum number of rounds of retransmission.
const REPAIRS: usize = 20;

/// Boards to talk to, and time that passes.
pub trait Boards: Talk {
    fn wait(&mut self, time: Duration);

    fn elapsed(&self) -> Duration;

    /// The version of the wire format that they speak.
    fn wire_version(&self) -> u8 {
        VERSION
    }

    /// Broadcasts blocks from the first entrance, as fast as the board there takes them.
    fn stream(&mut self, blocks: Vec<Vec<u8>>);
}

/// How an update went. The names are those of the JSON keys of `hopwise update`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct UpdateReport {
    pub boards: usize,
    /// How long it took, by the boards' time.
    pub seconds: f64,
    /// Of that, until every board had room.
    pub erase_seconds: f64,
    /// And until every board had the image.
    pub transfer_seconds: f64,
    pub blocks: usize,
    pub retries: usize,
    /// Boards that did not come back.
    pub bricked: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotUpdate {
    #[error("{} not respond: {}; `hopwise check` says what is heard of {}", does(.0), list(.0), if .0.len() == 1 { "it" } else { "them" })]
    Silent(Vec<u64>),
    #[error("the firmware of {} takes no updates through the mesh: `hopwise flash` brings one that does", list(.0))]
    TooOld(Vec<u64>),
    #[error(
        "the image speaks version {0} of the wire format, which this hopwise does not: use the one that it came with"
    )]
    NewerWire(u8),
    #[error(
        "the boards speak version {spoken} of the wire format and the image version {wire}, so they cannot switch one after the other: leave out `--rolling`"
    )]
    OtherWire { spoken: u8, wire: u8 },
    #[error("the image is for {image}, and node {node} is a {board}")]
    OtherBoard { image: String, node: u64, board: String },
    #[error(
        "node {0} has no flash for an image: a node in a process is updated with its `hopwise` command, and started again"
    )]
    NoImages(u64),
    #[error("{} no boot loader: `hopwise flash` brings it once, with a probe: {}", has(.0), list(.0))]
    NoLoader(Vec<u64>),
    #[error("the image on {} is still on trial: wait for a minute, and try again", list(.0))]
    OnTrial(Vec<u64>),
    #[error("the image has {bytes} bytes, too many for node {node}")]
    TooLarge { bytes: u32, node: u64 },
    #[error(
        "node {0} has a key, and takes an update only from a host that proves to have it: the mesh file must name the key file"
    )]
    NotAllowed(u64),
    #[error(
        "node {0} has an owner, and takes only images that the owner has signed: `--owner FILE` signs this one with the owner's private key"
    )]
    NoSignature(u64),
    #[error("the signature of the image is not that of the owner of node {0}")]
    BadSignature(u64),
    #[error(
        "the image has version {version}, and node {node} takes none below the floor of the image that it has kept"
    )]
    Outdated { version: u32, node: u64 },
    #[error("node {node} refuses the update: {done:?}")]
    Refused { node: u64, done: CommandResult },
    #[error("{} not make room for the image: {}", does(.0), list(.0))]
    NoRoom(Vec<u64>),
    #[error("{} the image damaged, or could not write it: {}", has(.0), list(.0))]
    Damaged(Vec<u64>),
    #[error("after {REPAIRS} repairs {} not all of the image: {}", has(.0), list(.0))]
    Missing(Vec<u64>),
    #[error("{} back to the image before: {}", if .0.len() == 1 { "a board went" } else { "boards went" }, list(.0))]
    WentBack(Vec<u64>),
    #[error("{} not come back: {}", does(.0), list(.0))]
    Gone(Vec<u64>),
    #[error("{} not keep the new image: {}", does(.0), list(.0))]
    NotKept(Vec<u64>),
}

fn list(nodes: &[u64]) -> String {
    let numbers: Vec<String> = nodes.iter().map(u64::to_string).collect();
    let word = if nodes.len() == 1 { "node" } else { "nodes" };
    format!("{word} {}", numbers.join(", "))
}

fn does(nodes: &[u64]) -> &'static str {
    if nodes.len() == 1 { "a board does" } else { "boards do" }
}

fn has(nodes: &[u64]) -> &'static str {
    if nodes.len() == 1 { "a board has" } else { "boards have" }
}

pub struct Updater<'a> {
    boards: &'a mut dyn Boards,
    package: &'a Package,
    /// In the order in which they are told.
    nodes: Vec<u64>,
    targets: BTreeMap<u64, Slot>,
    /// Those whose firmware knows no signatures, and so no owner.
    unsigned: BTreeSet<u64>,
    report: UpdateReport,
}

/// Brings boards a new image. Those of `waves` that belong together switch together. Boards are told in this order: those that are farthest from the
/// host come first, since who was told does not pass anything on for a while.
pub fn update(boards: &mut dyn Boards, package: &Package, waves: &[Vec<u64>]) -> Result<UpdateReport, CannotUpdate> {
    let (spoken, wire) = (boards.wire_version(), package.wire);
    if wire > VERSION {
        return Err(CannotUpdate::NewerWire(wire));
    }
    if spoken != wire && waves.len() > 1 {
        return Err(CannotUpdate::OtherWire { spoken, wire });
    }
    let begin = boards.elapsed();
    let nodes: Vec<u64> = waves.concat();
    let mut updater = Updater::look(boards, package, &nodes)?;
    updater.make_room(&nodes)?;
    updater.send_all();
    updater.repair()?;
    for wave in waves {
        updater.switch(wave)?;
    }
    Ok(updater.finish(begin))
}

impl<'a> Updater<'a> {
    /// Asks boards what they are and what they run.
    pub fn look(boards: &'a mut dyn Boards, package: &'a Package, nodes: &[u64]) -> Result<Self, CannotUpdate> {
        let talk: &mut dyn Talk = boards;
        let replies = ask_nodes(talk, nodes, Command::Update.query(), &[]);
        let states: Vec<Option<UpdateState>> = replies.iter().map(read).collect();
        let with = |is: &dyn Fn(&Option<UpdateState>) -> bool| {
            let those = nodes.iter().zip(&states).filter(|(_, state)| is(state));
            Some(those.map(|(node, _)| *node).collect::<Vec<_>>()).filter(|nodes| !nodes.is_empty())
        };
        // What is answered to a command that is not known is no state.
        let too_old = nodes.iter().zip(&replies);
        let is_unknown = |reply: &_| read::<CommandResult>(reply) == Some(CommandResult::Unknown);
        let too_old = too_old.filter(|(_, reply)| is_unknown(reply)).map(|(node, _)| *node);
        let too_old: Vec<u64> = too_old.collect();
        if !too_old.is_empty() {
            return Err(CannotUpdate::TooOld(too_old));
        }
        if let Some(silent) = with(&Option::is_none) {
            return Err(CannotUpdate::Silent(silent));
        }
        let mut targets = BTreeMap::new();
        for (node, state) in nodes.iter().zip(states.iter().flatten()) {
            if state.board.is_empty() {
                return Err(CannotUpdate::NoImages(*node));
            }
            if state.board != package.board.as_str() {
                return Err(CannotUpdate::OtherBoard {
                    image: package.board.clone(),
                    node: *node,
                    board: state.board.to_string(),
                });
            }
            targets.insert(*node, state.slot.other());
        }
        if let Some(nodes) = with(&|state| state.as_ref().is_some_and(|state| !state.has_loader)) {
            return Err(CannotUpdate::NoLoader(nodes));
        }
        if let Some(nodes) = with(&|state| state.as_ref().is_some_and(|state| state.on_trial)) {
            return Err(CannotUpdate::OnTrial(nodes));
        }
        Ok(Updater {
            report: UpdateReport::default(),
            boards,
            package,
            nodes: nodes.to_vec(),
            targets,
            unsigned: BTreeSet::new(),
        })
    }

    fn of_slot(&self, nodes: &[u64], slot: Slot) -> Vec<u64> {
        let nodes = nodes.iter().copied();
        nodes.filter(|node| self.targets[node] == slot).collect()
    }

    /// Tells boards what is to come, and waits until all have room for it.
    pub fn make_room(&mut self, nodes: &[u64]) -> Result<(), CannotUpdate> {
        let begin = self.boards.elapsed();
        let mut untold = nodes.to_vec();
        let mut open = nodes.to_vec();
        for _ in 0..LOOKS {
            for (slot, is_signed) in [Slot::First, Slot::Second]
                .into_iter()
                .flat_map(|slot| [(slot, true), (slot, false)])
            {
                let mut nodes = self.of_slot(&untold, slot);
                nodes.retain(|node| is_signed != self.unsigned.contains(node));
                let image = self.package.for_slot(slot);
                let (plan, signature) = (image.plan, image.signature.filter(|_| is_signed));
                let begin = Command::BeginUpdate(plan, signature);
                let responses: Vec<Option<CommandResult>> = ask(self.boards, &nodes, &begin);
                for (node, done) in nodes.into_iter().zip(responses) {
                    match done {
                        Some(CommandResult::Done) => untold.retain(|other| *other != node),
                        // One that verifies a signature says how that went when it is asked the next time.
                        None | Some(CommandResult::Busy) => {}
                        Some(CommandResult::Unknown) if signature.is_some() => {
                            self.unsigned.insert(node);
                        }
                        Some(CommandResult::NoSignature) => return Err(CannotUpdate::NoSignature(node)),
                        Some(CommandResult::BadSignature) => return Err(CannotUpdate::BadSignature(node)),
                        Some(CommandResult::Outdated) => {
                            let version = signature.map_or(0, |signature| signature.version);
                            return Err(CannotUpdate::Outdated { version, node });
                        }
                        Some(CommandResult::TooLarge) => {
                            let bytes = plan.length;
                            return Err(CannotUpdate::TooLarge { bytes, node });
                        }
                        Some(CommandResult::NotAllowed) => return Err(CannotUpdate::NotAllowed(node)),
                        Some(done) => return Err(CannotUpdate::Refused { node, done }),
                    }
                }
            }
            self.boards.wait(LOOK);
            if !untold.is_empty() {
                continue;
            }
            let states = self.states(&open);
            self.refuse(&states, UpdatePhase::Damaged, CannotUpdate::NoRoom)?;
            let ready = |state: &Option<UpdateState>| {
                let phase = state.as_ref().map(|state| state.phase);
                matches!(phase, Some(UpdatePhase::Receiving | UpdatePhase::Whole))
            };
            open.retain(|node| !ready(&states[node]));
            if open.is_empty() {
                self.report.erase_seconds += (self.boards.elapsed() - begin).as_secs_f64();
                return Ok(());
            }
        }
        Err(CannotUpdate::NoRoom(open))
    }

    fn states(&mut self, nodes: &[u64]) -> BTreeMap<u64, Option<UpdateState>> {
        let states = ask(self.boards, nodes, &Command::Update);
        nodes.iter().copied().zip(states).collect()
    }

    /// The same, once nothing changes any more: when the last block has left the host some are still on their way, and then boards ask
    /// their neighbors for those that are missing.
    fn states_at_rest(&mut self, nodes: &[u64]) -> BTreeMap<u64, Option<UpdateState>> {
        let is_waiting = |state: &Option<UpdateState>| {
            state
                .as_ref()
                .is_some_and(|state| state.phase == UpdatePhase::Receiving)
        };
        let mut states = self.states(nodes);
        let mut unchanged = 0;
        for _ in 0..LOOKS {
            if !states.values().any(is_waiting) || unchanged == AT_REST {
                break;
            }
            self.boards.wait(LOOK);
            let before = std::mem::take(&mut states);
            states = self.states(nodes);
            unchanged = if states == before { unchanged + 1 } else { 0 };
        }
        states
    }

    fn refuse(
        &self,
        states: &BTreeMap<u64, Option<UpdateState>>,
        phase: UpdatePhase,
        refusal: impl Fn(Vec<u64>) -> CannotUpdate,
    ) -> Result<(), CannotUpdate> {
        let is_so = |state: &Option<UpdateState>| state.as_ref().is_some_and(|state| state.phase == phase);
        let nodes = states.iter().filter(|(_, state)| is_so(state));
        let nodes: Vec<u64> = nodes.map(|(node, _)| *node).collect();
        if nodes.is_empty() { Ok(()) } else { Err(refusal(nodes)) }
    }

    /// Sends every block once.
    pub fn send_all(&mut self) {
        let begin = self.boards.elapsed();
        let slots: Vec<Slot> = self.targets.values().copied().collect();
        let both = [Slot::First, Slot::Second].into_iter();
        for slot in both.filter(|slot| slots.contains(slot)) {
            let image = self.package.for_slot(slot);
            let count = image.plan.blocks() as u16;
            let blocks: Vec<Vec<u8>> = (0..count).map(|index| image.block(index)).collect();
            self.report.blocks += blocks.len();
            self.boards.stream(blocks);
        }
        self.report.transfer_seconds = (self.boards.elapsed() - begin).as_secs_f64();
    }

    /// Sends blocks into the mesh again, each by a command that is answered: a board whose firmware takes no broadcasts of its own host
    /// gets all blocks that way. One that the board at the port has no room for comes again.
    fn send(&mut self, image: &Linked, blocks: &[u16]) {
        let Some(entrance) = self.boards.entrances().first().copied() else {
            return;
        };
        for batch in blocks.chunks(BATCH) {
            let request = |index: &u16| {
                let block = image.block(*index);
                let command = Command::SendBlock(&block);
                BoardRequest::new(0, entrance, command.query()).with(command.payload().to_vec())
            };
            let mut requests: Vec<BoardRequest> = batch.iter().map(request).collect();
            for _ in 0..ATTEMPTS {
                let replies = self.boards.ask(&requests);
                let mut taken = replies
                    .iter()
                    .map(|reply| read::<CommandResult>(reply) == Some(CommandResult::Done));
                requests.retain(|_| !taken.next().unwrap_or(false));
                if requests.is_empty() {
                    break;
                }
                self.report.retries += requests.len();
            }
        }
    }

    /// Sends again what boards lack and do not get from their neighbors, until each has all. One that has restarted, or whose image turned out
    /// wrong, makes room again.
    pub fn repair(&mut self) -> Result<(), CannotUpdate> {
        let begin = self.boards.elapsed();
        let mut open = self.nodes.clone();
        let mut begun_anew: BTreeSet<u64> = BTreeSet::new();
        for _ in 0..REPAIRS {
            let states = self.states_at_rest(&open);
            let is_whole =
                |state: &Option<UpdateState>| state.as_ref().is_some_and(|state| state.phase == UpdatePhase::Whole);
            open.retain(|node| !is_whole(&states[node]));
            if open.is_empty() {
                self.report.transfer_seconds += (self.boards.elapsed() - begin).as_secs_f64();
                return Ok(());
            }
            let in_phase = |phase: UpdatePhase| -> Vec<u64> {
                let is_so = |node: &u64| states[node].as_ref().is_some_and(|state| state.phase == phase);
                open.iter().copied().filter(is_so).collect()
            };
            let damaged = in_phase(UpdatePhase::Damaged);
            // A board that was given wrong blocks by a neighbor asks none the second time.
            if damaged.iter().any(|node| begun_anew.contains(node)) {
                return Err(CannotUpdate::Damaged(damaged));
            }
            begun_anew.extend(&damaged);
            let anew = [in_phase(UpdatePhase::Idle), damaged].concat();
            if !anew.is_empty() {
                self.make_room(&anew)?;
                continue;
            }
            for slot in [Slot::First, Slot::Second] {
                let image = self.package.for_slot(slot);
                let all = image.plan.blocks() as u16;
                let mut blocks = BTreeSet::new();
                let nodes = self.of_slot(&open, slot);
                for state in nodes.iter().filter_map(|node| states[node].as_ref()) {
                    match state.missing > all / 2 {
                        true => blocks.extend(0..all),
                        false => blocks.extend(state.first_missing.iter().copied()),
                    }
                }
                let blocks: Vec<u16> = blocks.into_iter().collect();
                self.report.retries += blocks.len();
                self.send(image, &blocks);
            }
        }
        Err(CannotUpdate::Missing(open))
    }

    /// Boards restart with the new image, and are told to keep it once all of them are there again.
    pub fn switch(&mut self, nodes: &[u64]) -> Result<(), CannotUpdate> {
        let mut waiting: Vec<u64> = nodes.to_vec();
        for _ in 0..LOOKS {
            for slot in [Slot::First, Slot::Second] {
                let nodes = self.of_slot(&waiting, slot);
                let hash = self.package.for_slot(slot).plan.hash;
                let responses: Vec<Option<CommandResult>> = ask(self.boards, &nodes, &Command::SwitchImage(&hash));
                for (node, done) in nodes.into_iter().zip(responses) {
                    match done {
                        // One that does not have it any more has restarted: what it runs is seen below.
                        Some(CommandResult::Done | CommandResult::NotThere) => waiting.retain(|other| *other != node),
                        None => {}
                        Some(done) => return Err(CannotUpdate::Refused { node, done }),
                    }
                }
            }
            if waiting.is_empty() {
                break;
            }
            self.boards.wait(LOOK);
        }
        let late = self.await_all(nodes, |state, target| state.slot == target);
        self.require_back(late)?;
        let _: Vec<Option<CommandResult>> = ask(self.boards, nodes, &Command::KeepImage);
        // One whose power fails before it has written that down goes back, and is on trial no longer either.
        let late = self.await_all(nodes, |state, target| state.slot == target && !state.on_trial);
        self.require_back(late)?;
        self.report.boards += nodes.len();
        Ok(())
    }

    /// Says what became of boards that are not as they should be.
    fn require_back(&mut self, late: Vec<u64>) -> Result<(), CannotUpdate> {
        let states = self.states(&late);
        let those = |is_so: &dyn Fn(&Option<UpdateState>) -> bool| {
            let nodes = late.iter().copied();
            nodes.filter(|node| is_so(&states[node])).collect::<Vec<u64>>()
        };
        let gone = those(&Option::is_none);
        let kept_back = those(&|state| state.as_ref().is_some_and(|state| state.on_trial));
        if late.is_empty() {
            Ok(())
        } else if !gone.is_empty() {
            Err(CannotUpdate::Gone(gone))
        } else if !kept_back.is_empty() {
            Err(CannotUpdate::NotKept(kept_back))
        } else {
            Err(CannotUpdate::WentBack(late))
        }
    }

    /// Waits until all boards are as they should be; returns those that are not.
    fn await_all(&mut self, nodes: &[u64], is_so: impl Fn(&UpdateState, Slot) -> bool) -> Vec<u64> {
        let mut open = nodes.to_vec();
        let begin = self.boards.elapsed();
        while self.boards.elapsed() < begin + BACK_WITHIN {
            self.boards.wait(LOOK);
            let states = self.states(&open);
            open.retain(|node| {
                !states[node]
                    .as_ref()
                    .is_some_and(|state| is_so(state, self.targets[node]))
            });
            if open.is_empty() {
                break;
            }
        }
        open
    }

    fn finish(mut self, begin: Duration) -> UpdateReport {
        self.report.seconds = (self.boards.elapsed() - begin).as_secs_f64();
        self.report
    }
}

fn ask<T: DeserializeOwned>(boards: &mut dyn Boards, nodes: &[u64], command: &Command<'_>) -> Vec<Option<T>> {
    if nodes.is_empty() {
        return Vec::new();
    }
    let talk: &mut dyn Talk = boards;
    let replies = ask_nodes(talk, nodes, command.query(), &command.payload());
    replies.iter().map(read).collect()
}
