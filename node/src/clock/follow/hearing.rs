//! Processing of a neighbor's signal: whether it is accepted, and what follows from it.

use super::pair::{HALF, Pair};
use super::{
    ClockTicks, EAGER, ENOUGH_VOTES, FARTHEST, MeshClock, NOBODY, Rated, Sample, TELL_AFTER, TICKS_PER_MICRO,
    clock_ticks, earlier,
};
use crate::capacities::Capacities;
use crate::link::Micros;
use crate::wire::TimeSignal;

/// Number of intervals without a new round after which another parent is chosen.
const STALE: u64 = 4;
/// Number of intervals for which the last round of a dead root is remembered: longer than any board takes to notice.
const REMEMBERED: u64 = 40;
/// A round is newer only if it is at most this far ahead.
const NEWEST: u16 = 64;
/// Maximum difference, in clock ticks, of times that agree.
const AGREE: u64 = 1_000 * TICKS_PER_MICRO;
/// Once settled, the maximum difference to the parent, plus one part in two to the power below of the time since the last signal.
const SETTLED_AGREE: u64 = 32 * TICKS_PER_MICRO;
const UNHEARD: u32 = 12;
/// Number of parent signals after which the time is settled.
const SETTLED: u8 = 8;
/// At first a signal counts in full. After this many signals half of its difference counts, and finally a quarter: that filters more noise,
/// but a path of many boards takes longer to settle.
const SHARE_HALVES: u8 = 32;
const SMALLEST_SHARE: u8 = 2;
/// Number of signals after which the board with the lowest address becomes the root.
const TAKE_OVER: u8 = 16;
/// Number of consecutive rejected signals after which a neighbor is no longer followed.
const REFUSALS: u8 = 8;
/// Number of signals after which a better root with another time is accepted.
const DISSENT: u8 = 5;
const MAX_VOTES: u8 = 8;
/// Measurement durations, in clock ticks, after which a rate is good or rough.
const GOOD_WINDOW: u32 = HALF;
const ROUGH_WINDOW: u32 = 250_000 * TICKS_PER_MICRO as u32;

impl<C: Capacities> MeshClock<C> {
    /// Processes a signal of a link; `came` is its arrival time, if known exactly.
    pub(crate) fn hear(&mut self, link: u8, signal: &TimeSignal, came: Option<ClockTicks>, nodes: u64, now: Micros) {
        let Some(ear) = self.ears.get_mut(usize::from(link)) else {
            return;
        };
        let follows = ear.is_timed && signal.number == ear.theirs.wrapping_add(1);
        let before = follows.then_some(ear.came);
        ear.is_timed = came.is_some();
        ear.came = came.unwrap_or(0) as u32;
        ear.theirs = signal.number;
        if signal.root >= nodes || signal.hops >= FARTHEST {
            return;
        }
        let Some(mesh) = signal.mesh else {
            if !self.time.is_known() && self.is_better(link, signal, now) {
                self.take(link, signal, now);
            }
            return;
        };
        self.listens_since = now;
        let (Some(came), Some(theirs)) = (before, signal.sent) else {
            if self.parent == Some(link) && signal.root == self.root && self.is_newer(signal.round) {
                self.rise(signal, now);
            }
            return;
        };
        let at = earlier(clock_ticks(now), came);
        let sample = Sample { at, theirs, mesh };
        if self.time.is_known() {
            self.compare(link, signal, &sample, now);
        } else {
            self.vote(link, signal, &sample, now);
        }
    }

    /// The difference of a neighbor's time to the local one.
    fn ahead(&self, sample: &Sample) -> i64 {
        sample.mesh.wrapping_sub(self.time.target_at(sample.at)) as i64
    }

    /// A board without a time adopts that of the majority (Boyer and Moore 1981).
    fn vote(&mut self, link: u8, signal: &TimeSignal, sample: &Sample, now: Micros) {
        if self.is_better(link, signal, now) {
            self.take(link, signal, now);
        }
        if self.votes == 0 {
            self.time.suppose(sample.at, sample.mesh);
        }
        if self.ahead(sample).unsigned_abs() > AGREE {
            self.votes = self.votes.saturating_sub(1);
            return;
        }
        self.votes = self.votes.saturating_add(1);
        if self.votes >= ENOUGH_VOTES {
            self.adopt(link, signal, sample, now);
        }
    }

    /// Adopts a neighbor's time unconditionally.
    fn adopt(&mut self, link: u8, signal: &TimeSignal, sample: &Sample, now: Micros) {
        self.votes = ENOUGH_VOTES;
        self.eager = EAGER;
        self.age = 0;
        self.pair = Pair::default();
        self.rated = Rated::Not;
        self.samples = 0;
        self.lost = NOBODY;
        if signal.root == self.here {
            // The others remember this board from before its restart, and still follow it.
            self.lead();
            self.round = signal.round.wrapping_add(1);
            self.risen_at = now;
            self.speak(now);
        } else {
            self.take(link, signal, now);
        }
        let at = clock_ticks(now);
        let since = at.wrapping_sub(sample.at);
        self.time.aim(at, sample.mesh.wrapping_add(since), self.time.rate());
        self.tell_at = now.saturating_add(TELL_AFTER);
    }

