//! One run: a mesh, traffic, faults, and the oracle's account of it.

use std::io::Write;

use hopwise_language::{BadDestinations, Destinations, Script, Traffic};
use hopwise_node::capacities::Capacities;
use hopwise_node::router::ConfigError;
use hopwise_node::wire::PacketId;
use hopwise_trace::line::Header;
use hopwise_trace::writer::Writer;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::faults::{Fault, Outages};
use super::notes::Notes;
use super::oracle::{Broken, Oracle, Tally, Violation};
use super::programs::Programs;
use super::recovery::Recovery;
use super::shell::Shell;
use super::wire::Nanos;
use super::world::{Build, SimSizes, StepOutcome, WireEnd, World};

const SECOND: Nanos = 1_000_000_000;

/// After the last packet was sent everything must be settled within this.
const SETTLES_WITHIN: Nanos = 40 * SECOND;
/// Where things go wrong, copies that come late are waited for.
const LATE_COPIES: Nanos = 2 * SECOND;
/// If nothing arrives anywhere for this long although something is under way, that is a stall.
const STALL: Nanos = 30 * SECOND;

/// What to simulate: [settings](super::settings::Settings) that make sense, with their defaults.
#[derive(Clone, Debug)]
pub struct SimRun {
    pub build: Build,
    pub traffic: Traffic,
    /// The total number of packets.
    pub packets: u64,
    /// Nothing is sent after so long, whatever the number of packets.
    pub duration: Option<Nanos>,
    /// Confirmed instead of datagrams.
    pub confirmed: bool,
    /// The service of each packet is drawn.
    pub mixed: bool,
    /// Bytes of each.
    pub payload: usize,
    /// Packets a second of each node.
    pub rate: f64,
    /// A cable is pulled so often, for a while.
    pub pull_every: Option<Nanos>,
    pub reset_every: Option<Nanos>,
    /// A host goes so often, and another comes.
    pub detach_host_every: Option<Nanos>,
    pub script: Script<WireEnd>,
    /// Everything is restored in the end, and must work again.
    pub restore: bool,
    /// Applications read their messages up to this much later.
    pub read_late: Option<Nanos>,
    /// The traffic begins here; links need some time to come up.
    pub begin: Nanos,
}

#[derive(Clone, Debug, Default)]
pub struct Account {
    pub tally: Tally,
    /// What all nodes dropped, by reason, in the order of [`DropReason::ALL`](hopwise_node::wire::DropReason::ALL).
    pub drops: Vec<u64>,
    pub frames: u64,
    /// Frames and confirmed packets retransmitted.
    pub retransmissions: u64,
    /// Packets that went round a dead link.
    pub detours: u64,
    /// The longest time from a scripted outage until all live ends of its links knew, in nanoseconds.
    pub link_down: Option<Nanos>,
    /// The times from an outage until each flow that it met went on.
    pub failovers: Vec<Nanos>,
    /// Links that came up, and how many times in all.
    pub links_up: u64,
    pub virtual_seconds: f64,
    /// Of all events.
    pub trace_sha256: String,
    /// Times from sending to arrival in nanoseconds, sorted.
    pub latencies: Vec<u64>,
    /// The first violated guarantee.
    pub violation: Option<Violation>,
    /// The most buffers any node had in use.
    pub buffers_used: u32,
    /// When the first fault came, and when the last packet was sent or arrived.
    pub first_fault: Option<Nanos>,
    /// The same.
    pub last_traffic: Nanos,
    /// How often an application was told to try again, and the longest it was told so without a pause.
    pub refused: u64,
    /// The same.
    pub longest_refusal: Nanos,
    /// The most that any honest node said of its links: up, down, miswired, damaged.
    pub link_events: u64,
}

/// What a mark asks for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Task {
    Send(u32),
    /// The program of a board waits for this moment.
    Program(u32),
    Fault(Fault),
    /// The application of a board reads its messages.
    Read(u32),
    /// Whether the mesh has recovered is checked.
    Look,
}

pub(super) struct Player<'a, C: Capacities> {
    pub(super) run: &'a SimRun,
    pub(super) world: World<C, Task>,
    pub(super) notes: Notes<'a>,
    pub(super) destinations: Destinations,
    /// Draws destinations.
    pub(super) choices: Xoshiro256PlusPlus,
    /// Draws all else.
    pub(super) random: Xoshiro256PlusPlus,
    pub(super) to_send: u64,
    pub(super) interval: Nanos,
    pub(super) finished_sending: Option<Nanos>,
    pub(super) settled_at: Option<Nanos>,
    pub(super) calm: bool,
    pub(super) outages: Outages,
    /// Changes of the world that the oracle knows of.
    pub(super) known_changes: u64,
    pub(super) reach_known: bool,
    pub(super) last_sent: Nanos,
    /// Since when the application of each board is told to try again.
    pub(super) refused_since: Vec<Option<Nanos>>,
    /// Boards whose application is about to read its messages.
    pub(super) reading: Vec<bool>,
    /// From when everything is restored.
    pub(super) recovery: Option<Recovery>,
    /// The programs of users, if there are any. Then nothing else is sent.
    pub(super) programs: Option<Programs<'a>>,
}

