//! Where a packet goes next, ready for the inner loop: core's rules, from a table or asked hop by hop.

use std::io::Read;

use hopwise_core::{Family, Network, Node, Rule};
use hopwise_networks::buffer_classes;
use hopwise_networks::routes::valleys;

use super::bad::{BadLoad, bad};
use super::failures::Standing;
use super::parameters::Rings;
use super::wiring::Wiring;

/// Up to this many nodes, the responses for all pairs are kept in a table (4 bytes a pair); where core has to search, up to more.
const TABLE_NODES: u64 = 1_024;
/// Routes round failures and all shortest paths need a table.
pub(crate) const MAX_TABLE_NODES: u64 = 4_096;

/// Bytes of a line of a table of routes.
const MAX_LINE: u64 = 32;

/// Routes on which valleys are counted to guess how many classes a large network uses.
const SAMPLES: u64 = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hop {
    /// The port, counted from 0 at its node.
    pub(super) port: u32,
    /// The buffer class for the link behind it.
    pub(super) class: u32,
    /// Whether the ring's other direction is as short.
    pub(super) tie: bool,
}

/// A step in 4 bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Packed(u32);

impl Packed {
    const TIE: u32 = 1 << 31;
    /// A network with a table has routes of at most 4,095 hops, hence at most 2,047 valleys.
    const CLASS_BITS: u32 = 11;
    const LOST: Self = Self(u32::MAX);

    fn new(step: Hop) -> Self {
        Self(step.port << Self::CLASS_BITS | step.class | if step.tie { Self::TIE } else { 0 })
    }

    fn step(self) -> Option<Hop> {
        (self.0 != Self::LOST.0).then_some(Hop {
            port: (self.0 & !Self::TIE) >> Self::CLASS_BITS,
            class: self.0 & ((1 << Self::CLASS_BITS) - 1),
            tie: self.0 & Self::TIE != 0,
        })
    }
}

/// What a packet that carries its class knows of its route.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Valleys {
    /// Valleys ahead, which is the buffer class.
    pub(super) ahead: u32,
    /// Whether its last step went to a lower number.
    descending: bool,
}

/// Routes of one's own, in place of the routing function's.
#[derive(Debug)]
pub struct RouteTable {
    /// `next[dest * nodes + node]`
    next: Vec<u32>,
}

impl RouteTable {
    /// Of lines of node, destination and port below a heading, as `hopwise export --routes` writes them. There has to be a route from
    /// every node to every other.
    pub fn read(network: &Network, file: impl Read) -> Result<Self, BadLoad> {
        let (nodes, topology) = (network.nodes(), network.unchecked());
        if nodes > MAX_TABLE_NODES {
            let why = format!("{network} has {nodes} nodes, too many for a table (at most {MAX_TABLE_NODES})");
            return Err(bad(why));
        }
        let mut text = String::new();
        let most = (nodes * nodes + 1) * MAX_LINE;
        file.take(most + 1).read_to_string(&mut text).map_err(bad)?;
        if text.len() as u64 > most {
            return Err(bad(format!("it is longer than all routes of {network}")));
        }
        let mut next: Vec<u32> = (0..nodes * nodes).map(|pair| (pair % nodes) as u32).collect();
        for (number, line) in (1..).zip(text.lines()).skip(1) {
            let numbers: Option<Vec<u64>> = line.split(',').map(|number| number.trim().parse().ok()).collect();
            let there = match numbers.as_deref() {
                Some(&[here, dest, port]) if here.max(dest) < nodes && port < topology.degree(here) => {
                    let there = topology.neighbor(here, port);
                    there.map(|there| next[(dest * nodes + here) as usize] = there as u32)
                }
                _ => None,
            };
            let wrong = || format!("line {number}: '{line}' is not a node, a destination and a port");
            there.ok_or_else(|| bad(wrong()))?;
        }
        for (dest, next) in (0..nodes).zip(next.chunks(nodes as usize)) {
            let mut arrives: Vec<bool> = (0..nodes).map(|node| node == dest).collect();
            for here in 0..nodes as u32 {
                let onward = |&at: &u32| Some(next[at as usize]);
                let route = std::iter::successors(Some(here), onward).take(next.len());
                let route: Vec<u32> = route.take_while(|&at| !arrives[at as usize]).collect();
                if route.len() == next.len() {
                    return Err(bad(format!("the routes from node {here} do not lead to node {dest}")));
                }
                route.iter().for_each(|&at| arrives[at as usize] = true);
            }
        }
        Ok(Self { next })
    }
}

