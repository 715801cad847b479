//! Running: rounds in which every board goes to a common time, on one thread or several.

use std::sync::mpsc::{Receiver, Sender, channel};

use super::board::{Board, Horizon, Intervention};
use super::{Port, World};
use crate::chip::UARTS;
use crate::chip::usart::Edge;
use crate::time::{MICROSECOND, Time};

/// A round is not longer than this even if nobody listens to any wire: a receiver that is switched on during a round
/// hears what was sent in it only afterwards. It is a frame at one million baud.
const LONGEST_DEAF_ROUND: Time = 10 * MICROSECOND;

/// What the boards of one thread shall do in a round.
struct Job {
    until: Time,
    interventions: Vec<(usize, Intervention)>,
    edges: Vec<(Port, Edge<Time>)>,
}

/// What came of it.
#[derive(Default)]
struct Outcome {
    edges: Vec<(Port, Vec<Edge<Time>>)>,
    horizons: Vec<(usize, Horizon)>,
}

/// Some consecutive boards.
struct Share<'a> {
    first: usize,
    boards: &'a mut [Board],
    connected: &'a [[bool; UARTS]],
    /// When each of them has something to do.
    wake: Vec<Time>,
}

impl Share<'_> {
    fn run(&mut self, job: Job) -> Outcome {
        for (board, intervention) in job.interventions {
            self.boards[board - self.first].intervene(intervention);
            self.wake[board - self.first] = 0;
        }
        for (port, edge) in job.edges {
            let place = port.board - self.first;
            self.boards[place].push_edge(port.uart, edge);
            self.wake[place] = self.wake[place].min(edge.at);
        }
        let mut outcome = Outcome::default();
        for (place, board) in self.boards.iter_mut().enumerate() {
            if self.wake[place] >= job.until {
                continue;
            }
            board.run_until(job.until);
            let number = self.first + place;
            for uart in (0..UARTS).filter(|uart| self.connected[place][*uart]) {
                let edges = board.take_output(uart);
                if !edges.is_empty() {
                    outcome.edges.push((Port { board: number, uart }, edges));
                }
            }
            let horizon = board.horizon(&self.connected[place]);
            self.wake[place] = horizon.wake;
            outcome.horizons.push((number, horizon));
        }
        outcome
    }
}

/// The boards of one thread: here, or on a thread of their own.
enum Worker<'a> {
    Here(Share<'a>),
    Thread {
        jobs: Sender<Job>,
        outcomes: Receiver<Outcome>,
    },
}

impl World {
    /// Runs everything up to a time.
    pub fn run_until(&mut self, end: Time) {
        let mut boards = std::mem::take(&mut self.boards);
        let connected = std::mem::take(&mut self.connected);
        let horizons: Vec<Horizon> = boards
            .iter_mut()
            .zip(&connected)
            .map(|(board, connected)| board.horizon(connected))
            .collect();
        let per_thread = boards.len().div_ceil(self.threads).max(1);
        std::thread::scope(|scope| {
            let mut workers = Vec::new();
            for (number, (boards, connected)) in boards
                .chunks_mut(per_thread)
                .zip(connected.chunks(per_thread))
                .enumerate()
            {
                let first = number * per_thread;
                let wake = horizons[first..first + boards.len()]
                    .iter()
                    .map(|horizon| horizon.wake)
                    .collect();
                let mut share = Share {
                    first,
                    boards,
                    connected,
                    wake,
                };
                workers.push(if self.threads == 1 {
                    Worker::Here(share)
                } else {
                    let (jobs, todo) = channel();
                    let (done, outcomes) = channel();
                    scope.spawn(move || {
                        for job in todo {
                            if done.send(share.run(job)).is_err() {
                                break;
                            }
                        }
                    });
                    Worker::Thread { jobs, outcomes }
                });
            }
            self.run_rounds(end, per_thread, horizons, &mut workers);
        });
        (self.boards, self.connected) = (boards, connected);
    }

