//! The routers of the whole network, stepped cycle by cycle.
//!
//! A cycle costs what moves in it: idle routers, waiting packets and silent sources are on no list. Flits live in pools and change
//! hands by their number; nothing is allocated per packet once the pools have grown to the load. A large network is worked on in
//! [partitions](partition::Partition) that fit the processor's cache, by as many threads as are wanted.
//!
//! - [`partition`]: a part of the network, and the pipeline; [`routers`]: its ports and channels; [`packets`]: what is under way, and
//!   what enters; [`allocation`]: who gets a channel, and who the switch; [`border`]: what goes from one partition to another;
//!   [`agenda`]: what is sent by a schedule. This file has time, failures, and what all partitions have in common.
//!
//! The router is the usual one with input queues: a head flit is routed, wins a virtual channel of its class on the link
//! ahead (round robin over the input channels), then every flit wins the switch (one iteration of iSLIP: outputs grant
//! round robin, inputs accept round robin), spends a credit and leaves. The switch grant frees a buffer, and a credit goes
//! back. References: W. J. Dally and B. Towles, Principles and Practices of Interconnection Networks, 2004, chapters 16
//! to 19; N. McKeown, The iSLIP scheduling algorithm for input-queued switches, IEEE/ACM Transactions on Networking 7(2), 1999.

mod agenda;
mod allocation;
mod border;
mod packets;
mod partition;
mod routers;

use std::ops::Range;
use std::sync::Arc;

use hopwise_language::{BadDestinations, Destinations};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use super::failures::{Change, Standing};
use super::measure::Experiment;
use super::parameters::{Parameters, Paths, Rings};
use super::record::Recorder;
use super::routes::Routes;
use super::schedule::Schedule;
use super::wiring::{NONE, Wiring};
use border::{Border, HERE};
use partition::Partition;
use routers::ChannelPlan;
#[cfg(test)]
pub(super) use routers::Input;
pub(super) use routers::State;

/// A packet needs a class that was not provided for; begin again with so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MoreClasses(pub(super) u32);

/// Draws what patterns of traffic have drawn once, besides the numbers of the partitions.
const PERMUTATION: u64 = 0x7065_726d;

/// Cycles after which the recorder is told, at most.
const LONGEST_TURN: u32 = 64;

struct Shared<'a> {
    experiment: &'a Experiment<'a>,
    /// What is sent instead of its traffic.
    schedule: Option<&'a Schedule>,
    parameters: Parameters,
    routes: Routes,
    nodes: u32,
    /// Delays, added up once.
    flight: u32,
    credit_return: u32,
    sink_return: Option<u32>,
    entry: u32,
    /// The cycles whose packets count.
    measured: Range<u32>,
    /// Packets alive when the turn began, and how many may be.
    alive: i64,
    most_alive: i64,
    /// No packet enters the network.
    sources_wait: bool,
}

impl Shared<'_> {
    fn counts(&self, cycle: u32) -> bool {
        self.measured.contains(&cycle)
    }
}

/// Links and routers that fail. After every failure nothing enters until the network is empty; then all routers have new routes. So no
/// packet ever goes by old routes and new ones, whose classes need not agree.
struct Failing {
    wiring: Wiring,
    standing: Standing,
}

pub(super) struct Engine<'a> {
    shared: Shared<'a>,
    partitions: Vec<Partition>,
    /// Cycles that a partition can go on without the others.
    window: u32,
    failing: Option<Failing>,
    pool: Option<Arc<rayon::ThreadPool>>,
    pub(super) now: u32,
    pub(super) recorder: Recorder,
    /// Flits over each direction of each link in the window of the recorder, once it is closed.
    pub(super) link_flits: Vec<u32>,
}

