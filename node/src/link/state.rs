//! Whether two ends hear each other: the states of a link and their transitions.

use super::canonical::left;
use super::{Down, Micros};
use crate::wire::{Hello, Identity, Stance, StepSet};

/// Number of consecutive hellos of an end that does not hear us which are no coincidence.
const UNHEARD_HELLOS: u8 = 4;

/// The other end and its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Peer {
    pub(super) identity: Identity,
    session: u8,
    /// The tag by which this end names it.
    pub(super) tag: u16,
    pub(super) keeps_alive: bool,
    /// The rates that it can change to.
    pub(super) steps: StepSet,
}

impl Peer {
    pub(super) fn of(hello: &Hello) -> Self {
        Peer {
            identity: hello.identity,
            session: hello.session,
            tag: hello.identity.tag(hello.session),
            keeps_alive: hello.keeps_alive,
            steps: hello.steps,
        }
    }

    /// The reason why this peer is gone, given the hello that came after it.
    fn gone(&self, after: &Peer) -> Down {
        let (before, after) = (&self.identity, &after.identity);
        if (before.address, before.role) != (after.address, after.role) {
            Down::Replaced
        } else if before.epoch != after.epoch {
            Down::Restarted
        } else {
            Down::Ended
        }
    }
}

/// The state of a link. `until` is when the last frame is too old.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum LinkState {
    /// Nothing has been heard recently.
    Silent,
    /// The other end is heard. `unheard` consecutive hellos did not name us.
    Heard { peer: Peer, until: Micros, unheard: u8 },
    /// The other end is heard, and is known not to hear us. If the link was up until then, the peer was forgotten: the next hello
    /// starts over.
    OneWay { peer: Option<Peer>, until: Micros },
    /// A session: both ends hear each other. `unheard` consecutive hellos did not name us. `there` is the other end's stance.
    Up {
        peer: Peer,
        until: Micros,
        unheard: u8,
        there: Stance,
    },
    /// There can be no link with the other end, for this reason: another version of the wire format, or another key.
    Foreign { reason: Down, until: Micros },
}

/// The end that the other one says it hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hears {
    Us,
    /// Another end, or an earlier session of ours.
    Another,
    Nobody,
}

/// The effect of a transition on the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    None,
    Begins(Identity),
    /// The other end's acceptance or pause has changed.
    Stance,
    Ends(Down),
    /// There is no session, and there will be none for this reason.
    Prevented(Down),
}

impl LinkState {
    /// The same with times relative to now.
    pub(super) fn canonical(&self, now: Micros) -> Self {
        let mut state = *self;
        match &mut state {
            LinkState::Silent => {}
            LinkState::Heard { until, .. }
            | LinkState::OneWay { until, .. }
            | LinkState::Up { until, .. }
            | LinkState::Foreign { until, .. } => *until = left(*until, now),
        }
        state
    }

    pub(super) fn is_up(&self) -> bool {
        matches!(self, LinkState::Up { .. })
    }

    pub(super) fn is_one_way(&self) -> bool {
        matches!(self, LinkState::OneWay { .. })
    }

    pub(super) fn peer(&self) -> Option<&Peer> {
        match self {
            LinkState::Silent | LinkState::Foreign { .. } => None,
            LinkState::Heard { peer, .. } | LinkState::Up { peer, .. } => Some(peer),
            LinkState::OneWay { peer, .. } => peer.as_ref(),
        }
    }

    /// The other end's stance, in a session.
    pub(super) fn there(&self) -> Option<Stance> {
        match *self {
            LinkState::Up { there, .. } => Some(there),
            _ => None,
        }
    }

    pub(super) fn deadline(&self) -> Micros {
        match *self {
            LinkState::Silent | LinkState::OneWay { peer: None, .. } => Micros::MAX,
            LinkState::Heard { until, .. }
            | LinkState::OneWay { until, .. }
            | LinkState::Up { until, .. }
            | LinkState::Foreign { until, .. } => until,
        }
    }

    /// Processes a hello. Also returns whether the other end should hear from us soon.
    pub(super) fn hello(&mut self, peer: Peer, hears: Hears, stance: Stance, until: Micros) -> (Change, bool) {
        use LinkState::{Foreign, Heard, OneWay, Silent, Up};
        let news = self.peer() != Some(&peer);
        let (next, change, reply) = match (*self, hears) {
            (Up { peer: before, .. }, _) if news => {
                let unheard = 0;
                (Heard { peer, until, unheard }, Change::Ends(before.gone(&peer)), true)
            }
            (Up { there: before, .. }, Hears::Us) => {
                let change = if before == stance { Change::None } else { Change::Stance };
                (up(peer, until, stance), change, false)
            }
            // The link is not up, and cannot be without a hello: continuous data must not delay that.
            (Up { unheard, there, .. }, _) => match one_more(unheard) {
                Some(unheard) => {
                    let up = Up {
                        peer,
                        until,
                        unheard,
                        there,
                    };
                    (up, Change::None, true)
                }
                None => (OneWay { peer: None, until }, Change::Ends(Down::OneWay), true),
            },
            (_, Hears::Us) => (up(peer, until, stance), Change::Begins(peer.identity), true),
            (OneWay { .. }, _) => {
                let peer = Some(peer);
                (OneWay { peer, until }, Change::None, news || hears == Hears::Another)
            }
            (Silent | Heard { .. } | Foreign { .. }, _) => match one_more(self.unheard()) {
                Some(unheard) => (
                    Heard { peer, until, unheard },
                    Change::None,
                    news || hears == Hears::Another,
                ),
                None => {
                    let peer = Some(peer);
                    (OneWay { peer, until }, Change::Prevented(Down::OneWay), news)
                }
            },
        };
        *self = next;
        (change, reply)
    }

