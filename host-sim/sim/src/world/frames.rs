//! How frames leave a board, travel and arrive, and what happens next.

use hopwise_node::clock::{ClockTicks, TICKS_PER_MICRO, clock_ticks};
use hopwise_node::router::Event;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::cables::Cable;
use super::links::{ALL_LINKS, LinkSet, each, first, only};
use super::machine::Machine;
use super::{Build, Occasion, SimSizes, Watcher, WireEnd, World};
use crate::clock::Clock;
use crate::wire::Nanos;

/// A board reads its clock up to so much later than a frame begins or ends.
const STAMP_LATENCY: Nanos = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOutcome<M = ()> {
    Nothing,
    Board(u32),
    Mark(M),
    /// Nothing more happens until then.
    End,
}

impl<C: SimSizes, M: Copy + Ord> World<C, M> {
    /// Goes on to the next thing that happens, not after `until`. Says which board may have something for its application, or
    /// which mark came.
    pub fn step(&mut self, until: Nanos, watcher: &mut impl Watcher) -> StepOutcome<M> {
        if self.agenda.is_empty() {
            return StepOutcome::End;
        }
        let Some((at, occasion)) = self.agenda.next(until) else {
            self.now = until;
            return StepOutcome::End;
        };
        self.now = at;
        match occasion {
            Occasion::Mark(mark) => StepOutcome::Mark(mark),
            Occasion::Timer(board) => {
                let state = &mut self.boards[board as usize];
                if state.timer != at {
                    return StepOutcome::Nothing;
                }
                state.timer = Nanos::MAX;
                let micros = state.clock.micros(at);
                let note = &mut |event: Event| watcher.note(at, board, &event);
                state.machine.tick(micros, note);
                self.serve(board, ALL_LINKS, ALL_LINKS, watcher);
                StepOutcome::Board(board)
            }
            Occasion::Released(cable, side) => {
                self.release(cable, usize::from(side), watcher);
                StepOutcome::Nothing
            }
            Occasion::Sent(board, link) => self.sent((board, link), watcher),
            Occasion::Arrived(board, link, parked) => {
                let (came, bytes) = std::mem::take(&mut self.parked[parked as usize]);
                self.give((board, link), came, &bytes, watcher);
                self.parked[parked as usize] = (came, bytes);
                self.free_parked.push(parked);
                StepOutcome::Board(board)
            }
        }
    }

    /// The last byte of a frame has left: it arrives, and the next one may be sent.
    fn sent(&mut self, from: WireEnd, watcher: &mut impl Watcher) -> StepOutcome<M> {
        let length = self.boards[from.0 as usize].transmitters[usize::from(from.1)].length;
        let reached = self.carry(from, length, watcher);
        let free = only(from.1);
        self.boards[from.0 as usize].busy &= !free;
        // The others were asked when something happened to them.
        self.serve(from.0, free, 0, watcher);
        reached.map_or(StepOutcome::Nothing, StepOutcome::Board)
    }

    /// Carries the next `count` bytes of the frame under way to the other end, and says which board that is.
    pub(super) fn carry(&mut self, from: WireEnd, count: usize, watcher: &mut impl Watcher) -> Option<u32> {
        let (cable, side) = self.side(from)?;
        let Cable {
            ends,
            directions,
            random,
            plugged,
            tap,
            ..
        } = &mut self.cables[cable as usize];
        let transmitter = &mut self.boards[from.0 as usize].transmitters[usize::from(from.1)];
        let end = (transmitter.missed + count).min(transmitter.length);
        let begin = std::mem::replace(&mut transmitter.missed, end).min(end);
        let to = ends[1 - side];
        if !*plugged {
            return None;
        }
        let sent = std::mem::take(&mut transmitter.bytes);
        let mut scratch = std::mem::take(&mut self.scratch);
        let arrived = directions[side].carry(self.now, &sent[begin..end], random, &mut scratch);
        let tapped;
        let arrived = match tap {
            Some(tap) => {
                tapped = tap.carry(side, arrived, self.build.baud, self.now / 1_000, random);
                &tapped[..]
            }
            None => arrived,
        };
        let reached = !arrived.is_empty();
        if reached {
            self.deliver(to, arrived, watcher);
        }
        self.scratch = scratch;
        self.boards[from.0 as usize].transmitters[usize::from(from.1)].bytes = sent;
        reached.then_some(to.0)
    }

