//! The rate of a wire, which its two ends may change together while it is in use.
//!
//! Hello tells which [steps](RATE_STEPS) above the first rate an end has. One end, the leader, asks for the next step that both have. The other
//! agrees, and changes when its answer has left; the leader changes when it has the answer, and sends test patterns, each of which is answered.
//! If they all arrive, the step is kept; if one does not, both return to where they were, each for itself. Meanwhile
//! nothing else is sent, so nothing is lost, and all timeouts wait. When frames are damaged at a step, the end that notices asks for one below.
//!
//! An end that hears only noise for a while at a higher rate than the first goes back to that: the other has been reset, or has gone back.
//! A step that did not last is not tried again for a while, twice as long each time, so that the ends do not go up and down all the time.

use super::Micros;
use super::canonical::left;
use crate::wire::{RATE_STEPS, RateMessage, StepSet};

/// Test patterns in each direction.
const TESTS: u8 = 4;
/// Bytes that take longer than any frame.
const FRAME_BITS: u32 = 4_000;
/// Time of an answer, besides the frames that are being sent.
const ANSWER: u32 = 3_000;
/// The first test is repeated at this interval, since the other end may change later, and so many times in all; then none may be missing.
const FIRST_TEST: u32 = 2_000;
const FIRST_TESTS: u8 = 3;
/// Time of the other tests, besides their bytes.
const TRIAL: u32 = 4_000;
/// The end that is tested waits longer, so that it never gives up first.
const LONGER: u32 = 2_000;
/// An end at a higher rate than the first that has heard only noise for this long is alone there: three signs of life.
pub(super) const DEAF: Micros = 40_000;
/// Between two changes.
const DWELL: u32 = 40_000;
/// A step that did not last is not tried again for this time, which doubles up to nine times.
const RETRY: u32 = 1_000_000;
const MAX_BACKOFF: u8 = 9;
/// The end of a session is not the fault of a step that has lasted for this long; after the second, a fault is not a repetition. In units of
/// 1,024 microseconds, as is the first.
const STILL_NEW: u32 = 20;
const PROVEN: u32 = 10_000;
const LASTED: u32 = 600_000;
/// Frames after which the damaged ones are counted, and how many are too many.
const WINDOW: u8 = 64;
const TOO_MANY: u8 = 8;

/// The time in units of 1,024 microseconds, which wrap after 50 days.
fn units(now: Micros) -> u32 {
    (now >> 10) as u32
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Phase {
    /// There is no session, or no step to change to.
    #[default]
    Fixed,
    Steady,
    /// This end has asked for a step.
    Asking(u8),
    /// This end answers.
    Agreeing(u8),
    /// Whether this end asked, and the number of tests that came.
    Trial {
        asks: bool,
        came: u8,
    },
}

/// One end's part in the rate of a wire.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Rates {
    first: u32,
    pub(super) own: StepSet,
    /// The steps of both ends.
    common: StepSet,
    leads: bool,
    phase: Phase,
    step: u8,
    /// The step before a trial.
    before: u8,
    /// Whether the serial port still has another rate.
    is_new: bool,
    due: Option<RateMessage>,
    first_tests: u8,
    /// When the phase is over, or the leader tries the next step.
    pub(super) deadline: Micros,
    /// When the step was changed, in units of 1,024 microseconds that wrap.
    changed_at: u32,
    /// The last step that is tried before `retry_at`.
    ceiling: u8,
    retry_at: Micros,
    backoff: u8,
    frames: u8,
    damaged: u8,
}

impl Rates {
    /// A fixed rate.
    pub(super) fn new(first: u32) -> Self {
        Rates {
            first,
            deadline: Micros::MAX,
            ..Rates::default()
        }
    }

    /// The same with times relative to now.
    pub(super) fn canonical(&self, now: Micros) -> Self {
        if self.own == 0 {
            return Rates::new(self.first);
        }
        Rates {
            deadline: left(self.deadline, now),
            changed_at: self.lasted(now).min(LASTED),
            retry_at: left(self.retry_at, now),
            ..self.clone()
        }
    }

    pub(super) fn allow(&mut self, steps: StepSet) {
        self.own = steps;
    }

    pub(super) fn baud(&self) -> u32 {
        self.baud_of(self.step)
    }

    pub(super) fn fastest(&self) -> u32 {
        self.baud_of((self.own | 1).ilog2() as u8)
    }

    fn baud_of(&self, step: u8) -> u32 {
        let above = usize::from(step).checked_sub(1);
        let rate = above.and_then(|step| RATE_STEPS.get(step).copied());
        rate.unwrap_or(self.first)
    }

    /// Whether only messages of this machine may be sent.
    pub(super) fn is_quiet(&self) -> bool {
        !matches!(self.phase, Phase::Fixed | Phase::Steady)
    }

