//! What a board computes for each packet: the port that leads to its destination.
//!
//! A board knows the expression of its network and its own address, both fixed when it is flashed. `next_hop` below allocates nothing and is
//! all that a router of your own needs. `cargo run -p hopwise-core --example next_hop -- 'rdn(ring(3),1)' 0 17` follows a packet.

use std::env;
use std::error::Error;

use hopwise_core::{Network, NoSuchNode, Node, Port, Rule};

struct Board {
    network: Network,
    address: Node,
}

impl Board {
    /// The port to send a packet on; `None` if it is for this board.
    fn next_hop(&self, destination: Node) -> Result<Option<Port>, NoSuchNode> {
        self.network.next_port(self.address, destination, Rule::Exact)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let (expression, from, to) = match &args[..] {
        [expression, from, to] => (expression.as_str(), from.parse()?, to.parse()?),
        _ => ("rdn(ring(3),1)", 0, 17),
    };
    let network: Network = expression.parse()?;
    let mut board = Board { network, address: from };
    while let Some(port) = board.next_hop(to)? {
        let next = network
            .neighbor(board.address, port)?
            .ok_or("a port without a neighbor")?;
        println!(
            "node {} {} sends on port {port} to node {next}",
            board.address,
            network.address(board.address)?
        );
        board.address = next;
    }
    println!("node {to} {} is the destination", network.address(to)?);
    Ok(())
}
