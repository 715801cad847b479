//! The next hop of a packet for another node: by the routing function if its link is up, otherwise by a search whose state the packet
//! carries.
//!
//! | the packet | the link of the next hop | what it does |
//! |---|---|---|
//! | on its route | up | takes it |
//! | on its route | dead, or [stalled](super::stalled_links) | starts a trail here, and searches |
//! | on a trail, closer than the start of the trail | | leaves the trail, and is on its route |
//! | on a trail | | goes to the closest live neighbor that is neither on the trail nor stalled, or back along it, or else to a stalled one |

use super::wiring::Wiring;
use crate::capacities::Capacities;
use crate::wire::{Bytes, DropReason, PacketOf, Trail};
use hopwise_core::limits::LOOKAHEAD;
use hopwise_core::{Method, Network, Node, Rule};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::router) struct Hop {
    pub(in crate::router) link: u8,
    /// The neighbor, if the packet searches for a path around a dead link.
    pub(in crate::router) detour: Option<Node>,
}

/// The inputs of the choice.
#[derive(Clone, Copy, Debug)]
pub(in crate::router) struct Forwarder<'a, C: Capacities> {
    pub(in crate::router) network: &'a Network,
    pub(in crate::router) here: Node,
    pub(in crate::router) rule: Rule,
    pub(in crate::router) wiring: &'a Wiring<C>,
    /// Links that are used only as a last resort: bit 0 is link 0.
    pub(in crate::router) avoided: u32,
    pub(in crate::router) came_from: Option<Node>,
    pub(in crate::router) next: Node,
}

/// The next hops of recent destinations. In some networks a next hop is a search of thousands of steps, and most packets go to a few nodes.
#[derive(Clone, Debug)]
pub(in crate::router) struct NextHops([(Node, Node); NEXT_HOPS]);

const NEXT_HOPS: usize = 8;

impl NextHops {
    pub(in crate::router) fn new(here: Node) -> Self {
        NextHops([(here, here); NEXT_HOPS])
    }

    /// The next hop of a node to a destination by the routing function; the node itself if there is none.
    pub(in crate::router) fn find(&mut self, network: &Network, here: Node, dest: Node, rule: Rule) -> Node {
        let search = || network.next_hop(here, dest, rule).unwrap_or(here);
        match self.0.get_mut(dest as usize % NEXT_HOPS) {
            Some((known, next)) if *known == dest => *next,
            Some(entry) => {
                *entry = (dest, search());
                entry.1
            }
            None => search(),
        }
    }
}

