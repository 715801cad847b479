//! What a router takes of a board's memory. `cargo test -p hopwise-node --test all memory -- --nocapture` prints it.

use hopwise_core::Network;
use hopwise_node::limits;
use hopwise_node::link::Link;
use hopwise_node::router::Router;
use hopwise_node::wire::WIRE;

/// A router of the default sizes, five wires and one to a computer, fits here.
const BUDGET: usize = 18 * 1024;

#[test]
fn a_router_of_the_default_sizes_keeps_its_budget() {
    let router = size_of::<Router>();
    println!("router              {router:6} of {BUDGET} bytes");
    println!("  a link            {:6}", size_of::<Link<WIRE>>());
    println!("  the network       {:6}", size_of::<Network>());
    println!(
        "  {} buffers, {} ports, packets of {} bytes and more",
        limits::BUFFERS,
        limits::PORTS,
        limits::BODY + 13
    );
    assert!(router <= BUDGET, "a router takes {router} bytes");
}
