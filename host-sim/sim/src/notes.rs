//! The observers of all nodes of a run: the trace, the oracle, and some sums.

use std::io::Write;

use hopwise_node::router::Event;
use hopwise_node::wire::{DropReason, PacketId};
use hopwise_trace::hash::TraceHash;
use hopwise_trace::writer::Writer;

use super::failover::Failover;
use super::oracle::Oracle;
use super::run::Account;
use super::shell::Shell;
use super::wire::Nanos;
use super::world::{Watcher, WireEnd};

pub(super) struct Notes<'a> {
    pub(super) shell: Option<&'a mut dyn Shell>,
    pub(super) hash: TraceHash,
    trace: Option<Writer<&'a mut dyn Write>>,
    pub(super) failed: Option<std::io::Error>,
    pub(super) oracle: Oracle,
    pub(super) failover: Failover,
    /// What is counted from the beginning; the rest is known in the end.
    pub(super) account: Account,
    /// Of each board.
    pub(super) link_events: Vec<u64>,
    pub(super) last_arrival: Nanos,
}

impl<'a> Notes<'a> {
    pub(super) fn new(
        shell: Option<&'a mut dyn Shell>,
        oracle: Oracle,
        trace: Option<Writer<&'a mut dyn Write>>,
    ) -> Self {
        Notes {
            shell,
            hash: TraceHash::default(),
            trace,
            failed: None,
            failover: Failover::default(),
            account: Account {
                drops: vec![0; DropReason::ALL.len()],
                ..Account::default()
            },
            link_events: vec![0; oracle.boards() as usize],
            last_arrival: 0,
            oracle,
        }
    }
}

impl Watcher for Notes<'_> {
    fn note(&mut self, at: Nanos, board: u32, event: &Event) {
        if board >= self.oracle.boards() {
            // A host says only what it has taken, and is in no trace.
            return self.oracle.note(at, board, event);
        }
        let shell = self.shell.as_mut();
        let said = shell.map_or(Some(*event), |shell| shell.says(at, board, event));
        let Some(event) = &said else { return };
        // A run of 292 years is none.
        let time = at as hopwise_trace::line::Nanos;
        self.hash.add(time, u64::from(board), event);
        if let Some(out) = &mut self.trace
            && let Err(error) = out.event(time, u64::from(board), event)
        {
            self.failed.get_or_insert(error);
        }
        self.oracle.note(at, board, event);
        // A confirmed packet that has arrived is still sent while its confirmation is lost.
        let has_come = |packet| self.oracle.has_come(packet);
        if !matches!(event, Event::Sent { packet, .. } if self.failover.is_on() && has_come(packet)) {
            self.failover.note(at, board, event);
        }
        if matches!(
            event,
            Event::LinkUp { .. } | Event::LinkDown { .. } | Event::Miswired { .. } | Event::Damaged { .. }
        ) {
            self.link_events[board as usize] += 1;
        }
        match event {
            Event::Dropped { reason, .. } => self.account.drops[*reason as usize] += 1,
            Event::Sent { retransmit: true, .. } => self.account.retransmissions += 1,
            Event::Detoured { .. } => self.account.detours += 1,
            Event::LinkUp { .. } => self.account.links_up += 1,
            Event::Delivered { .. } => self.last_arrival = at,
            _ => {}
        }
    }

    fn leaves(&mut self, at: Nanos, [from, to]: [WireEnd; 2], frame: &mut [u8], length: usize) -> usize {
        let shell = self.shell.as_mut();
        let length = shell.map_or(length, |shell| shell.sends(at, from, frame, length));
        self.oracle.carried(at, from, to, &frame[..length]);
        length
    }

    fn redirected(&mut self, from: WireEnd, to: WireEnd) {
        self.oracle.redirected(from, to);
    }

    fn swallowed(&mut self, packet: PacketId) {
        self.oracle.swallowed(&packet);
    }
}
