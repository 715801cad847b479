//! One clock for the mesh: all boards agree on what time it is, each by what its neighbours say.
//!
//! The clock is that of the **root**, the board with the lowest address among those that are alive. All others follow a neighbour that is
//! nearer to it. Boards send [time signals](TimeSignal) on their links, and each tells when the one before it has left, by the sender's own clock
//! and in time of the mesh. The receiver knows when it came, and how long bits take: so it knows the time, and by comparing own clocks over
//! seconds how much faster the neighbour's crystal is than its own. Rates are passed on from the root with the time, so that at first a
//! long path does not take longer to settle than a short one; later each board measures the time itself.
//!
//! - Signals of the root are numbered, in **rounds**, and passed on at once. A board follows only who knows of a newer round; a root whose
//!   rounds end is dead. So nobody follows in a cycle, or whom others only remember (DSDV, Perkins and Bhagwat 1994).
//! - A board that has just started takes over the time that most of its neighbours have, whatever its own address. It becomes the root, if it is to,
//!   once it has the time. If nobody has one, the board that is to be the root begins it.
//! - What differs from what a board knows is not taken over. A neighbour that jumps, or runs faster than any crystal, is refused, and
//!   after a while not followed any more, the root included; then the next one is the root, and the time goes on. Only if a better root is
//!   heard of that has another time, where two meshes become one, or if most neighbours disagree, the other time is taken.
//!
//! [`MeshTime`] is what comes of it, and never goes back.

mod pair;
mod time;

use pair::Pair;
pub use time::MeshTime;

use crate::Node;
use crate::link::Micros;
use crate::wire::TimeSignal;

/// Time in 256ths of a microsecond.
pub type Grains = u64;

/// Grains of a microsecond.
pub const GRAINS: Grains = 256;

/// A time in the finer unit.
pub const fn grains(micros: Micros) -> Grains {
    micros.wrapping_mul(GRAINS)
}

/// Parts in a million, as rates are kept.
const PPM: i32 = ((1_u64 << 32) / 1_000_000) as i32;
/// No crystal differs from another by more, nor from the time of the mesh: 250 parts in a million.
const MAX_RATE: i32 = 250 * PPM;

/// Between two rounds of the root, at any speed of the wire where that is not too often.
const INTERVAL: u32 = 100_000;
/// A signal takes at most a tenth of a slow wire.
const SIGNAL_BYTES: u64 = 400;
/// A root of which nothing new is heard for so many intervals is dead.
const DEAD: u64 = 10;
/// If nobody has a time for so many intervals, the root begins it.
const LISTEN: u64 = 10;
/// A parent that knows of no new round for so many intervals is left for another.
const STALE: u64 = 4;
/// The last round of a dead root is remembered for so many intervals: longer than anyone else takes to notice.
const REMEMBERED: u64 = 40;
/// Roots that are farther than this are not believed in.
const FARTHEST: u8 = 250;
/// A round is newer only if it is not too far ahead.
const NEWEST: u16 = 64;

/// Times that differ by less, in grains, are the same time.
const AGREE: u64 = 1_000 * GRAINS;
/// Once settled, those of the neighbour that is followed differ by less; and by one part in so many of the time since the last, as a power of two.
const SETTLED_AGREE: u64 = 32 * GRAINS;
const UNHEARD: u32 = 12;
/// So many signals of a neighbour that is followed settle the time.
const SETTLED: u8 = 8;
/// At first a signal is all that is known. After so many only half of what it differs by counts, and at last a quarter: more noise is left out,
/// but a path of many boards takes longer to settle.
const SHARE_HALVES: u8 = 32;
const SMALLEST_SHARE: u8 = 2;
/// So many make a board the root that is to be it.
const TAKE_OVER: u8 = 16;
/// A neighbour is not followed any more after so many in a row were refused.
const REFUSALS: u8 = 8;
/// A better root with another time is believed after so many signals.
const DISSENT: u8 = 5;
/// A time that so many more signals agree with than not is the time of the mesh.
const ENOUGH_VOTES: u8 = 3;
const MOST_VOTES: u8 = 8;
/// So many signals follow each other soon where they are news: enough for a vote, and some that were lost.
const EAGER: u8 = ENOUGH_VOTES + 3;
/// A rate that has been measured for this long, in grains, is a good one; for this long, a rough one.
const GOOD_WINDOW: u32 = pair::HALF;
const ROUGH_WINDOW: u32 = 250_000 * GRAINS as u32;
/// A board tells of its time this long after it has learned it, and then so often.
const TELL_AFTER: Micros = 2_000_000;
const TELL_EVERY: Micros = 10_000_000;

