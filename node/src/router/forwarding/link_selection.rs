//! Link selection: which links are accepted and used.
//!
//! One link to each neighbor is accepted, and used once it is open. The two ends of parallel cables between the same nodes see the same
//! cables and choose the same one: that with the lowest number at the node of the lower address. The others are kept in case it fails. An
//! open link is not replaced.

use super::super::event::{Event, Observer};
use super::Forwarding;
use crate::capacities::Capacities;
use crate::link::{Down, LinkOf, Micros};
use crate::wire::{Identity, Role};

/// The decision about an unused link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::router) struct Choice {
    /// The identity of the other end, if it could be used.
    pub(in crate::router) candidate: Option<Identity>,
    pub(in crate::router) accepted: bool,
}

impl<C: Capacities> Forwarding<C> {
    /// Whether to accept the other end of a link; `None` if it is used already.
    pub(in crate::router) fn select(&self, links: &[LinkOf<C::Link>], link: u8) -> Option<Choice> {
        if self.is_used(link) {
            return None;
        }
        let candidate = self.candidate(links, link);
        let accepted = candidate.is_some_and(|peer| self.best_link_to(links, &peer) == Some(link));
        Some(Choice { candidate, accepted })
    }

    fn is_used(&self, link: u8) -> bool {
        self.host == Some(link) || self.wiring.neighbor_at(link).is_some()
    }

    /// The identity of the other end of an unused link that could be used.
    fn candidate(&self, links: &[LinkOf<C::Link>], link: u8) -> Option<Identity> {
        let end = links.get(usize::from(link))?;
        end.peer().filter(|_| end.may_accept() && !self.is_used(link))
    }

    /// The link to accept among those to a peer; `None` if there is one already, or the peer does not belong here.
    fn best_link_to(&self, links: &[LinkOf<C::Link>], found: &Identity) -> Option<u8> {
        let wanted = match found.role {
            Role::Host => self.host.is_none(),
            Role::Node => found.network == self.location.network.id() && self.wiring.misses(found.address),
        };
        if !wanted {
            return None;
        }
        let same = (0..links.len() as u8).filter_map(|link| Some((link, self.candidate(links, link)?)));
        let same = same.filter(|&(link, peer)| match found.role {
            Role::Host => peer.role == Role::Host && self.hosts >> link & 1 == 1,
            Role::Node => (peer.role, peer.address, peer.network) == (Role::Node, found.address, found.network),
        });
        let lower = self.here() < found.address;
        same.min_by_key(|&(link, peer)| if lower { (link, peer.port) } else { (peer.port, link) })
            .map(|(link, _)| link)
    }

    pub(in crate::router) fn link_up(&mut self, link: u8, peer: Identity, observer: &mut impl Observer) {
        match peer.role {
            Role::Host => self.host = Some(link),
            Role::Node => self.wiring.attach(link, peer.address),
        }
        self.noted |= 1 << link;
        observer.note(Event::LinkUp { link, peer });
    }

    /// Reports a peer at a link where it does not belong, once.
    pub(in crate::router) fn note_miswired(&mut self, link: u8, found: Identity, observer: &mut impl Observer) {
        if self.noted >> link & 1 == 0 {
            self.noted |= 1 << link;
            observer.note(Event::Miswired {
                link,
                expected: self.wiring.expected(link),
                found,
            });
        }
    }

    /// Stops using a link. Returns its port, if it had one. Its packets must be
    /// [rerouted](Self::turn_round).
    pub(in crate::router) fn link_down(
        &mut self,
        link: u8,
        reason: Down,
        now: Micros,
        observer: &mut impl Observer,
    ) -> Option<u8> {
        // A board that comes and goes while the link is damped is not reported each time.
        let often = matches!(reason, Down::Restarted | Down::Ended | Down::Replaced | Down::Stuck);
        if !often || self.noted >> link & 1 == 1 {
            observer.note(Event::LinkDown { link, reason });
        }
        self.noted &= !(1 << link);
        self.stalled.moves(link, now);
        if self.host == Some(link) {
            self.host = None;
        }
        self.wiring.detach(link)
    }
}
