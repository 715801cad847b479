//! The account of every board, kept from what the wires carried: a node cannot take what no wire brought it, nor have forwarded
//! what its neighbor has not taken, and its counters must agree.

use std::collections::HashSet;

use hopwise_core::Node;
use hopwise_node::limits::SERVICE;
use hopwise_node::router::Event;
use hopwise_node::wire::{DropReason, Kind, PacketId, RouterCounters};

use super::frame_summary::FrameSummary;
use super::record::LIFE;
use crate::wire::Nanos;
use crate::world::WireEnd;

/// Maximum number of remembered frames per link, which has a few in flight, including those of ended sessions.
const REMEMBERED: usize = 32;

/// A packet that was sent towards a link.
struct Coming {
    packet: PacketId,
    dest: Node,
    from: WireEnd,
}

/// The state of a link of a board.
#[derive(Default)]
struct End {
    coming: Vec<Coming>,
    /// The packet that it sent last, if its last frame has one.
    sending: Option<(PacketId, Node)>,
    /// Packets of this link that the other end has taken, and of which the node may say so.
    taken: Vec<PacketId>,
}

/// Among so many packets that a board gave up within this time is one of which it may keep quiet. A link has a report more for each
/// 16.4 ms, and four at once: in this time it gets them all back, even by the slowest clock.
const REPORTS_AT_ONCE: usize = 4;
const REPORTS_WITHIN: Nanos = 100_000_000;

/// The actions of a board since power-on.
#[derive(Clone, Default)]
struct Counts {
    received: u32,
    forwarded: u32,
    delivered: u32,
    dropped: [u32; DropReason::ALL.len()],
    /// What it has to say by itself, and on how many links it may still have to be sent.
    own: Vec<(PacketId, usize)>,
    /// What it may have to tell senders of packets that went no further, since when.
    reports: Vec<Nanos>,
    /// When it gave up the last packets of which it was to tell their senders.
    gave_up: [Nanos; REPORTS_AT_ONCE],
    /// The last of them, if its sender must be told.
    owes: Option<PacketId>,
}

impl Counts {
    /// A packet has come by a link. A report of the node itself that has found no path comes back, and leaves once more.
    fn came(&mut self, at: Nanos, board: u32, packet: &PacketId) {
        self.received += 1;
        self.reports.extend(is_own_report(board, packet).then_some(at));
    }

    /// The most service packets that it may hold. A report is gone when its life is over, if it was made at all.
    fn waiting(&mut self, at: Nanos) -> usize {
        self.reports.retain(|&since| at < since + 2 * LIFE);
        self.own.len() + self.reports.len()
    }

    fn left(&mut self, board: u32, packet: &PacketId) {
        if is_own_report(board, packet) {
            self.reports.pop();
        }
        if let Some((_, links)) = self.own.iter_mut().find(|(own, _)| own == packet) {
            *links = links.saturating_sub(1);
        }
        self.own.retain(|&(_, links)| links > 0);
    }

    fn ended(&mut self, at: Nanos, board: u32, packet: &PacketId, reason: DropReason) {
        self.own.retain(|(own, _)| own != packet);
        if is_own_report(board, packet) {
            self.reports.pop();
        }
        let told = matches!(packet.kind, Kind::Datagram | Kind::Confirmed | Kind::Request);
        let given_up = matches!(
            reason,
            DropReason::NoRoute
                | DropReason::HopLimit
                | DropReason::Expired
                | DropReason::TrailFull
                | DropReason::NoHost
                | DropReason::NoSuchNode
        );
        if told && given_up {
            let within_limits = self.gave_up[0] + REPORTS_WITHIN < at && self.waiting(at) < SERVICE;
            self.owes = within_limits.then_some(*packet);
            self.gave_up.rotate_left(1);
            self.gave_up[REPORTS_AT_ONCE - 1] = at;
            // A node keeps its own confirmed packets, and tries again.
            let is_kept = packet.kind == Kind::Confirmed && packet.source == u64::from(board);
            self.reports.extend((!is_kept).then_some(at));
        }
    }
}

/// Whether a packet tells someone that a packet of theirs went no further, and was made by this node, or says so.
fn is_own_report(board: u32, packet: &PacketId) -> bool {
    packet.kind == Kind::Undeliverable && packet.source == u64::from(board)
}