/// No node has this address.
const NOBODY: Node = Node::MAX;

/// What is known of the departure of a signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Departure {
    #[default]
    Unknown,
    /// It has just been written.
    Awaited,
    Known,
}

/// What is known of the signals of a link.
#[derive(Clone, Copy, Debug, Default)]
struct Ear {
    /// When the last one came, and when the last one from here had left, if that is known; in grains that go round.
    came: u32,
    left: u32,
    is_timed: bool,
    departure: Departure,
    /// Their numbers.
    theirs: u8,
    ours: u8,
}

/// How well it is known how fast the time of the mesh is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rated {
    Not,
    Roughly,
    Well,
}

/// A signal that came: when, and what it says of that moment.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Grains,
    /// What the neighbour's own clock showed, in grains that go round.
    theirs: u32,
    mesh: Grains,
}

/// What a board tells of its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tidings {
    pub(crate) root: Node,
    pub(crate) mesh: Micros,
    pub(crate) rate: i32,
}

/// What a board knows of the time of the mesh.
#[derive(Clone, Debug)]
pub(crate) struct MeshClock<const PORTS: usize> {
    here: Node,
    interval: u32,
    time: MeshTime,
    root: Node,
    round: u16,
    hops: u8,
    /// The link to whom this board follows.
    parent: Option<u8>,
    /// When the last new round was heard of.
    risen_at: Micros,
    /// When signals were sent last, and when they are sent though nothing is heard; never if no link is open.
    spoke_at: Micros,
    speak_at: Micros,
    /// Signals are to be sent.
    speaks: bool,
    /// So many follow soon, for those who have no time yet.
    eager: u8,
    /// Links that are open to neighbours: bit 0 is link 0.
    open: u32,
    /// Since when nobody is heard that has a time.
    listens_since: Micros,
    /// How many more signals agree with the time here than do not.
    votes: u8,
    /// Signals that were followed since the time was taken over, as far as that is of interest.
    age: u8,
    /// Signals of the parent that were taken, and those refused since.
    samples: u8,
    refused: u8,
    /// Signals of a better root with another time.
    dissent: u8,
    /// The root that was given up last, its last round, and when that was.
    lost: Node,
    lost_round: u16,
    lost_at: Micros,
    pair: Pair,
    rated: Rated,
    tell_at: Micros,
    ears: [Ear; PORTS],
}

impl<const PORTS: usize> MeshClock<PORTS> {
    pub(crate) fn new(here: Node, baud: u32, now: Micros) -> Self {
        let slow = (10_000_000 * SIGNAL_BYTES / u64::from(baud.max(1))).min(u64::from(u32::MAX)) as u32;
        MeshClock {
            here,
            interval: INTERVAL.max(slow),
            time: MeshTime::UNKNOWN,
            root: here,
            round: 0,
            hops: 0,
            parent: None,
            risen_at: now,
            spoke_at: now,
            speak_at: Micros::MAX,
            speaks: false,
            eager: 0,
            open: 0,
            listens_since: now,
            votes: 0,
            age: 0,
            samples: 0,
            refused: 0,
            dissent: 0,
            lost: NOBODY,
            lost_round: 0,
            lost_at: 0,
            pair: Pair::default(),
            rated: Rated::Not,
            tell_at: Micros::MAX,
            ears: [Ear::default(); PORTS],
        }
    }

    pub(crate) fn time(&self) -> &MeshTime {
        &self.time
    }

    pub(crate) fn root(&self) -> Node {
        self.root
    }

    /// When to [`tick`](Self::tick).
    pub(crate) fn deadline(&self) -> Micros {
        self.speak_at
    }