    /// Whether there is a message to send, or a rate to change to.
    pub(super) fn is_due(&self) -> bool {
        self.due.is_some() || self.is_new
    }

    pub(super) fn has_message(&self) -> bool {
        self.due.is_some()
    }

    pub(super) fn is_raised(&self) -> bool {
        self.step > 0
    }

    /// The new rate, if the serial port has another.
    pub(super) fn take_baud(&mut self) -> Option<u32> {
        core::mem::take(&mut self.is_new).then(|| self.baud())
    }

    /// A session begins, at the first rate.
    pub(super) fn begin(&mut self, leads: bool, there: StepSet, now: Micros) {
        self.leads = leads;
        self.common = self.own & there;
        if self.common > 1 {
            self.settle(now);
        }
    }

    #[inline(never)]
    pub(super) fn end(&mut self, now: Micros) {
        if self.is_raised() && self.lasted(now) < PROVEN {
            self.blame(self.step, now);
        }
        self.change(0, now);
        (self.phase, self.due, self.deadline) = (Phase::Fixed, None, Micros::MAX);
    }

    /// Nothing but noise is heard.
    pub(super) fn is_deaf(&mut self, now: Micros) {
        self.blame(self.step, now);
        self.change(0, now);
        self.settle(now);
    }

    /// A frame of the session was heard. Returns whether that ends a trial.
    pub(super) fn intact(&mut self) -> bool {
        self.frames = self.frames.saturating_add(self.step.min(1));
        let (asks, came) = (false, TESTS);
        self.phase == Phase::Trial { asks, came }
    }

    #[inline(never)]
    pub(super) fn damaged(&mut self, now: Micros) {
        if !self.is_raised() {
            return;
        }
        self.damaged = self.damaged.saturating_add(1);
        if self.frames.saturating_add(self.damaged) < WINDOW {
            return;
        }
        let too_many = self.damaged > TOO_MANY;
        (self.frames, self.damaged) = (0, 0);
        if too_many && self.phase == Phase::Steady {
            self.blame(self.step, now);
            let below = (1..self.step).rev().find(|step| self.has(*step));
            self.ask(below.unwrap_or(0), now);
        }
    }

    #[inline(never)]
    pub(super) fn heard(&mut self, message: RateMessage, now: Micros) {
        match (message, self.phase) {
            (RateMessage::Ask(step), Phase::Steady) => self.answer(step, now),
            // Both have asked.
            (RateMessage::Ask(step), Phase::Asking(_)) if !self.leads => self.answer(step, now),
            (RateMessage::Agree(step), Phase::Asking(asked)) if step == asked => {
                self.begin_trial(step, true, now);
                self.first_test(now);
            }
            (RateMessage::Agree(_), Phase::Asking(asked)) => {
                self.blame(asked, now);
                self.settle(now);
            }
            (RateMessage::Test(number), Phase::Trial { asks, came }) if number == came + 1 => {
                let came = number;
                self.phase = Phase::Trial { asks, came };
                if came == 1 {
                    let longer = if asks { 0 } else { LONGER };
                    self.wait(2 * self.frame() + TRIAL + longer, now);
                }
                match asks {
                    true if came == TESTS => self.settle(now),
                    true => self.due = Some(RateMessage::Test(came + 1)),
                    false => self.due = Some(RateMessage::Test(came)),
                }
            }
            // The answer was late, or damaged.
            (RateMessage::Test(1), Phase::Trial { asks: false, came: 1 }) => self.due = Some(message),
            _ => {}
        }
    }

    #[inline(never)]
    pub(super) fn tick(&mut self, now: Micros) {
        if now < self.deadline {
            return;
        }
        match self.phase {
            Phase::Fixed => self.deadline = Micros::MAX,
            Phase::Steady => {
                let above = (self.step + 1..=self.top(now)).find(|step| self.has(*step));
                match above {
                    Some(step) => self.ask(step, now),
                    None => {
                        self.deadline = if self.retry_at > now {
                            self.retry_at
                        } else {
                            Micros::MAX
                        }
                    }
                }
            }
            Phase::Asking(step) => self.fail(self.step, step, now),
            Phase::Agreeing(_) => self.settle(now),
            Phase::Trial { asks: true, came: 0 } if self.first_tests < FIRST_TESTS => self.first_test(now),
            Phase::Trial { .. } => self.fail(self.before, self.step, now),
        }
    }

    /// The message to send. What it announces begins when it has been written.
    pub(super) fn take_message(&mut self, now: Micros) -> Option<RateMessage> {
        let message = self.due.take()?;
        match self.phase {
            Phase::Agreeing(step) if step == self.step => self.settle(now),
            Phase::Agreeing(step) => self.begin_trial(step, false, now),
            _ => {}
        }
        Some(message)
    }

