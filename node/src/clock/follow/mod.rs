//! The state of a board's mesh clock, and the choice of its parent.

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

/// Interval between two rounds of the root, unless the wire is too slow for it.
const INTERVAL: u32 = 100_000;
/// Bytes of wire time per signal, so that signals take at most a tenth of a slow wire.
const SIGNAL_BYTES: u64 = 400;
/// Number of intervals without a new round after which a root is dead.
const DEAD: u64 = 10;
/// Number of intervals without any time in the mesh after which the root starts it.
const LISTEN: u64 = 10;
/// Maximum distance of a root that is accepted.
const FARTHEST: u8 = 250;

/// Margin of agreeing signals by which a time is that of the mesh.
const ENOUGH_VOTES: u8 = 3;
/// Number of signals sent in quick succession after news: enough for a vote, plus some that were lost.
const EAGER: u8 = ENOUGH_VOTES + 3;
/// Delay of the first report of the time, and the interval of later ones.
const TELL_AFTER: Micros = 2_000_000;
const TELL_EVERY: Micros = 10_000_000;

const NOBODY: Node = Node::MAX;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Departure {
    #[default]
    Unknown,
    /// It has just been written.
    Awaited,
    Known,
}

/// The signal state of a link.
#[derive(Clone, Copy, Debug, Default)]
struct Ear {
    /// When the last signal arrived, and when the last one left, if known; in wrapping clock ticks.
    came: u32,
    left: u32,
    is_timed: bool,
    departure: Departure,
    /// Numbers of the last signals.
    theirs: u8,
    ours: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rated {
    Not,
    Roughly,
    Well,
}

/// A received signal: its arrival, and the neighbor's clocks at that moment.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: ClockTicks,
    /// The neighbor's local clock, in wrapping clock ticks.
    theirs: u32,
    mesh: ClockTicks,
}

#[derive(Clone, Debug)]
pub(crate) struct MeshClock<C: Capacities> {
    here: Node,
    interval: u32,
    time: MeshTime,
    root: Node,
    round: u16,
    hops: u8,
    /// The link to the parent.
    parent: Option<u8>,
    /// When the last new round was received.
    risen_at: Micros,
    /// When signals were sent last, and when they are sent without a new round; never if no link is open.
    spoke_at: Micros,
    speak_at: Micros,
    /// Whether signals are to be sent.
    speaks: bool,
    /// Number of signals still to be sent in quick succession, for boards without a time.
    eager: u8,
    /// Open links to neighbors: bit 0 is link 0.
    open: u32,
    /// Since when no signal with a time has been received.
    listens_since: Micros,
    /// By how many more signals agree with the local time than disagree.
    votes: u8,
    /// Number of signals followed since the time was adopted, saturating.
    age: u8,
    /// Accepted signals of the parent, and those rejected since.
    samples: u8,
    refused: u8,
    /// Number of signals of a better root with another time.
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

    pub(crate) fn deadline(&self) -> Micros {
        self.speak_at
    }

    /// Whether signals are to be sent on all links; resets the flag.
    pub(crate) fn take_speech(&mut self) -> bool {
        core::mem::take(&mut self.speaks)
    }

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

    pub(crate) fn link_down(&mut self, link: u8) {
        self.open &= !1_u32.checked_shl(link.into()).unwrap_or(0);
        if self.parent == Some(link) {
            self.parent = None;
        }
        if self.open == 0 {
            self.speak_at = Micros::MAX;
        }
    }

    /// Schedules signals, limited in rate, and the next ones after an interval and a half: those of the root come earlier.
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

    /// Makes the local clock the mesh time: from the beginning, or continuing the time when this board became the root.
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

    /// Makes this board the root, which continues the time it has.
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

    pub(crate) fn signal(&mut self, link: u8, now: Micros) -> Option<TimeSignal> {
        let ear = self.ears.get_mut(usize::from(link))?;
        ear.ours = ear.ours.wrapping_add(1);
        let before = core::mem::replace(&mut ear.departure, Departure::Awaited);
        let sent = (before == Departure::Known).then_some(ear.left);
        // Without a departure to report, the signal still tells whether there is a time.
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

    /// Whether the start of a signal just written on a link is to be [noted](Self::left).
    pub(crate) fn awaits_start(&self, link: u8) -> bool {
        self.ears
            .get(usize::from(link))
            .is_some_and(|ear| ear.departure == Departure::Awaited)
    }

    /// Records when the last written signal of a link leaves.
    pub(crate) fn left(&mut self, link: u8, at: ClockTicks) {
        let ear = self.ears.get_mut(usize::from(link));
        if let Some(ear) = ear.filter(|ear| ear.departure == Departure::Awaited) {
            ear.departure = Departure::Known;
            ear.left = at as u32;
        }
    }
}

/// The last moment before `now` whose low half is known.
fn earlier(now: ClockTicks, low: u32) -> ClockTicks {
    now.wrapping_sub(u64::from((now as u32).wrapping_sub(low)))
}
