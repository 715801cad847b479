//! One run: a mesh, traffic, faults, and the judge's account of it.

use std::io::Write;
use std::time::Instant;

use hopwise_core::router::{ConfigError, Event, MessageKind, SendError};
use hopwise_core::wire::{Content, DropReason, Kind, PacketId, Query};
use hopwise_language::{BadDestinations, Destinations, Script, Traffic};
use hopwise_trace::line::Header;
use hopwise_trace::writer::Writer;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::faults::{Fault, Outages};
use super::notes::Notes;
use super::oracle::{Broken, Oracle, Service, Tally, Violation};
use super::shell::Shell;
use super::wire::Nanos;
use super::world::{Build, Mark, StepOutcome, WireEnd, World};

const MILLISECOND: Nanos = 1_000_000;
const SECOND: Nanos = 1_000 * MILLISECOND;

/// A sender whose node is full tries again after this.
const TRY_AGAIN: Nanos = MILLISECOND / 2;
/// One whose board is off, after this.
const LOOK_AGAIN: Nanos = 300 * MILLISECOND;
/// After the last packet was sent everything must be settled within this.
const SETTLES_WITHIN: Nanos = 40 * SECOND;
/// Where things go wrong, copies that come late are waited for.
const LATE_COPIES: Nanos = 2 * SECOND;
/// If nothing arrives anywhere for this long although something is under way, that is a stall.
const STALL: Nanos = 30 * SECOND;

/// What to simulate: [settings](super::settings::Settings) that make sense, with their defaults.
#[derive(Clone, Debug)]
pub struct SimRun {
    /// The mesh.
    pub build: Build,
    /// Who sends to whom.
    pub traffic: Traffic,
    /// How many packets in all.
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
    /// A board is reset so often.
    pub reset_every: Option<Nanos>,
    /// A computer goes so often, and another comes.
    pub leave_every: Option<Nanos>,
    /// What else happens, and when.
    pub script: Script<WireEnd>,
    /// The traffic begins here; links need some time to come up.
    pub begin: Nanos,
}

/// How a run went.
#[derive(Clone, Debug)]
pub struct Account {
    /// How packets fared.
    pub tally: Tally,
    /// What all nodes dropped, by reason, in the order of [`DropReason::ALL`].
    pub drops: Vec<u64>,
    /// Frames sent.
    pub frames: u64,
    /// Frames sent again, and confirmed packets sent again.
    pub retransmissions: u64,
    /// Packets that went round a dead link.
    pub detours: u64,
    /// Links that came up, and how many times in all.
    pub links_up: u64,
    /// Virtual time.
    pub virtual_seconds: f64,
    /// Time it took.
    pub wall_seconds: f64,
    /// Of all events.
    pub trace_sha256: String,
    /// Times from sending to arrival in nanoseconds, sorted.
    pub latencies: Vec<u64>,
    /// The first promise that was broken.
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

/// What a mark asks for. The low bits are a number.
#[derive(Clone, Copy)]
pub(super) enum Task {
    Send(u32),
    Fault(Fault),
}

impl Task {
    pub(super) fn mark(self) -> Mark {
        let (kind, number) = match self {
            Task::Send(board) => (0, board),
            Task::Fault(Fault::Start(board)) => (1, board),
            Task::Fault(Fault::Pull) => (2, 0),
            Task::Fault(Fault::Plug(cable)) => (3, cable),
            Task::Fault(Fault::Reset) => (4, 0),
            Task::Fault(Fault::Script(line)) => (5, line),
            Task::Fault(Fault::AfterBurst(line)) => (6, line),
            Task::Fault(Fault::Leave) => (7, 0),
        };
        kind << 28 | number
    }