pub(super) struct Routes {
    network: Network,
    rule: Rule,
    rings: Option<Vec<u64>>,
    /// `table[node * nodes + dest]`; empty for a large network.
    table: Vec<Packed>,
    /// The ports of a node on shortest paths to another, as bits, in the order of the table; empty unless they are asked for.
    shortest: Vec<u32>,
    /// Whether packets carry their class: the network has no table, and no way to find the class but along the route.
    pub(super) carried: bool,
    /// Classes in use; if packets carry them, the most that were met so far.
    pub(super) class_count: u32,
}

impl Routes {
    /// Routes that are asked for at every hop.
    fn without_table(network: &Network, rule: Rule) -> Self {
        Self {
            network: *network,
            rule,
            rings: None,
            table: Vec::new(),
            shortest: Vec::new(),
            carried: false,
            class_count: 1,
        }
    }

    /// Tabulates a small network; O(nodes^2) steps of core. A packet's class on routes of one's own is the number of valleys ahead of it.
    pub(super) fn new(network: &Network, rule: Rule, rings: Rings, wiring: &Wiring, own: Option<&RouteTable>) -> Self {
        let balanced = wiring.rings.as_ref().filter(|_| rings == Rings::Balanced);
        let sizes = balanced.map(|rings| rings.sizes.clone());
        let mut routes = Self {
            rings: sizes,
            ..Self::without_table(network, rule)
        };
        let most = match network.family() {
            Family::Base(_) => TABLE_NODES,
            _ => MAX_TABLE_NODES,
        };
        if own.is_some() || network.nodes() <= most {
            routes.tabulate(own);
        } else if buffer_classes::counts_valleys(network) {
            routes.carried = true;
            routes.class_count = routes.sample_valleys() + 1;
        } else {
            routes.class_count = u32::try_from(buffer_classes::count(network, rule)).unwrap_or(u32::MAX);
        }
        routes
    }

    /// Routes in what is left of a network: the routing function's next hop where it is on a shortest path there, else the first port that is. A
    /// packet's class is the number of valleys ahead of it, which is free of deadlock with any routes. O(nodes links).
    pub(super) fn round(network: &Network, rule: Rule, wiring: &Wiring, standing: &Standing) -> Self {
        let nodes = network.nodes() as usize;
        let mut routes = Self {
            table: vec![Packed::LOST; nodes * nodes],
            ..Self::without_table(network, rule)
        };
        for dest in 0..nodes {
            let hops = standing.hops_to(wiring, dest as u32);
            let mut next: Vec<u32> = (0..nodes as u32).collect();
            for here in (0..nodes).filter(|&here| here != dest && hops[here] != u32::MAX) {
                let nearer = |there: u64| {
                    let port = network.unchecked().port_to(here as u64, there);
                    let whole = port.is_some_and(|port| standing.is_whole(wiring, here as u32, port as u32));
                    whole && hops[there as usize] < hops[here]
                };
                let usual = network.unchecked().next(here as u64, dest as u64, rule);
                let degree = network.unchecked().degree(here as u64);
                let mut others = (0..degree).filter_map(|port| network.unchecked().neighbor(here as u64, port));
                let there = if nearer(usual) {
                    Some(usual)
                } else {
                    others.find(|&there| nearer(there))
                };
                next[here] = there.map_or(here as u32, |there| there as u32);
            }
            let classes = valleys(&next, dest);
            for here in (0..nodes).filter(|&here| next[here] as usize != here) {
                routes.class_count = routes.class_count.max(classes[here] + 1);
                routes.table[here * nodes + dest] =
                    Packed::new(routes.to(here as u64, dest as u64, next[here].into(), classes[here]));
            }
        }
        routes
    }

    /// Finds out which ports are on shortest paths in what is left of a network. O(nodes links).
    pub(super) fn find_shortest(&mut self, wiring: &Wiring, standing: &Standing) {
        let nodes = self.network.nodes() as usize;
        self.shortest = vec![0; nodes * nodes];
        for dest in 0..nodes {
            let hops = standing.hops_to(wiring, dest as u32);
            for here in 0..nodes {
                let ports = wiring.first[here] + 1..wiring.first[here + 1];
                for (number, port) in ports.enumerate() {
                    let there = wiring.node[wiring.peer[port as usize] as usize];
                    if standing.is_whole(wiring, here as u32, number as u32) && hops[there as usize] < hops[here] {
                        self.shortest[here * nodes + dest] |= 1 << number;
                    }
                }
            }
        }
    }

    /// The ports of a node on shortest paths to another, as bits.
    #[inline]
    pub(super) fn shortest(&self, here: u32, dest: u32) -> u32 {
        self.shortest[here as usize * self.network.nodes() as usize + dest as usize]
    }

