//! The oracle of the delivery guarantees, which observes every packet and its result from outside.
//!
//! It keeps its own record of what was sent, and checks independently of all nodes: `ledger` compares their accounts with what the wires
//! carried. In a connected mesh without changes everything must arrive, soon and in order; a packet that does not
//! must have an [`Exception`], which is counted (`history`).

mod frame_summary;
mod history;
mod ledger;
mod quick_map;
mod record;
mod responses;
mod restored;
mod verdict;

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use frame_summary::{FrameSummary, Sequences};
pub use history::Exception;
use history::History;
use hopwise_core::{Network, Node};
use hopwise_node::limits::BODY;
use hopwise_node::router::{Event, Message, Outcome};
use hopwise_node::wire::{AppPort, DropReason, Kind, PacketId, Query, Response, RouterCounters};
use ledger::Ledger;
use quick_map::QuickMap;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
pub use record::{Broken, Sender, Service, Tally, Violation};
use record::{Parts, Record, Sealed};
use responses::Requested;

use super::faulty_node::{FORGED, FaultyBoard, Misbehavior};
use super::wire::Nanos;
use super::world::WireEnd;

/// A payload begins with the number of its record.
const NUMBER: usize = 4;

/// Applications listen at so many ports.
const PORTS: u32 = 3;

fn port_of(number: u32) -> AppPort {
    AppPort(AppPort::FIRST_FREE.0 + (number % PORTS) as u8)
}

/// The shortest payload that can be told apart.
pub const LEAST_PAYLOAD: usize = NUMBER;

/// Maximum number of packets for which memory is reserved at once.
const MAX_AT_ONCE: u64 = 1 << 20;

/// In a quiet mesh everything arrives within this time, plus a number of byte times.
const SOON: Nanos = 1_000_000_000;
const SOON_BYTES: Nanos = 20_000;

pub struct Oracle {
    records: Vec<Record>,
    first_open: usize,
    open: usize,
    /// Of packets, and of the responses to requests.
    ids: QuickMap<PacketId, u32>,
    /// The request that each board was asked last.
    asked: Vec<Option<u32>>,
    network: Network,
    nodes: u32,
    /// Applications read their messages late.
    read_late: Nanos,
    /// Boards with a host, in their order.
    hosts: Vec<Node>,
    seed: u64,
    tally: Tally,
    latencies: Vec<u64>,
    violation: Option<Violation>,
    parts: Rc<Parts>,
    off_at: Vec<Option<Nanos>>,
    history: History,
    sequences: Sequences,
    ledger: Ledger,
    /// Packets of which a node must tell their senders, until when, and which node.
    owed: VecDeque<(Nanos, u32, u32)>,
    /// The number of the first packet after everything was restored.
    restored_from: Option<u32>,
    /// The last packet that came from a source to a node, by service.
    latest: QuickMap<(Service, u32, u32), u32>,
    soon: Nanos,
    faulty_boards: HashSet<u32>,
    /// Someone is on a cable.
    tapped: bool,
    /// Some of them make packets up, and some in the names of others.
    forgers: bool,
    liars: bool,
    /// Some send again what they have kept.
    replayers: bool,
}

impl Oracle {
    /// An oracle for a mesh and its hosts, given the time of a byte on the wire, and the approximate number of packets.
    pub fn new(network: &Network, hosts: &[Node], byte_nanos: Nanos, seed: u64, packets: u64) -> Self {
        let packets = packets.min(MAX_AT_ONCE) as usize;
        let nodes = network.nodes() as u32;
        let at = |node: u64| hosts.iter().filter(|&&board| board == node).count();
        let boards = (0..network.nodes()).map(|node| network.degree(node).unwrap_or(0) as usize + at(node));
        Oracle {
            records: Vec::with_capacity(packets),
            first_open: 0,
            open: 0,
            ids: QuickMap::with_capacity_and_hasher(packets, Default::default()),
            asked: vec![None; nodes as usize],
            network: *network,
            nodes,
            read_late: 0,
            hosts: hosts.to_vec(),
            seed,
            tally: Tally::default(),
            latencies: Vec::with_capacity(packets),
            violation: None,
            parts: Parts::new(vec![0; nodes as usize], vec![0; nodes as usize], false),
            off_at: vec![None; nodes as usize],
            history: History::new(byte_nanos),
            owed: VecDeque::new(),
            restored_from: None,
            sequences: Sequences::default(),
            ledger: Ledger::new(boards, hosts.len()),
            latest: QuickMap::default(),
            soon: SOON + SOON_BYTES * byte_nanos,
            faulty_boards: HashSet::new(),
            tapped: false,
            forgers: false,
            liars: false,
            replayers: false,
        }
    }

