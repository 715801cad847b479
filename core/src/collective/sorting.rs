//! Comparators that sort, from node numbers alone.

/// Stages of comparators after which node i has the i-th smallest value.
///
/// For a power of 2 it is the bitonic sorter: all pairs differ in one bit, so a hypercube compares neighbors. For other numbers
/// it is Batcher's odd-even merge sort, whose pairs need not differ in one bit but which sorts any number. Both have
/// t (t + 1) / 2 stages, t = ceil(log2 nodes).
///
/// K. E. Batcher, Sorting Networks and their Applications, 1968; D. E. Knuth, The Art of Computer Programming 3, 5.2.2 M and 5.3.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sorting {
    nodes: u64,
}

/// What a node does in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparator {
    /// The node it exchanges values with.
    pub partner: u64,
    /// Whether it keeps the smaller of the two.
    pub keeps_smaller: bool,
}

impl Sorting {
    /// The sorting network for this many nodes.
    pub fn new(nodes: u64) -> Self {
        Sorting { nodes }
    }

    /// ceil(log2 nodes).
    fn bits(self) -> u32 {
        self.nodes
            .max(1)
            .saturating_sub(1)
            .checked_ilog2()
            .map_or(0, |bits| bits + 1)
    }

    /// The number of stages.
    pub fn stages(self) -> u64 {
        let bits = u64::from(self.bits());
        bits * (bits + 1) / 2
    }

    /// A stage as the bit that its runs end with and the bit that it compares: (0,0), (1,1), (1,0), (2,2), ...
    fn bits_of(self, stage: u64) -> Option<(u32, u32)> {
        let mut first = 0;
        for run in 0..self.bits() {
            let length = u64::from(run) + 1;
            if stage < first + length {
                return Some((run, run - (stage - first) as u32));
            }
            first += length;
        }
        None
    }

    /// The comparator of a node in a stage, if it has one.
    pub fn comparator(self, stage: u64, node: u64) -> Option<Comparator> {
        let (run, bit) = self.bits_of(stage)?;
        let apart = 1u64.checked_shl(bit)?;
        if node >= self.nodes {
            return None;
        }
        if self.nodes.is_power_of_two() {
            // The merged runs ascend where the bit above them is 0, as it is for the last one, which is all nodes.
            let ascends = node.checked_shr(run + 1).unwrap_or(0) & 1 == 0;
            let is_low = node & apart == 0;
            return Some(Comparator {
                partner: node ^ apart,
                keeps_smaller: ascends == is_low,
            });
        }
        if self.is_low(run, apart, node) {
            Some(Comparator {
                partner: node + apart,
                keeps_smaller: true,
            })
        } else {
            let partner = node.checked_sub(apart)?;
            self.is_low(run, apart, partner).then_some(Comparator {
                partner,
                keeps_smaller: false,
            })
        }
    }

    /// Whether a node is compared with the one `apart` above it, where sorted runs of 2^run nodes are merged.
    fn is_low(self, run: u32, apart: u64, node: u64) -> bool {
        // The first comparison of a merge begins at 0, later ones where the previous one ended.
        let first = if apart.trailing_zeros() == run { 0 } else { apart };
        let merged = |node: u64| node.checked_shr(run + 1).unwrap_or(0);
        let place = node.checked_sub(first);
        place.is_some_and(|place| place & apart == 0)
            && node
                .checked_add(apart)
                .is_some_and(|other| other < self.nodes && merged(node) == merged(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn sorted(nodes: u64, mut values: Vec<u32>) -> Vec<u32> {
        let sorting = Sorting::new(nodes);
        for stage in 0..sorting.stages() {
            let before = values.clone();
            for node in 0..nodes {
                if let Some(comparator) = sorting.comparator(stage, node) {
                    let back = sorting.comparator(stage, comparator.partner).unwrap();
                    assert_eq!(back.partner, node);
                    assert_ne!(back.keeps_smaller, comparator.keeps_smaller);
                    let (own, other) = (before[node as usize], before[comparator.partner as usize]);
                    values[node as usize] = if comparator.keeps_smaller {
                        own.min(other)
                    } else {
                        own.max(other)
                    };
                }
            }
        }
        values
    }

    /// The 0-1 principle: comparators that sort all sequences of 0 and 1 sort everything.
    #[test]
    fn all_sequences_of_zeros_and_ones_are_sorted() {
        for nodes in 1..=16u64 {
            for pattern in 0..1u32 << nodes {
                let values = (0..nodes).map(|node| pattern >> node & 1).collect();
                assert!(sorted(nodes, values).is_sorted(), "{nodes} nodes, pattern {pattern:b}");
            }
        }
    }

    #[test]
    fn the_largest_number_of_nodes_does_no_harm() {
        for nodes in [0, 1, 2, u64::MAX, 1 << 63] {
            let sorting = Sorting::new(nodes);
            for stage in [0, 1, sorting.stages(), u64::MAX] {
                for node in [0, 1, nodes.saturating_sub(1), u64::MAX] {
                    let _ = sorting.comparator(stage, node);
                }
            }
        }
    }
}
