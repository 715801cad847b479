//! Whether two ends hear each other: the states of a link and all that leads from one to another.

use super::{Down, Micros};
use crate::wire::{Hello, Identity};

/// So many hellos of an end that does not hear us, in a row, are no coincidence.
const UNHEARD_HELLOS: u8 = 4;

/// Who is at the other end, in which session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Peer {
    pub(super) identity: Identity,
    session: u8,
    /// By which this end names it.
    pub(super) tag: u16,
}

impl Peer {
    pub(super) fn of(hello: &Hello) -> Self {
        Peer {
            identity: hello.identity,
            session: hello.session,
            tag: hello.identity.tag(hello.session),
        }
    }

    /// Why this peer, after whom another hello came, is gone.
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

/// Where a link stands. `until` is when what was heard is too old.
#[derive(Clone, Copy, Debug)]
pub(super) enum LinkState {
    /// Nothing has been heard of late.
    Silent,
    /// The other end is heard. So many of its hellos, in a row, did not name us.
    Heard { peer: Peer, until: Micros, unheard: u8 },
    /// The other end is heard, and is known not to hear us. Who it is was forgotten if the link was up until then: the next hello
    /// begins anew.
    OneWay { peer: Option<Peer>, until: Micros },
    /// Both ends hear each other: a session. So many hellos in a row did not name us.
    Up { peer: Peer, until: Micros, unheard: u8 },
}

/// Whom the other end says it hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hears {
    Us,
    /// Someone else, or an earlier session of ours.
    Another,
    Nobody,
}

/// What a transition means for the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    None,
    /// A session begins.
    Begins(Identity),
    /// The session is over.
    Ends(Down),
    /// There is no session, and there will be none for this reason.
    Prevented(Down),
}

impl LinkState {
    pub(super) fn is_up(&self) -> bool {
        matches!(self, LinkState::Up { .. })
    }

    pub(super) fn is_one_way(&self) -> bool {
        matches!(self, LinkState::OneWay { .. })
    }

    pub(super) fn peer(&self) -> Option<&Peer> {
        match self {
            LinkState::Silent => None,
            LinkState::Heard { peer, .. } | LinkState::Up { peer, .. } => Some(peer),
            LinkState::OneWay { peer, .. } => peer.as_ref(),
        }
    }

    /// When to look at the clock.
    pub(super) fn deadline(&self) -> Micros {
        match *self {
            LinkState::Silent | LinkState::OneWay { peer: None, .. } => Micros::MAX,
            LinkState::Heard { until, .. } | LinkState::OneWay { until, .. } | LinkState::Up { until, .. } => until,
        }
    }