impl<'a> Engine<'a> {
    /// With at least so many classes.
    pub(super) fn new(
        experiment: &'a Experiment<'a>,
        schedule: Option<&'a Schedule>,
        classes: u32,
    ) -> Result<Self, BadDestinations> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(experiment.seed ^ PERMUTATION);
        let destinations = Destinations::new(experiment.traffic, experiment.network, &mut rng)?;
        let wiring = Wiring::new(experiment.network);
        let failures = experiment.failures;
        let standing = failures.map(|failures| Standing::new(failures, &wiring, experiment.seed));
        let mut parameters = experiment.parameters;
        if parameters.paths != Paths::Rule || standing.is_some() || experiment.routes.is_some() {
            // What is special about balanced rings is a matter of the routing function by itself.
            parameters.rings = Rings::Core;
        }
        let mut routes = match &standing {
            Some(standing) => Routes::round(experiment.network, experiment.rule, &wiring, standing),
            None => {
                let (rings, own) = (parameters.rings, experiment.routes);
                Routes::new(experiment.network, experiment.rule, rings, &wiring, own)
            }
        };
        if parameters.paths.is_adaptive() {
            routes.find_shortest(&wiring, standing.as_ref().unwrap_or(&Standing::default()));
        }
        let classes = routes.class_count.max(classes);
        let classes = classes.saturating_mul(parameters.paths.phases());
        let plan = ChannelPlan::new(&parameters, &wiring, classes);
        let parameters = parameters.shared_out(plan.channels());
        let nodes = wiring.nodes() as u32;
        let size = partition::size(wiring.nodes(), wiring.ports() * plan.channels() as usize);
        let shortest = parameters.flight().min(parameters.credit_return());
        let window = if size < nodes { shortest } else { LONGEST_TURN };