    pub fn boards(&self) -> u32 {
        self.nodes
    }

    /// Declares boards as faulty: nothing depends on them, and nothing is expected of what they can disturb.
    pub fn distrust(&mut self, faulty_boards: &[FaultyBoard]) {
        self.faulty_boards
            .extend(faulty_boards.iter().map(|faulty| faulty.node as u32));
        let some = |kind: Misbehavior| faulty_boards.iter().any(|faulty| faulty.kind == kind);
        self.liars = some(Misbehavior::Lie);
        self.forgers = self.liars || some(Misbehavior::Flood);
        self.replayers = some(Misbehavior::Replay);
        self.ledger.distrust(&self.faulty_boards);
    }

    pub fn tapped(&mut self, ends: impl Iterator<Item = WireEnd>) {
        self.ledger.tapped(ends);
        self.tapped = true;
    }

    /// Whether nobody can have disturbed a packet.
    pub(super) fn all_are_honest(&self, number: u32) -> bool {
        self.is_after_restoration(number) || self.faulty_boards.is_empty() && !self.tapped
    }

    /// Messages are read up to this late: an inbox may be full, and a confirmed packet is read after its sender knows that it has arrived.
    pub fn read_late(&mut self, late: Nanos) {
        self.read_late = late;
    }

    /// The port of the next packet, which its receiver must see.
    pub fn port(&self) -> AppPort {
        port_of(self.records.len() as u32)
    }

    /// A faulty node has taken a packet and does not forward it.
    pub fn swallowed(&mut self, id: &PacketId) {
        let Some(&number) = self.ids.get(id) else { return };
        let record = &mut self.records[number as usize];
        record.swallowed = true;
        if record.service.is_sent_once() {
            self.close(number);
        }
    }

    /// From now on nodes reach each other if they are in the same part; if there are bad wires, by good ones alone if they are
    /// in the same part of `good`. Parts are numbers below that of nodes.
    pub fn reach(&mut self, of: Vec<u32>, good: Option<Vec<u32>>) {
        let has_bad_wires = good.is_some();
        let good = good.unwrap_or_else(|| of.clone());
        self.parts = Parts::new(of, good, has_bad_wires);
    }

    pub fn changed(&mut self, at: Nanos) {
        self.history.changes.add(at);
    }

    /// A sender was refused: its node is full.
    pub fn refused(&mut self, at: Nanos) {
        self.history.refusals.add(at);
    }

    /// A frame leaves for the other end of a cable.
    pub fn carried(&mut self, at: Nanos, from: WireEnd, to: WireEnd, frame: &[u8]) {
        self.check_reports(at);
        let mut frame_summary = FrameSummary::at(frame, from, &mut self.sequences);
        let host = from.0.checked_sub(self.nodes);
        if let Some(&board) = host.and_then(|host| self.hosts.get(host as usize)) {
            // Its board puts its own name to it.
            frame_summary.packet.iter_mut().for_each(|header| header.source = board);
        }
        if frame_summary.refuses {
            self.history.crowds.add(at);
        }
        self.ledger.sent(from, to, &frame_summary);
    }

    /// What is sent from a link comes out at another end: plugs were exchanged.
    pub fn redirected(&mut self, from: WireEnd, to: WireEnd) {
        self.ledger.redirected(from, to);
    }

    pub fn sent_so_far(&self) -> u64 {
        self.tally.sent
    }

    /// The number of packets that are not completed yet.
    pub fn open(&self) -> usize {
        self.open
    }

