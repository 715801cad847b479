//! Who is at which link: which one of them is accepted and used, and what happens when it is down.

use super::Router;
use super::event::{Event, Observer};
use crate::capacities::Capacities;
use crate::link::{Down, LinkOf, Micros};
use crate::wire::{Identity, Kind, Role};

impl<C: Capacities> Router<C> {
    /// Looks again at who is at which link: one link to each neighbour is accepted, and used once it is open.
    ///
    /// Both ends of several cables between the same two nodes see the same cables and choose the same, the one whose number at the
    /// node of the lower address is the lowest. The others are kept in case it fails. A link that is open stays.
    pub(super) fn rewire(&mut self, now: Micros, observer: &mut impl Observer) {
        for link in 0..self.links.len() as u8 {
            let candidate = self.candidate(link);
            let accepted = candidate.is_some_and(|peer| self.best_link_to(&peer) == Some(link));
            let used = self.is_used(link);
            let Some(end) = self.links.get_mut(usize::from(link)).filter(|_| !used) else {
                continue;
            };
            end.accept(accepted, now);
            let open = end.is_open();
            let Some(peer) = candidate else { continue };
            if open {
                match peer.role {
                    Role::Host => self.host = Some(link),
                    Role::Node => {
                        self.wiring.attach(link, peer.address);
                        self.clock.link_up(link, now);
                    }
                }
                self.noted |= 1 << link;
                observer.note(Event::LinkUp { link, peer });
            } else if !accepted && self.noted >> link & 1 == 0 {
                self.noted |= 1 << link;
                observer.note(Event::Miswired {
                    link,
                    expected: self.wiring.expected(link),
                    found: peer,
                });
            }
        }
        self.speak_time();
    }

    /// Whether packets go through a link.
    fn is_used(&self, link: u8) -> bool {
        self.host == Some(link) || self.wiring.neighbor_at(link).is_some()
    }

    /// Who is at a link that is not used, but could be.
    fn candidate(&self, link: u8) -> Option<Identity> {
        let end = self.links.get(usize::from(link))?;
        end.peer().filter(|_| end.may_accept() && !self.is_used(link))
    }

    /// The link to accept of those that lead to someone; `None` if there is one already, or whoever it is does not belong here.
    fn best_link_to(&self, found: &Identity) -> Option<u8> {
        let wanted = match found.role {
            Role::Host => self.host.is_none(),
            Role::Node => found.network == self.network.id() && self.wiring.misses(found.address),
        };
        if !wanted {
            return None;
        }
        let links = 0..self.links.len() as u8;
        let same = links.filter_map(|link| Some((link, self.candidate(link)?)));
        let same = same.filter(|&(link, peer)| match found.role {
            Role::Host => peer.role == Role::Host && self.computers >> link & 1 == 1,
            Role::Node => (peer.role, peer.address, peer.network) == (Role::Node, found.address, found.network),
        });
        let lower = self.here < found.address;
        same.min_by_key(|&(link, peer)| if lower { (link, peer.port) } else { (peer.port, link) })
            .map(|(link, _)| link)
    }

    /// A link is down, or not what it should be: what was to go through it takes another path.
    pub(super) fn link_down(&mut self, link: u8, reason: Down, now: Micros, observer: &mut impl Observer) {
        // A board that comes and goes while the link is held down is not worth a word each time.
        let often = matches!(reason, Down::Restarted | Down::Ended | Down::Replaced | Down::Stuck);
        if !often || self.noted >> link & 1 == 1 {
            observer.note(Event::LinkDown { link, reason });
        }
        self.noted &= !(1 << link);
        self.clock.link_down(link);
        let port = self.wiring.detach(link);
        self.stalls.moves(link, now);
        if self.host == Some(link) {
            self.host = None;
        }
        if let Some(end) = self.links.get_mut(usize::from(link)) {
            end.accept(false, now);
        }
        while let Some(place) = self.links.get_mut(usize::from(link)).and_then(LinkOf::abandoned) {
            // A broadcast is marked when it becomes a flood.
            let slot = self.pool.get_mut(place);
            if let Some(slot) = slot.filter(|slot| slot.packet.header.kind != Kind::Broadcast) {
                slot.packet.header.copied = true;
            }
            self.turn_round(place, link, port, now, observer);
        }
        let queue = self.queues.get_mut(usize::from(link)).map(core::mem::take);
        for &place in queue.unwrap_or_default().iter() {
            self.turn_round(place, link, port, now, observer);
        }
        // Another cable may lead there.
        self.rewire(now, observer);
    }
}