    fn run_rounds(&mut self, end: Time, per_thread: usize, mut horizons: Vec<Horizon>, workers: &mut [Worker<'_>]) {
        // Edges that the boards have not been given yet, by worker.
        let mut waiting: Vec<Vec<(Port, Edge<Time>)>> = workers.iter().map(|_| Vec::new()).collect();
        for (port, edge) in std::mem::take(&mut self.on_the_way) {
            horizons[port.board].wake = horizons[port.board].wake.min(edge.at);
            waiting[port.board / per_thread].push((port, edge));
        }
        while self.now < end {
            let mut interventions = Vec::new();
            for (port, edge) in self.play(&mut interventions) {
                horizons[port.board].wake = horizons[port.board].wake.min(edge.at);
                waiting[port.board / per_thread].push((port, edge));
            }
            for (board, _) in &interventions {
                horizons[*board].wake = self.now;
            }
            let until = self.round_end(end, &horizons);
            let mut outcomes = Vec::new();
            for (number, worker) in workers.iter_mut().enumerate() {
                let interventions = interventions
                    .iter()
                    .copied()
                    .filter(|(board, _)| board / per_thread == number)
                    .collect();
                let job = Job {
                    until,
                    interventions,
                    edges: std::mem::take(&mut waiting[number]),
                };
                match worker {
                    Worker::Here(share) => outcomes.push(share.run(job)),
                    // A thread that is gone has panicked; the scope passes that on when it ends.
                    Worker::Thread { jobs, .. } => _ = jobs.send(job),
                }
            }
            for worker in workers.iter() {
                if let Worker::Thread { outcomes: results, .. } = worker {
                    match results.recv() {
                        Ok(outcome) => outcomes.push(outcome),
                        Err(_) => return,
                    }
                }
            }
            self.now = until;
            self.rounds += 1;
            self.collect(outcomes, per_thread, &mut horizons, &mut waiting);
        }
        self.on_the_way = waiting.into_iter().flatten().collect();
        // In an order that does not depend on the number of threads; that of one port's edges stays.
        self.on_the_way.sort_by_key(|(port, _)| *port);
    }

    /// How far all boards can run before they must hear of each other.
    fn round_end(&self, end: Time, horizons: &[Horizon]) -> Time {
        let wake = horizons.iter().map(|horizon| horizon.wake).min().unwrap_or(Time::MAX);
        let start = wake.clamp(self.now, end);
        let all_listen = horizons.iter().all(|horizon| horizon.reaction != Time::MAX);
        let reaction = horizons
            .iter()
            .map(|horizon| horizon.reaction)
            .min()
            .unwrap_or(Time::MAX);
        let reaction = if all_listen {
            reaction
        } else {
            reaction.min(LONGEST_DEAF_ROUND)
        };
        let deaf = reaction == LONGEST_DEAF_ROUND && self.cables.ports().next().is_none();
        let mut until = if deaf {
            end
        } else {
            start.saturating_add(reaction).min(end)
        };
        for idle in horizons.iter().flat_map(|horizon| horizon.idle) {
            if idle > start {
                until = until.min(idle);
            }
        }
        if let Some((time, _)) = self.script.events().get(self.happened) {
            until = until.min((*time).max(self.now + 1));
        }
        until.max(self.now + 1).min(end)
    }

    /// Takes what the boards have sent through the wires.
    fn collect(
        &mut self,
        outcomes: Vec<Outcome>,
        per_thread: usize,
        horizons: &mut [Horizon],
        waiting: &mut [Vec<(Port, Edge<Time>)>],
    ) {
        for outcome in outcomes {
            for (board, horizon) in outcome.horizons {
                horizons[board] = horizon;
            }
            for (port, edges) in outcome.edges {
                let Some((to, arriving)) = self.cables.carry(port, edges, self.now) else {
                    continue;
                };
                waiting[to.board / per_thread].extend(arriving.into_iter().map(|edge| (to, edge)));
            }
        }
        for (port, edge) in waiting.iter().flatten() {
            horizons[port.board].wake = horizons[port.board].wake.min(edge.at);
        }
    }
}