    /// When the oldest packet that is not completed was sent.
    pub fn oldest_open(&self) -> Option<Nanos> {
        let open = self.records.get(self.first_open).filter(|record| !record.closed);
        open.map(|record| record.sent_at)
    }

    /// The first violated guarantee.
    pub fn violation(&self) -> Option<&Violation> {
        self.violation.as_ref()
    }

    /// The payload of the next packet, by a service to a node: what a request needs, or else as long as asked, but long enough to be
    /// known.
    pub fn payload(&self, service: Service, dest: Node, length: usize) -> Vec<u8> {
        let number = self.records.len() as u32;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ u64::from(number));
        if let Service::Query(query) = service
            && query != Query::Ping
        {
            return responses::payload(query, &self.network, dest, random.next_u64());
        }
        let mut payload = number.to_le_bytes().to_vec();
        payload.resize(length.max(LEAST_PAYLOAD), 0);
        random.fill_bytes(&mut payload[NUMBER..]);
        payload
    }

    /// A packet with the last [payload](Self::payload) was sent.
    pub fn sent(&mut self, service: Service, at: Nanos, id: PacketId, dest: u32, payload: &[u8]) {
        let number = self.records.len() as u32;
        let words = if service == Service::Broadcast {
            (self.nodes as usize).div_ceil(64)
        } else {
            0
        };
        let record = Record {
            service,
            from_host: id.from_host,
            source: id.source as u32,
            dest,
            sent_at: at,
            payload: Sealed::of(payload),
            with: match service {
                Service::Query(_) => payload.to_vec(),
                _ => Vec::new(),
            },
            deliveries: 0,
            reached: vec![0; words],
            parts: Rc::clone(&self.parts),
            outcome: None,
            interrupted: false,
            swallowed: false,
            busy: false,
            unread: false,
            twin: false,
            dropped: None,
            closed: false,
        };
        let nobody_to_reach = service == Service::Broadcast && record.audience() == 0;
        self.records.push(record);
        self.open += 1;
        self.tally.sent += 1;
        self.tally.by_hosts += u64::from(id.from_host);
        let mut services = Service::ALL.iter().zip(&mut self.tally.services);
        if let Some((_, count)) = services.find(|&(&known, _)| known == service) {
            *count += 1;
        }
        self.ids.insert(id, number);
        let for_nobody = self.restored_from.is_none() && self.faulty_boards.contains(&dest);
        self.records[number as usize].swallowed = for_nobody;
        if nobody_to_reach || for_nobody {
            self.close(number);
        }
    }

    pub fn delivered(&mut self, at: Nanos, node: u32, message: &Message<BODY>) {
        let (source, port, payload) = (message.source as u32, message.port, &message.payload[..]);
        let number = payload.first_chunk().map(|number| u32::from_le_bytes(*number));
        if self.is_forged(payload) {
            self.tally.forged += 1;
            return;
        }
        let record = number.and_then(|number| Some((number, self.records.get_mut(number as usize)?)));
        let Some((number, record)) = record else {
            return self.corrupted(at, node, source);
        };
        let (goes_here, from) = match record.service {
            Service::Broadcast => (record.source != node, record.source),
            Service::Query(_) => (false, record.dest),
            _ => (record.dest == node, record.source),
        };
        if record.payload != Sealed::of(payload) || !goes_here || from != source || port != port_of(number) {
            return self.corrupted(at, node, source);
        }
        let again = if record.service == Service::Broadcast {
            let again = !record.reach(node);
            self.tally.broadcast_deliveries += u64::from(!again);
            again
        } else {
            record.deliveries > 0
        };
        self.came(at, node, number, again);
    }

    pub(super) fn has_come(&self, packet: &PacketId) -> bool {
        let number = self.ids.get(packet);
        number.is_some_and(|&number| self.records[number as usize].deliveries > 0)
    }

    /// Whether a payload is forged, if there is a faulty node that forges.
    fn is_forged(&self, payload: &[u8]) -> bool {
        self.forgers && payload.starts_with(&FORGED.to_le_bytes())
    }

    /// The response to a request has come to who asked: a node, or its host.
    pub fn answered(&mut self, at: Nanos, requester: &Sender, source: Node, response: &Response<'_>) {
        let (node, request) = (requester.board, requester.packet(Kind::Request, response.number));
        let &Response { query, payload, .. } = response;
        if self.is_forged(payload) {
            self.tally.forged += 1;
            return;
        }
        let record = self
            .ids
            .get(&request)
            .map(|&number| (number, &self.records[number as usize]));
        let Some((number, record)) = record else {
            // A response to a request from before a restart, or of an earlier host, is ignored, and known by its number.
            if !requester.is_host && self.off_at[node as usize].is_none() {
                self.corrupted(at, node, source as u32);
            }
            return;
        };
        let asked = Requested {
            query,
            source: u64::from(node),
            dest: u64::from(record.dest),
            faulty_boards: !self.all_are_honest(number),
        };
        let links = self.ledger.links(record.dest);
        let from = u64::from(record.dest) == source && record.service == Service::Query(query);
        if !from || !responses::is_response(&self.network, links, &asked, &record.with, payload) {
            return self.corrupted(at, node, source as u32);
        }
        let again = record.deliveries > 0;
        self.came(at, node, number, again);
    }

    /// A packet is where it should be.
    fn came(&mut self, at: Nanos, node: u32, number: u32, again: bool) {
        let record = &mut self.records[number as usize];
        if again {
            // A replay by a faulty node is new to a board that has restarted since, and a request is answered again.
            let restarted = |board: u32| self.off_at[board as usize] >= Some(record.sent_at);
            if self.replayers && (restarted(node) || restarted(record.dest)) {
                self.tally.forged += 1;
                return;
            }
            self.tally.duplicated += 1;
            let what = format!("packet {number} of node {} arrived twice", record.source);
            return self.broken(at, node, Broken::Twice, what);
        }
        record.deliveries += 1;
        let (service, sent_at) = (record.service, record.sent_at);
        let complete = match service {
            Service::Broadcast => record.deliveries >= record.audience(),
            Service::Confirmed => record.outcome.is_some(),
            Service::Datagram | Service::Query(_) => true,
        };
        self.latencies.push(at - sent_at);
        self.check_time(at, node, number);
        if service.keeps_order() {
            self.check_order(at, node, number);
        }
        if complete && (service != Service::Broadcast || self.is_full(&self.records[number as usize])) {
            self.close(number);
        }
    }

    fn check_time(&mut self, at: Nanos, node: u32, number: u32) {
        let record = &self.records[number as usize];
        let (sent_at, source) = (record.sent_at, record.source);
        let took = (at - sent_at).saturating_sub(self.read_late);
        // A faulty node may send what it has kept whenever it likes, and its destination cannot tell when the packet was sent.
        let replayed = self.replayers && !self.is_after_restoration(number);
        let too_late = took > record.service.longest() && !replayed;
        let calm =
            self.all_are_honest(number) && !record.parts.has_bad_wires && self.history.exception(sent_at, at).is_none();
        // A confirmed packet may have to look for its path more than once where cables are missing.
        let tardy = record.service != Service::Confirmed && took > self.soon;
        if too_late || tardy && calm {
            let seconds = took as f64 / 1e9;
            let why = if too_late { "" } else { " in a quiet mesh" };
            let what = format!("packet {number} of node {source} arrived after {seconds:.3} s{why}");
            self.broken(at, node, Broken::Late, what);
        }
    }

    fn check_order(&mut self, at: Nanos, node: u32, number: u32) {
        let record = &self.records[number as usize];
        let (source, sent_at, bad_wires) = (record.source, record.sent_at, record.parts.has_bad_wires);
        let latest = self.latest.entry((record.service, source, node)).or_insert(number);
        if *latest <= number {
            *latest = number;
            return;
        }
        let later = *latest;
        if self.all_are_honest(number) && !bad_wires && !self.history.may_overtake(sent_at, at) {
            let what = format!("packet {number} of node {source} arrived after packet {later}, which was sent later");
            self.broken(at, node, Broken::Order, what);
        }
    }

    fn corrupted(&mut self, at: Nanos, node: u32, source: u32) {
        self.tally.corrupted += 1;
        let what = format!("a packet said to be from node {source} is not what was sent");
        self.broken(at, node, Broken::Corrupted, what);
    }

    /// A sender was told what became of a confirmed packet.
    pub fn completed(&mut self, at: Nanos, sender: &Sender, confirmed: u32, outcome: Outcome) {
        let node = sender.board;
        let Some(&number) = self.ids.get(&sender.packet(Kind::Confirmed, confirmed)) else {
            return;
        };
        let record = &mut self.records[number as usize];
        record.outcome = Some(outcome);
        if outcome == Outcome::Delivered {
            if record.deliveries == 0 && self.read_late > 0 {
                // It is in the inbox, and open until it is read.
                return;
            }
            if record.deliveries == 0 && self.liars {
                record.swallowed = true;
                self.tally.forged += 1;
            } else if record.deliveries == 0 {
                let what = format!("packet {number} is confirmed but was not delivered");
                self.broken(at, node, Broken::Outcome, what);
            }
        } else {
            record.dropped.get_or_insert(at);
            let dest = record.dest;
            if self.exception(number).is_none() {
                let what = format!("packet {number} to node {dest} was given up in a quiet mesh: {outcome:?}");
                self.broken(at, node, Broken::Dropped, what);
            }
        }
        self.close(number);
    }

    /// A node could not deliver a datagram or a request, and says so to its sender.
    pub fn reported(&mut self, at: Nanos, sender: &Sender, packet: u32) {
        for kind in [Kind::Datagram, Kind::Request] {
            if let Some(&number) = self.ids.get(&sender.packet(kind, packet)) {
                self.explain(at, sender.board, number, "reported as undeliverable", false);
            }
        }
    }

    pub fn note(&mut self, at: Nanos, node: u32, event: &Event) {
        if let Event::Delivered { packet } = event {
            self.note_request(node, packet);
        }
        if let Some(what) = self.ledger.note(at, node, event) {
            self.broken(at, node, Broken::Account, what);
        }
        match event {
            Event::Dropped { packet, reason, .. } => self.note_drop(at, node, packet, *reason),
            Event::LinkUp { .. } | Event::LinkDown { .. } => self.history.reroutes.add(at),
            Event::Accepted { packet, .. } if packet.kind == Kind::Response => {
                let asked = self.asked.get_mut(node as usize).and_then(Option::take);
                self.ids.extend(asked.map(|number| (*packet, number)));
            }
            _ => {}
        }
    }

    /// A node answers a request with the packet that it makes next.
    fn note_request(&mut self, node: u32, packet: &PacketId) {
        let number = self.ids.get(packet).copied();
        let number = number.filter(|_| packet.kind == Kind::Request);
        let Some((asked, number)) = self.asked.get_mut(node as usize).zip(number) else {
            return;
        };
        *asked = Some(number);
        if self.records[number as usize].service == Service::Query(Query::ClearCounters) {
            self.ledger.cleared(node);
        }
    }

    /// A packet was dropped; said again once it is known that it was sent.
    pub fn note_drop(&mut self, at: Nanos, node: u32, packet: &PacketId, reason: DropReason) {
        // Nodes that a broadcast cannot reach are skipped; that does not excuse missing those behind them.
        let searching = matches!(
            reason,
            DropReason::NoRoute | DropReason::TrailFull | DropReason::HopLimit
        );
        // A forged twin may have come first.
        let twin_came = reason == DropReason::Duplicate && !self.liars;
        if twin_came || packet.kind == Kind::Broadcast && searching {
            return;
        }
        // The response to a request that cannot be brought back, too.
        if let Some(&number) = self.ids.get(packet) {
            let record = &mut self.records[number as usize];
            record.busy |= reason == DropReason::Busy && packet.kind == Kind::Request;
            record.unread |= reason == DropReason::InboxFull;
            let is_end = record.service == Service::Broadcast || [record.source, record.dest].contains(&node);
            record.twin |= reason == DropReason::Duplicate && is_end;
            let owed = self.ledger.owes_report(node, packet);
            self.explain(at, node, number, reason.name(), owed);
        }
    }

    /// A copy of a packet was dropped with a reason. A datagram is not waited for then, though another copy may still come; the report to
    /// its sender is, if the node owes one.
    fn explain(&mut self, at: Nanos, node: u32, number: u32, reason: &str, owed: bool) {
        let record = &mut self.records[number as usize];
        record.dropped.get_or_insert(at);
        if !record.service.is_sent_once() || record.closed {
            return;
        }
        let (source, dest) = (record.source, record.dest);
        if record.deliveries == 0 && self.exception(number).is_none() {
            let what = format!("packet {number} from node {source} to {dest} was dropped in a quiet mesh: {reason}");
            self.broken(at, node, Broken::Dropped, what);
        }
        if owed {
            return self.owed.push_back((at + self.soon, number, node));
        }
        self.close(number);
    }

    /// Reports that a node owes arrive as soon as all else does. Nothing is promised beside faulty nodes and wires that damage too much, while
    /// cables and boards change or senders are refused, without a path back, and to an application that reads late: its inbox may be full.
    fn check_reports(&mut self, at: Nanos) {
        while let Some(&(until, number, by)) = self.owed.front().filter(|(until, ..)| *until < at) {
            self.owed.pop_front();
            let record = &self.records[number as usize];
            let parts = &record.parts;
            let could_come = parts.join(by, record.source) && !parts.has_bad_wires && self.read_late == 0;
            let is_calm = self.all_are_honest(number) && self.history.exception(record.sent_at, until).is_none();
            if !record.closed && could_come && is_calm {
                let source = record.source;
                let what = format!("node {by} gave up packet {number} of node {source}, which was never told");
                self.broken(at, by, Broken::Lost, what);
            }
            self.close(number);
        }
    }

    pub fn restarted(&mut self, at: Nanos, node: u32, held: impl Iterator<Item = PacketId>) {
        self.off_at[node as usize] = Some(at);
        self.ledger.restarted(node);
        let first = self.first_open;
        for record in self.records[first..].iter_mut().filter(|record| !record.closed) {
            let broadcast = record.service == Service::Broadcast;
            record.interrupted |= record.source == node || record.dest == node;
            let is_told = record.service == Service::Confirmed && record.outcome.is_none();
            let untold = record.source == node || record.dest == node && !is_told;
            if untold && !broadcast {
                // No node is left that could be notified, or could respond.
                record.closed = true;
                self.open -= 1;
            }
        }
        for id in held {
            if let Some(&number) = self.ids.get(&id) {
                let record = &mut self.records[number as usize];
                record.interrupted = true;
                if record.service.is_sent_once() {
                    self.close(number);
                }
            }
        }
    }

    /// The host at a board is gone, and whatever it asked is nothing to anyone.
    pub fn left(&mut self, host: u32, board: u32) {
        self.ledger.restarted(host);
        for record in &mut self.records[self.first_open..] {
            if !record.closed && record.from_host && record.source == board {
                record.interrupted = true;
                record.closed = true;
                self.open -= 1;
            }
        }
    }

    /// A board comes on: packets for it that were sent while it was off were under way over its restart.
    pub fn started(&mut self, node: u32) {
        let first = self.first_open;
        for record in self.records[first..]
            .iter_mut()
            .filter(|record| !record.closed && record.dest == node)
        {
            record.interrupted = true;
        }
    }

    /// Checks the account of a board against what the wires carried, and against what it holds.
    pub fn check_account(&mut self, at: Nanos, node: u32, counters: &RouterCounters, held: u32) {
        let by_law = counters.held();
        let wrong = (by_law != held)
            .then(|| format!("its counters say it holds {by_law} packets, but it holds {held}"))
            .or_else(|| self.ledger.check(node, counters));
        if let Some(what) = wrong {
            self.broken(at, node, Broken::Account, what);
        }
    }

    fn close(&mut self, number: u32) {
        let record = &mut self.records[number as usize];
        if !record.closed {
            record.closed = true;
            self.open -= 1;
        }
        while self.records.get(self.first_open).is_some_and(|record| record.closed) {
            self.first_open += 1;
        }
    }

    /// Something that must not happen has happened. The first is kept.
    pub fn broken(&mut self, at: Nanos, node: u32, kind: Broken, what: String) {
        self.violation.get_or_insert(Violation { at, node, kind, what });
    }
}