    fn unheard(&self) -> u8 {
        match *self {
            LinkState::Heard { unheard, .. } | LinkState::Up { unheard, .. } => unheard,
            LinkState::Silent | LinkState::OneWay { .. } | LinkState::Foreign { .. } => 0,
        }
    }

    /// There can be no link with the other end. That is reported once, not each time.
    pub(super) fn foreign(&mut self, reason: Down, until: Micros) -> Change {
        match core::mem::replace(self, LinkState::Foreign { reason, until }) {
            LinkState::Up { .. } => Change::Ends(reason),
            LinkState::Foreign { reason: before, .. } if before == reason => Change::None,
            _ => Change::Prevented(reason),
        }
    }

    /// The reason why there can be no link with the other end.
    pub(super) fn foreigner(&self) -> Option<Down> {
        match *self {
            LinkState::Foreign { reason, .. } => Some(reason),
            _ => None,
        }
    }

    /// A packet came in a session, so its sender accepts us.
    pub(super) fn packet(&mut self) -> Change {
        match self {
            LinkState::Up { there, .. } if !there.accepts => {
                there.accepts = true;
                Change::Stance
            }
            _ => Change::None,
        }
    }

    /// Ends the session. The peer stays known.
    pub(super) fn give_up(&mut self, reason: Down) -> Change {
        let LinkState::Up { peer, until, .. } = *self else {
            return Change::None;
        };
        let unheard = 0;
        *self = LinkState::Heard { peer, until, unheard };
        Change::Ends(reason)
    }

    /// A frame came that names our session, so its sender hears us.
    pub(super) fn named(&mut self, until: Micros) -> Change {
        match self {
            LinkState::Up { until: before, .. } => {
                *before = until;
                Change::None
            }
            &mut (LinkState::Heard { peer, .. } | LinkState::OneWay { peer: Some(peer), .. }) => {
                *self = up(peer, until, Stance::default());
                Change::Begins(peer.identity)
            }
            LinkState::Silent | LinkState::Foreign { .. } | LinkState::OneWay { peer: None, .. } => Change::None,
        }
    }

    /// Ignores silence of a known peer until then.
    pub(super) fn wait_until(&mut self, until: Micros) {
        if let LinkState::Up { until: before, .. } | LinkState::Heard { until: before, .. } = self {
            *before = until;
        }
    }

    pub(super) fn tick(&mut self, now: Micros) -> Change {
        if now < self.deadline() {
            return Change::None;
        }
        match core::mem::replace(self, LinkState::Silent) {
            LinkState::Up { .. } => Change::Ends(Down::Silent),
            // It is no longer known to be dead in one direction only.
            LinkState::OneWay { peer: Some(_), .. } => Change::Prevented(Down::Silent),
            // The last frame is old, and is not answered.
            LinkState::Heard { .. } | LinkState::Foreign { .. } | LinkState::Silent => Change::None,
            unchanged @ LinkState::OneWay { peer: None, .. } => {
                *self = unchanged;
                Change::None
            }
        }
    }
}

fn up(peer: Peer, until: Micros, there: Stance) -> LinkState {
    LinkState::Up {
        peer,
        until,
        unheard: 0,
        there,
    }
}

