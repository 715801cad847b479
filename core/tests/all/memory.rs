//! What a node takes of a board's memory. `cargo test -p hopwise-core --test memory -- --nocapture` prints it.

use hopwise_core::Network;
use hopwise_core::limits;
use hopwise_core::link::Link;
use hopwise_core::node::Node;

/// A node of the default sizes, five wires and one to a computer, fits here.
const BUDGET: usize = 16 * 1024;

#[test]
fn a_node_of_the_default_sizes_fits_16_kib() {
    let node = size_of::<Node>();
    println!("node                {node:6} of {BUDGET} bytes");
    println!("  a link            {:6}", size_of::<Link<{ limits::WIRE }>>());
    println!("  the network       {:6}", size_of::<Network>());
    println!(
        "  {} buffers, {} ports, packets of {} bytes and more",
        limits::BUFFERS,
        limits::PORTS,
        limits::BODY + 13
    );
    assert!(node <= BUDGET, "a node takes {node} bytes");
}