/// Plays a run; the trace is written down if there is somewhere to write it.
pub(super) fn run<'a, C: SimSizes>(
    run: &'a SimRun,
    shell: Option<&'a mut dyn Shell>,
    trace: Option<&'a mut dyn Write>,
    programs: Option<Programs<'a>>,
    progress: &mut dyn FnMut(u64),
) -> Result<Account, RunError> {
    let header = Header::new(&run.build.network, run.build.baud);
    let trace = trace.map(|out| Writer::new(out, &header));
    let trace = trace.transpose().map_err(RunError::Trace)?;
    let Build {
        network,
        hosts,
        faulty_boards,
        taps,
        seed,
        ..
    } = &run.build;
    let world = World::new(run.build.clone());
    let mut oracle = Oracle::new(network, hosts, world.byte_nanos(), *seed, run.packets);
    oracle.distrust(faulty_boards);
    run.read_late.iter().for_each(|&late| oracle.read_late(late));
    if !taps.is_empty() {
        let cables = taps.iter().filter_map(|&tap| world.cable_at(tap));
        oracle.tapped(cables.flat_map(|cable| world.ends(cable)));
    }
    let mut choices = Xoshiro256PlusPlus::seed_from_u64(run.build.seed ^ 0x7261_6666);
    let destinations = Destinations::new(run.traffic, &run.build.network, &mut choices)?;
    let calm = run.pull_every.is_none()
        && run.reset_every.is_none()
        && run.script.is_empty()
        && faulty_boards.is_empty()
        && taps.is_empty();
    let boards = world.boards() as usize + hosts.len();
    let mut player = Player::<C> {
        run,
        world,
        notes: Notes::new(shell, oracle, trace),
        destinations,
        choices,
        random: Xoshiro256PlusPlus::seed_from_u64(run.build.seed ^ 0x6661_756c),
        to_send: if programs.is_some() { 0 } else { run.packets },
        interval: (1e9 / run.rate) as Nanos,
        finished_sending: None,
        settled_at: None,
        calm,
        outages: Outages::default(),
        known_changes: 0,
        reach_known: false,
        last_sent: run.begin,
        refused_since: vec![None; boards],
        reading: vec![false; boards],
        recovery: None,
        programs,
    };
    player.schedule();
    player.play(progress)?;
    player.finish()
}

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Traffic(#[from] BadDestinations),
    #[error("node {0}: {1}")]
    Config(u32, ConfigError),
    #[error("cannot write the trace: {0}")]
    Trace(std::io::Error),
}