    fn compare(&mut self, link: u8, signal: &TimeSignal, sample: &Sample, now: Micros) {
        let ahead = self.ahead(sample);
        let agrees = ahead.unsigned_abs() <= AGREE;
        let is_parent = self.parent == Some(link);
        if is_parent && signal.root == self.root {
            return self.follow(signal, sample, ahead, now);
        }
        if !agrees {
            self.disagree(link, signal, sample, now);
            return;
        }
        self.votes = self.votes.saturating_add(1).min(MAX_VOTES);
        if self.is_better(link, signal, now) {
            self.take(link, signal, now);
        } else if is_parent {
            // It has given up the root, and knows no better one.
            self.parent = None;
        }
    }

    fn disagree(&mut self, link: u8, signal: &TimeSignal, sample: &Sample, now: Micros) {
        if signal.root < self.root && self.lost != signal.root {
            self.dissent = self.dissent.saturating_add(1);
            if self.dissent < DISSENT {
                return;
            }
        } else if self.votes > 0 {
            self.votes -= 1;
            return;
        }
        self.dissent = 0;
        self.adopt(link, signal, sample, now);
    }

    fn follow(&mut self, signal: &TimeSignal, sample: &Sample, ahead: i64, now: Micros) {
        let at = clock_ticks(now);
        let unheard = at.saturating_sub(self.time.since) >> UNHEARD;
        let most = if self.samples >= SETTLED { SETTLED_AGREE } else { AGREE };
        if ahead.unsigned_abs() > most.saturating_add(unheard) {
            self.refused = self.refused.saturating_add(1);
            if self.refused >= REFUSALS {
                self.give_up_root(now);
                self.speak(now);
            }
            return;
        }
        let rate = self.rate_after(signal, sample);
        let share = self.age / SHARE_HALVES;
        let target = self.time.target_at(at).wrapping_add_signed(ahead >> share);
        self.time.aim(at, target, rate);
        self.samples = self.samples.saturating_add(1);
        self.age = self.age.saturating_add(1).min(SMALLEST_SHARE * SHARE_HALVES);
        self.refused = 0;
        self.dissent = 0;
        self.votes = self.votes.saturating_add(1).min(MAX_VOTES);
        if self.root > self.here && self.samples >= TAKE_OVER {
            self.lead();
            self.speak(now);
        } else if self.is_newer(signal.round) {
            self.rise(signal, now);
        }
    }

    /// The rate of mesh time relative to the local clock. The neighbor's local clock gives it soon, wherever the root is; measuring
    /// mesh time itself takes longer, but relies on no neighbor's claim.
    fn rate_after(&mut self, signal: &TimeSignal, sample: &Sample) -> i32 {
        let Some(measured) = self.pair.add(sample.at as u32, sample.theirs, sample.mesh as u32) else {
            return self.time.rate();
        };
        let (rate, standing) = if measured.window >= GOOD_WINDOW {
            (measured.mesh, Rated::Well)
        } else {
            (signal.rate.saturating_add(measured.theirs), Rated::Roughly)
        };
        if measured.window < ROUGH_WINDOW || standing < self.rated {
            return self.time.rate();
        }
        self.rated = standing;
        rate
    }

    /// Whether a round of the root is newer than the last known one.
    fn is_newer(&self, round: u16) -> bool {
        (1..=NEWEST).contains(&round.wrapping_sub(self.round))
    }

    /// Whether a neighbor with the same time is a better parent than the current one.
    fn is_better(&self, link: u8, signal: &TimeSignal, now: Micros) -> bool {
        let recently = now.saturating_sub(self.lost_at) < self.intervals(REMEMBERED);
        let newer_than_lost = (1..=NEWEST).contains(&signal.round.wrapping_sub(self.lost_round));
        if self.lost == signal.root && recently && !newer_than_lost {
            return false;
        }
        if signal.root != self.root {
            return signal.root < self.root;
        }
        let is_stale = now.saturating_sub(self.risen_at) >= self.intervals(STALE);
        let is_near = signal.hops.saturating_add(1) < self.hops;
        let is_parent = self.parent == Some(link);
        self.root != self.here
            && self.is_newer(signal.round)
            && (is_parent || is_near || is_stale || self.parent.is_none())
    }

    fn take(&mut self, link: u8, signal: &TimeSignal, now: Micros) {
        if self.parent != Some(link) {
            self.parent = Some(link);
            self.pair = Pair::default();
            self.samples = 0;
            self.refused = 0;
        }
        self.root = signal.root;
        self.rise(signal, now);
    }

    /// Records a new round of the root, which is propagated at once.
    fn rise(&mut self, signal: &TimeSignal, now: Micros) {
        self.round = signal.round;
        self.hops = signal.hops.saturating_add(1);
        self.risen_at = now;
        self.speak(now);
    }
}
