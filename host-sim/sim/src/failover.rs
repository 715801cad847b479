//! How soon scripted outages, a cut cable or a board that is switched off, are noticed, and how soon traffic goes on by another path.

use std::collections::{BTreeMap, HashSet};

use hopwise_node::router::Event;
use hopwise_node::wire::{Kind, PacketId};

use super::wire::Nanos;
use super::world::WireEnd;

#[derive(Default)]
pub(super) struct Failover {
    outages: Vec<Outage>,
}

struct Outage {
    at: Nanos,
    /// The ends of dead links at live boards, and when each was said to be down.
    ends: Vec<(WireEnd, Option<Nanos>)>,
    /// The flows that it met, by source and destination.
    flows: BTreeMap<(u64, u64), Flow>,
}

/// The packets from one node to another, of which one was first sent into a dead link.
#[derive(Default)]
struct Flow {
    /// Packets that were, and those that originated afterward: they arrive by another path.
    packets: HashSet<PacketId>,
    /// When the first of them arrived.
    resumed_at: Option<Nanos>,
}

impl Outage {
    fn note(&mut self, at: Nanos, board: u32, event: &Event) {
        match *event {
            Event::LinkDown { link, .. } => {
                let end = self.ends.iter_mut().find(|(end, _)| *end == (board, link));
                if let Some((_, noticed)) = end {
                    noticed.get_or_insert(at);
                }
            }
            // One that is retransmitted may have come through before.
            Event::Sent {
                link,
                packet,
                dest,
                retransmit: false,
            } if counts(&packet) && self.ends.contains(&((board, link), None)) => {
                self.flows.entry((packet.source, dest)).or_default().add(packet);
            }
            Event::Accepted { packet, dest } => {
                if let Some(flow) = self.flows.get_mut(&(packet.source, dest)) {
                    flow.add(packet);
                }
            }
            Event::Delivered { packet } => {
                let flow = self.flows.get_mut(&(packet.source, u64::from(board)));
                if let Some(flow) = flow.filter(|flow| flow.packets.contains(&packet)) {
                    flow.resumed_at = Some(at);
                    flow.packets.clear();
                }
            }
            _ => {}
        }
    }
}

impl Flow {
    fn add(&mut self, packet: PacketId) {
        if counts(&packet) && self.resumed_at.is_none() {
            self.packets.insert(packet);
        }
    }
}

/// Whether a packet is one that an application of a node has sent to another.
fn counts(packet: &PacketId) -> bool {
    matches!(packet.kind, Kind::Datagram | Kind::Confirmed) && !packet.from_host
}

impl Failover {
    /// Links die: those with these ends, at live boards.
    pub(super) fn begin(&mut self, at: Nanos, ends: impl Iterator<Item = WireEnd>) {
        self.outages.push(Outage {
            at,
            ends: ends.map(|end| (end, None)).collect(),
            flows: BTreeMap::new(),
        });
    }

    /// Whether there has been an outage.
    pub(super) fn is_on(&self) -> bool {
        !self.outages.is_empty()
    }

    pub(super) fn note(&mut self, at: Nanos, board: u32, event: &Event) {
        self.outages.iter_mut().for_each(|outage| outage.note(at, board, event));
    }

    /// The longest time from an outage until all ends knew; `None` if there was none, or an end never knew.
    pub(super) fn link_down(&self) -> Option<Nanos> {
        let noticed = |outage: &Outage| {
            let ends = outage.ends.iter().map(|&(_, noticed)| noticed);
            Some(ends.collect::<Option<Vec<_>>>()?.into_iter().max()? - outage.at)
        };
        let all: Option<Vec<Nanos>> = self.outages.iter().map(noticed).collect();
        all?.into_iter().max()
    }

    /// The time from an outage until each flow that it met went on, in nanoseconds.
    pub(super) fn resumed(&self) -> Vec<Nanos> {
        let flows = self.outages.iter().flat_map(|outage| {
            let at = outage.at;
            let resumed = outage.flows.values().filter_map(|flow| flow.resumed_at);
            resumed.map(move |resumed| resumed - at)
        });
        flows.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopwise_node::link::Down;
    use hopwise_node::wire::Header;

    fn packet(source: u64, number: u32) -> PacketId {
        Header::new(Kind::Datagram, source, 0).numbered(1, number).id()
    }

    #[test]
    fn a_flow_goes_on_with_the_first_packet_that_was_lost_or_came_later() {
        let mut failover = Failover::default();
        assert_eq!((failover.link_down(), failover.resumed()), (None, vec![]));
        failover.begin(100, [(1, 0), (2, 3)].into_iter());
        let sent = |link, number| Event::Sent {
            link,
            packet: packet(7, number),
            dest: 9,
            retransmit: false,
        };
        let down = |link| Event::LinkDown {
            link,
            reason: Down::Silent,
        };
        failover.note(110, 1, &sent(0, 4));
        failover.note(111, 1, &sent(1, 5));
        let confirmation = PacketId {
            kind: Kind::Confirmation,
            ..packet(9, 4)
        };
        let back = Event::Sent {
            link: 3,
            packet: confirmation,
            dest: 7,
            retransmit: false,
        };
        failover.note(112, 2, &back);
        let later = Event::Accepted {
            packet: packet(9, 5),
            dest: 7,
        };
        failover.note(113, 9, &later);
        failover.note(118, 1, &down(0));
        assert_eq!(failover.link_down(), None, "one end does not know");
        failover.note(119, 2, &down(3));
        assert_eq!(failover.link_down(), Some(19));
        failover.note(120, 1, &sent(0, 6));
        let accepted = Event::Accepted {
            packet: packet(7, 8),
            dest: 9,
        };
        failover.note(120, 7, &accepted);
        for (number, at) in [(5, 121), (6, 122), (8, 123), (4, 124)] {
            let packet = packet(7, number);
            failover.note(at, 9, &Event::Delivered { packet });
        }
        let packet = packet(9, 5);
        failover.note(900, 7, &Event::Delivered { packet });
        assert_eq!(failover.resumed(), [23], "the others did not take the dead link");
    }
}
