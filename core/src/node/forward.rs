//! Where a packet goes from here.

use super::counters::add;
use super::event::{DropReason, Event, Observer};
use super::packet::{Header, Kind, Packet};
use super::pool::{From, Place};
use super::seen::Judgement;
use super::service::Report;
use super::times::LIFETIME;
use super::trail::Trail;
use super::{AGE_UNIT, Node, age, take_out};
use crate::limits::LOOKAHEAD;
use crate::link::{Link, Micros};
use crate::{Network, Node as Address, Port, Rule};

/// The link a packet takes, and whether it goes round a dead one.
struct Way {
    link: u8,
    detour: Option<Address>,
}

impl<const PORTS: usize, const BUFFERS: usize, const BODY: usize, const WIRE: usize, const PEERS: usize>
    Node<PORTS, BUFFERS, BODY, WIRE, PEERS>
{
    /// A packet came on a link. If there is no room for it, the link is not told that it was taken.
    pub(super) fn packet_in(
        &mut self,
        link: u8,
        lane: u8,
        packet: Option<Packet<BODY>>,
        now: Micros,
        observer: &mut impl Observer,
    ) {
        let host = self.host == Some(link);
        if !host && self.wiring.neighbor_at(link).is_none() {
            return;
        }
        let Some(mut packet) = packet else {
            self.links.get_mut(usize::from(link)).map(Link::take);
            add(&mut self.counters.received, 1);
            self.counters.drop(DropReason::Malformed);
            return;
        };
        let from = if host {
            packet.header.source = self.here;
            packet.header.from_host = true;
            packet.header.hops_left = self.hops;
            From::Host(link)
        } else {
            From::Link(link)
        };
        let header = packet.header;
        let Some(place) = self.pool.admit(packet, from, lane, now) else {
            return;
        };
        self.links.get_mut(usize::from(link)).map(Link::take);
        add(&mut self.counters.received, 1);
        observer.note(Event::Received {
            link,
            packet: header.id(),
            dest: header.dest,
        });
        if self.network.check(header.source).is_err() {
            self.discard(place, DropReason::NoSuchNode, observer);
        } else if self.network.check(header.dest).is_err() {
            self.give_up(place, DropReason::NoSuchNode, now, observer);
        } else {
            self.go(place, now, observer);
        }
    }

    /// A packet is here, whether it came or begins here: it is delivered, passed on, or sent on.
    pub(super) fn go(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let Some(slot) = self.pool.get(place) else { return };
        let header = slot.packet.header;
        if u64::from(age(&header, slot.arrived, now)) * AGE_UNIT > LIFETIME {
            self.give_up(place, DropReason::Expired, now, observer);
        } else if header.kind == Kind::Broadcast && (header.dest == header.source || header.dest == self.here) {
            self.spread(place, now, observer);
        } else if header.dest == self.here {
            self.arrive(place, now, observer);
        } else {
            self.send_on(place, now, observer);
        }
    }

    /// Puts a packet for another node into the queue of a link, or gives it up.
    pub(super) fn send_on(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        match self.choose(place) {
            Ok(Way { link, detour }) => {
                if let Some(by) = detour {
                    add(&mut self.counters.detoured, 1);
                    let packet = self.pool.get(place).map(|slot| slot.packet.header.id());
                    if let Some(packet) = packet {
                        observer.note(Event::Detoured { packet, by });
                    }
                }
                self.enqueue(place, link);
            }
            Err(reason) => self.give_up(place, reason, now, observer),
        }
    }

    pub(super) fn enqueue(&mut self, place: Place, link: u8) {
        if let (Some(slot), Some(queue)) = (self.pool.get_mut(place), self.queues.get_mut(usize::from(link))) {
            slot.pending |= 1 << link;
            // There is room: a place is in a queue once.
            let _ = queue.push(place);
        }
    }

    /// The link to take: the next hop's if it is up, otherwise as the search with a trail goes.
    fn choose(&mut self, place: Place) -> Result<Way, DropReason> {
        let Node {
            network,
            here,
            rule,
            wiring,
            pool,
            ..
        } = self;
        let (here, rule) = (*here, *rule);
        let slot = pool.get_mut(place).ok_or(DropReason::Malformed)?;
        let Packet { header, body } = &mut slot.packet;
        if header.hops_left == 0 {
            return Err(DropReason::HopsUsedUp);
        }
        let dest = header.dest;
        if header.trail {
            let trail = Trail::of(body).ok_or(DropReason::Malformed)?;
            let start = trail.start().ok_or(DropReason::Malformed)?;
            if nearer(network, here, start, dest) {
                trail.remove();
                header.trail = false;
            }
        }
        if !header.trail {
            let next = network.next_hop(here, dest, rule).unwrap_or(here);
            if let Some(link) = wiring.link_to(next) {
                return Ok(Way { link, detour: None });
            }
            Trail::begin(body, here).map_err(|_| DropReason::TrailFull)?;
            header.trail = true;
        }
        let mut trail = Trail::of(body).ok_or(DropReason::Malformed)?;
        if !trail.has(here) {
            trail.push(here).map_err(|_| DropReason::TrailFull)?;
        }
        // Whoever could hand it over has been asked.
        if wiring.link_to(dest).is_none()
            && network
                .neighbors(dest)
                .is_ok_and(|mut near| near.all(|node| trail.has(node)))
        {
            trail.remove();
            header.trail = false;
            return Err(DropReason::NoRoute);
        }
        let fresh = wiring.live().filter(|&(node, _)| !trail.has(node));
        if let Some((by, link)) = fresh.min_by_key(|&(node, _)| hops(network, node, dest, rule)) {
            return Ok(Way { link, detour: Some(by) });
        }
        while let Some(before) = trail.back() {
            if let Some(link) = wiring.link_to(before) {
                return Ok(Way {
                    link,
                    detour: Some(before),
                });
            }
        }
        trail.remove();
        header.trail = false;
        Err(DropReason::NoRoute)
    }

    /// A link that a packet was to take is dead.
    pub(super) fn turn_round(
        &mut self,
        place: Place,
        link: u8,
        port: Option<u8>,
        now: Micros,
        observer: &mut impl Observer,
    ) {
        let Some(slot) = self.pool.get_mut(place) else { return };
        slot.pending &= !(1 << link);
        let header = slot.packet.header;
        let Some(port) = port else {
            // It was the computer's.
            return self.give_up(place, DropReason::NoHost, now, observer);
        };
        if header.kind == Kind::Broadcast && header.dest == header.source {
            slot.detached |= 1 << port;
            self.go_on_with(place);
        } else {
            self.send_on(place, now, observer);
        }
    }

    /// A broadcast is here: for the application, and for those to whom this node passes it on.
    fn spread(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let here = self.here;
        let Some(slot) = self.pool.get_mut(place) else { return };
        let header = slot.packet.header;
        match self.seen.judge(&header, now) {
            Judgement::New => {}
            Judgement::Duplicate => return self.discard(place, DropReason::Duplicate, observer),
            Judgement::Uncertain => return self.discard(place, DropReason::Uncertain, observer),
        }
        remove_trail(&mut slot.packet);
        slot.packet.header.dest = header.source;
        let mut copies = 0;
        if let Ok(fanout) = self.network.fanout(here, header.source) {
            let mut ways: heapless::Vec<_, PORTS> = heapless::Vec::new();
            for (port, node) in fanout {
                // There is room: a node has no more neighbours than links.
                let _ = ways.push((port, self.wiring.link_to(node)));
            }
            for &(port, link) in &ways {
                match link {
                    Some(link) => self.enqueue(place, link),
                    None => self.detach(place, port),
                }
            }
            copies = ways.len() as u32;
        }
        if here != header.source {
            copies += 1;
            self.hand_over(place, observer);
        }
        // The first copy is the packet itself. A broadcast of a network of one node has none.
        self.counters.copied = self.counters.copied.wrapping_add(copies).wrapping_sub(1);
        if copies == 0 {
            self.counters.copied = self.counters.copied.wrapping_add(1);
            add(&mut self.counters.delivered, 1);
        }
        self.go_on_with(place);
    }

    fn detach(&mut self, place: Place, port: Port) {
        if let Some(slot) = self.pool.get_mut(place) {
            slot.detached |= bit(port);
        }
    }

    /// A copy of a packet is done with. A broadcast whose other copies are, too, goes on to those whose link is dead, one
    /// after the other: each as a packet of its own to that child, which passes it on from there. They use the slot and the
    /// lane that the broadcast has, so they wait for nothing that could wait for them.
    pub(super) fn go_on_with(&mut self, place: Place) {
        let (here, hops_left) = (self.here, self.hops);
        let Some(slot) = self
            .pool
            .get_mut(place)
            .filter(|slot| slot.pending == 0 && slot.detached != 0)
        else {
            return self.pool.release_if_unused(place);
        };
        let Header { source, dest, .. } = slot.packet.header;
        let parent = if dest == source {
            here
        } else {
            self.network.next_hop(dest, source, Rule::Exact).unwrap_or(dest)
        };
        let child = |port: u32| self.network.neighbor(parent, Port::from(port)).ok().flatten();
        let lowest = slot.detached.trailing_zeros();
        let others = slot.detached & (slot.detached - 1);
        // Should this node be among them, it comes last: the slot is then free for its own children.
        let port = if child(lowest) == Some(here) && others != 0 {
            others.trailing_zeros()
        } else {
            lowest
        };
        slot.detached &= !(1 << port);
        remove_trail(&mut slot.packet);
        slot.packet.header.hops_left = hops_left;
        if let Some(child) = child(port) {
            slot.packet.header.dest = child;
            self.pool.let_go(place);
        } else {
            self.pool.release_if_unused(place);
        }
    }

    /// A packet cannot go on: whoever is concerned is told, and a broadcast goes on without the node that it cannot reach.
    pub(super) fn give_up(&mut self, place: Place, reason: DropReason, now: Micros, observer: &mut impl Observer) {
        let (here, rule_hops) = (self.here, self.hops);
        let Some(slot) = self.pool.get_mut(place) else { return };
        let header = slot.packet.header;
        if slot.kept {
            remove_trail(&mut slot.packet);
            self.count_drop(&header, reason, observer);
            return self.confirm.undeliverable(header.number, here, reason, now);
        }
        let tunnel = header.kind == Kind::Broadcast && header.dest != header.source;
        if tunnel
            && matches!(
                reason,
                DropReason::NoRoute | DropReason::TrailFull | DropReason::HopsUsedUp
            )
        {
            self.count_drop(&header, reason, observer);
            return self.adopt(place, &header, now);
        }
        let asked = matches!(header.kind, Kind::Datagram | Kind::Confirmed | Kind::Request);
        if !asked || slot.pending != 0 || slot.detached != 0 || slot.inbox {
            return self.discard(place, reason, observer);
        }
        let body = Report {
            number: header.number,
            kind: header.kind,
            dest: header.dest,
            reason,
        }
        .write();
        if !self.pool.make_service(place, now) {
            return self.discard(place, reason, observer);
        }
        self.count_drop(&header, reason, observer);
        add(&mut self.counters.originated, 1);
        let number = self.number();
        let epoch = self.epoch as u16;
        if let Some(slot) = self.pool.get_mut(place) {
            slot.packet.body = body;
            slot.packet.header = Header {
                kind: Kind::Undeliverable,
                copied: false,
                trail: false,
                traced: false,
                to_host: header.from_host,
                from_host: false,
                hops_left: rule_hops,
                age: 0,
                epoch,
                number,
                source: here,
                dest: header.source,
            };
            self.pool.let_go(place);
        }
    }

    /// A child in the tree of a broadcast cannot be reached: its children are reached from here.
    fn adopt(&mut self, place: Place, header: &Header, now: Micros) {
        let fanout = self.network.fanout(header.dest, header.source);
        let ports = fanout.map_or(0, |fanout| fanout.fold(0, |ports, (port, _)| ports | bit(port)));
        let Some(slot) = self.pool.get_mut(place) else { return };
        remove_trail(&mut slot.packet);
        // The child may have passed it on before it died.
        slot.packet.header.copied = true;
        // Their parent is told by any of them.
        let first = self.network.neighbor(header.dest, Port::from(ports.trailing_zeros()));
        let (Ok(Some(first)), Some(before)) = (first, ports.checked_sub(1)) else {
            return self.go_on_with(place);
        };
        let others = ports & before;
        if slot.detached == 0 {
            slot.packet.header.dest = first;
            slot.detached = others;
            self.pool.let_go(place);
        } else {
            let mut packet = slot.packet.clone();
            packet.header.dest = first;
            packet.header.age = age(&packet.header, slot.arrived, now);
            self.go_on_with(place);
            let Some(copy) = self.pool.admit(packet, From::Service, 0, now) else {
                add(&mut self.counters.copied, ports.count_ones());
                return (0..ports.count_ones()).for_each(|_| self.counters.drop(DropReason::Busy));
            };
            if let Some(slot) = self.pool.get_mut(copy) {
                slot.detached = others;
            }
            self.pool.let_go(copy);
        }
        add(&mut self.counters.copied, ports.count_ones());
    }

    /// Ends a packet, or one copy of it, with nobody to tell.
    pub(super) fn discard(&mut self, place: Place, reason: DropReason, observer: &mut impl Observer) {
        if let Some(slot) = self.pool.get(place) {
            let header = slot.packet.header;
            self.count_drop(&header, reason, observer);
        }
        self.pool.release_if_unused(place);
    }

    pub(super) fn count_drop(&mut self, header: &Header, reason: DropReason, observer: &mut impl Observer) {
        self.counters.drop(reason);
        observer.note(Event::Dropped {
            packet: header.id(),
            dest: header.dest,
            reason,
        });
    }

    /// Drops packets that have waited too long.
    pub(super) fn sweep(&mut self, now: Micros, observer: &mut impl Observer) {
        for place in self.pool.places() {
            let Some(slot) = self.pool.get(place) else { continue };
            if u64::from(age(&slot.packet.header, slot.arrived, now)) * AGE_UNIT <= LIFETIME {
                continue;
            }
            for link in 0..self.links.len() as u8 {
                let Some(queue) = self.queues.get_mut(usize::from(link)) else {
                    continue;
                };
                if take_out(queue, place) {
                    if let Some(slot) = self.pool.get_mut(place) {
                        slot.pending &= !(1 << link);
                    }
                    self.give_up(place, DropReason::Expired, now, observer);
                }
            }
            while let Some(slot) = self.pool.get_mut(place).filter(|slot| slot.detached != 0) {
                slot.detached &= slot.detached - 1;
                self.discard(place, DropReason::Expired, observer);
            }
        }
    }

    /// The number of a packet that begins here.
    pub(super) fn number(&mut self) -> u32 {
        let number = self.next_number;
        self.next_number = number.wrapping_add(1);
        number
    }
}