    /// Whether signals are to be sent on all links. Asking makes it `false`.
    pub(crate) fn take_speech(&mut self) -> bool {
        core::mem::take(&mut self.speaks)
    }

    /// What there is to tell now and then of the time here.
    pub(crate) fn take_tidings(&mut self, now: Micros) -> Option<Tidings> {
        if now < self.tell_at {
            return None;
        }
        self.tell_at = now.saturating_add(TELL_EVERY);
        Some(Tidings {
            root: self.root,
            mesh: self.time.at(now)?,
            rate: self.time.rate(),
        })
    }

    /// A link to a neighbour is open.
    pub(crate) fn link_up(&mut self, link: u8, now: Micros) {
        if self.open == 0 {
            self.listens_since = now;
            self.risen_at = now;
        }
        self.open |= 1_u32.checked_shl(link.into()).unwrap_or(0);
        if let Some(ear) = self.ears.get_mut(usize::from(link)) {
            *ear = Ear::default();
        }
        self.eager = EAGER;
        self.speak(now);
    }

    /// A link is not open any more.
    pub(crate) fn link_down(&mut self, link: u8) {
        self.open &= !1_u32.checked_shl(link.into()).unwrap_or(0);
        if self.parent == Some(link) {
            self.parent = None;
        }
        if self.open == 0 {
            self.speak_at = Micros::MAX;
        }
    }

    /// Has signals sent, though not too often, and the next ones after an interval and a half: those of the root come earlier.
    fn speak(&mut self, now: Micros) {
        let earliest = self.spoke_at.saturating_add(u64::from(self.interval) / 8);
        if now < earliest {
            self.speak_at = self.speak_at.min(earliest);
            return;
        }
        self.speaks = true;
        self.spoke_at = now;
        let wait = if self.eager > 0 {
            self.eager -= 1;
            u64::from(self.interval) / 8
        } else if self.root == self.here {
            u64::from(self.interval)
        } else {
            u64::from(self.interval) * 3 / 2
        };
        self.speak_at = now.saturating_add(wait);
    }

    fn intervals(&self, count: u64) -> Micros {
        count * u64::from(self.interval)
    }

    pub(crate) fn tick(&mut self, now: Micros) {
        if now < self.speak_at {
            return;
        }
        if self.root != self.here && now.saturating_sub(self.risen_at) >= self.intervals(DEAD) {
            self.give_up_root(now);
        }
        if self.root == self.here {
            self.round = self.round.wrapping_add(1);
            self.risen_at = now;
            self.keep_own_time(now);
        }
        self.speak(now);
    }

    /// The root's own clock is the time: from the beginning on, or from what it was when this board became the root.
    fn keep_own_time(&mut self, now: Micros) {
        let at = grains(now);
        if self.time.is_known() {
            let target = self.time.target_at(at);
            self.time.aim(at, target, self.time.rate());
        } else if now.saturating_sub(self.listens_since) >= self.intervals(LISTEN) {
            self.time.aim(at, at, 0);
            self.votes = ENOUGH_VOTES;
            self.eager = EAGER;
            self.tell_at = now.saturating_add(TELL_AFTER);
        }
    }

    /// This board is the root from now on, and goes on with the time it has.
    fn lead(&mut self) {
        self.root = self.here;
        self.hops = 0;
        self.parent = None;
    }

    fn give_up_root(&mut self, now: Micros) {
        self.lost = self.root;
        self.lost_round = self.round;
        self.lost_at = now;
        self.lead();
    }

    /// The signal to send on a link.
    pub(crate) fn signal(&mut self, link: u8, now: Micros) -> Option<TimeSignal> {
        let ear = self.ears.get_mut(usize::from(link))?;
        ear.ours = ear.ours.wrapping_add(1);
        let before = core::mem::replace(&mut ear.departure, Departure::Awaited);
        let sent = (before == Departure::Known).then_some(ear.left);
        // Without a moment that it is told of, whether there is a time is told all the same.
        let at = sent.map_or(grains(now), |sent| earlier(grains(now), sent));
        Some(TimeSignal {
            number: ear.ours,
            sent,
            mesh: self.time.is_known().then(|| self.time.target_at(at)),
            rate: self.time.rate(),
            root: self.root,
            round: self.round,
            hops: self.hops,
        })
    }