/// Counts a hello that did not name us; `None` if there were too many.
fn one_more(unheard: u8) -> Option<u8> {
    let unheard = unheard.saturating_add(1);
    (unheard < UNHEARD_HELLOS).then_some(unheard)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Role;

    const NEITHER: Stance = Stance {
        accepts: false,
        holds: false,
    };
    const ACCEPTS: Stance = Stance {
        accepts: true,
        holds: false,
    };

    fn peer(address: u8, epoch: u32, session: u8) -> Peer {
        Peer::of(&Hello {
            identity: Identity {
                role: Role::Node,
                network: 1,
                address: address.into(),
                port: 0,
                epoch,
                mtu: 200,
            },
            session,
            heard: 0,
            stance: Stance::default(),
            keyed: false,
            keeps_alive: false,
            steps: 0,
        })
    }

    /// A hello of the peer that most tests have, which accepts nobody.
    fn hello(state: &mut LinkState, hears: Hears) -> (Change, bool) {
        state.hello(peer(1, 1, 1), hears, NEITHER, 10)
    }

    fn begins() -> Change {
        Change::Begins(peer(1, 1, 1).identity)
    }

    fn up() -> LinkState {
        let mut state = LinkState::Silent;
        assert_eq!(hello(&mut state, Hears::Nobody), (Change::None, true));
        assert_eq!(hello(&mut state, Hears::Us), (begins(), true));
        state
    }

    #[test]
    fn two_hellos_bring_a_link_up_and_silence_takes_it_down() {
        let mut state = up();
        let later = state.hello(peer(1, 1, 1), Hears::Us, NEITHER, 20);
        assert_eq!(later, (Change::None, false));
        assert_eq!(state.tick(19), Change::None);
        assert_eq!(state.tick(20), Change::Ends(Down::Silent));
        assert_eq!(state.tick(99), Change::None);
        assert!(state.peer().is_none() && state.deadline() == Micros::MAX);
    }

    #[test]
    fn a_hello_that_differs_ends_the_session_and_says_why() {
        for (other, reason) in [
            (peer(2, 1, 1), Down::Replaced),
            (peer(1, 2, 1), Down::Restarted),
            (peer(1, 1, 2), Down::Ended),
        ] {
            let mut state = up();
            assert_eq!(state.hello(other, Hears::Us, NEITHER, 10), (Change::Ends(reason), true));
            assert!(!state.is_up() && state.peer() == Some(&other));
            assert_eq!(state.named(10), Change::Begins(other.identity));
        }
    }

    #[test]
    fn four_hellos_that_do_not_name_us_are_a_wire_dead_in_one_direction() {
        let mut state = LinkState::Silent;
        for place in 0..3 {
            assert_eq!(hello(&mut state, Hears::Nobody), (Change::None, place == 0));
        }
        let one_way = Change::Prevented(Down::OneWay);
        assert_eq!(hello(&mut state, Hears::Nobody), (one_way, false));
        assert_eq!(hello(&mut state, Hears::Another), (Change::None, true));
        assert!(state.is_one_way());
        assert_eq!(state.tick(10), Change::Prevented(Down::Silent));
        assert!(!state.is_one_way());

        let mut state = up();
        for _ in 0..3 {
            assert_eq!(hello(&mut state, Hears::Nobody), (Change::None, true));
        }
        assert_eq!(hello(&mut state, Hears::Nobody), (Change::Ends(Down::OneWay), true));
        assert!(state.is_one_way() && state.peer().is_none());
        assert_eq!(state.named(10), Change::None);
        assert_eq!(hello(&mut state, Hears::Us), (begins(), true));
        assert!(!state.is_one_way());
    }

    #[test]
    fn a_hello_that_names_us_begins_the_count_anew() {
        let mut state = up();
        for _ in 0..3 {
            hello(&mut state, Hears::Another);
        }
        assert_eq!(hello(&mut state, Hears::Us), (Change::None, false));
        assert_eq!(hello(&mut state, Hears::Another), (Change::None, true));
        assert!(state.is_up());
    }

    #[test]
    fn another_version_is_told_once_and_whether_the_link_was_up_or_not() {
        let mut state = up();
        assert_eq!(state.foreign(Down::Version(3), 10), Change::Ends(Down::Version(3)));
        for _ in 0..100 {
            assert_eq!(state.foreign(Down::Version(3), 20), Change::None);
        }
        assert!(state.peer().is_none());
        assert_eq!((state.tick(19), state.tick(20)), (Change::None, Change::None));
        assert_eq!(state.foreign(Down::Version(3), 30), Change::Prevented(Down::Version(3)));
        assert_eq!(hello(&mut state, Hears::Us), (begins(), true));
    }

    #[test]
    fn what_the_other_end_thinks_of_us_is_known_in_a_session_only() {
        let a = peer(1, 1, 1);
        let mut state = up();
        assert_eq!(state.there(), Some(NEITHER));
        assert_eq!(state.hello(a, Hears::Us, ACCEPTS, 10), (Change::Stance, false));
        assert_eq!(state.hello(a, Hears::Us, ACCEPTS, 10), (Change::None, false));
        assert_eq!(state.there(), Some(ACCEPTS));
        assert_eq!(hello(&mut state, Hears::Another), (Change::None, true), "of another");
        assert_eq!(state.there(), Some(ACCEPTS));
        assert_eq!(hello(&mut state, Hears::Us), (Change::Stance, false));
        assert_eq!((state.packet(), state.packet()), (Change::Stance, Change::None));
        assert_eq!(state.there(), Some(ACCEPTS));
        assert_eq!(state.give_up(Down::Stuck), Change::Ends(Down::Stuck));
        assert_eq!((state.there(), state.peer()), (None, Some(&a)));
        assert_eq!(state.packet(), Change::None);
    }
}
