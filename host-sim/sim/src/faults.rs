//! Faults of boards and cables in a run: scripted and random.

use std::collections::{HashMap, HashSet};

use hopwise_language::script::Action;
use rand::{Rng, RngExt};

use super::run::{Player, RunError, Task};
use super::wire::{Nanos, PASSES_SOON};
use super::world::{SimSizes, WireEnd};

const MILLISECOND: Nanos = 1_000_000;

const SWITCHED_ON_WITHIN: Nanos = 20 * MILLISECOND;
/// A board that the script resets is off for this long.
const OFF_FOR: Nanos = 300 * MILLISECOND;
/// What chance pulls or resets is back after a time from the first to the second, short ones as often as long ones.
const OUTAGES: (Nanos, Nanos) = (MILLISECOND, 5_000 * MILLISECOND);
/// The chance of a bit to be inverted in a burst of noise.
const BURST: f64 = 0.5;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    Start(u32),
    /// Chance pulls a cable.
    Pull,
    /// A cable that it pulled comes back.
    Plug(u32),
    /// Chance resets a board.
    Reset,
    /// Chance takes a host away.
    Leave,
    Script(u32),
    /// The end of the burst that an event of the script began.
    AfterBurst(u32),
}

#[derive(Default)]
pub(super) struct Outages {
    /// Boards and cables that the script has put out of action: chance does not bring them back.
    dead_boards: HashSet<u32>,
    cut_cables: HashSet<u32>,
    /// Until when those are away that chance has put out of action.
    boards_until: HashMap<u32, Nanos>,
    cables_until: HashMap<u32, Nanos>,
}

/// How long an outage lasts: as likely from 1 to 2 ms as from 1 to 2 s.
fn outage(random: &mut impl Rng) -> Nanos {
    let (shortest, longest) = (OUTAGES.0 as f64, OUTAGES.1 as f64);
    (shortest * (longest / shortest).powf(random.random())) as Nanos
}

