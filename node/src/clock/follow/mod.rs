//! What a board knows of the time of the mesh, and whom it follows.

mod hearing;
mod pair;
#[cfg(test)]
mod tests;

use pair::Pair;

use super::{ClockTicks, MeshTime, TICKS_PER_MICRO, Tidings, clock_ticks};

use crate::capacities::Capacities;
use crate::link::Micros;
use crate::wire::TimeSignal;
use hopwise_core::Node;

/// Between two rounds of the root, at any speed of the wire where that is not too often.
const INTERVAL: u32 = 100_000;
/// A signal takes at most a tenth of a slow wire.
const SIGNAL_BYTES: u64 = 400;
/// A root of which nothing new is heard for so many intervals is dead.
const DEAD: u64 = 10;
/// If nobody has a time for so many intervals, the root begins it.
const LISTEN: u64 = 10;
/// Roots that are farther than this are not believed in.
const FARTHEST: u8 = 250;

/// A time that so many more signals agree with than not is the time of the mesh.
const ENOUGH_VOTES: u8 = 3;
/// So many signals follow each other soon where they are news: enough for a vote, and some that were lost.
const EAGER: u8 = ENOUGH_VOTES + 3;
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
    at: ClockTicks,
    /// What the neighbor's own clock showed, in grains that go round.
    theirs: u32,
    mesh: ClockTicks,
}

/// What a board knows of the time of the mesh.
#[derive(Clone, Debug)]
pub(crate) struct MeshClock<C: Capacities> {
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
    /// Links that are open to neighbors: bit 0 is link 0.
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
    ears: C::PerLink<Ear>,
}

impl<C: Capacities> MeshClock<C> {
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
            ears: C::PerLink::default(),
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

    /// A link to a neighbor is open.
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
        let at = clock_ticks(now);
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
        let at = sent.map_or(clock_ticks(now), |sent| earlier(clock_ticks(now), sent));
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
    pub(crate) fn left(&mut self, link: u8, at: ClockTicks) {
        let ear = self.ears.get_mut(usize::from(link));
        if let Some(ear) = ear.filter(|ear| ear.departure == Departure::Awaited) {
            ear.departure = Departure::Known;
            ear.left = at as u32;
        }
    }
}

/// The moment before `now` of which the low half is known.
fn earlier(now: ClockTicks, low: u32) -> ClockTicks {
    now.wrapping_sub(u64::from((now as u32).wrapping_sub(low)))
}
