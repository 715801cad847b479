//! The event queue of the discrete-event engine.
//!
//! Nearly all of it are frames that will have left within a few milliseconds. These are kept in a wheel of short spans of
//! time, each with a small heap of its own, and only what is later in one large heap. So the cost of an event hardly grows
//! with the mesh.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::wire::Nanos;

const SPANS: u64 = 1_024;

/// After all that is planned.
const NEVER: u128 = u128::MAX;

/// What happens at a time; at the same time, in the order in which it was planned. The time is in the high half, the order in the low
/// one: compared at one stroke. A heap has the greatest first: that is the earliest.
type Planned<T> = Reverse<(u128, T)>;

pub struct Agenda<T> {
    /// A span is two to this power of nanoseconds.
    span_bits: u32,
    /// The span of the last thing that happened. What is in the wheel is of this span or one of the `SPANS - 1` after it.
    today: u64,
    wheel: Vec<BinaryHeap<Planned<T>>>,
    /// The spans of the wheel in which there is something: bit 0 of the first word is place 0.
    occupied: [u64; SPANS as usize / 64],
    later: BinaryHeap<Planned<T>>,
    order: u64,
    /// How much is planned.
    planned: usize,
}

impl<T: Ord> Agenda<T> {
    /// An empty one for events most of which are planned at most `ahead`.
    pub fn new(ahead: Nanos) -> Self {
        Agenda {
            span_bits: Nanos::BITS - (ahead / SPANS).leading_zeros(),
            today: 0,
            wheel: (0..SPANS).map(|_| BinaryHeap::new()).collect(),
            occupied: [0; SPANS as usize / 64],
            later: BinaryHeap::new(),
            order: 0,
            planned: 0,
        }
    }

    /// Plans something. It must not be earlier than what happened last.
    pub fn plan(&mut self, at: Nanos, what: T) {
        self.order += 1;
        self.planned += 1;
        let planned = Reverse((u128::from(at) << 64 | u128::from(self.order), what));
        let span = at >> self.span_bits;
        if span < self.today.saturating_add(SPANS) {
            let place = (span % SPANS) as usize;
            self.wheel[place].push(planned);
            self.occupied[place / 64] |= 1 << (place % 64);
        } else {
            self.later.push(planned);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.planned == 0
    }

    /// The next thing that happens, if that is not after `until`.
    pub fn next(&mut self, until: Nanos) -> Option<(Nanos, T)> {
        let place = self.first_occupied();
        let when = |heap: &BinaryHeap<Planned<T>>| heap.peek().map_or(NEVER, |next| next.0.0);
        let near = place.map_or(NEVER, |place| when(&self.wheel[place]));
        let next = near.min(when(&self.later));
        let at = (next >> 64) as Nanos;
        if next == NEVER || at > until {
            return None;
        }
        let heap = match place {
            Some(place) if near == next => {
                if self.wheel[place].len() == 1 {
                    self.occupied[place / 64] &= !(1 << (place % 64));
                }
                &mut self.wheel[place]
            }
            _ => &mut self.later,
        };
        self.today = at >> self.span_bits;
        self.planned -= 1;
        heap.pop().map(|Reverse((_, what))| (at, what))
    }

    /// The place of the first span from today on in which there is something.
    fn first_occupied(&self) -> Option<usize> {
        let today = (self.today % SPANS) as usize;
        let from_today = self.occupied[today / 64] >> (today % 64);
        if from_today != 0 {
            return Some(today + from_today.trailing_zeros() as usize);
        }
        let words = self.occupied.len();
        // Today's word comes last again: the places before today are those of the wheel's next turn.
        (1..=words).find_map(|step| {
            let word = (today / 64 + step) % words;
            let bits = self.occupied[word];
            (bits != 0).then(|| word * 64 + bits.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_happens_after_the_time_asked_for() {
        let mut agenda = Agenda::new(1_000_000);
        assert_eq!(agenda.next(Nanos::MAX), None);
        agenda.plan(5, 'a');
        agenda.plan(Nanos::MAX, 'b');
        assert_eq!(agenda.next(4), None);
        assert_eq!(agenda.next(5), Some((5, 'a')));
        assert_eq!(agenda.next(Nanos::MAX - 1), None);
        assert_eq!(agenda.next(Nanos::MAX), Some((Nanos::MAX, 'b')));
    }

    proptest! {
        /// Whatever is planned, near or far, in whatever turn with what happens: it happens in the order of time, and of
        /// planning.
        #[test]
        fn things_happen_in_order(
            ahead in 0_u64..10_000_000,
            steps in prop::collection::vec((0_u64..3, 0_u32..30, any::<u64>()), 1..300),
        ) {
            let mut agenda = Agenda::new(ahead);
            let mut expected: Vec<(Nanos, usize)> = Vec::new();
            let mut now = 0;
            for (number, (kind, bits, delay)) in steps.into_iter().enumerate() {
                if kind > 0 {
                    let at = now + (delay & ((1 << bits) - 1));
                    agenda.plan(at, number);
                    expected.push((at, number));
                } else if !expected.is_empty() {
                    expected.sort_unstable();
                    let next = expected.remove(0);
                    prop_assert_eq!(agenda.next(Nanos::MAX), Some(next));
                    now = next.0;
                }
            }
            expected.sort_unstable();
            for next in expected {
                prop_assert_eq!(agenda.next(Nanos::MAX), Some(next));
            }
            prop_assert_eq!(agenda.next(Nanos::MAX), None);
        }
    }
}
