//! What a router takes of a board's memory. `cargo test -p hopwise-node --test all memory -- --nocapture` prints it.

use hopwise_core::Network;
use hopwise_node::capacities::{Board, Capacities, Sizes};
use hopwise_node::link::Link;
use hopwise_node::router::{Config, ConfigError, Router};
use hopwise_node::wire::WIRE;

/// A router of the default sizes, five wires and one to a host, fits here.
const BUDGET: usize = 19 * 1024 + 512;

/// One of two nodes that talk to each other fits here.
const SMALL_BUDGET: usize = 5_200;

hopwise_node::capacities! {
    /// For `path(2)` and a host.
    struct Small {
        links: 2,
        buffers: 8,
        body: 108,
        peers: 2,
        virtual_channels: 2,
        inbox: 2,
        service: 1,
        outbox: 2,
        outstanding: 2,
        served_ports: 4,
        link_share: 2,
        passing: 1,
    }
}

fn print<C: Capacities>(name: &str, budget: usize) {
    let Sizes {
        links, buffers, body, ..
    } = C::SIZES;
    println!("{name:20}{:6} of {budget} bytes", size_of::<Router<C>>());
    println!(
        "  {buffers} buffers, {links} links, packets of {} bytes and more",
        body + 12
    );
}

#[test]
fn a_router_of_the_default_sizes_keeps_its_budget() {
    print::<Board>("router", BUDGET);
    println!("  a link            {:6}", size_of::<Link<WIRE>>());
    println!("  the network       {:6}", size_of::<Network>());
    let router = size_of::<Router>();
    assert!(router <= BUDGET, "a router takes {router} bytes");
}

#[test]
fn a_small_router_keeps_its_budget() {
    print::<Small>("small router", SMALL_BUDGET);
    let router = size_of::<Router<Small>>();
    assert!(router <= SMALL_BUDGET, "a small router takes {router} bytes");
}

#[test]
fn a_small_router_is_for_small_networks() {
    let new = |expression: &str| {
        let config = Config::new(expression.parse().expect("a network"), 0, 1, 2);
        Router::<Small>::new(&config, 0).map(|_| ())
    };
    assert_eq!(new("path(2)"), Ok(()));
    let too_few = ConfigError::TooFewVirtualChannels { needed: 3, have: 2 };
    assert_eq!(new("path(3)"), Err(too_few));
    let found = too_few.to_string();
    assert_eq!(found, "the network needs 3 virtual channels, the node has only 2");
}