    fn has(&self, step: u8) -> bool {
        self.common.checked_shr(step.into()).unwrap_or(0) & 1 != 0
    }

    /// The last step that may be tried.
    fn top(&self, now: Micros) -> u8 {
        if now < self.retry_at {
            self.ceiling
        } else {
            RATE_STEPS.len() as u8
        }
    }

    /// The time of more than a frame.
    fn frame(&self) -> u32 {
        FRAME_BITS * 1_000 / (self.baud() / 1_000).max(1)
    }

    fn ask(&mut self, step: u8, now: Micros) {
        self.due = Some(RateMessage::Ask(step));
        self.phase = Phase::Asking(step);
        self.wait(2 * self.frame() + ANSWER, now);
    }

    fn answer(&mut self, step: u8, now: Micros) {
        if step < self.step {
            self.blame(self.step, now);
        }
        let is_new = self.lasted(now) < STILL_NEW;
        let agrees = self.has(step) && step != self.step && step <= self.top(now) && !is_new;
        let answer = if agrees { step } else { self.step };
        self.due = Some(RateMessage::Agree(answer));
        self.phase = Phase::Agreeing(answer);
    }

    fn begin_trial(&mut self, step: u8, asks: bool, now: Micros) {
        self.before = self.step;
        self.wait(self.frame() + FIRST_TEST * u32::from(FIRST_TESTS) + LONGER, now);
        self.change(step, now);
        (self.phase, self.first_tests) = (Phase::Trial { asks, came: 0 }, 0);
    }

    fn first_test(&mut self, now: Micros) {
        self.due = Some(RateMessage::Test(1));
        self.first_tests += 1;
        self.wait(self.frame() / 2 + FIRST_TEST, now);
    }

    /// A change to a step failed. Where the old one is not good either, the first rate is.
    fn fail(&mut self, before: u8, step: u8, now: Micros) {
        self.blame(step.max(before), now);
        self.change(if step > before { before } else { 0 }, now);
        self.settle(now);
    }

    /// A step did not last.
    #[inline(never)]
    fn blame(&mut self, step: u8, now: Micros) {
        if step == 0 || step > self.top(now) {
            return;
        }
        if self.lasted(now) > LASTED {
            self.backoff = 0;
        }
        self.ceiling = step - 1;
        self.retry_at = now.saturating_add((RETRY << self.backoff).into());
        self.backoff = (self.backoff + 1).min(MAX_BACKOFF);
    }

    #[inline(never)]
    fn change(&mut self, step: u8, now: Micros) {
        if step != self.step {
            (self.step, self.is_new, self.changed_at) = (step, true, units(now));
        }
        (self.frames, self.damaged) = (0, 0);
    }

    /// All is well, or as it was.
    #[inline(never)]
    pub(super) fn settle(&mut self, now: Micros) {
        (self.phase, self.due) = (Phase::Steady, None);
        self.deadline = Micros::MAX;
        if self.leads {
            self.wait(DWELL, now);
        }
    }

    #[inline(never)]
    fn wait(&mut self, time: u32, now: Micros) {
        self.deadline = now.saturating_add(time.into());
    }

    /// How long it has had this step.
    fn lasted(&self, now: Micros) -> u32 {
        units(now).wrapping_sub(self.changed_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Nonsense from the other end is harmless: there is always a rate of both ends, and no silence without end.
        #[test]
        fn any_messages_leave_a_rate_of_both(
            messages in prop::collection::vec((0..0x40u8, 0..5_000u64, any::<bool>()), 0..300), own: u8, there: u8, leads: bool,
        ) {
            let mut rates = Rates::new(1_000_000);
            rates.allow(own | 1);
            rates.begin(leads, there, 0);
            let (mut now, mut quiet_since) = (0, 0);
            for (byte, later, is_damaged) in messages {
                now += later;
                match RateMessage::read(byte) {
                    _ if is_damaged => (0..WINDOW).for_each(|_| rates.damaged(now)),
                    Some(message) => rates.heard(message, now),
                    None => rates.tick(now),
                }
                rates.tick(now);
                let _ = rates.take_message(now);
                prop_assert!(rates.step == 0 || (own & there) >> rates.step & 1 != 0);
                quiet_since = if rates.is_quiet() { quiet_since } else { now };
                prop_assert!(now - quiet_since < 100_000, "quiet for {}", now - quiet_since);
            }
            rates.end(now);
            prop_assert_eq!((rates.baud(), rates.is_quiet(), rates.is_due() && !rates.is_new), (1_000_000, false, false));
        }
    }
}