    pub(super) fn deliver(&mut self, to: WireEnd, bytes: &[u8], watcher: &mut impl Watcher) {
        let Build { processing, jitter, .. } = self.build;
        if processing == 0 && jitter == 0 {
            return self.give(to, self.now, bytes, watcher);
        }
        let place = self.free_parked.pop().unwrap_or_else(|| {
            self.parked.push((0, Vec::new()));
            self.parked.len() as u32 - 1
        });
        let (came, parked) = &mut self.parked[place as usize];
        *came = self.now;
        parked.clear();
        parked.extend_from_slice(bytes);
        let late = lateness(jitter, &mut self.random);
        // What came before is looked at first.
        let looked_at = &mut self.boards[to.0 as usize].looked_at[usize::from(to.1)];
        *looked_at = (*looked_at).max(self.now + processing + late);
        self.agenda.plan(*looked_at, Occasion::Arrived(to.0, to.1, place));
    }

    fn give(&mut self, (board, link): WireEnd, came: Nanos, bytes: &[u8], watcher: &mut impl Watcher) {
        let now = self.now;
        let state = &mut self.boards[board as usize];
        let ended = stamp(&state.clock, came, &mut self.latencies);
        let micros = state.clock.micros(now);
        let note = &mut |event: Event| watcher.note(now, board, &event);
        state.machine.receive(link, bytes, ended, micros, note);
        self.serve(board, ALL_LINKS, only(link), watcher);
    }

    /// Sends what a board has to send on those of some links that are free, and sees to its clock. Something has come on
    /// the links `used` since that was done last.
    pub(super) fn serve(&mut self, board: u32, links: LinkSet, mut used: LinkSet, watcher: &mut impl Watcher) {
        let now = self.now;
        let state = &mut self.boards[board as usize];
        let micros = state.clock.micros(now);
        if let Machine::Off = state.machine {
            return;
        }
        if let Machine::FaultyNode(faulty) = &mut state.machine {
            faulty.swallowed().for_each(|packet| watcher.swallowed(packet));
        }
        let all = first(state.transmitters.len());
        for link in each(links & !state.busy & all) {
            let transmitter = &mut state.transmitters[usize::from(link)];
            let note = &mut |event: Event| watcher.note(now, board, &event);
            let length = state.machine.transmit(link, micros, &mut transmitter.bytes, note);
            if length == 0 {
                continue;
            }
            let this = only(link);
            let cable = state.cables[usize::from(link)].map(|cable| &self.cables[cable as usize]);
            let ends = cable.map(|cable| cable.seen_from((board, link)));
            let length = ends.map_or(length, |ends| watcher.leaves(now, ends, &mut transmitter.bytes, length));
            transmitter.length = length;
            state.busy |= this;
            used |= this;
            transmitter.started = now;
            transmitter.missed = 0;
            self.frames += 1;
            if state.machine.awaits_start(link) {
                let began = stamp(&state.clock, now, &mut self.latencies);
                state.machine.note_start(link, began, length);
            }
            let done = now + length as u64 * self.byte_nanos;
            self.agenda.plan(done, Occasion::Sent(board, link));
        }
        // Those of the other links have not changed, and the clock is set for them.
        let deadline = state.machine.deadline(used & all);
        let deadline = state.clock.nanos(deadline).max(now + 1_000);
        let deadline = deadline.saturating_add(lateness(self.build.jitter, &mut self.random));
        if deadline < state.timer {
            state.timer = deadline;
            self.agenda.plan(deadline, Occasion::Timer(board));
        }
    }
}

/// Up to so much later.
fn lateness(jitter: Nanos, random: &mut Xoshiro256PlusPlus) -> Nanos {
    if jitter == 0 {
        0
    } else {
        random.random_range(0..=jitter)
    }
}

/// What a board's clock shows when a frame begins or ends: in whole microseconds, and read by an interrupt that others may hold up.
fn stamp(clock: &Clock, at: Nanos, latencies: &mut Xoshiro256PlusPlus) -> ClockTicks {
    let late = lateness(STAMP_LATENCY, latencies);
    clock_ticks(clock.micros(at + late)) + TICKS_PER_MICRO / 2
}
