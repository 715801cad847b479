//! The machine at a place: a node, a faulty node, or a host.

use hopwise_node::capacities::Capacities;
use hopwise_node::clock::ClockTicks;
use hopwise_node::link::Micros;
use hopwise_node::router::Observer;

use super::links::{LinkSet, each};
use super::{SimNode, SimSizes};
use crate::faulty_node::FaultyNode;
use crate::host::Host;

/// Whatever is at the ends of cables.
pub(super) enum Machine<C: Capacities> {
    Off,
    Node(Box<SimNode<C>>),
    FaultyNode(Box<FaultyNode>),
    Host(Box<Host>),
}

impl<C: SimSizes> Machine<C> {
    /// Takes in bytes that came on a link, the last of them by that time of its own clock.
    pub(super) fn receive(
        &mut self,
        link: u8,
        bytes: &[u8],
        ended: ClockTicks,
        now: Micros,
        observer: &mut impl Observer,
    ) {
        match self {
            Machine::Off => {}
            Machine::Node(node) => node.receive_timed(link, bytes, Some(ended), now, observer),
            Machine::FaultyNode(faulty) => faulty.receive(link, bytes, now),
            Machine::Host(host) => host.receive(bytes, now, observer),
        }
    }

    pub(super) fn tick(&mut self, now: Micros, observer: &mut impl Observer) {
        match self {
            Machine::Off => {}
            Machine::Node(node) => node.tick(now, observer),
            Machine::FaultyNode(faulty) => faulty.tick(now),
            Machine::Host(host) => {
                host.endpoint.tick(now);
            }
        }
    }

    /// The bytes to send on a link that is free, and their number; 0 if there is nothing to send.
    pub(super) fn transmit(&mut self, link: u8, now: Micros, out: &mut [u8], observer: &mut impl Observer) -> usize {
        match self {
            Machine::Off => 0,
            // Most of the time there is nothing, which is known sooner than what there is.
            Machine::Node(node) if !node.wants_to_transmit(link, now) => 0,
            Machine::Node(node) => node.transmit(link, now, out, observer),
            Machine::FaultyNode(faulty) => faulty.transmit(link, now, out),
            Machine::Host(host) => host.endpoint.transmit(now, out),
        }
    }

    /// Whether the start of the frame just written on a link is to be [noted](Self::note_start).
    pub(super) fn awaits_start(&self, link: u8) -> bool {
        matches!(self, Machine::Node(node) if node.awaits_start(link))
    }

    pub(super) fn note_start(&mut self, link: u8, at: ClockTicks, length: usize) {
        if let Machine::Node(node) = self {
            node.note_start(link, at, length);
        }
    }

    /// When to [`tick`](Self::tick) at the latest, for its own sake or for that of the links that were used, all of which it has.
    pub(super) fn deadline(&self, used: LinkSet) -> Micros {
        match self {
            Machine::Off => Micros::MAX,
            Machine::Node(node) => {
                let ends = each(used).map(|link| node.links()[usize::from(link)].deadline());
                ends.fold(node.own_deadline(), Micros::min)
            }
            Machine::FaultyNode(faulty) => faulty.deadline(),
            Machine::Host(host) => host.endpoint.deadline(),
        }
    }
}
