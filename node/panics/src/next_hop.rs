//! Next hop, distance and fan-out of every family.

use core::hint::black_box;

use hopwise_core::{Network, Rule};

pub fn run() {
    if let Ok(network) = black_box("").parse::<Network>() {
        let (here, there) = (black_box(0), black_box(0));
        let _ = black_box(network.next_hop(here, there, black_box(Rule::Exact)));
        let _ = black_box(network.distance(here, there));
        if let Ok(fanout) = network.fanout(here, there) {
            black_box(fanout.count());
        }
    }
}
