//! Experiments without a computer: packets that a board sends by itself, and the count of those that come.

use hopwise_core::Node;
use hopwise_core::link::Micros;
use hopwise_core::router::SendError;
use hopwise_core::wire::{Pattern, Traffic, TrafficReport};

use crate::mesh::BoardRouter;
use crate::watch::Watch;

/// No more packets in a row: the wires must not wait for all that the node can hold.
const AT_ONCE: usize = 4;
/// A node that had no room is asked again so much later.
const AGAIN: Micros = 300;

/// Sends what was ordered.
pub(crate) struct Generator {
    order: Traffic,
    due: Micros,
    chance: u64,
    pub(crate) report: TrafficReport,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        Generator {
            order: Traffic::NONE,
            due: 0,
            chance: seed | 1,
            report: TrafficReport::default(),
        }
    }

    /// Begins what is ordered at a time; an order of no packets ends what runs.
    pub(crate) fn start(&mut self, order: Traffic, at: Micros) {
        self.order = order;
        self.due = at;
        self.report.sent = 0;
        self.report.refused = 0;
        self.report.running = order.rate > 0;
    }

    /// When the next packet is due, if one is.
    pub(crate) fn deadline(&self) -> Micros {
        if self.report.running { self.due } else { Micros::MAX }
    }

    /// A packet of someone's generator has come.
    pub(crate) fn count(&mut self, payload: &[u8]) {
        self.report.received = self.report.received.wrapping_add(1);
        self.report.received_bytes = self.report.received_bytes.wrapping_add(payload.len() as u32);
    }

    /// Sends the packets that are due.
    pub(crate) fn run(&mut self, node: &mut BoardRouter, now: Micros, watch: &mut Watch) {
        for _ in 0..AT_ONCE {
            if now < self.deadline() {
                return;
            }
            self.run_once(node, now, watch);
        }
    }

    fn run_once(&mut self, node: &mut BoardRouter, now: Micros, watch: &mut Watch) {
        match self.send(node, now, watch) {
            Ok(_) => {
                self.report.sent += 1;
                // Late packets are not made up for all at once.
                self.due = (self.due + 1_000_000 / u64::from(self.order.rate)).max(now.saturating_sub(1_000));
                self.report.running = self.order.count == 0 || self.report.sent < self.order.count;
            }
            Err(_) => {
                self.report.refused = self.report.refused.wrapping_add(1);
                self.due = now + AGAIN;
            }
        }
        if !self.report.running {
            defmt::info!("traffic: {}", self.report);
        }
    }

    fn send(&mut self, node: &mut BoardRouter, now: Micros, watch: &mut Watch) -> Result<u32, SendError> {
        let mut payload = [0; 256];
        let number = self.report.sent.to_le_bytes();
        payload[0] = Traffic::MARK;
        payload[1..5].copy_from_slice(&number);
        let payload = &payload[..usize::from(self.order.size)];
        match self.destination(node) {
            Some(destination) => node.send(destination, payload, now, watch),
            None => node.broadcast(payload, now, watch),
        }
    }

    fn destination(&mut self, node: &BoardRouter) -> Option<Node> {
        if self.order.pattern == Pattern::Neighbors {
            let place = self.report.sent as usize % node.neighbors().count().max(1);
            return node.neighbors().nth(place).map(|(neighbor, _)| neighbor);
        }
        // Xorshift.
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        Traffic::destination(self.order.pattern, node.address(), node.network().nodes(), self.chance)
    }
}