        let shared = Shared {
            parameters,
            routes,
            nodes,
            flight: parameters.flight(),
            credit_return: parameters.credit_return(),
            sink_return: parameters.sink_return(),
            entry: parameters.entry(),
            measured: u32::MAX..u32::MAX,
            alive: 0,
            most_alive: packets::most_alive(wiring.nodes()),
            sources_wait: false,
            experiment,
            schedule,
        };
        // A letter is read at the end of the turn in which it was written.
        let delay = parameters.longest_delay() + if size < nodes { window } else { 0 };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(shared.experiment.seed);
        let mut next = |number: usize| {
            let border = Border::new(&wiring, number, size);
            let (own, destinations) = (rng.clone(), destinations.clone());
            rng.jump();
            Partition::new(&shared, &wiring, plan, border, destinations, delay, own)
        };
        let partitions: Vec<Partition> = (0..nodes.div_ceil(size) as usize).map(&mut next).collect();
        let threads = shared.experiment.threads.min(partitions.len());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        Ok(Self {
            // Where no thread can be started, this one does all: the result is the same.
            pool: (threads > 1).then(|| pool.build().ok().map(Arc::new)).flatten(),
            shared,
            partitions,
            window,
            failing: standing.map(|standing| Failing { wiring, standing }),
            now: 0,
            recorder: Recorder::new(),
            link_flits: Vec::new(),
        })
    }

    /// Packets made and not yet delivered or lost.
    pub(super) fn alive(&self) -> u64 {
        let balances = self.partitions.iter().map(|partition| partition.packets.balance());
        let balance: i64 = balances.sum();
        balance.unsigned_abs()
    }

    pub(super) fn has_plans(&self) -> bool {
        let mut agendas = self.partitions.iter().filter_map(|partition| partition.agenda.as_ref());
        agendas.any(agenda::Agenda::has_timed)
    }

    /// Whether sources ever had to pause because too many packets were alive.
    pub(super) fn throttled(&self) -> bool {
        self.partitions.iter().any(|partition| partition.packets.throttled)
    }

    /// Flits that ever crossed a switch.
    pub(super) fn moved(&self) -> u64 {
        self.partitions.iter().map(|partition| partition.moved).sum()
    }

    /// Buffer classes, virtual channels of a link, and flits that a channel holds.
    pub(super) fn channel_plan(&self) -> (u32, u32, u32) {
        let first = self.partitions.first().map(|partition| &partition.routers);
        first.map_or((0, 0, 0), |routers| {
            (routers.classes, routers.channels, routers.buffers)
        })
    }

    pub(super) fn failed(&self) -> (u64, u64) {
        let failing = self.failing.as_ref();
        failing.map_or((0, 0), |failing| failing.standing.counts())
    }

    /// Packets count from now on, in batches of so many cycles, as a power of two.
    pub(super) fn open(&mut self, batch_bits: u32) {
        self.recorder.open(self.now, batch_bits);
        for partition in &mut self.partitions {
            partition.routers.crossed.fill(0);
        }
    }

    /// Packets made from now on do not count.
    pub(super) fn close(&mut self) {
        self.recorder.close(self.now);
        let links = |partition: &Partition| {
            let ports = partition.routers.ports.iter().zip(&partition.routers.crossed).zip(0..);
            let links = ports.filter(|((port, _), number)| port.local != *number);
            links.map(|((_, &flits), _)| flits).collect::<Vec<u32>>()
        };
        self.link_flits = self.partitions.iter().flat_map(links).collect();
    }

    pub(super) fn run(&mut self, cycles: u32) -> Result<(), MoreClasses> {
        match self.pool.clone() {
            Some(pool) => pool.install(|| self.advance(cycles)),
            None => self.advance(cycles),
        }
    }

    fn advance(&mut self, cycles: u32) -> Result<(), MoreClasses> {
        let end = self.now + cycles;
        while self.now < end {
            self.fail()?;
            self.shared.measured = self.recorder.window();
            self.shared.alive = self.alive() as i64;
            let next_event = self.failing.as_ref().and_then(|failing| failing.standing.next_event());
            let next_event = next_event.unwrap_or(u32::MAX).max(self.now + 1);
            let turn_end = (self.now + self.window).min(end).min(next_event);

            let turn = self.now..turn_end;
            let shared = &self.shared;
            if self.pool.is_some() {
                let work = |partition: &mut Partition| partition.turn(shared, turn.clone());
                self.partitions.par_iter_mut().for_each(work);
            } else {
                let partitions = self.partitions.iter_mut();
                partitions.for_each(|partition| partition.turn(shared, turn.clone()));
            }
            exchange(&mut self.partitions);
            self.now = turn_end;
            self.take_notes()?;
        }
        Ok(())
    }

    fn take_notes(&mut self) -> Result<(), MoreClasses> {
        for partition in &mut self.partitions {
            let notes = &mut partition.notes;
            self.recorder.offered += std::mem::take(&mut notes.offered);
            self.recorder.expected += std::mem::take(&mut notes.expected);
            for delivery in notes.delivered.drain(..) {
                self.recorder.delivered(delivery.born, delivery.at, delivery.hops);
            }
            notes.lost.drain(..).for_each(|born| self.recorder.lost(born));
            partition.halt.map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    /// What is to fail by now fails; once the network is empty after that, it has new routes.
    fn fail(&mut self) -> Result<(), MoreClasses> {
        let Some(Failing { wiring, standing }) = &mut self.failing else {
            return Ok(());
        };
        while let Some(change) = standing.happen(wiring, self.now) {
            self.shared.sources_wait = true;
            let routes = &mut self.shared.routes;
            let mut lose = |port: u32| {
                let node = wiring.node[port as usize];
                routes.lose(node, Some(port - wiring.first[node as usize] - 1));
            };
            match change {
                Change::Link(port, true) => [port, wiring.peer[port as usize]].into_iter().for_each(lose),
                Change::Router(node, true) => {
                    let ports = wiring.first[node as usize] + 1..wiring.first[node as usize + 1];
                    ports.for_each(|port| lose(wiring.peer[port as usize]));
                    routes.lose(node, None);
                }
                Change::Link(_, false) | Change::Router(_, false) => (),
            }
        }
        let count = |of: fn(&packets::Packets) -> u64| -> u64 { self.partitions.iter().map(|d| of(&d.packets)).sum() };
        let inside = count(|packets| packets.entered) - count(|packets| packets.left);
        if self.shared.sources_wait && inside == 0 {
            let experiment = self.shared.experiment;
            let mut routes = Routes::round(experiment.network, experiment.rule, wiring, standing);
            if self.shared.parameters.paths.is_adaptive() {
                routes.find_shortest(wiring, standing);
            }
            let phases = self.shared.parameters.paths.phases();
            let classes = self.partitions.first().map_or(0, |partition| partition.routers.classes) / phases;
            if routes.class_count > classes && self.shared.parameters.class_limit.is_none() {
                return Err(MoreClasses(routes.class_count));
            }
            self.shared.routes = routes;
            self.shared.sources_wait = false;
        }
        Ok(())
    }

    /// All input channels, for the watchdog: the partition of each, and its number there.
    pub(super) fn channels(&self) -> u32 {
        let last = self.partitions.last();
        last.map_or(0, |partition| {
            partition.first_channel + partition.routers.inputs.len() as u32
        })
    }

    /// The partition of a channel, and the channel's number in it.
    fn place(&self, channel: u32) -> (&Partition, u32) {
        let begins_before = |partition: &Partition| partition.first_channel <= channel;
        let partition = &self.partitions[self.partitions.partition_point(begins_before) - 1];

        (partition, channel - partition.first_channel)
    }

    #[cfg(test)]
    pub(super) fn input(&self, channel: u32) -> &Input {
        let (partition, local) = self.place(channel);
        &partition.routers.inputs[local as usize]
    }

    /// The node of an input channel, and its number on the link.
    pub(super) fn place_of(&self, channel: u32) -> (u32, u32) {
        let (partition, local) = self.place(channel);
        partition.routers.place(local)
    }

    /// The input channels that must move before the packet at the head of a channel can, one of which is enough; `None` if it
    /// waits for nothing that will not pass by itself.
    pub(super) fn waits_for(&self, channel: u32) -> Option<Vec<u32>> {
        let (partition, local) = self.place(channel);
        let routers = &partition.routers;
        let input = &routers.inputs[local as usize];
        match input.state {
            // Active: a flit has won a channel and has a credit; if it has not come yet, it is on its way.
            State::Idle | State::Active => None,
            State::Starved => Some(vec![self.full_channel_behind(partition, input.out)?]),
            State::Seeking => {
                let mut others = Vec::new();
                for out in routers.choices(local) {
                    others.push(match routers.outputs[out as usize].owner {
                        NONE if routers.has_room(local, out) => return None,
                        NONE => self.full_channel_behind(partition, out)?,
                        owner => partition.first_channel + owner,
                    });
                }
                Some(others)
            }
        }
    }

    /// The full input channel at the other end of an output channel of a partition; `None` if it leads out of the network, or if a flit
    /// or a credit between them is on its way.
    fn full_channel_behind(&self, partition: &Partition, out: u32) -> Option<u32> {
        let (beyond, next) = partition.routers.behind(out)?;
        let other = match beyond {
            HERE => partition,
            place => &self.partitions[partition.border.partition(place)],
        };
        let filled = u32::from(other.routers.inputs[next as usize].filled);
        let held = filled + u32::from(partition.routers.outputs[out as usize].credits);
        (held == partition.routers.buffers).then_some(other.first_channel + next)
    }

    /// Bytes of memory in use for the network, routes and packets.
    pub(super) fn bytes(&self) -> usize {
        self.shared.routes.bytes() + self.partitions.iter().map(Partition::bytes).sum::<usize>()
    }
}

/// Carries all letters to where they go. BoundaryEvent boxes keep their memory.
fn exchange(partitions: &mut [Partition]) {
    for from in 0..partitions.len() {
        for place in 0..partitions[from].border.outgoing.len() {
            let letters = std::mem::take(&mut partitions[from].border.outgoing[place]);
            let number = partitions[from].border.partition(place as u16);
            let to = &mut partitions[number].border;
            let back = to.index(from);
            let empty = std::mem::replace(&mut to.incoming[back], letters);
            partitions[from].border.outgoing[place] = empty;
        }
    }
}