pub(super) struct Ledger {
    /// Where the links of each board begin in `ends`.
    first: Vec<usize>,
    ends: Vec<End>,
    counts: Vec<Counts>,
    /// Boards of which nothing is known.
    faulty_boards: HashSet<u32>,
    /// Links at whose cables someone may have said anything.
    tapped: HashSet<WireEnd>,
    /// Packets that honest boards took of those who have no right to send any.
    pub(super) forged_accepted: u64,
    /// From this one on they are hosts. They take what they cannot read, and say nothing of it.
    hosts: u32,
}

impl Ledger {
    /// The ledger of boards with these numbers of links, and of hosts with one each.
    pub(super) fn new(links: impl Iterator<Item = usize>, hosts: usize) -> Self {
        let mut first = vec![0];
        let all = links.chain(std::iter::repeat_n(1, hosts));
        first.extend(all.scan(0, |sum, links| {
            *sum += links;
            Some(*sum)
        }));
        let boards = first.len() - 1;
        let all = first.last().map_or(0, |&all| all);
        Ledger {
            counts: vec![Counts::default(); boards],
            ends: (0..all).map(|_| End::default()).collect(),
            first,
            faulty_boards: HashSet::new(),
            tapped: HashSet::new(),
            forged_accepted: 0,
            hosts: (boards - hosts) as u32,
        }
    }

    /// These boards keep no account, and may have taken what was sent to them.
    pub(super) fn distrust(&mut self, faulty_boards: &HashSet<u32>) {
        self.faulty_boards.clone_from(faulty_boards);
    }

    /// What comes at these links may come from someone on the cable.
    pub(super) fn tapped(&mut self, ends: impl Iterator<Item = WireEnd>) {
        self.tapped.extend(ends);
    }

    fn end(&mut self, (board, link): WireEnd) -> Option<&mut End> {
        let place = self.first.get(board as usize)? + usize::from(link);
        self.ends.get_mut(place)
    }

    /// A frame leaves for the other end of a cable.
    pub(super) fn sent(&mut self, from: WireEnd, to: WireEnd, frame: &FrameSummary) {
        let packet = frame.packet.map(|header| (header.id(), header.dest));
        if let Some(end) = self.end(from) {
            end.sending = packet;
        }
        let Some((packet, dest)) = packet else { return };
        if self.faulty_boards.contains(&to.0) {
            return self.taken(from, packet);
        }
        if to.0 >= self.hosts && !frame.retransmit {
            self.taken(from, packet);
        }
        let Some(End { coming, .. }) = self.end(to) else {
            return;
        };
        let known = |coming: &Coming| coming.packet == packet && coming.dest == dest && coming.from == from;
        if frame.retransmit
            && let Some(place) = coming.iter().position(known)
        {
            coming.remove(place);
        }
        if coming.len() == REMEMBERED {
            coming.remove(0);
        }
        coming.push(Coming { packet, dest, from });
    }

    /// What a link is sending comes out at another end, or the part of it that has not left yet.
    pub(super) fn redirected(&mut self, from: WireEnd, to: WireEnd) {
        let sending = self.end(from).and_then(|end| end.sending);
        if let (Some((packet, dest)), Some(end)) = (sending, self.end(to)) {
            end.coming.push(Coming { packet, dest, from });
        }
    }

    fn taken(&mut self, from: WireEnd, packet: PacketId) {
        let Some(End { taken, .. }) = self.end(from) else {
            return;
        };
        if taken.len() == REMEMBERED {
            taken.remove(0);
        }
        taken.push(packet);
    }