impl<C: SimSizes> Player<'_, C> {
    pub(super) fn schedule_faults(&mut self) {
        let run = self.run;
        for (line, event) in run.script.events().iter().enumerate() {
            self.plan(event.at.nanos(), Fault::Script(line as u32));
        }
        let hosts = self.world.hosts().map(|(host, _)| host);
        let all: Vec<u32> = (0..self.world.boards()).chain(hosts).collect();
        for board in all {
            let at = self.random.random_range(0..SWITCHED_ON_WITHIN);
            self.plan(at, Fault::Start(board));
        }
        if let Some(every) = run.pull_every {
            self.plan(run.begin + every / 2, Fault::Pull);
        }
        if let Some(every) = run.reset_every {
            self.plan(run.begin + every, Fault::Reset);
        }
        if let Some(every) = run.detach_host_every {
            self.plan(run.begin + every, Fault::Leave);
        }
    }

    fn plan(&mut self, at: Nanos, fault: Fault) {
        self.world.mark(at, Task::Fault(fault));
    }

    pub(super) fn faults(&mut self, fault: Fault) -> Result<(), RunError> {
        let now = self.world.now();
        if !matches!(fault, Fault::Start(_)) {
            self.notes.account.first_fault.get_or_insert(now);
        }
        match fault {
            Fault::Start(board) => {
                let away = self.outages.boards_until.get(&board).is_some_and(|&until| now < until);
                if away || self.outages.dead_boards.contains(&board) || self.world.is_on(board) {
                    return Ok(());
                }
                self.start(board)?;
            }
            Fault::Pull => {
                let cable = self.random.random_range(0..self.world.cables());
                self.world.plug(cable, false, &mut self.notes);
                let back = now + outage(&mut self.random);
                let until = self.outages.cables_until.entry(cable).or_default();
                *until = back.max(*until);
                self.plan(back, Fault::Plug(cable));
                if let Some(every) = self.run.pull_every.filter(|_| self.goes_on()) {
                    self.plan(now + every, Fault::Pull);
                }
            }
            Fault::Plug(cable) => {
                let away = self.outages.cables_until.get(&cable).is_some_and(|&until| now < until);
                if !away && !self.outages.cut_cables.contains(&cable) {
                    self.world.plug(cable, true, &mut self.notes);
                }
            }
            Fault::Reset => {
                let board = self.random.random_range(0..self.world.boards());
                self.switch_off(board);
                let back = now + outage(&mut self.random);
                self.come_back(board, back);
                if let Some(every) = self.run.reset_every.filter(|_| self.goes_on()) {
                    self.plan(now + every, Fault::Reset);
                }
            }
            Fault::Leave => {
                let hosts: Vec<u32> = self.world.hosts().map(|(host, _)| host).collect();
                if let Some(&host) = hosts.get(self.random.random_range(0..hosts.len().max(1))) {
                    self.switch_off(host);
                    let back = now + outage(&mut self.random);
                    self.come_back(host, back);
                }
                if let Some(every) = self.run.detach_host_every.filter(|_| self.goes_on()) {
                    self.plan(now + every, Fault::Leave);
                }
            }
            Fault::Script(line) => {
                let action = self.run.script.events()[line as usize].action;
                if let Action::Burst(_, length) = action {
                    self.plan(now + length.nanos(), Fault::AfterBurst(line));
                }
                self.perform(action)?;
            }
            Fault::AfterBurst(line) => {
                if let Action::Burst(end, length) = self.run.script.events()[line as usize].action {
                    let soon = length.nanos() <= PASSES_SOON;
                    self.world.set_noise(end, None, soon, &mut self.notes);
                }
            }
        }
        Ok(())
    }

    pub(super) fn start(&mut self, board: u32) -> Result<(), RunError> {
        if self.world.board_of(board).is_none() {
            self.notes.oracle.started(board);
        }
        let started = self.world.start(board, &mut self.notes);
        started.map_err(|error| RunError::Config(board, error))?;
        self.start_program(board);
        Ok(())
    }

    /// Whether any board is left that a fault could still affect.
    fn goes_on(&self) -> bool {
        self.to_send > 0 || self.programs.is_some()
    }

    fn come_back(&mut self, board: u32, at: Nanos) {
        let until = self.outages.boards_until.entry(board).or_default();
        *until = at.max(*until);
        self.plan(at, Fault::Start(board));
    }

    fn perform(&mut self, action: Action<WireEnd>) -> Result<(), RunError> {
        let notes = &mut self.notes;
        match action {
            // A cable the wrong way round carries as little as one that is pulled.
            Action::Cut(end) | Action::Reverse(end) => {
                if let Some(cable) = self.world.cable_at(end) {
                    self.outages.cut_cables.insert(cable);
                    let ends = self.world.ends(cable).into_iter();
                    notes
                        .failover
                        .begin(self.world.now(), ends.filter(|&end| self.world.is_up(end)));
                    self.world.plug(cable, false, notes);
                }
            }
            Action::Plug(end) => {
                if let Some(cable) = self.world.cable_at(end) {
                    self.outages.cut_cables.remove(&cable);
                    self.world.plug(cable, true, notes);
                    for end in self.world.ends(cable) {
                        self.world.set_dead(end, false, notes);
                        self.world.set_stuck(end, false, notes);
                    }
                }
            }
            Action::OneWay(end) => self.world.set_dead(end, true, notes),
            Action::BothWays(end) => {
                self.world.set_dead(end, false, notes);
                self.world.set_stuck(end, false, notes);
            }
            Action::Stuck(end) => self.world.set_stuck(end, true, notes),
            Action::Break(end, length) => self.world.send_break(end, length.map(|length| length.nanos()), notes),
            Action::Noise(end, chance) => self.world.set_noise(end, Some(chance), false, notes),
            Action::Burst(end, length) => {
                let soon = length.nanos() <= PASSES_SOON;
                self.world.set_noise(end, Some(BURST), soon, notes);
            }
            Action::Quiet(end) => self.world.set_noise(end, None, false, notes),
            Action::Swap(a, b) => self.world.swap(a, b, notes),
            Action::Reset(node) => {
                let board = node as u32;
                self.switch_off(board);
                self.come_back(board, self.world.now() + OFF_FOR);
            }
            Action::Off(node) => {
                let board = node as u32;
                self.outages.dead_boards.insert(board);
                let ends = self.world.other_ends(board).filter(|&end| self.world.is_up(end));
                notes.failover.begin(self.world.now(), ends);
                self.switch_off(board);
            }
            Action::On(node) => {
                let board = node as u32;
                self.outages.dead_boards.remove(&board);
                self.outages.boards_until.remove(&board);
                return self.faults(Fault::Start(board));
            }
            // A simulated mesh refuses scripts with these, or sees them board by board.
            Action::PlugInto(..) | Action::Brownout(..) | Action::Press(_) | Action::Release(_) | Action::All(_) => {}
        }
        Ok(())
    }
}