impl<C: Capacities> Forwarder<'_, C> {
    /// Chooses the link, and updates the trail in the packet.
    pub(in crate::router) fn choose<B: Bytes>(&self, packet: &mut PacketOf<B>) -> Result<Hop, DropReason> {
        if packet.header.hops_left == 0 {
            return Err(DropReason::HopLimit);
        }
        if packet.header.trail && self.is_nearer_than_start(packet)? {
            packet.remove_trail();
        }
        if !packet.header.trail {
            if let Some(link) = self.wiring.link_to(self.next) {
                let round = if self.is_avoided(link) {
                    self.choose_round(packet)
                } else {
                    None
                };
                return Ok(round.unwrap_or(Hop { link, detour: None }));
            }
            Trail::begin(&mut packet.body, self.here).map_err(|_| DropReason::TrailFull)?;
            packet.header.trail = true;
        }
        self.go_on(packet)
    }

    fn go_on<B: Bytes>(&self, packet: &mut PacketOf<B>) -> Result<Hop, DropReason> {
        let hop = self.search(packet);
        if hop.is_err() {
            packet.remove_trail();
        }
        hop
    }

    /// The live neighbor closest to a destination that is not on a trail, and its link.
    fn nearest<B: Bytes>(&self, dest: Node, trail: &Trail<'_, B>) -> Option<(Node, u8)> {
        let unvisited = self.wiring.live().filter(|&(node, _)| !trail.has(node));
        unvisited.min_by_key(|&(node, link)| (self.is_avoided(link), self.hops(node, dest)))
    }

    /// Chooses a link other than the route's: the one of this rank among those that are live and not avoided, by distance to the
    /// destination. So a packet without a response bypasses a node that may have swallowed it.
    pub(in crate::router) fn choose_other<B: Bytes>(
        &self,
        packet: &mut PacketOf<B>,
        rank: u8,
    ) -> Result<Hop, DropReason> {
        let dest = packet.header.dest;
        let open = self.wiring.live().filter(|&(_, link)| !self.is_avoided(link));
        let others = open.count().saturating_sub(1);
        if self.wiring.link_to(dest).is_some() || others == 0 {
            return self.choose(packet);
        }
        packet.remove_trail();
        let mut trail = Trail::begin(&mut packet.body, self.here).map_err(|_| DropReason::TrailFull)?;
        for _ in 0..usize::from(rank) % (others + 1) {
            if let Some((node, _)) = self.nearest(dest, &trail) {
                trail.skip(node).map_err(|_| DropReason::TrailFull)?;
            }
        }
        packet.header.trail = true;
        self.go_on(packet)
    }

    /// Chooses a link other than the avoided ones, if one leads neither back to where the packet came from nor past its
    /// destination.
    pub(in crate::router) fn choose_round<B: Bytes>(&self, packet: &mut PacketOf<B>) -> Option<Hop> {
        let dest = packet.header.dest;
        if self.wiring.link_to(dest).is_some() {
            return None;
        }
        if packet.header.trail {
            return self.search(packet).ok().filter(|hop| !self.is_avoided(hop.link));
        }
        let mut trail = Trail::begin(&mut packet.body, self.here).ok()?;
        let skipped = self.came_from.map_or(Ok(()), |node| trail.skip(node));
        let next = self.nearest(dest, &trail);
        packet.header.trail = true;
        let next = next.filter(|&(_, link)| skipped.is_ok() && !self.is_avoided(link));
        if next.is_none() {
            packet.remove_trail();
        }
        next.map(|(node, link)| Hop {
            link,
            detour: Some(node),
        })
    }

    /// Whether this node is closer to the destination than the start of the search, by the routing function: no node on the route from
    /// here is farther, so searches terminate.
    fn is_nearer_than_start<B: Bytes>(&self, packet: &mut PacketOf<B>) -> Result<bool, DropReason> {
        let dest = packet.header.dest;
        let trail = Trail::of(&mut packet.body).ok_or(DropReason::Malformed)?;
        let start = trail.start().ok_or(DropReason::Malformed)?;
        Ok(self.hops(self.here, dest) < self.hops(start, dest))
    }

    fn is_avoided(&self, link: u8) -> bool {
        self.avoided >> link & 1 == 1
    }

    /// One step of a depth-first search. If there is nowhere left to go, there is no path, unless the trail is incomplete.
    fn search<B: Bytes>(&self, packet: &mut PacketOf<B>) -> Result<Hop, DropReason> {
        let dest = packet.header.dest;
        let mut trail = Trail::of(&mut packet.body).ok_or(DropReason::Malformed)?;
        if !trail.has(self.here) {
            trail.push(self.here).map_err(|_| DropReason::TrailFull)?;
        }
        let nowhere = if trail.is_partial() {
            DropReason::TrailFull
        } else {
            DropReason::NoRoute
        };
        if self.is_hopeless(dest, &trail) {
            return Err(nowhere);
        }
        let hop = |(node, link)| Hop {
            link,
            detour: Some(node),
        };
        let next = self.nearest(dest, &trail);
        if let Some(next) = next.filter(|&(_, link)| !self.is_avoided(link)) {
            return Ok(hop(next));
        }
        while let Some(node) = trail.back() {
            if let Some(link) = self.wiring.link_to(node) {
                if next.is_some() {
                    // There may be a path past a neighbor that is stalled now.
                    trail.mark_partial().map_err(|_| DropReason::TrailFull)?;
                }
                return Ok(hop((node, link)));
            }
        }
        next.map(hop).ok_or(nowhere)
    }

    /// Whether all neighbors of the destination have been visited in vain.
    fn is_hopeless<B: Bytes>(&self, dest: Node, trail: &Trail<'_, B>) -> bool {
        let neighbors = self.network.neighbors(dest);
        self.wiring.link_to(dest).is_none() && neighbors.is_ok_and(|mut all| all.all(|node| trail.has(node)))
    }

    /// The distance by the routing function.
    fn hops(&self, from: Node, to: Node) -> u64 {
        if self.network.method(from, to, self.rule) == Ok(Method::Shortest)
            && let Ok(Some(distance)) = self.network.distance(from, to)
        {
            return distance;
        }
        let mut here = from;
        for hops in 0..u64::from(LOOKAHEAD) {
            if here == to {
                return hops;
            }
            here = self.network.next_hop(here, to, self.rule).unwrap_or(here);
        }
        LOOKAHEAD.into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::wiring::tests::wired;
    use super::*;
    use crate::capacities::Board;
    use crate::wire::{Body, Header, Kind, Packet};
    use std::vec::Vec as List;

    fn packet<const BODY: usize>(dest: Node) -> Packet<BODY> {
        Packet {
            header: Header {
                hops_left: 40,
                ..Header::new(Kind::Datagram, 0, dest)
            },
            body: Body::from_slice(b"payload").unwrap(),
        }
    }

    /// The choice at a node, where some links are used only as a last resort.
    fn forwarder<'a>(
        network: &'a Network,
        wiring: &'a Wiring<Board>,
        (here, dest): (Node, Node),
        avoided: u32,
    ) -> Forwarder<'a, Board> {
        Forwarder {
            network,
            here,
            rule: Rule::Exact,
            wiring,
            avoided,
            came_from: None,
            next: NextHops::new(here).find(network, here, dest, Rule::Exact),
        }
    }

    /// The path of a packet through a network with dead links.
    fn path<const BODY: usize>(
        network: &Network,
        dest: Node,
        cuts: &[(Node, Node)],
    ) -> (List<Node>, Result<(), DropReason>) {
        let mut packet = packet::<BODY>(dest);
        let mut path = List::from([0]);
        loop {
            let here = *path.last().unwrap();
            if here == dest {
                packet.remove_trail();
                assert_eq!(packet.body, b"payload");
                return (path, Ok(()));
            }
            let dead: List<Node> = cuts
                .iter()
                .filter_map(|&(a, b)| [(a, b), (b, a)].into_iter().find(|&(a, _)| a == here))
                .map(|(_, other)| other)
                .collect();
            let wiring = wired::<Board>(network, here, &dead);
            match forwarder(network, &wiring, (here, dest), 0).choose(&mut packet) {
                Ok(hop) => path.push(wiring.neighbor_at(hop.link).unwrap()),
                Err(reason) => return (path, Err(reason)),
            }
            packet.header.hops_left -= 1;
        }
    }

    #[test]
    fn a_search_that_has_forgotten_where_it_was_proves_nothing() {
        let network: Network = "ring(12)".parse().unwrap();
        let cuts = [(2, 3), (3, 4)];
        assert_eq!(path::<64>(&network, 3, &cuts).1, Err(DropReason::NoRoute));
        assert_eq!(path::<14>(&network, 3, &cuts).1, Err(DropReason::TrailFull));
    }

    /// The next hop at node 5 of a ring of six for a packet to node 2 that has searched along a path, while some neighbors are stalled.
    fn from_five(
        trail: &[Node],
        stalled: &[Node],
        choose: impl Fn(&Forwarder<'_, Board>, &mut Packet<64>) -> Hop,
    ) -> Node {
        let network: Network = "ring(6)".parse().unwrap();
        let wiring = wired::<Board>(&network, 5, &[]);
        let avoided = stalled.iter().map(|&node| 1 << wiring.link_to(node).unwrap()).sum();
        let forwarder = forwarder(&network, &wiring, (5, 2), avoided);
        let mut packet = packet::<64>(2);
        if let Some((&start, rest)) = trail.split_first() {
            let mut trail = Trail::begin(&mut packet.body, start).unwrap();
            rest.iter().for_each(|&node| trail.push(node).unwrap());
            packet.header.trail = true;
        }
        wiring.neighbor_at(choose(&forwarder, &mut packet).link).unwrap()
    }

    #[test]
    fn a_search_rather_goes_back_than_to_a_neighbor_that_takes_nothing() {
        let search = |trail: &[Node], stalled: &[Node]| {
            from_five(trail, stalled, |forwarder, packet| forwarder.choose(packet).unwrap())
        };
        assert_eq!(search(&[0], &[]), 4);
        assert_eq!(search(&[0], &[4]), 0);
        // There is nowhere to go back to.
        assert_eq!(search(&[5, 0], &[4]), 4);
    }

    #[test]
    fn no_attempt_goes_to_a_neighbor_that_takes_nothing() {
        for rank in 1..6 {
            let other = |stalled: &[Node]| {
                from_five(&[], stalled, |forwarder, packet| {
                    forwarder.choose_other(packet, rank).unwrap()
                })
            };
            assert_eq!((other(&[0]), other(&[4])), (4, 0), "rank {rank}");
        }
    }

    /// With a paper's routing function some routes are longer than necessary: distances are those of actual routes.
    #[test]
    fn how_far_it_is_goes_by_the_routing_rule() {
        let network: Network = "re(ring(4),complete(3),2)".parse().unwrap();
        let wiring = wired::<Board>(&network, 0, &[]);
        let mut longer = 0;
        for rule in [Rule::Exact, Rule::Paper] {
            let forwarder = Forwarder {
                rule,
                ..forwarder(&network, &wiring, (0, 0), 0)
            };
            for (from, to) in (0..network.nodes()).flat_map(|from| (0..network.nodes()).map(move |to| (from, to))) {
                let walk = core::iter::successors(Some(from), |&here| {
                    Some(network.next_hop(here, to, rule).unwrap()).filter(|_| here != to)
                });
                let hops = walk.count() as u64 - 1;
                assert_eq!(forwarder.hops(from, to), hops, "{rule:?}: {from} to {to}");
                longer += u64::from(network.distance(from, to) != Ok(Some(hops)));
            }
        }
        assert!(longer > 0, "the rules do not differ here");
    }

    /// In every network of the list, with every single link dead, every packet arrives, and a path never repeats an edge in
    /// the same direction more than the search needs.
    #[test]
    fn one_dead_link_keeps_nobody_from_anybody() {
        for expression in ["torus(3,4)", "hypercube(3)", "rdn(ring(3),1)", "heawood"] {
            let network: Network = expression.parse().unwrap();
            for a in 0..network.nodes() {
                for b in network.neighbors(a).unwrap() {
                    for dest in 1..network.nodes() {
                        let (found, end) = path::<64>(&network, dest, &[(a, b)]);
                        assert_eq!(end, Ok(()), "{expression}, {a}-{b} dead, to {dest}: {found:?}");
                    }
                }
            }
        }
    }

    /// What is remembered is what the routing function says, whatever was asked before; and a node that does not exist has no next hop.
    #[test]
    fn next_hops_are_remembered_and_replaced() {
        for expression in ["torus(3,4)", "lift(8,bcc2,b4c7)", "rdn(ring(3),1)"] {
            let network: Network = expression.parse().unwrap();
            let mut next_hops = NextHops::new(3);
            for dest in (0..3 * network.nodes()).map(|step| step * step % (network.nodes() + 1)) {
                let expected = network.next_hop(3, dest, Rule::Exact).unwrap_or(3);
                for _ in 0..2 {
                    assert_eq!(
                        next_hops.find(&network, 3, dest, Rule::Exact),
                        expected,
                        "{expression}: {dest}"
                    );
                }
            }
        }
    }
}