    /// Whether a signal was written on a link whose start is to be [noted](Self::left).
    pub(crate) fn awaits_start(&self, link: u8) -> bool {
        self.ears
            .get(usize::from(link))
            .is_some_and(|ear| ear.departure == Departure::Awaited)
    }

    /// The signal that was written last on a link has left by then, or will have.
    pub(crate) fn left(&mut self, link: u8, at: Grains) {
        let ear = self.ears.get_mut(usize::from(link));
        if let Some(ear) = ear.filter(|ear| ear.departure == Departure::Awaited) {
            ear.departure = Departure::Known;
            ear.left = at as u32;
        }
    }

    /// A signal came on a link; `came` is when, if that is known exactly.
    pub(crate) fn hear(&mut self, link: u8, signal: &TimeSignal, came: Option<Grains>, nodes: u64, now: Micros) {
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
        let at = earlier(grains(now), came);
        let sample = Sample { at, theirs, mesh };
        if self.time.is_known() {
            self.compare(link, signal, &sample, now);
        } else {
            self.vote(link, signal, &sample, now);
        }
    }

    /// By how much a neighbour's time is ahead.
    fn ahead(&self, sample: &Sample) -> i64 {
        sample.mesh.wrapping_sub(self.time.target_at(sample.at)) as i64
    }

    /// A board without a time counts who is for which, and takes that of most (Boyer and Moore 1981).
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

    /// Takes over a neighbour's time, whatever it was here before.
    fn adopt(&mut self, link: u8, signal: &TimeSignal, sample: &Sample, now: Micros) {
        self.votes = ENOUGH_VOTES;
        self.eager = EAGER;
        self.age = 0;
        self.pair = Pair::default();
        self.rated = Rated::Not;
        self.samples = 0;
        self.lost = NOBODY;
        if signal.root == self.here {
            // The others remember this board from before its restart, and follow it still.
            self.lead();
            self.round = signal.round.wrapping_add(1);
            self.risen_at = now;
            self.speak(now);
        } else {
            self.take(link, signal, now);
        }
        let at = grains(now);
        let since = at.wrapping_sub(sample.at);
        self.time.aim(at, sample.mesh.wrapping_add(since), self.time.rate());
        self.tell_at = now.saturating_add(TELL_AFTER);
    }

    /// Another board's time against that which is known here.
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
        self.votes = self.votes.saturating_add(1).min(MOST_VOTES);
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

    /// A signal of the neighbour that is followed.
    fn follow(&mut self, signal: &TimeSignal, sample: &Sample, ahead: i64, now: Micros) {
        let at = grains(now);
        let unheard = at.saturating_sub(self.time.since()) >> UNHEARD;
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
        self.votes = self.votes.saturating_add(1).min(MOST_VOTES);
        if self.root > self.here && self.samples >= TAKE_OVER {
            self.lead();
            self.speak(now);
        } else if self.is_newer(signal.round) {
            self.rise(signal, now);
        }
    }

    /// How fast the time of the mesh is against one's own clock. By the neighbour's own clock that is known soon, wherever the root is; by the
    /// time of the mesh itself it takes longer, but then nobody's word is taken for it.
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

    /// Whether a round of the root is newer than the last one known here.
    fn is_newer(&self, round: u16) -> bool {
        (1..=NEWEST).contains(&round.wrapping_sub(self.round))
    }

    /// Whether it is better to follow a neighbour, of the same time, than whoever is followed now.
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

    /// Follows a neighbour from now on.
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

    /// A new round of the root, which is passed on at once.
    fn rise(&mut self, signal: &TimeSignal, now: Micros) {
        self.round = signal.round;
        self.hops = signal.hops.saturating_add(1);
        self.risen_at = now;
        self.speak(now);
    }
}

/// The moment before `now` of which the low half is known.
fn earlier(now: Grains, low: u32) -> Grains {
    now.wrapping_sub(u64::from((now as u32).wrapping_sub(low)))
}

#[cfg(test)]
mod tests;
