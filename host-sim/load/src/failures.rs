//! Links and routers that fail, by chance or by a script, and what is left of the network.

use std::collections::VecDeque;

use hopwise_core::{Network, Node, Port};
use hopwise_language::Script;
use hopwise_language::script::{Action, NoSuchPlace, PortName, PortOf, Stage, check_port};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::bad::{BadLoad, bad};
use super::wiring::Wiring;

/// What fails, as it is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FailurePlan {
    /// The chance of a link to be broken from the beginning, for good.
    pub links: f64,
    /// The same for a router, with all its links.
    pub routers: f64,
    /// What happens while the network runs, in the language of scripts; a cycle is a nanosecond.
    pub events: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Failures {
    links: f64,
    routers: f64,
    script: Script<(Node, Port)>,
}

/// Where scripts for loads are played.
struct Routers<'a>(&'a Network);

impl Stage for Routers<'_> {
    type Port = (Node, Port);

    const NAME: &'static str = "in a load";

    fn can<P>(action: &Action<P>) -> bool {
        matches!(
            action,
            Action::Cut(_) | Action::Plug(_) | Action::Off(_) | Action::On(_) | Action::All(_)
        )
    }

    fn network(&self) -> &Network {
        self.0
    }

    fn port(&self, name: PortName) -> Result<(Node, Port), NoSuchPlace> {
        match name.port {
            PortOf::Number(port) => check_port(self.0, name.node, port),
            PortOf::Uart(_) => Err(NoSuchPlace::unnamed(name)),
        }
    }
}

impl FailurePlan {
    /// Made ready for a network; `None` if nothing fails.
    pub fn on(&self, network: &Network) -> Result<Option<Failures>, BadLoad> {
        for chance in [self.links, self.routers] {
            if !(0.0..=1.0).contains(&chance) {
                return Err(bad(format!("the chance of a failure is from 0 to 1, not {chance}")));
            }
        }
        let script = Script::parse(&self.events).and_then(|script| script.resolve(&Routers(network)));
        let script = script.map_err(|error| bad(format!("the events, {error}")))?;
        let nothing = self.links == 0.0 && self.routers == 0.0 && script.is_empty();
        Ok((!nothing).then_some(Failures {
            links: self.links,
            routers: self.routers,
            script,
        }))
    }
}

/// Draws what fails, besides what the run draws.
const CHANCE: u64 = 0x6661_696c;

/// Which links and routers stand, and what is still to happen to them.
#[derive(Clone, Default)]
pub(super) struct Standing {
    /// By port: whether its link is cut. Empty if none ever is.
    cut: Vec<bool>,
    /// By node.
    off: Vec<bool>,
    events: VecDeque<(u32, Change)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A link, by one of its ports, and whether it is cut.
    Link(u32, bool),
    Router(u32, bool),
}

impl Standing {
    /// At the beginning: what chance breaks is drawn by the seed.
    pub(super) fn new(failures: &Failures, wiring: &Wiring, seed: u64) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ CHANCE);
        let mut standing = Self {
            cut: vec![false; wiring.ports()],
            off: vec![false; wiring.nodes()],
            events: VecDeque::new(),
        };
        for port in 0..wiring.ports() {
            let peer = wiring.peer[port] as usize;
            if port < peer && rng.random::<f64>() < failures.links {
                (standing.cut[port], standing.cut[peer]) = (true, true);
            }
        }
        for off in &mut standing.off {
            *off = rng.random::<f64>() < failures.routers;
        }
        for event in failures.script.events() {
            let port = |(node, port): (Node, Port)| wiring.first[node as usize] + 1 + port as u32;
            let change = match event.action {
                Action::Cut(end) => Change::Link(port(end), true),
                Action::Plug(end) => Change::Link(port(end), false),
                Action::Off(node) => Change::Router(node as u32, true),
                Action::On(node) => Change::Router(node as u32, false),
                // A script with anything else was refused.
                _ => continue,
            };
            let at = u32::try_from(event.at.nanos()).unwrap_or(u32::MAX);
            standing.events.push_back((at, change));
        }
        standing
    }

    pub(super) fn next_event(&self) -> Option<u32> {
        self.events.front().map(|&(at, _)| at)
    }

    /// The next thing that happens up to a cycle; it has happened then.
    pub(super) fn happen(&mut self, wiring: &Wiring, now: u32) -> Option<Change> {
        self.events.front().filter(|&&(at, _)| at <= now)?;
        let (_, change) = self.events.pop_front()?;
        match change {
            Change::Link(port, cut) => {
                self.cut[port as usize] = cut;
                self.cut[wiring.peer[port as usize] as usize] = cut;
            }
            Change::Router(node, off) => self.off[node as usize] = off,
        }
        Some(change)
    }

    pub(super) fn counts(&self) -> (u64, u64) {
        let count = |list: &[bool]| list.iter().filter(|&&out| out).count() as u64;
        (count(&self.cut) / 2, count(&self.off))
    }

    /// Whether a port of a node, counted from 0, leads to a neighbor that stands, and the node stands.
    pub(super) fn is_whole(&self, wiring: &Wiring, node: u32, port: u32) -> bool {
        let port = (wiring.first[node as usize] + 1 + port) as usize;
        self.passes(wiring, port)
    }

    fn passes(&self, wiring: &Wiring, port: usize) -> bool {
        let is_off = |node: u32| self.off.get(node as usize).copied().unwrap_or(false);
        let ends = [wiring.node[port], wiring.node[wiring.peer[port] as usize]];
        !self.cut.get(port).copied().unwrap_or(false) && !ends.into_iter().any(is_off)
    }

    /// Hops from every node to one, over what stands; [`u32::MAX`] if there is no way.
    pub(super) fn hops_to(&self, wiring: &Wiring, dest: u32) -> Vec<u32> {
        let mut hops = vec![u32::MAX; wiring.nodes()];
        if self.off.get(dest as usize).copied().unwrap_or(false) {
            return hops;
        }
        hops[dest as usize] = 0;
        let mut queue = VecDeque::from([dest]);
        while let Some(here) = queue.pop_front() {
            let ports = wiring.first[here as usize] + 1..wiring.first[here as usize + 1];
            for port in ports.filter(|&port| self.passes(wiring, port as usize)) {
                let there = wiring.node[wiring.peer[port as usize] as usize];
                if hops[there as usize] == u32::MAX {
                    hops[there as usize] = hops[here as usize] + 1;
                    queue.push_back(there);
                }
            }
        }
        hops
    }
}
