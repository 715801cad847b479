//! Traffic of the applications on boards and of their hosts.

use hopwise_language::Traffic;
use hopwise_node::router::{Event, MessageKind, SendError};
use hopwise_node::wire::{Content, DropReason, PacketId, Query, Response};
use rand::RngExt;

use super::oracle::{Broken, Sender, Service};
use super::run::{Player, Task};
use super::wire::Nanos;
use super::world::SimSizes;

const MILLISECOND: Nanos = 1_000_000;

/// A sender whose node is full tries again after this.
const TRY_AGAIN: Nanos = MILLISECOND / 2;
/// One whose board is off, after this.
const LOOK_AGAIN: Nanos = 300 * MILLISECOND;
impl<C: SimSizes> Player<'_, C> {
    fn node(&self, board: u32) -> Sender {
        Sender {
            board,
            is_host: false,
            epoch: self.world.epoch(board),
        }
    }

    /// Where the next packet of a board goes: to an honest one, if the traffic has one for it.
    fn draw_destination(&mut self, board: u32) -> u32 {
        let mut dest = board;
        for _ in 0..=self.world.boards() {
            dest = self.destinations.next(board, &mut self.choices).unwrap_or(board);
            if !self.is_faulty(dest) {
                break;
            }
        }
        dest
    }

    fn draw_service(&mut self) -> Service {
        match self.run.traffic {
            Traffic::PingAll => Service::Query(Query::Ping),
            traffic if traffic.is_broadcast() => Service::Broadcast,
            _ if self.run.mixed => match self.random.random_range(0..16) {
                0..6 => Service::Datagram,
                6..12 => Service::Confirmed,
                12..15 => self.draw_query(),
                _ => Service::Broadcast,
            },
            _ if self.run.confirmed => Service::Confirmed,
            _ => Service::Datagram,
        }
    }

    /// A ping as often as all others.
    fn draw_query(&mut self) -> Service {
        let others = [
            Query::Trace,
            Query::Identity,
            Query::Counters,
            Query::Link,
            Query::ClearCounters,
        ];
        let drawn = self.random.random_range(0..2 * others.len());
        Service::Query(*others.get(drawn).unwrap_or(&Query::Ping))
    }

    /// A host asks its next request: any board, its own too.
    pub(super) fn ask(&mut self, host: u32, board: u32) {
        if self.to_send == 0 || self.recovery.is_some() {
            return;
        }
        let now = self.world.now();
        let mut dest = board;
        for _ in 0..self.world.boards() {
            dest = self.random.random_range(0..self.world.boards());
            if !self.is_faulty(dest) {
                break;
            }
        }
        let service = self.draw_query();
        let Service::Query(query) = service else { return };
        self.tell_reach();
        let payload = self.notes.oracle.payload(service, u64::from(dest), self.run.payload);
        let asked = self.world.with_host(host, &mut self.notes, |host, now| {
            let up = host.endpoint.is_up();
            up.then(|| host.ask(u64::from(dest), query, &payload, now))
        });
        let wait = match asked.flatten() {
            // It is not there, or its board is not.
            None => LOOK_AGAIN,
            Some(None) => {
                self.refused_at(host);
                TRY_AGAIN
            }
            Some(Some(id)) => {
                let id = PacketId {
                    source: u64::from(board),
                    ..id
                };
                self.notes.oracle.sent(service, now, id, dest, &payload);
                self.taken_at(host);
                self.draw_wait()
            }
        };
        self.world.mark(now + wait, Task::Send(host));
    }

    fn refused_at(&mut self, machine: u32) {
        let now = self.world.now();
        self.notes.oracle.refused(now);
        self.notes.account.refused += 1;
        let since = *self.refused_since[machine as usize].get_or_insert(now);
        self.notes.account.longest_refusal = self.notes.account.longest_refusal.max(now - since);
    }

    fn taken_at(&mut self, machine: u32) {
        let now = self.world.now();
        self.last_sent = now;
        self.to_send -= 1;
        if let Some(since) = self.refused_since[machine as usize].take() {
            self.notes.account.longest_refusal = self.notes.account.longest_refusal.max(now - since);
        }
    }

    fn draw_wait(&mut self) -> Nanos {
        match self.run.traffic {
            Traffic::BroadcastStorm if self.recovery.is_none() => 0,
            _ => self.interval / 2 + self.random.random_range(0..self.interval.max(1)),
        }
    }

    pub(super) fn send(&mut self, board: u32) {
        if self.to_send == 0 {
            return;
        }
        let now = self.world.now();
        if self.world.node(board).is_none() {
            self.world.mark(now + LOOK_AGAIN, Task::Send(board));
            return;
        }
        self.tell_reach();
        let next = match &self.recovery {
            Some(recovery) => recovery.next(board),
            None => Some((self.draw_destination(board), self.draw_service())),
        };
        let Some((dest, service)) = next else { return };
        let payload = self.notes.oracle.payload(service, u64::from(dest), self.run.payload);
        let sender = self.node(board);
        let port = self.notes.oracle.port();
        // The packet may be dropped before `send` returns, so the oracle must know it first.
        let to = u64::from(dest);
        let mut early: Vec<(PacketId, DropReason)> = Vec::new();
        let result = self.world.with_node(board, &mut self.notes, |node, now, note| {
            let mut observer = |event: Event| {
                if let Event::Dropped { packet, reason, .. } = event {
                    early.push((packet, reason));
                }
                note(event);
            };
            match service {
                Service::Datagram => node.send(to, port, &payload, now, &mut observer),
                Service::Confirmed => node.send_confirmed(to, port, &payload, now, &mut observer),
                Service::Broadcast => node.broadcast(port, &payload, now, &mut observer),
                Service::Query(query) => node.ask(to, query, &payload, now, &mut observer),
            }
        });
        match result {
            Some(Ok(number)) => {
                let id = sender.packet(service.kind(), number);
                let oracle = &mut self.notes.oracle;
                oracle.sent(service, now, id, dest, &payload);
                for (packet, reason) in &early {
                    oracle.note_drop(now, board, packet, *reason);
                }
                self.taken_at(board);
                if let Some(recovery) = &mut self.recovery {
                    recovery.sent(board);
                }
                let wait = self.draw_wait();
                self.world.mark(now + wait, Task::Send(board));
                self.fetch_in_time(board);
            }
            Some(Err(SendError::Full)) => {
                self.refused_at(board);
                self.world.mark(now + TRY_AGAIN, Task::Send(board));
            }
            Some(Err(error)) => {
                let what = format!("a packet was refused: {error}");
                self.notes.oracle.broken(now, board, Broken::Halt, what);
            }
            None => {}
        }
    }

    /// At once, or some time later if applications are slow.
    pub(super) fn fetch_in_time(&mut self, board: u32) {
        let late = self.run.read_late.filter(|_| self.recovery.is_none());
        let Some(late) = late.filter(|_| self.world.board_of(board).is_none()) else {
            return self.fetch(board);
        };
        let has_news = self.world.node(board).is_some_and(|node| node.has_news());
        if has_news && !std::mem::replace(&mut self.reading[board as usize], true) {
            let at = self.world.now() + self.random.random_range(0..=late);
            self.world.mark(at, Task::Read(board));
        }
    }

    pub(super) fn fetch(&mut self, board: u32) {
        if let Some(at) = self.world.board_of(board) {
            return self.hear(board, at);
        }
        if !self.world.node(board).is_some_and(|node| node.has_news()) {
            return;
        }
        let now = self.world.now();
        let sender = self.node(board);
        let fetched = self.world.with_node(board, &mut self.notes, |node, _, _| {
            let messages: Vec<_> = std::iter::from_fn(|| node.next_message()).collect();
            let outcomes: Vec<_> = std::iter::from_fn(|| node.next_outcome()).collect();
            (messages, outcomes)
        });
        let Some((mut messages, outcomes)) = fetched else {
            return;
        };
        if let Some(shell) = &mut self.notes.shell {
            shell.brings(now, board, &mut messages);
        }
        let oracle = &mut self.notes.oracle;
        for message in messages {
            match message.kind {
                MessageKind::Undeliverable { number, .. } => oracle.reported(now, &sender, number),
                MessageKind::Response(query) => {
                    let response = Response {
                        query,
                        asked: message.asked,
                        number: message.number,
                        payload: &message.payload,
                    };
                    oracle.answered(now, &sender, message.source, &response);
                }
                _ => oracle.delivered(now, board, &message),
            }
        }
        for (number, outcome) in outcomes {
            oracle.completed(now, &sender, number, outcome);
        }
    }

    fn hear(&mut self, host: u32, board: u32) {
        let now = self.world.now();
        let requester = Sender {
            board,
            is_host: true,
            epoch: self.world.epoch(host),
        };
        let heard = self.world.with_host(host, &mut self.notes, |host, _| host.heard());
        let oracle = &mut self.notes.oracle;
        for packet in heard.unwrap_or_default() {
            match packet.content() {
                Some(Content::Response(response)) => {
                    self.notes.last_arrival = now;
                    oracle.answered(now, &requester, packet.header.source, &response);
                }
                Some(Content::Undeliverable(report)) => oracle.reported(now, &requester, report.number),
                _ => {}
            }
        }
    }
}
