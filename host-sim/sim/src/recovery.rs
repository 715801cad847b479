//! What must hold after the last fault: everything is restored, and within a stated time all links are up, every service works and no node
//! holds anything.

use std::collections::VecDeque;

use hopwise_node::wire::Query;
use rand::RngExt;

use super::faults::Outages;
use super::oracle::{Broken, Service};
use super::run::{Player, RunError, Task};
use super::wire::Nanos;
use super::world::SimSizes;

const SECOND: Nanos = 1_000_000_000;

/// All links are up within this: a link that went down again and again waits before it comes up, for 30 s at most.
const LINKS_WITHIN: Nanos = 35 * SECOND;
/// Then everything is settled within this after the last was sent, on a wire of 1 Mbaud or more; on slower ones, in so many byte times.
const SERVICES_WITHIN: Nanos = 20 * SECOND;
const SERVICES_WITHIN_BYTES: Nanos = 2_000_000;
/// Copies of packets that have arrived are gone within this.
const EMPTY_WITHIN: Nanos = 5 * SECOND;
/// The time between two checks of all that.
const LOOK_EVERY: Nanos = SECOND / 200;
/// Between two packets of the whole mesh, in byte times: no board, not even the hub of a tree, has too many to answer.
const SPACING_BYTES: Nanos = 500;
/// The number of random pairs in larger meshes.
const MAX_PAIRS: usize = 240;

const SERVICES: [Service; 3] = [Service::Datagram, Service::Confirmed, Service::Query(Query::Ping)];

pub(super) struct Recovery {
    began: Nanos,
    stage: Stage,
    /// When the stage began.
    since: Nanos,
    /// What each board has yet to send.
    to_send: Vec<VecDeque<(u32, Service)>>,
}

#[derive(Clone, Copy)]
enum Stage {
    Links,
    Services,
    Buffers,
    Over,
}

impl Recovery {
    pub(super) fn next(&self, board: u32) -> Option<(u32, Service)> {
        self.to_send.get(board as usize)?.front().copied()
    }

    /// A board has sent the next.
    pub(super) fn sent(&mut self, board: u32) {
        self.to_send[board as usize].pop_front();
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }
}

impl<C: SimSizes> Player<'_, C> {
    /// Undoes every fault of cables and boards, and takes attackers off the cables.
    pub(super) fn restore(&mut self) -> Result<(), RunError> {
        self.outages = Outages::default();
        self.notes.oracle.restored();
        for board in self.world.restore(&mut self.notes) {
            self.start(board)?;
        }
        let now = self.world.now();
        self.recovery = Some(Recovery {
            began: now,
            stage: Stage::Links,
            since: now,
            to_send: vec![VecDeque::new(); self.world.boards() as usize],
        });
        self.look_again();
        Ok(())
    }

    fn look_again(&mut self) {
        self.world.mark(self.world.now() + LOOK_EVERY, Task::Look);
    }

    pub(super) fn look(&mut self) {
        let Some(recovery) = &self.recovery else { return };
        let took = self.world.now() - recovery.since;
        let next = match recovery.stage {
            Stage::Links => match self.world.first_link_down() {
                None if took > self.notes.oracle.settles_within() => Some(Stage::Services),
                None => None,
                Some((board, link)) if took > LINKS_WITHIN => {
                    return self.not_restored(board, format!("link {link} takes no packets"));
                }
                Some(_) => None,
            },
            Stage::Services => {
                let waiting = recovery.to_send.iter().position(|queue| !queue.is_empty());
                let open = self.notes.oracle.open_since_restored();
                let within = SERVICES_WITHIN.max(SERVICES_WITHIN_BYTES * self.world.byte_nanos());
                // The next is sent after half an interval to one and a half.
                let within = within.max(2 * self.interval);
                let took = self.world.now() - recovery.since.max(self.last_sent);
                match (waiting, open) {
                    (None, None) => Some(Stage::Buffers),
                    _ if took <= within => None,
                    (Some(board), _) => return self.not_restored(board as u32, "it cannot send".into()),
                    (None, Some((board, what))) => return self.not_restored(board, what),
                }
            }
            Stage::Buffers => {
                let mut boards = 0..self.world.boards();
                let held = |&board: &u32| self.world.node(board).is_some_and(|node| !node.is_at_rest());
                match boards.find(held) {
                    None => Some(Stage::Over),
                    Some(board) if took > EMPTY_WITHIN => {
                        return self.not_restored(board, "it still holds a buffer".into());
                    }
                    Some(_) => None,
                }
            }
            Stage::Over => None,
        };
        if matches!(next, Some(Stage::Services)) {
            self.try_services();
        }
        let now = self.world.now();
        if let Some((recovery, stage)) = self.recovery.as_mut().zip(next) {
            (recovery.stage, recovery.since) = (stage, now);
        }
        self.look_again();
    }

    fn not_restored(&mut self, board: u32, what: String) {
        let now = self.world.now();
        let seconds = self.recovery.as_ref().map_or(0, |recovery| now - recovery.began) / SECOND;
        let what = format!("{what} {seconds} s after everything was restored");
        self.notes.oracle.broken(now, board, Broken::NoRecovery, what);
    }

    fn try_services(&mut self) {
        let boards = self.world.boards();
        let all = (0..boards).flat_map(|from| (0..boards).map(move |to| (from, to)));
        let mut pairs: Vec<(u32, u32)> = match boards as usize {
            few if few * (few - 1) <= MAX_PAIRS => all.collect(),
            _ => (0..MAX_PAIRS)
                .map(|_| (self.random.random_range(0..boards), self.random.random_range(0..boards)))
                .collect(),
        };
        pairs.retain(|(from, to)| from != to);
        let mut to_send = vec![VecDeque::new(); boards as usize];
        for (place, &(from, to)) in pairs.iter().enumerate() {
            // Not in the same order everywhere.
            let services = (0..SERVICES.len()).map(|turn| SERVICES[(place + turn) % SERVICES.len()]);
            to_send[from as usize].extend(services.map(|service| (to, service)));
        }
        for (board, queue) in (0..boards).zip(&mut to_send) {
            queue.push_back((board, Service::Broadcast));
        }
        self.to_send = to_send.iter().map(|queue| queue.len() as u64).sum();
        if let Some(recovery) = &mut self.recovery {
            recovery.to_send = to_send;
        }
        self.interval = SPACING_BYTES * self.world.byte_nanos() * u64::from(boards);
        for board in 0..boards {
            let first = self.random.random_range(0..self.interval);
            self.world.mark(self.world.now() + first, Task::Send(board));
        }
    }
}