    fn of(mark: Mark) -> Task {
        let number = mark & 0x0fff_ffff;
        Task::Fault(match mark >> 28 {
            0 => return Task::Send(number),
            1 => Fault::Start(number),
            2 => Fault::Pull,
            3 => Fault::Plug(number),
            4 => Fault::Reset,
            5 => Fault::Script(number),
            6 => Fault::AfterBurst(number),
            _ => Fault::Leave,
        })
    }
}

pub(super) struct Player<'a, S, const PORTS: usize, const PEERS: usize> {
    pub(super) run: &'a SimRun,
    pub(super) world: World<PORTS, PEERS>,
    pub(super) notes: Notes<'a, S>,
    pub(super) destinations: Destinations,
    /// Draws destinations.
    pub(super) choices: Xoshiro256PlusPlus,
    /// Draws all else.
    pub(super) random: Xoshiro256PlusPlus,
    pub(super) to_send: u64,
    pub(super) interval: Nanos,
    pub(super) retried: u64,
    pub(super) finished_sending: Option<Nanos>,
    pub(super) settled_at: Option<Nanos>,
    pub(super) calm: bool,
    pub(super) outages: Outages,
    pub(super) buffers_used: u32,
    /// Changes of the world that the judge knows of.
    pub(super) known_changes: u64,
    pub(super) reach_known: bool,
    pub(super) last_sent: Nanos,
    pub(super) refused: u64,
    pub(super) longest_refusal: Nanos,
    /// Since when the application of each board is told to try again.
    pub(super) refused_since: Vec<Option<Nanos>>,
}

/// Plays a run; the trace is written down if there is somewhere to write it.
pub(super) fn run<'a, S: Shell, const PORTS: usize, const PEERS: usize>(
    run: &'a SimRun,
    shell: S,
    trace: Option<&'a mut dyn Write>,
    progress: &mut dyn FnMut(u64),
) -> Result<Account, RunError> {
    let started = Instant::now();
    let header = Header::new(&run.build.network, run.build.baud);
    let trace = trace
        .map(|out| Writer::new(out, &header))
        .transpose()
        .map_err(RunError::Trace)?;
    let Build {
        network,
        computers,
        rogues,
        seed,
        ..
    } = &run.build;
    let world = World::new(run.build.clone());
    let mut oracle = Oracle::new(network, computers, world.byte_nanos(), *seed, run.packets);
    oracle.distrust(rogues);
    let mut choices = Xoshiro256PlusPlus::seed_from_u64(run.build.seed ^ 0x7261_6666);
    let destinations = Destinations::new(run.traffic, &run.build.network, &mut choices)?;
    let calm =
        run.pull_every.is_none() && run.reset_every.is_none() && run.script.is_empty() && run.build.rogues.is_empty();
    let boards = world.boards() as usize + computers.len();
    let mut player = Player::<S, PORTS, PEERS> {
        run,
        world,
        notes: Notes::new(shell, oracle, trace),
        destinations,
        choices,
        random: Xoshiro256PlusPlus::seed_from_u64(run.build.seed ^ 0x6661_756c),
        to_send: run.packets,
        interval: (1e9 / run.rate) as Nanos,
        retried: 0,
        finished_sending: None,
        settled_at: None,
        calm,
        outages: Outages::default(),
        buffers_used: 0,
        known_changes: 0,
        reach_known: false,
        last_sent: run.begin,
        refused: 0,
        longest_refusal: 0,
        refused_since: vec![None; boards],
    };
    player.schedule();
    player.play(progress)?;
    player.finish(started)
}

/// Why a run did not end in an account.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The traffic means nothing on the network.
    #[error(transparent)]
    Traffic(#[from] BadDestinations),
    /// A node cannot be.
    #[error("node {0}: {1}")]
    Config(u32, ConfigError),
    /// The trace could not be written.
    #[error("cannot write the trace: {0}")]
    Trace(std::io::Error),
}