    /// What goes through a node from now on is lost: all of it, or what leaves through one port.
    pub(super) fn lose(&mut self, node: u32, port: Option<u32>) {
        let nodes = self.network.nodes() as usize;
        for entry in &mut self.table[node as usize * nodes..][..nodes] {
            let is_lost = |step: Hop| port.is_none_or(|port| port == step.port);
            if entry.step().is_some_and(is_lost) {
                *entry = Packed::LOST;
            }
        }
        if !self.shortest.is_empty() {
            let bits = port.map_or(0, |port| !(1 << port));
            let ports = self.shortest[node as usize * nodes..][..nodes].iter_mut();
            ports.for_each(|ports| *ports &= bits);
        }
    }

    /// The hop from `here` towards another node, if there is any. `valleys` is the packet's own count, if packets carry one.
    #[inline]
    pub(super) fn step(&self, here: u32, dest: u32, valleys: &mut Valleys) -> Option<Hop> {
        if !self.table.is_empty() {
            return self.table[here as usize * self.network.nodes() as usize + dest as usize].step();
        }
        let (here, dest) = (u64::from(here), u64::from(dest));
        let next = self.network.unchecked().next(here, dest, self.rule);
        let class = if self.carried {
            valleys.ahead -= u32::from(valleys.descending && next > here);
            valleys.descending = next < here;
            valleys.ahead
        } else {
            self.class(here, dest)
        };
        Some(self.to(here, dest, next, class))
    }

    fn to(&self, here: Node, dest: Node, next: Node, class: u32) -> Hop {
        Hop {
            port: self.network.unchecked().port_to(here, next).unwrap_or(0) as u32,
            class,
            tie: self.tie(here, dest),
        }
    }

