//! Experiments without a host: generated packets, and the count of received ones.

use hopwise_core::Node;
use hopwise_node::capacities::Capacities;
use hopwise_node::link::Micros;
use hopwise_node::router::{Observer, SendError};
use hopwise_node::wire::{AppPort, Pattern, Traffic, TrafficReport};

use hopwise_node::router::Router;

/// Maximum number of packets in a burst, so that the ports need not wait until the router's buffers are full.
const BURST: usize = 4;
/// Time of the next attempt if the router had no room.
const RETRY_AFTER: Micros = 300;

pub(crate) struct Generator {
    order: Traffic,
    due: Micros,
    random: u64,
    pub(crate) report: TrafficReport,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        Generator {
            order: Traffic::NONE,
            due: 0,
            random: seed | 1,
            report: TrafficReport::default(),
        }
    }

    /// Starts a traffic order at a time; one without packets stops the running one.
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

    /// Counts a packet from the generator of another board.
    pub(crate) fn count(&mut self, payload: &[u8]) {
        self.report.received = self.report.received.wrapping_add(1);
        self.report.received_bytes = self.report.received_bytes.wrapping_add(payload.len() as u32);
    }

    /// Sends the packets that are due.
    pub(crate) fn run<C: Capacities>(&mut self, router: &mut Router<C>, now: Micros, observer: &mut impl Observer) {
        for _ in 0..BURST {
            if now < self.deadline() {
                return;
            }
            self.run_once(router, now, observer);
        }
    }

    fn run_once<C: Capacities>(&mut self, router: &mut Router<C>, now: Micros, observer: &mut impl Observer) {
        match self.send(router, now, observer) {
            Ok(_) => {
                self.report.sent += 1;
                // A delay of more than a millisecond is not made up for.
                self.due = (self.due + 1_000_000 / u64::from(self.order.rate)).max(now.saturating_sub(1_000));
                self.report.running = self.order.count == 0 || self.report.sent < self.order.count;
            }
            Err(_) => {
                self.report.refused = self.report.refused.wrapping_add(1);
                self.due = now + RETRY_AFTER;
            }
        }
        if !self.report.running {
            log!(info, "traffic: {}", self.report);
        }
    }

    fn send<C: Capacities>(
        &mut self,
        router: &mut Router<C>,
        now: Micros,
        observer: &mut impl Observer,
    ) -> Result<u32, SendError> {
        let mut payload = [0; 256];
        let number = self.report.sent.to_le_bytes();
        payload[..4].copy_from_slice(&number);
        let payload = &mut payload[..usize::from(self.order.size)];
        if self.order.random {
            for bytes in payload[4..].chunks_mut(8) {
                bytes.copy_from_slice(&self.next_random().to_le_bytes()[..bytes.len()]);
            }
        }
        match self.destination(router) {
            Some(destination) => router.send(destination, AppPort::TRAFFIC, payload, now, observer),
            None => router.broadcast(AppPort::TRAFFIC, payload, now, observer),
        }
    }

    fn destination<C: Capacities>(&mut self, router: &Router<C>) -> Option<Node> {
        if self.order.pattern == Pattern::Neighbors {
            let place = self.report.sent as usize % router.neighbors().count().max(1);
            return router.neighbors().nth(place).map(|(neighbor, _)| neighbor);
        }
        let chance = self.next_random();
        Traffic::destination(self.order.pattern, router.address(), router.network().nodes(), chance)
    }

    /// Xorshift.
    fn next_random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }
}
