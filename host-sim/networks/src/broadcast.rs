//! A broadcast, followed from its source to every node.

use hopwise_core::{Network, Node, Tree};

pub struct Broadcast {
    /// The nodes in the order in which they were reached, by depth; the source first.
    pub order: Vec<u32>,
    /// For each entry of `order`, its children: a range of `sent`.
    children: Vec<std::ops::Range<usize>>,
    /// Every copy sent, by receiver, in sending order.
    sent: Vec<u32>,
    /// Copies that came to someone who had it already.
    pub duplicates: u64,
    pub depth: u64,
    place: Vec<u32>,
}

const NOT_REACHED: u32 = u32::MAX;

impl Broadcast {
    /// Follows the fan-out from `source` until no node forwards it. A duplicate is counted and not forwarded again.
    pub fn follow(network: &Network, source: Node, tree: Tree) -> Broadcast {
        let mut found = Broadcast {
            order: vec![source as u32],
            children: Vec::new(),
            sent: Vec::new(),
            duplicates: 0,
            depth: 0,
            place: vec![NOT_REACHED; network.nodes() as usize],
        };
        let mut depths = vec![0u64];
        found.place[source as usize] = 0;
        while let Some(&here) = found.order.get(found.children.len()) {
            let depth = depths[found.children.len()] + 1;
            let start = found.sent.len();
            let fanout = network.fanout_by(here.into(), source, tree);
            for (_, child) in fanout.expect("nodes of the network are below its size") {
                found.sent.push(child as u32);
                if found.place[child as usize] == NOT_REACHED {
                    found.place[child as usize] = found.order.len() as u32;
                    found.order.push(child as u32);
                    depths.push(depth);
                    found.depth = depth;
                } else {
                    found.duplicates += 1;
                }
            }
            found.children.push(start..found.sent.len());
        }
        found
    }

    /// How many nodes have it, the source among them.
    pub fn reached(&self) -> u64 {
        self.order.len() as u64
    }

    pub fn sends(&self) -> u64 {
        self.sent.len() as u64
    }

    /// The children of a node that was reached, in sending order.
    pub fn children(&self, node: Node) -> &[u32] {
        &self.sent[self.children[self.place[node as usize] as usize].clone()]
    }

    /// Steps until every node has it if a node sends one copy per step, beginning the step after it received.
    pub fn one_port_steps(&self) -> u64 {
        self.steps(|_| ())
    }

    /// The same if every node served the child first whose part of the tree takes longest: the best order for this tree.
    pub fn best_one_port_steps(&self) -> u64 {
        self.steps(|times| times.sort_unstable_by(|a, b| b.cmp(a)))
    }

    fn steps(&self, reorder: impl Fn(&mut [u64])) -> u64 {
        let mut steps = vec![0u64; self.order.len()];
        let mut times = Vec::new();
        for place in (0..self.order.len()).rev() {
            times.clear();
            times.extend(self.sent[self.children[place].clone()].iter().map(|&child| {
                let child = self.place[child as usize] as usize;
                // Of a duplicate nothing hangs on.
                if child > place { steps[child] } else { 0 }
            }));
            reorder(&mut times);
            steps[place] = times.iter().zip(1..).map(|(time, turn)| turn + time).max().unwrap_or(0);
        }
        steps[0]
    }
}