    /// Takes note of what a node says it did; says what is wrong with that.
    pub(super) fn note(&mut self, at: Nanos, board: u32, event: &Event) -> Option<String> {
        match *event {
            Event::Received { link, packet, dest } => {
                self.counts.get_mut(board as usize)?.came(at, board, &packet);
                let End { coming, .. } = self.end((board, link))?;
                // The last, should plugs have been exchanged meanwhile.
                let place = coming.iter().rposition(|one| one.packet == packet && one.dest == dest);
                let Some(place) = place else {
                    if self.tapped.contains(&(board, link)) {
                        self.forged_accepted += 1;
                        return None;
                    }
                    return Some(format!(
                        "it took {} from link {link}, which did not bring it",
                        name(&packet)
                    ));
                };
                let from = coming.remove(place).from;
                self.forged_accepted += u64::from(self.faulty_boards.contains(&from.0));
                if board >= self.hosts {
                    return None;
                }
                let End { coming, .. } = self.end((board, link))?;
                // Another board may have sent a copy of it toward this link, and it cannot be known which one came.
                let copies = coming.iter().filter(|one| one.packet == packet && one.from != from);
                let others: Vec<WireEnd> = copies.map(|one| one.from).collect();
                self.taken(from, packet);
                others.into_iter().for_each(|other| self.taken(other, packet));
            }
            Event::Forwarded { link, packet } => {
                let counts = self.counts.get_mut(board as usize)?;
                counts.forwarded += 1;
                counts.left(board, &packet);
                let End { taken, .. } = self.end((board, link))?;
                let Some(place) = taken.iter().position(|&taken| taken == packet) else {
                    return Some(format!(
                        "it says that {} has gone through link {link}, but nobody took it",
                        name(&packet)
                    ));
                };
                taken.remove(place);
            }
            Event::Delivered { packet, .. } => {
                let counts = self.counts.get_mut(board as usize)?;
                counts.delivered += 1;
                // It told itself.
                if is_own_report(board, &packet) {
                    counts.reports.pop();
                }
            }
            Event::Accepted { packet, .. } => {
                let links = match packet.kind {
                    Kind::Flooded => self.links(board),
                    Kind::Response | Kind::Confirmation => 1,
                    _ => return None,
                };
                self.counts.get_mut(board as usize)?.own.push((packet, links));
            }
            Event::Dropped { packet, reason, .. } => {
                let counts = self.counts.get_mut(board as usize)?;
                *counts.dropped.get_mut(reason as usize)? += 1;
                counts.ended(at, board, &packet, reason);
                let waiting = counts.waiting(at);
                if reason == DropReason::Busy && packet.kind == Kind::Request && waiting < SERVICE {
                    return Some(format!("it has no room for a response, and {waiting} to send"));
                }
            }
            _ => {}
        }
        None
    }

    /// Whether a board must tell the sender of the packet that it gave up last: it had room for a report, and was within its limits.
    pub(super) fn owes_report(&self, board: u32, packet: &PacketId) -> bool {
        let counts = self.counts.get(board as usize);
        counts.is_some_and(|counts| counts.owes.as_ref() == Some(packet))
    }

    pub(super) fn links(&self, board: u32) -> usize {
        let first = self.first.get(board as usize).zip(self.first.get(board as usize + 1));
        first.map_or(0, |(first, next)| next - first)
    }

    pub(super) fn cleared(&mut self, board: u32) {
        if let Some(counts) = self.counts.get_mut(board as usize) {
            *counts = Counts {
                own: std::mem::take(&mut counts.own),
                reports: std::mem::take(&mut counts.reports),
                gave_up: counts.gave_up,
                ..Counts::default()
            };
        }
    }

    pub(super) fn restarted(&mut self, board: u32) {
        if let Some(counts) = self.counts.get_mut(board as usize) {
            *counts = Counts::default();
        }
        let links = self.first.get(board as usize).zip(self.first.get(board as usize + 1));
        if let Some((&first, &last)) = links {
            self.ends[first..last].iter_mut().for_each(|end| *end = End::default());
        }
    }

    /// An inconsistency in the counters of a board.
    pub(super) fn check(&self, board: u32, counters: &RouterCounters) -> Option<String> {
        let seen = self.counts.get(board as usize)?;
        // What is no packet is counted, and has no name by which it could be noted.
        let malformed = DropReason::Malformed as usize;
        let nameless = counters.dropped[malformed].saturating_sub(seen.dropped[malformed]);
        let pairs = [
            ("received", counters.received, seen.received + nameless),
            ("forwarded", counters.forwarded, seen.forwarded),
            ("delivered", counters.delivered, seen.delivered),
        ];
        let wrong =
            |what: &str, says: u32, did: u32| format!("its counters say {says} packets {what}, and it was {did}");
        if let Some((what, says, did)) = pairs.into_iter().find(|(_, says, did)| says != did) {
            return Some(wrong(what, says, did));
        }
        let reasons = DropReason::ALL.iter().zip(counters.dropped).zip(seen.dropped);
        let wrong_drop = |&((reason, says), did): &((&DropReason, u32), u32)| {
            // These two can be counted without an event.
            let silent = matches!(reason, DropReason::Malformed | DropReason::Busy);
            if silent { says < did } else { says != did }
        };
        let ((reason, says), did) = reasons.into_iter().find(wrong_drop)?;
        Some(wrong(&format!("dropped as {}", reason.name()), says, did))
    }
}

fn name(packet: &PacketId) -> String {
    format!("packet {} of node {}", packet.number, packet.source)
}