/// The set of one port.
fn bit(port: Port) -> u32 {
    u32::try_from(port)
        .ok()
        .and_then(|port| 1_u32.checked_shl(port))
        .unwrap_or(0)
}

/// Takes the trail off a packet, if it has one.
pub(super) fn remove_trail<const BODY: usize>(packet: &mut Packet<BODY>) {
    if packet.header.trail {
        packet.header.trail = false;
        if let Some(trail) = Trail::of(&mut packet.body) {
            trail.remove();
        }
    }
}

/// How far it is, or how far the routing rule takes it where the distance is not known.
fn hops(network: &Network, from: Address, to: Address, rule: Rule) -> u64 {
    if let Ok(Some(distance)) = network.distance(from, to) {
        return distance;
    }
    let mut here = from;
    for hops in 0..u64::from(LOOKAHEAD) {
        if here == to {
            return hops;
        }
        here = network.next_hop(here, to, rule).unwrap_or(here);
    }
    u64::from(LOOKAHEAD)
}

/// Whether one node is certainly nearer to the destination than another.
fn nearer(network: &Network, here: Address, there: Address, dest: Address) -> bool {
    match (network.distance(here, dest), network.distance(there, dest)) {
        (Ok(Some(here)), Ok(Some(there))) => here < there,
        _ => false,
    }
}