impl<C: SimSizes> Player<'_, C> {
    fn schedule(&mut self) {
        let run = self.run;
        self.schedule_faults();
        for board in 0..self.world.boards() {
            if self.to_send > 0 && !self.is_faulty(board) && !self.destinations.only_to_itself(board) {
                let first = self.random.random_range(0..self.interval.max(1));
                self.world.mark(run.begin + first, Task::Send(board));
            }
        }
        let hosts: Vec<u32> = self.world.hosts().map(|(host, _)| host).collect();
        for host in hosts {
            let first = self.random.random_range(0..self.interval.max(1));
            self.world.mark(run.begin + first, Task::Send(host));
        }
    }

    fn play(&mut self, progress: &mut dyn FnMut(u64)) -> Result<(), RunError> {
        let mut shown = 0;
        loop {
            match self.world.step(Nanos::MAX, &mut self.notes) {
                // All boards are off.
                StepOutcome::End if self.must_restore() => self.restore()?,
                StepOutcome::End => break,
                StepOutcome::Nothing => {}
                StepOutcome::Board(board) => {
                    if !self.run_program(board) {
                        self.fetch_in_time(board);
                    }
                }
                StepOutcome::Mark(task) => self.act(task)?,
            }
            self.tell_changes();
            if self.notes.oracle.violation().is_some() || self.notes.failed.is_some() {
                break;
            }
            let done = self.notes.oracle.sent_so_far();
            if done >= shown + 1_000 {
                shown = done;
                progress(done);
            }
            let is_over = match &self.recovery {
                Some(recovery) => recovery.is_over(),
                None => self.over(),
            };
            if is_over && self.must_restore() {
                self.restore()?;
            } else if is_over {
                break;
            }
        }
        match self.notes.failed.take() {
            Some(error) => Err(RunError::Trace(error)),
            None => Ok(()),
        }
    }

    fn must_restore(&self) -> bool {
        self.run.restore && self.recovery.is_none() && self.programs.is_none()
    }

    /// Whether all packets are completed, or never will be.
    fn over(&mut self) -> bool {
        let now = self.world.now();
        if let Some(programs) = &self.programs {
            let end = |duration| self.run.begin + duration;
            let until = self.run.duration.map_or(Nanos::MAX, end);
            return now > until || now > self.run.begin && !programs.run_on();
        }
        if self
            .run
            .duration
            .is_some_and(|duration| now > self.run.begin + duration)
        {
            self.to_send = 0;
        }
        if self.to_send > 0 {
            let nothing_since = self.notes.last_arrival.max(self.last_sent);
            let waiting = self.notes.oracle.oldest_open().is_some_and(|sent| now > sent + STALL);
            if waiting && now > nothing_since + STALL {
                let what = "nothing has arrived anywhere for 30 seconds".into();
                self.notes.oracle.broken(now, 0, Broken::Halt, what);
                return true;
            }
            // All who could send are dead, for good.
            let next_at = nothing_since.max(self.quiet_from(0)) + 2 * self.interval;
            return now > next_at + STALL;
        }
        let finished = *self.finished_sending.get_or_insert(now);
        let quiet_from = self.quiet_from(finished);
        if self.notes.oracle.open() > 0 {
            self.settled_at = None;
            return now > quiet_from + SETTLES_WITHIN + self.run.read_late.unwrap_or(0);
        }
        let completed = *self.settled_at.get_or_insert(now);
        let wait = if self.calm && self.run.read_late.is_none() {
            0
        } else {
            LATE_COPIES
        };
        now >= completed.max(quiet_from) + wait
    }

    /// Nothing happens to boards and cables by the script from here on.
    fn quiet_from(&self, at: Nanos) -> Nanos {
        let last = self.run.script.events().last();
        last.map_or(at, |event| at.max(event.at.nanos()))
    }

    fn tell_changes(&mut self) {
        if self.world.changes != self.known_changes {
            self.known_changes = self.world.changes;
            self.reach_known = false;
            self.notes.oracle.changed(self.world.now());
        }
    }

    /// Tells the oracle which nodes are connected, if that may have changed.
    pub(super) fn tell_reach(&mut self) {
        if !self.reach_known {
            self.reach_known = true;
            let good = self.world.has_bad_cables().then(|| self.world.parts(false));
            self.notes.oracle.reach(self.world.parts(true), good);
        }
    }

    fn act(&mut self, what: Task) -> Result<(), RunError> {
        match what {
            Task::Send(machine) => match self.world.board_of(machine) {
                Some(board) => self.ask(machine, board),
                None => self.send(machine),
            },
            Task::Program(board) => {
                self.run_program(board);
            }
            // Random faults that are still planned do not happen once everything is restored.
            Task::Fault(fault) if self.recovery.is_none() => self.faults(fault)?,
            Task::Fault(_) => {}
            Task::Read(board) => {
                self.reading[board as usize] = false;
                self.fetch(board);
            }
            Task::Look => self.look(),
        }
        Ok(())
    }

    pub(super) fn switch_off(&mut self, board: u32) {
        if let Some(at) = self.world.board_of(board) {
            self.notes.oracle.left(board, at);
        }
        let Some(node) = self.world.node(board) else {
            return self.world.stop(board, &mut self.notes);
        };
        let held: Vec<PacketId> = node.packets().collect();
        self.check_account(board);
        self.notes.oracle.restarted(self.world.now(), board, held.into_iter());
        self.world.stop(board, &mut self.notes);
        self.end_program(board);
    }

    /// The law of conservation, at one node.
    fn check_account(&mut self, board: u32) {
        let Some(node) = self.world.node(board) else { return };
        let (shell, counters) = (self.notes.shell.as_mut(), *node.counters());
        let counters = shell.map_or(counters, |shell| shell.counts(board, counters));
        let account = &mut self.notes.account;
        account.retransmissions += u64::from(counters.retried);
        account.buffers_used = account.buffers_used.max(counters.buffers_used);
        let now = self.world.now();
        self.notes.oracle.check_account(now, board, &counters, node.held());
    }

    pub(super) fn is_faulty(&self, board: u32) -> bool {
        let mut faulty_boards = self.run.build.faulty_boards.iter();
        faulty_boards.any(|faulty| faulty.node == u64::from(board))
    }

    fn finish(mut self) -> Result<Account, RunError> {
        for board in 0..self.world.boards() {
            self.check_account(board);
        }
        let now = self.world.now();
        let (tally, latencies, violation) = self.notes.oracle.finish(now);
        Ok(Account {
            tally,
            frames: self.world.frames(),
            link_down: self.notes.failover.link_down(),
            failovers: self.notes.failover.resumed(),
            virtual_seconds: now as f64 / 1e9,
            trace_sha256: self.notes.hash.finish(),
            latencies,
            violation,
            last_traffic: self.last_sent.max(self.notes.last_arrival),
            link_events: self.notes.link_events.into_iter().max().unwrap_or(0),
            ..self.notes.account
        })
    }
}