    /// What a packet has to carry from `from` to `to`. O(hops) steps of core, if packets carry anything.
    pub(super) fn valleys(&self, from: u32, to: u32) -> Valleys {
        let mut ahead = 0;
        if self.carried {
            let (mut here, mut descending) = (u64::from(from), false);
            while here != u64::from(to) {
                let next = self.network.unchecked().next(here, u64::from(to), self.rule);
                ahead += u32::from(descending && next > here);
                (here, descending) = (next, next < here);
            }
        }
        Valleys {
            ahead,
            descending: false,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.table.capacity() * size_of::<Packed>() + self.shortest.capacity() * 4
    }

    fn class(&self, here: Node, dest: Node) -> u32 {
        let class = buffer_classes::class(&self.network, here, dest, self.rule);
        class.and_then(|class| u32::try_from(class).ok()).unwrap_or(u32::MAX)
    }

    fn tie(&self, here: Node, dest: Node) -> bool {
        let Some(sizes) = &self.rings else { return false };
        let (mut here, mut dest) = (here, dest);
        for &size in sizes {
            let (from, to) = (here % size, dest % size);
            if from != to {
                return size > 2 && size % 2 == 0 && (to + size - from) % size == size / 2;
            }
            (here, dest) = (here / size, dest / size);
        }
        false
    }

    fn tabulate(&mut self, own: Option<&RouteTable>) {
        let nodes = self.network.nodes();
        let mut table = vec![Packed::default(); (nodes * nodes) as usize];
        for dest in 0..nodes {
            let next = |here| match own {
                Some(table) => table.next[(dest * nodes + here) as usize],
                None => self.network.unchecked().next(here, dest, self.rule) as u32,
            };
            let next: Vec<u32> = (0..nodes).map(next).collect();
            let classes = if own.is_some() || buffer_classes::counts_valleys(&self.network) {
                valleys(&next, dest as usize)
            } else {
                (0..nodes).map(|here| self.class(here, dest)).collect()
            };
            for here in (0..nodes).filter(|&here| here != dest) {
                let class = classes[here as usize];
                self.class_count = self.class_count.max(class + 1);
                table[(here * nodes + dest) as usize] =
                    Packed::new(self.to(here, dest, next[here as usize].into(), class));
            }
        }
        self.table = table;
    }

    fn sample_valleys(&self) -> u32 {
        let nodes = self.network.nodes();
        // Fixed steps through the numbers: the choice of classes must not depend on the seed of a run.
        let pairs = (0..SAMPLES).map(|i| ((i * 7_919) % nodes, (i * i * 104_729 + i * 31) % nodes));
        let ahead = pairs.map(|(from, to)| self.valleys(from as u32, to as u32).ahead);
        ahead.max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopwise_networks::dependency::find_cycle;
    use hopwise_testing::networks;

    /// Both ways to find a class agree with core: the table, and the count that a packet carries.
    #[test]
    fn classes_are_those_of_core() {
        for expression in "re(ring(4),complete(3),2) rcr(2,2,2) rcr(1,4,3) wk(4,2) rdn(ring(3),1)".split(' ') {
            let network: Network = expression.parse().unwrap();
            let wiring = Wiring::new(&network);
            for rule in [Rule::Exact, Rule::Paper] {
                let table = Routes::new(&network, rule, Rings::Core, &wiring, None);
                let asked = Routes {
                    carried: buffer_classes::counts_valleys(&network),
                    class_count: table.class_count,
                    ..Routes::without_table(&network, rule)
                };
                for from in 0..network.nodes() {
                    for to in 0..network.nodes() {
                        let mut carried = asked.valleys(from as u32, to as u32);
                        let mut here = from;
                        while here != to {
                            let class = buffer_classes::class(&network, here, to, rule).unwrap() as u32;
                            let step = table.step(here as u32, to as u32, &mut Valleys::default()).unwrap();
                            assert_eq!(step.class, class, "{expression} {rule:?}: {here} to {to}");
                            let other = asked.step(here as u32, to as u32, &mut carried);
                            let expected = Some(step);
                            assert_eq!(other, expected, "{expression} {rule:?}: from {from}, at {here} to {to}");
                            assert!(class < table.class_count);
                            here = network.unchecked().neighbor(here, u64::from(step.port)).unwrap();
                        }
                    }
                }
            }
        }
    }

    fn has_cycle(places: usize, mut edges: Vec<(usize, usize)>) -> bool {
        edges.sort_unstable();
        find_cycle(places, &edges).is_some()
    }

    /// Which channel waits for which, of all packets that visit a node on their way, each half of the way in classes of its own or not.
    fn waits_of_valiant(network: &Network, own_classes: bool) -> (usize, Vec<(usize, usize)>) {
        let wiring = Wiring::new(network);
        let routes = Routes::new(network, Rule::Exact, Rings::Core, &wiring, None);
        let classes = routes.class_count as usize * 2;
        let nodes = network.nodes() as u32;
        let mut waits = Vec::new();
        for (from, via) in (0..nodes).flat_map(|from| (0..nodes).map(move |via| (from, via))) {
            for dest in 0..nodes {
                let (mut here, mut before) = (from, None);
                for (target, half) in [(via, 1), (dest, 0)] {
                    while here != target {
                        let step = routes.step(here, target, &mut Valleys::default()).unwrap();
                        let offset = if own_classes { half * classes / 2 } else { 0 };
                        let port = (wiring.first[here as usize] + 1 + step.port) as usize;
                        let channel = port * classes + step.class as usize + offset;
                        waits.extend(before.map(|before| (before, channel)));
                        before = Some(channel);
                        here = wiring.node[wiring.peer[port] as usize];
                    }
                }
            }
        }
        (wiring.ports() * classes, waits)
    }

    /// Valiant's paths wait for each other in no cycle, if each half of them has classes of its own; without, they do.
    #[test]
    fn the_classes_of_valiant_are_free_of_cycles() {
        for expression in networks("valiant") {
            let network: Network = expression.parse().unwrap();
            let (places, waits) = waits_of_valiant(&network, true);
            assert!(!has_cycle(places, waits), "{expression}");
            let (places, waits) = waits_of_valiant(&network, false);
            assert!(has_cycle(places, waits), "{expression}: one set of classes would do");
        }
    }

    /// Packets that may choose wait for each other in no cycle once they have nothing left but their escape: from wherever they have
    /// got to, the routing function's port in the class that the routing function has there. A packet in an escape channel has come there by the routing function, so
    /// that what it waits for is what it waits for without any choice.
    #[test]
    fn the_escapes_of_adaptive_packets_are_free_of_cycles() {
        for expression in networks("adaptive") {
            let network: Network = expression.parse().unwrap();
            let wiring = Wiring::new(&network);
            let mut routes = Routes::new(&network, Rule::Exact, Rings::Core, &wiring, None);
            routes.find_shortest(&wiring, &Standing::default());
            let classes = routes.class_count as usize;
            let mut waits = Vec::new();
            for (here, dest) in
                (0..network.nodes() as u32).flat_map(|here| (0..network.nodes() as u32).map(move |dest| (here, dest)))
            {
                let channel = |here: u32| {
                    let step = routes.step(here, dest, &mut Valleys::default())?;
                    let port = wiring.first[here as usize] + 1 + step.port;
                    let number = port as usize * classes + step.class as usize;
                    Some((number, step.port, wiring.node[wiring.peer[port as usize] as usize]))
                };
                if here == dest {
                    assert_eq!(routes.shortest(here, dest), 0);
                    continue;
                }
                let (first, port, next) = channel(here).unwrap();
                // The escape is one of the shortest paths, so that what escapes comes closer too.
                let found = routes.shortest(here, dest) & 1 << port;
                assert_ne!(found, 0, "{expression}: {here} to {dest}");
                if next != dest {
                    waits.push((first, channel(next).unwrap().0));
                }
            }
            assert!(!has_cycle(wiring.ports() * classes, waits), "{expression}");
        }
    }
}
