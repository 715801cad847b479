//! Cables are pulled, and boards reset, under requests, large messages and streams.

use super::settings::{also, flag, on, run};

const NETWORKS: [&str; 5] = ["rdn(ring(3),1)", "torus(3,3)", "ring(6)", "hypercube(3)", "wk(3,2)"];

/// Runs a seed, in which all guarantees must be kept: how many calls there were, and how many arrived.
pub(crate) fn assert_a_seed(seed: u64) -> [u64; 2] {
    let resets = flag("--reset-every 3s", seed.is_multiple_of(4));
    let network = NETWORKS[seed as usize % NETWORKS.len()];
    let service = ["any", "request", "stream", "large"][seed as usize / 4 % 4];
    let pulls = ["300ms", "150ms"][seed as usize % 2];
    let settings = also(
        on(network),
        &format!("--service {service} --packets 40 --rate 1 --payload 100 --seed {seed}"),
    );
    let account = run(&also(settings, &format!("--pull-every {pulls} {resets}")));
    [account.tally.sent, account.tally.delivered]
}
