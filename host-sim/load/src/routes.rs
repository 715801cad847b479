//! Where a packet goes next, ready for the inner loop: core's rules, from a table or asked hop by hop.

use hopwise_core::{Network, Node, Rule};

use hopwise_networks::buffer_classes;

use super::parameters::Rings;
use super::wiring::Wiring;

/// Up to this many nodes, the answers for all pairs are kept in a table (4 bytes a pair).
const TABLE_NODES: u64 = 1_024;

/// Routes on which valleys are counted to guess how many classes a large network uses.
const SAMPLES: u64 = 256;

/// The step of a packet out of a node.
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
    /// A network with a table has routes of at most 1,023 hops, hence fewer than 512 valleys.
    const CLASS_BITS: u32 = 11;

    fn new(step: Hop) -> Self {
        Self(step.port << Self::CLASS_BITS | step.class | if step.tie { Self::TIE } else { 0 })
    }

    fn step(self) -> Hop {
        Hop {
            port: (self.0 & !Self::TIE) >> Self::CLASS_BITS,
            class: self.0 & ((1 << Self::CLASS_BITS) - 1),
            tie: self.0 & Self::TIE != 0,
        }
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

/// The routes of a network under a rule.
pub(super) struct Routes {
    network: Network,
    rule: Rule,
    rings: Option<Vec<u64>>,
    /// `table[node * nodes + dest]`; empty for a large network.
    table: Vec<Packed>,
    /// Whether packets carry their class: the network has no table, and no way to find the class but along the route.
    pub(super) carried: bool,
    /// Classes in use; if packets carry them, the most that were met so far.
    pub(super) class_count: u32,
}

impl Routes {
    /// Tabulates a small network; O(nodes^2) steps of core.
    pub(super) fn new(network: &Network, rule: Rule, rings: Rings, wiring: &Wiring) -> Self {
        let sizes = wiring
            .rings
            .as_ref()
            .filter(|_| rings == Rings::Balanced)
            .map(|rings| rings.sizes.clone());
        let mut routes = Self {
            network: *network,
            rule,
            rings: sizes,
            table: Vec::new(),
            carried: false,
            class_count: 1,
        };
        if network.nodes() <= TABLE_NODES {
            routes.tabulate();
        } else if buffer_classes::counts_valleys(network) {
            routes.carried = true;
            routes.class_count = routes.sample_valleys() + 1;
        } else {
            routes.class_count = u32::try_from(buffer_classes::count(network, rule)).unwrap_or(u32::MAX);
        }
        routes
    }

    /// The hop from `here` towards another node. `valleys` is the packet's own count, if packets carry one.
    #[inline]
    pub(super) fn step(&self, here: u32, dest: u32, valleys: &mut Valleys) -> Hop {
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
        self.to(here, dest, next, class)
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

    /// Bytes of the table.
    pub(super) fn bytes(&self) -> usize {
        self.table.capacity() * size_of::<Packed>()
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

    fn tabulate(&mut self) {
        let nodes = self.network.nodes();
        let mut table = vec![Packed::default(); (nodes * nodes) as usize];
        for dest in 0..nodes {
            let next: Vec<Node> = (0..nodes)
                .map(|here| self.network.unchecked().next(here, dest, self.rule))
                .collect();
            let classes = if buffer_classes::counts_valleys(&self.network) {
                valleys_of_tree(&next, dest)
            } else {
                (0..nodes).map(|here| self.class(here, dest)).collect()
            };
            for here in (0..nodes).filter(|&here| here != dest) {
                let class = classes[here as usize];
                self.class_count = self.class_count.max(class + 1);
                table[(here * nodes + dest) as usize] = Packed::new(self.to(here, dest, next[here as usize], class));
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

/// The valleys ahead of every node on its route to `dest`, if `next` leads there. O(nodes): every node asks the next.
fn valleys_of_tree(next: &[Node], dest: Node) -> Vec<u32> {
    const UNKNOWN: u32 = u32::MAX;
    let mut valleys = vec![UNKNOWN; next.len()];
    valleys[dest as usize] = 0;
    let mut route = Vec::new();
    for start in 0..next.len() as u64 {
        let mut here = start;
        while valleys[here as usize] == UNKNOWN {
            route.push(here);
            here = next[here as usize];
        }
        while let Some(before) = route.pop() {
            let after = next[here as usize];
            valleys[before as usize] = valleys[here as usize] + u32::from(here < before && after > here);
            here = before;
        }
    }
    valleys
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways to find a class agree with core: the table, and the count that a packet carries.
    #[test]
    fn classes_are_those_of_core() {
        for expression in [
            "re(ring(4),complete(3),2)",
            "rcr(2,2,2)",
            "rcr(1,4,3)",
            "wk(4,2)",
            "rdn(ring(3),1)",
        ] {
            let network: Network = expression.parse().unwrap();
            let wiring = Wiring::new(&network);
            for rule in [Rule::Exact, Rule::Paper] {
                let table = Routes::new(&network, rule, Rings::Core, &wiring);
                let asked = Routes {
                    table: Vec::new(),
                    carried: buffer_classes::counts_valleys(&network),
                    network,
                    rule,
                    rings: None,
                    class_count: table.class_count,
                };
                for from in 0..network.nodes() {
                    for to in 0..network.nodes() {
                        let mut carried = asked.valleys(from as u32, to as u32);
                        let mut here = from;
                        while here != to {
                            let class = buffer_classes::class(&network, here, to, rule).unwrap() as u32;
                            let step = table.step(here as u32, to as u32, &mut Valleys::default());
                            assert_eq!(step.class, class, "{expression} {rule:?}: {here} to {to}");
                            let other = asked.step(here as u32, to as u32, &mut carried);
                            assert_eq!(other, step, "{expression} {rule:?}: from {from}, at {here} to {to}");
                            assert!(class < table.class_count);
                            here = network.unchecked().neighbor(here, u64::from(step.port)).unwrap();
                        }
                    }
                }
            }
        }
    }
}
