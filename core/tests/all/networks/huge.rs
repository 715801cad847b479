//! Networks far too large to build out: from random pairs each hop is one closer, and the way back is as long.

use super::descend::descend;
use crate::support::*;

/// Routes are followed for so many hops.
const HOPS: u64 = 64;

const PAIRS: u32 = 6;

#[test]
fn each_hop_is_one_closer() {
    for expression in networks("huge_of_core") {
        let network = network(expression);
        let mut random = Random(network.nodes());
        for _ in 0..cases(PAIRS) {
            if network.degree(0).unwrap() > 100 {
                continue;
            }
            let (from, to) = (random.below(network.nodes()), random.below(network.nodes()));
            descend(&network, from, to, HOPS);
        }
    }
}
