//! Questions to this node: those that it [answers](crate::service) by itself, and those that it leaves to the board.

use super::doors::Welcome;
use super::event::{Event, Observer};
use super::pool::Place;
use super::{Router, add};
use crate::capacities::Capacities;
use crate::link::Micros;
use crate::service::{self, Subject};
use crate::wire::{
    AppPort, AppStatus, Content, DropReason, Kind, LinkReport, NodeReport, PacketOf, Query, Role, RouterCounters,
    TraceRecord,
};
use hopwise_core::Node;

impl<C: Capacities> Subject for Router<C> {
    fn address(&self) -> Node {
        self.here
    }

    fn report(&self, now: Micros) -> NodeReport {
        let up = self.wiring.ports().filter(|(_, link)| link.is_some()).count();
        NodeReport {
            network: self.network.id(),
            address: self.here,
            epoch: self.epoch,
            uptime_ms: now.saturating_sub(self.started) / 1_000,
            links: self.links.len() as u8,
            neighbors: self.wiring.ports().count() as u8,
            neighbors_up: up as u8,
            card: self.card.clone(),
        }
    }

    fn counters(&self) -> &RouterCounters {
        &self.counters
    }

    fn refusal(&self, port: AppPort) -> AppStatus {
        match self.welcome(port) {
            Welcome::Unserved => AppStatus::Unserved,
            _ => AppStatus::Busy,
        }
    }

    fn link_report(&self, link: u8) -> Option<LinkReport> {
        let end = self.links.get(usize::from(link))?;
        let peer = end.peer();
        Some(LinkReport {
            up: end.is_up(),
            trouble: end.trouble(),
            peer: peer.map(|peer| (peer.network, peer.address, peer.port)),
            host: peer.is_some_and(|peer| peer.role == Role::Host),
            wired: self.wiring.neighbor_at(link).is_some(),
            waiting: self.queues.get(usize::from(link)).map_or(0, |queue| queue.len() as u8),
            counters: *end.counters(),
        })
    }
}

impl<C: Capacities> Router<C> {
    /// Answers a question that has come, or leaves it to the board or an application.
    pub(super) fn answer(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let Some(slot) = self.pool.get(place) else { return };
        let asked = slot.packet.header;
        let Some(Content::Request(request)) = slot.packet.content() else {
            return self.discard(place, DropReason::Malformed, observer);
        };
        let query = request.query;
        let for_others = match query {
            Query::Board(_) => true,
            Query::Application(port) => self.welcome(port) == Welcome::Open,
            _ => false,
        };
        if for_others {
            self.hand_over(place, observer);
            return self.pool.release_if_unused(place);
        }
        let Some(body) = service::answer(&request, asked.number, self, now) else {
            return self.discard(place, DropReason::Malformed, observer);
        };
        if !self.pool.make_service(place, now) {
            return self.discard(place, DropReason::Busy, observer);
        }
        if query == Query::ClearCounters {
            self.clear_counters();
        }
        add(&mut self.counters.delivered, 1);
        add(&mut self.counters.originated, 1);
        observer.note(Event::Delivered { packet: asked.id() });
        let header = self.header(Kind::Response, asked.source, asked.from_host);
        let packet = self.sealed(PacketOf { header, body });
        if let (Some(slot), Some(packet)) = (self.pool.get_mut(place), packet) {
            slot.packet = packet;
        }
        observer.note(Event::Accepted {
            packet: header.id(),
            dest: header.dest,
        });
        self.pool.route_soon(place);
    }

    /// Begins to count anew. What is in the buffers is carried over, so that the account still adds up.
    pub fn clear_counters(&mut self) {
        self.counters = RouterCounters {
            carried_over: self.counters.held(),
            ..RouterCounters::default()
        };
        for link in self.links.iter_mut() {
            link.clear_counters();
        }
    }

    /// Adds this node, and how long the packet was here, to a packet that is traced.
    pub(super) fn sign(&mut self, place: Place, now: Micros) {
        let Some(slot) = self.pool.get_mut(place) else { return };
        if !slot.packet.header.traced || slot.signed {
            return;
        }
        slot.signed = true;
        slot.packet.add_record(&TraceRecord {
            node: self.here,
            waited: u64::from((now as u32).wrapping_sub(slot.arrived)),
        });
    }
}