    /// The other end says hello. Also says whether it should hear from us soon.
    pub(super) fn hello(&mut self, peer: Peer, hears: Hears, until: Micros) -> (Change, bool) {
        use LinkState::{Heard, OneWay, Silent, Up};
        let news = self.peer() != Some(&peer);
        let (next, change, answer) = match (*self, hears) {
            (Up { peer: before, .. }, _) if news => {
                let unheard = 0;
                (Heard { peer, until, unheard }, Change::Ends(before.gone(&peer)), true)
            }
            (Up { .. }, Hears::Us) => {
                let unheard = 0;
                (Up { peer, until, unheard }, Change::None, false)
            }
            // It is not up, and cannot be without a hello: data that goes on all the time must not hold that up.
            (Up { unheard, .. }, _) => match one_more(unheard) {
                Some(unheard) => (Up { peer, until, unheard }, Change::None, true),
                None => (OneWay { peer: None, until }, Change::Ends(Down::OneWay), true),
            },
            (_, Hears::Us) => {
                let unheard = 0;
                (Up { peer, until, unheard }, Change::Begins(peer.identity), true)
            }
            (OneWay { .. }, _) => {
                let peer = Some(peer);
                (OneWay { peer, until }, Change::None, news || hears == Hears::Another)
            }
            (Silent | Heard { .. }, _) => match one_more(self.unheard()) {
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
        (change, answer)
    }

    fn unheard(&self) -> u8 {
        match *self {
            LinkState::Heard { unheard, .. } | LinkState::Up { unheard, .. } => unheard,
            LinkState::Silent | LinkState::OneWay { .. } => 0,
        }
    }

    /// The other end says hello in another version of the wire format.
    pub(super) fn other_version(&mut self, version: u8) -> Change {
        let was_up = self.is_up();
        *self = LinkState::Silent;
        let reason = Down::Version(version);
        if was_up {
            Change::Ends(reason)
        } else {
            Change::Prevented(reason)
        }
    }

    /// A frame came that names our session: whoever sent it hears us.
    pub(super) fn named(&mut self, until: Micros) -> Change {
        match self {
            LinkState::Up { until: before, .. } => {
                *before = until;
                Change::None
            }
            &mut (LinkState::Heard { peer, .. } | LinkState::OneWay { peer: Some(peer), .. }) => {
                let unheard = 0;
                *self = LinkState::Up { peer, until, unheard };
                Change::Begins(peer.identity)
            }
            LinkState::Silent | LinkState::OneWay { peer: None, .. } => Change::None,
        }
    }

    /// Looks at the clock.
    pub(super) fn tick(&mut self, now: Micros) -> Change {
        if now < self.deadline() {
            return Change::None;
        }
        match core::mem::replace(self, LinkState::Silent) {
            LinkState::Up { .. } => Change::Ends(Down::Silent),
            // It is not known to be dead in one direction only any more.
            LinkState::OneWay { peer: Some(_), .. } => Change::Prevented(Down::Silent),
            // What was heard is old, and is not answered.
            LinkState::Heard { .. } | LinkState::Silent => Change::None,
            unchanged @ LinkState::OneWay { peer: None, .. } => {
                *self = unchanged;
                Change::None
            }
        }
    }
}

/// One hello more that did not name us; `None` if there were too many.
fn one_more(unheard: u8) -> Option<u8> {
    let unheard = unheard.saturating_add(1);
    (unheard < UNHEARD_HELLOS).then_some(unheard)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Role;

    fn peer(address: u8, epoch: u32, session: u8) -> Peer {
        Peer::of(&Hello {
            identity: Identity {
                role: Role::Node,
                network: 1,
                address: address.into(),
                port: 0,
                epoch,
                largest: 200,
            },
            session,
            heard: 0,
        })
    }

    fn up() -> LinkState {
        let mut state = LinkState::Silent;
        let a = peer(1, 1, 1);
        assert_eq!(state.hello(a, Hears::Nobody, 10), (Change::None, true));
        assert_eq!(state.hello(a, Hears::Us, 10), (Change::Begins(a.identity), true));
        state
    }

    #[test]
    fn two_hellos_bring_a_link_up_and_silence_takes_it_down() {
        let mut state = up();
        assert_eq!(state.hello(peer(1, 1, 1), Hears::Us, 20), (Change::None, false));
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
            assert_eq!(state.hello(other, Hears::Us, 10), (Change::Ends(reason), true));
            assert!(!state.is_up() && state.peer() == Some(&other));
            assert_eq!(state.named(10), Change::Begins(other.identity));
        }
    }

    #[test]
    fn four_hellos_that_do_not_name_us_are_a_wire_dead_in_one_direction() {
        let a = peer(1, 1, 1);
        let mut state = LinkState::Silent;
        for hello in 0..3 {
            assert_eq!(state.hello(a, Hears::Nobody, 10), (Change::None, hello == 0));
        }
        assert_eq!(
            state.hello(a, Hears::Nobody, 10),
            (Change::Prevented(Down::OneWay), false)
        );
        assert_eq!(state.hello(a, Hears::Another, 10), (Change::None, true));
        assert!(state.is_one_way());
        assert_eq!(state.tick(10), Change::Prevented(Down::Silent));
        assert!(!state.is_one_way());

        let mut state = up();
        for _ in 0..3 {
            assert_eq!(state.hello(a, Hears::Nobody, 10), (Change::None, true));
        }
        assert_eq!(state.hello(a, Hears::Nobody, 10), (Change::Ends(Down::OneWay), true));
        assert!(state.is_one_way() && state.peer().is_none());
        assert_eq!(state.named(10), Change::None);
        assert_eq!(state.hello(a, Hears::Us, 10), (Change::Begins(a.identity), true));
        assert!(!state.is_one_way());
    }

    #[test]
    fn a_hello_that_names_us_begins_the_count_anew() {
        let a = peer(1, 1, 1);
        let mut state = up();
        for _ in 0..3 {
            state.hello(a, Hears::Another, 10);
        }
        assert_eq!(state.hello(a, Hears::Us, 10), (Change::None, false));
        assert_eq!(state.hello(a, Hears::Another, 10), (Change::None, true));
        assert!(state.is_up());
    }

    #[test]
    fn another_version_is_told_whether_the_link_was_up_or_not() {
        let mut state = up();
        assert_eq!(state.other_version(2), Change::Ends(Down::Version(2)));
        assert_eq!(state.other_version(2), Change::Prevented(Down::Version(2)));
        assert!(state.peer().is_none());
    }
}