impl<S: Shell, const PORTS: usize, const PEERS: usize> Player<'_, S, PORTS, PEERS> {
    fn schedule(&mut self) {
        let run = self.run;
        self.schedule_faults();
        for board in 0..self.world.boards() {
            if self.to_send > 0 && !self.is_rogue(board) && !self.destinations.only_to_itself(board) {
                let first = self.random.random_range(0..self.interval.max(1));
                self.world.mark(run.begin + first, Task::Send(board).mark());
            }
        }
        let computers: Vec<u32> = self.world.computers().map(|(computer, _)| computer).collect();
        for computer in computers {
            let first = self.random.random_range(0..self.interval.max(1));
            self.world.mark(run.begin + first, Task::Send(computer).mark());
        }
    }

    fn play(&mut self, progress: &mut dyn FnMut(u64)) -> Result<(), RunError> {
        let mut shown = 0;
        loop {
            match self.world.step(Nanos::MAX, &mut self.notes) {
                StepOutcome::End => break,
                StepOutcome::Nothing => {}
                StepOutcome::Board(board) => self.fetch(board),
                StepOutcome::Mark(mark) => self.act(Task::of(mark))?,
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
            if self.over() {
                break;
            }
        }
        match self.notes.failed.take() {
            Some(error) => Err(RunError::Trace(error)),
            None => Ok(()),
        }
    }

    /// Whether everything is settled, or will never be.
    fn over(&mut self) -> bool {
        let now = self.world.now();
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
            return now > quiet_from + SETTLES_WITHIN;
        }
        let settled = *self.settled_at.get_or_insert(now);
        let wait = if self.calm { 0 } else { LATE_COPIES };
        now >= settled.max(quiet_from) + wait
    }

    /// Nothing happens to boards and cables by the script from here on.
    fn quiet_from(&self, at: Nanos) -> Nanos {
        let last = self.run.script.events().last();
        last.map_or(at, |event| at.max(event.at.nanos()))
    }

    /// Tells the judge that something was done to boards or cables.
    fn tell_changes(&mut self) {
        if self.world.changes() != self.known_changes {
            self.known_changes = self.world.changes();
            self.reach_known = false;
            self.notes.oracle.changed(self.world.now());
        }
    }

    /// Tells the judge who can reach whom, if that may have changed.
    fn tell_reach(&mut self) {
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
            Task::Fault(fault) => self.faults(fault)?,
        }
        Ok(())
    }

    pub(super) fn switch_off(&mut self, board: u32) {
        if let Some(at) = self.world.board_of(board) {
            self.notes.oracle.left(board, at);
        }
        let Some(node) = self.world.node(board) else {
            return self.world.stop(board);
        };
        let held: Vec<PacketId> = node.packets().collect();
        self.check_account(board);
        self.notes.oracle.restarted(self.world.now(), board, held.into_iter());
        self.world.stop(board);
    }

    /// The law of conservation, at one node.
    fn check_account(&mut self, board: u32) {
        let Some(node) = self.world.node(board) else { return };
        let counters = self.notes.shell.counts(board, *node.counters());
        self.retried += u64::from(counters.retried);
        self.buffers_used = self.buffers_used.max(counters.buffers_used);
        let now = self.world.now();
        self.notes.oracle.check_account(now, board, &counters, node.held());
    }

    fn is_rogue(&self, board: u32) -> bool {
        let mut rogues = self.run.build.rogues.iter();
        rogues.any(|rogue| rogue.node == u64::from(board))
    }

    /// Where the next packet of a board goes: to an honest one, if the traffic has one for it.
    fn draw_destination(&mut self, board: u32) -> u32 {
        let mut dest = board;
        for _ in 0..=self.world.boards() {
            dest = self.destinations.next(board, &mut self.choices).unwrap_or(board);
            if !self.is_rogue(dest) {
                break;
            }
        }
        dest
    }

    fn draw_service(&mut self) -> Service {
        match self.run.traffic {
            Traffic::PingAll => Service::Question(Query::Ping),
            traffic if traffic.is_broadcast() => Service::Broadcast,
            _ if self.run.mixed => match self.random.random_range(0..16) {
                0..6 => Service::Datagram,
                6..12 => Service::Confirmed,
                12..15 => self.draw_question(),
                _ => Service::Broadcast,
            },
            _ if self.run.confirmed => Service::Confirmed,
            _ => Service::Datagram,
        }
    }

    /// A ping as often as all others.
    fn draw_question(&mut self) -> Service {
        let others = [
            Query::Trace,
            Query::Identity,
            Query::Counters,
            Query::Link,
            Query::ClearCounters,
        ];
        let drawn = self.random.random_range(0..2 * others.len());
        Service::Question(*others.get(drawn).unwrap_or(&Query::Ping))
    }

    /// A computer asks its next question: any board, its own too.
    fn ask(&mut self, computer: u32, board: u32) {
        if self.to_send == 0 {
            return;
        }
        let now = self.world.now();
        let mut dest = board;
        for _ in 0..self.world.boards() {
            dest = self.random.random_range(0..self.world.boards());
            if !self.is_rogue(dest) {
                break;
            }
        }
        let service = self.draw_question();
        let Service::Question(query) = service else { return };
        self.tell_reach();
        let payload = self.notes.oracle.payload(service, u64::from(dest), self.run.payload);
        let asked = self.world.with_computer(computer, &mut self.notes, |computer, now| {
            let up = computer.is_up();
            up.then(|| computer.ask(u64::from(dest), query, &payload, now))
        });
        let wait = match asked.flatten() {
            // It is not there, or its board is not.
            None => LOOK_AGAIN,
            Some(None) => {
                self.refused_at(computer);
                TRY_AGAIN
            }
            Some(Some(id)) => {
                let id = PacketId {
                    source: u64::from(board),
                    ..id
                };
                self.notes.oracle.sent(service, now, id, dest, &payload);
                self.taken_at(computer);
                self.draw_wait()
            }
        };
        self.world.mark(now + wait, Task::Send(computer).mark());
    }

    /// An application is told to try again.
    fn refused_at(&mut self, machine: u32) {
        let now = self.world.now();
        self.notes.oracle.refused(now);
        self.refused += 1;
        let since = *self.refused_since[machine as usize].get_or_insert(now);
        self.longest_refusal = self.longest_refusal.max(now - since);
    }

    /// What an application sends was taken.
    fn taken_at(&mut self, machine: u32) {
        let now = self.world.now();
        self.last_sent = now;
        self.to_send -= 1;
        if let Some(since) = self.refused_since[machine as usize].take() {
            self.longest_refusal = self.longest_refusal.max(now - since);
        }
    }

    /// How long until it sends the next.
    fn draw_wait(&mut self) -> Nanos {
        match self.run.traffic {
            Traffic::BroadcastStorm => 0,
            _ => self.interval / 2 + self.random.random_range(0..self.interval.max(1)),
        }
    }

    /// An application sends its next packet.
    fn send(&mut self, board: u32) {
        if self.to_send == 0 {
            return;
        }
        let now = self.world.now();
        if self.world.node(board).is_none() {
            self.world.mark(now + LOOK_AGAIN, Task::Send(board).mark());
            return;
        }
        self.tell_reach();
        let dest = self.draw_destination(board);
        let service = self.draw_service();
        let payload = self.notes.oracle.payload(service, u64::from(dest), self.run.payload);
        let epoch = self.world.epoch(board);
        // The packet may be dropped before `send` returns: the judge must know it first.
        let to = u64::from(dest);
        let mut early: Vec<(PacketId, DropReason)> = Vec::new();
        let result = self.world.with_node(board, &mut self.notes, |node, now, note| {
            let mut observer = |event: Event| {
                if let Event::Dropped { packet, reason, .. } = event {
                    early.push((packet, reason));
                }
                note(event);
            };
            match service {
                Service::Datagram => node.send(to, &payload, now, &mut observer),
                Service::Confirmed => node.send_confirmed(to, &payload, now, &mut observer),
                Service::Broadcast => node.broadcast(&payload, now, &mut observer),
                Service::Question(query) => node.ask(to, query, &payload, now, &mut observer),
            }
        });
        match result {
            Some(Ok(number)) => {
                let id = PacketId {
                    source: u64::from(board),
                    from_host: false,
                    epoch: epoch as u16,
                    kind: service.kind(),
                    number,
                };
                let oracle = &mut self.notes.oracle;
                oracle.sent(service, now, id, dest, &payload);
                for (packet, reason) in &early {
                    oracle.note_drop(now, board, packet, *reason);
                }
                self.taken_at(board);
                let wait = self.draw_wait();
                self.world.mark(now + wait, Task::Send(board).mark());
                self.fetch(board);
            }
            Some(Err(SendError::Full)) => {
                self.refused_at(board);
                self.world.mark(now + TRY_AGAIN, Task::Send(board).mark());
            }
            Some(Err(error)) => {
                let what = format!("a packet was refused: {error}");
                self.notes.oracle.broken(now, board, Broken::Halt, what);
            }
            None => {}
        }
    }

    /// An application fetches what has come for it.
    fn fetch(&mut self, board: u32) {
        if let Some(at) = self.world.board_of(board) {
            return self.hear(board, at);
        }
        if !self.world.node(board).is_some_and(|node| node.has_news()) {
            return;
        }
        let now = self.world.now();
        let epoch = self.world.epoch(board);
        let fetched = self.world.with_node(board, &mut self.notes, |node, _, _| {
            let messages: Vec<_> = std::iter::from_fn(|| node.next_message()).collect();
            let outcomes: Vec<_> = std::iter::from_fn(|| node.next_outcome()).collect();
            (messages, outcomes)
        });
        let Some((mut messages, outcomes)) = fetched else {
            return;
        };
        self.notes.shell.brings(now, board, &mut messages);
        let oracle = &mut self.notes.oracle;
        for message in messages {
            match message.kind {
                MessageKind::Undeliverable { number, .. } => oracle.reported(now, board, false, epoch, number),
                MessageKind::Answer(query) => {
                    let question = PacketId {
                        source: u64::from(board),
                        from_host: false,
                        epoch: epoch as u16,
                        kind: Kind::Request,
                        number: message.number,
                    };
                    oracle.answered(now, &question, message.source, query, &message.payload);
                }
                _ => oracle.delivered(now, board, message.source as u32, &message.payload),
            }
        }
        for (number, outcome) in outcomes {
            oracle.settled(now, board, epoch, number, outcome);
        }
    }

    /// A computer looks at what has come for it.
    fn hear(&mut self, computer: u32, board: u32) {
        let now = self.world.now();
        let epoch = self.world.epoch(computer);
        let heard = self.world.with_computer(computer, &mut self.notes, |computer, _| computer.heard());
        let oracle = &mut self.notes.oracle;
        for packet in heard.unwrap_or_default() {
            match packet.content() {
                Some(Content::Response(answer)) => {
                    let question = PacketId {
                        source: u64::from(board),
                        from_host: true,
                        epoch: epoch as u16,
                        kind: Kind::Request,
                        number: answer.number,
                    };
                    self.notes.last_arrival = now;
                    oracle.answered(now, &question, packet.header.source, answer.query, answer.payload);
                }
                Some(Content::Undeliverable(report)) => oracle.reported(now, board, true, epoch, report.number),
                _ => {}
            }
        }
    }

    fn finish(mut self, started: Instant) -> Result<Account, RunError> {
        for board in 0..self.world.boards() {
            self.check_account(board);
        }
        let now = self.world.now();
        let (tally, latencies, violation) = self.notes.oracle.finish(now);
        Ok(Account {
            tally,
            drops: self.notes.drops,
            frames: self.world.frames(),
            retransmissions: self.notes.resent + self.retried,
            detours: self.notes.detours,
            links_up: self.notes.links_up,
            virtual_seconds: now as f64 / 1e9,
            wall_seconds: started.elapsed().as_secs_f64(),
            trace_sha256: self.notes.hash.finish(),
            latencies,
            violation,
            buffers_used: self.buffers_used,
            first_fault: self.outages.first_fault,
            last_traffic: self.last_sent.max(self.notes.last_arrival),
            refused: self.refused,
            longest_refusal: self.longest_refusal,
            link_events: self.notes.link_events.into_iter().max().unwrap_or(0),
        })
    }
}
