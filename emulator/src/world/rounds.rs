//! Running: rounds in which every board goes to a common time, on one thread or several.

use std::sync::mpsc::{Receiver, Sender, channel};

use super::board::{Board, Horizon, Intervention};
use super::{Port, World};
use crate::chip::UARTS;
use crate::chip::wave::Wave;
use crate::time::{MICROSECOND, Time};

/// A round is not longer than this even if nobody listens to any wire: a receiver that is switched on during a round
/// hears what was sent in it only afterward. It is a frame at one million baud.
const LONGEST_DEAF_ROUND: Time = 10 * MICROSECOND;

/// What the boards of one thread shall do in a round, and what has come of it. Its lists are used again and again.
#[derive(Default)]
struct Round {
    from: Time,
    until: Time,
    interventions: Vec<(usize, Intervention)>,
    /// What arrives at the boards; those of one port in order.
    arriving: Vec<(Port, Wave)>,
    sent: Vec<(Port, Wave)>,
    horizons: Vec<(usize, Horizon)>,
}

struct Share<'a> {
    first: usize,
    boards: &'a mut [Board],
    connected: &'a [[bool; UARTS]],
    wake: Vec<Time>,
}

impl Share<'_> {
    fn run(&mut self, round: &mut Round) {
        for (board, intervention) in round.interventions.drain(..) {
            let place = board - self.first;
            // One that sleeps has not come so far yet.
            self.boards[place].run_until(round.from);
            self.boards[place].intervene(intervention);
            self.wake[place] = 0;
        }
        for waves in round.arriving.chunk_by(|a, b| a.0 == b.0) {
            let port = waves[0].0;
            let place = port.board - self.first;
            self.boards[place].hear(port.uart, waves.iter().map(|(_, wave)| *wave));
            // It runs in this round, and says afterward when it matters.
            if self.wake[place] < round.until {
                continue;
            }
            // Those that sleep on say it with what they know now.
            let horizon = self.boards[place].horizon(&self.connected[place]);
            self.wake[place] = self.wake[place].min(horizon.wake);
            if self.wake[place] >= round.until {
                round.horizons.push((port.board, horizon));
            }
        }
        round.arriving.clear();
        for (place, board) in self.boards.iter_mut().enumerate() {
            if self.wake[place] >= round.until {
                continue;
            }
            board.run_until(round.until);
            let number = self.first + place;
            for uart in (0..UARTS).filter(|uart| self.connected[place][*uart]) {
                let port = Port { board: number, uart };
                round.sent.extend(board.take_output(uart).map(|wave| (port, wave)));
            }
            let horizon = board.horizon(&self.connected[place]);
            self.wake[place] = horizon.wake;
            round.horizons.push((number, horizon));
        }
    }
}

/// The boards of one thread: here, or on a thread of their own.
enum Worker<'a> {
    Here(Share<'a>),
    Thread { todo: Sender<Round>, done: Receiver<Round> },
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
                    let (todo, rounds) = channel::<Round>();
                    let (finished, done) = channel();
                    scope.spawn(move || {
                        for mut round in rounds {
                            share.run(&mut round);
                            if finished.send(round).is_err() {
                                break;
                            }
                        }
                    });
                    Worker::Thread { todo, done }
                });
            }
            self.run_rounds(end, per_thread, horizons, &mut workers);
        });
        // Those that sleep, too: whoever does something to a board now must not do it in the past.
        boards.iter_mut().for_each(|board| board.run_until(self.now));
        (self.boards, self.connected) = (boards, connected);
    }

    fn run_rounds(&mut self, end: Time, per_thread: usize, mut horizons: Vec<Horizon>, workers: &mut [Worker<'_>]) {
        let mut rounds: Vec<Round> = workers.iter().map(|_| Round::default()).collect();
        for (port, wave) in std::mem::take(&mut self.on_the_way) {
            horizons[port.board].hears(port.uart, wave);
            rounds[port.board / per_thread].arriving.push((port, wave));
        }
        while self.now < end {
            let mut interventions = Vec::new();
            for (port, wave) in self.play(&mut interventions) {
                horizons[port.board].hears(port.uart, wave);
                rounds[port.board / per_thread].arriving.push((port, wave));
            }
            for (board, intervention) in interventions {
                horizons[board].wake = self.now;
                rounds[board / per_thread].interventions.push((board, intervention));
            }
            let until = self.round_end(end, &horizons);
            for (worker, round) in workers.iter_mut().zip(&mut rounds) {
                (round.from, round.until) = (self.now, until);
                match worker {
                    Worker::Here(share) => share.run(round),
                    // A thread that is gone has panicked; the scope passes that on when it ends.
                    Worker::Thread { todo, .. } => _ = todo.send(std::mem::take(round)),
                }
            }
            for (worker, round) in workers.iter().zip(&mut rounds) {
                if let Worker::Thread { done, .. } = worker {
                    match done.recv() {
                        Ok(finished) => *round = finished,
                        Err(_) => return,
                    }
                }
            }
            self.now = until;
            self.rounds += 1;
            self.exchange(per_thread, &mut horizons, &mut rounds);
        }
        self.on_the_way = rounds.into_iter().flat_map(|round| round.arriving).collect();
        // In an order that does not depend on the number of threads; what goes to one port stays in order.
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
        for horizon in horizons {
            if horizon.first_idle > start {
                until = until.min(horizon.first_idle);
            } else {
                let later = horizon.idle.iter().copied().filter(|idle| *idle > start);
                until = later.fold(until, Time::min);
            }
        }
        if let Some((time, _)) = self.script.events().get(self.happened) {
            until = until.min((*time).max(self.now + 1));
        }
        until.max(self.now + 1).min(end)
    }

    /// Takes what the boards have sent through the wires.
    fn exchange(&mut self, per_thread: usize, horizons: &mut [Horizon], rounds: &mut [Round]) {
        for (board, horizon) in rounds.iter_mut().flat_map(|round| round.horizons.drain(..)) {
            horizons[board] = horizon;
        }
        for place in 0..rounds.len() {
            let mut sent = std::mem::take(&mut rounds[place].sent);
            for waves in sent.chunk_by(|a, b| a.0 == b.0) {
                let Some(to) = self.cables.carry(waves, self.now) else {
                    continue;
                };
                let arriving = &mut rounds[to.board / per_thread].arriving;
                for (_, wave) in waves {
                    horizons[to.board].hears(to.uart, *wave);
                    arriving.push((to, *wave));
                }
            }
            sent.clear();
            rounds[place].sent = sent;
        }
    }
}
