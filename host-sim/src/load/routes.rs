//! Where a packet goes next, ready for the inner loop: from core's rules, tabulated or laid out packet by packet.

use hopwise_core::{Network, Node, Rule, Topology};

use super::parameters::Rings;
use super::wiring::{NO_AXIS, Wiring};

/// Up to this many nodes, the answers for all pairs are kept in a table (4 bytes a pair).
const TABLE_NODES: u64 = 1_024;

/// Pairs on which core's classes are compared with the valleys ahead.
const SAMPLES: u64 = 256;

/// A step of a route: the port at the node, the buffer class for the link behind it, and whether the opposite direction of
/// the ring is as short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Step(u32);

impl Step {
    const TIE: u32 = 1 << 31;
    const CLASS_BITS: u32 = 11;

    fn new(port: u32, class: u32, tie: bool) -> Self {
        debug_assert!(class < 1 << Self::CLASS_BITS && port < 1 << (31 - Self::CLASS_BITS));
        Self(port << Self::CLASS_BITS | class | if tie { Self::TIE } else { 0 })
    }

    /// The port, counted from 0 at its node.
    pub(super) fn port(self) -> u32 {
        (self.0 & !Self::TIE) >> Self::CLASS_BITS
    }

    /// The buffer class.
    pub(super) fn class(self) -> u32 {
        self.0 & ((1 << Self::CLASS_BITS) - 1)
    }

    /// Whether the ring's other direction is as short.
    pub(super) fn tie(self) -> bool {
        self.0 & Self::TIE != 0
    }
}

/// How classes are found for a network too large for a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Classes {
    /// Core is asked at every hop.
    Core,
    /// Valleys still ahead, counted in one pass over the route. Free of deadlock on every network with every loop-free
    /// rule, so it needs no proof that core does the same; that it does on samples means that no channels are wasted.
    Valleys,
}

/// Answers for the inner loop.
pub(super) enum Lookup {
    /// `steps[node * nodes + dest]`.
    Table(Vec<Step>),
    /// The whole route is laid out when a packet is made.
    Path,
}

/// The routes of a network under a rule.
pub(super) struct Routes {
    network: Network,
    rule: Rule,
    rings: Option<Vec<u64>>,
    classes: Classes,
    pub(super) lookup: Lookup,
    /// Classes in use (table), or the most that were met so far.
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
            classes: Classes::Core,
            lookup: Lookup::Path,
            class_count: 1,
        };
        if network.nodes() <= TABLE_NODES {
            routes.lookup = Lookup::Table(routes.tabulate());
        } else {
            routes.sample_classes(wiring);
        }
        routes
    }

    fn topology(&self) -> &dyn Topology {
        self.network.topology()
    }

    fn class(&self, here: Node, dest: Node) -> u32 {
        // No answer means a route of thousands of hops; a class that no buffer has makes the engine say so.
        let class = self
            .topology()
            .buffer_class(here, dest, self.rule)
            .unwrap_or(u64::from(u32::MAX));
        u32::try_from(class).unwrap_or(u32::MAX)
    }

    fn port(&self, here: Node, next: Node) -> u32 {
        self.topology().port_to(here, next).unwrap_or(0) as u32
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

    fn tabulate(&mut self) -> Vec<Step> {
        let nodes = self.network.nodes();
        let mut steps = Vec::with_capacity((nodes * nodes) as usize);
        let mut most = 0;
        for here in 0..nodes {
            for dest in 0..nodes {
                if here == dest {
                    steps.push(Step::default());
                    continue;
                }
                let next = self.topology().next(here, dest, self.rule);
                let class = self.class(here, dest);
                most = most.max(class);
                steps.push(Step::new(self.port(here, next), class, self.tie(here, dest)));
            }
        }
        self.class_count = most + 1;
        steps
    }

    fn sample_classes(&mut self, wiring: &Wiring) {
        let nodes = self.network.nodes();
        // Fixed steps through the numbers: the choice of classes must not depend on the seed of a run.
        let pairs = (0..SAMPLES).map(|i| ((i * 7_919) % nodes, (i * i * 104_729 + i * 31) % nodes));
        let mut route = Vec::new();
        let mut valleys = true;
        for (from, to) in pairs {
            self.classes = Classes::Valleys;
            let most = self.lay_out(wiring, (from, to), || false, &mut route);
            self.class_count = self.class_count.max(most + 1);
            let mut here = from;
            for step in &route {
                valleys &= step.class() == self.class(here, to);
                here = self.topology().neighbor(here, u64::from(step.port())).unwrap_or(to);
            }
        }
        if !valleys {
            self.classes = Classes::Core;
            self.class_count = u32::try_from(self.network.buffer_classes(self.rule)).unwrap_or(u32::MAX);
        }
    }

    /// The route from `from` to `to` and its highest class; `coin` is tossed at ties. O(hops) steps of core.
    pub(super) fn lay_out(
        &self,
        wiring: &Wiring,
        (from, to): (Node, Node),
        mut coin: impl FnMut() -> bool,
        route: &mut Vec<Step>,
    ) -> u32 {
        route.clear();
        let (mut here, mut most) = (from, 0);
        let mut before = (NO_AXIS, 0);
        while here != to {
            let next = self.topology().next(here, to, self.rule);
            let mut class = if self.classes == Classes::Core {
                self.class(here, to)
            } else {
                0
            };
            let first = wiring.first[here as usize];
            let mut port = first + self.port(here, next);
            if let Some(rings) = wiring.rings.as_ref().filter(|_| self.rings.is_some()) {
                if self.tie(here, to) && coin() {
                    port = rings.opposite[port as usize];
                    class = 1 - class.min(1);
                }
                let axis = rings.axis[port as usize];
                if axis == before.0 {
                    class = before.1;
                }
                before = (axis, class);
            }
            most = most.max(class);
            route.push(Step::new(port - first, class, false));
            here = u64::from(wiring.node[wiring.peer[port as usize] as usize]);
        }
        if self.classes == Classes::Valleys {
            most = self.count_valleys(from, route);
        }
        most
    }

    /// Numbers the steps by the valleys after them; returns the first, and highest, number.
    fn count_valleys(&self, from: Node, route: &mut [Step]) -> u32 {
        let mut total = 0;
        for pass in 0..2 {
            let (mut here, mut descending, mut passed) = (from, false, 0);
            for step in route.iter_mut() {
                let next = self.topology().neighbor(here, u64::from(step.port())).unwrap_or(here);
                passed += u32::from(descending && next > here);
                descending = next < here;
                here = next;
                if pass == 1 {
                    *step = Step::new(step.port(), total - passed, step.tie());
                }
            }
            total = passed;
        }
        total
    }
}
