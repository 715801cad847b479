//! The tree that a broadcast takes, printed. Each node computes only its own children, from its address and the source's.
//!
//! `cargo run -p hopwise-core --example broadcast_tree -- 'rdn(ring(3),1)' 0`

use std::env;
use std::error::Error;

use hopwise_core::Network;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let (expression, source) = match &args[..] {
        [expression, source] => (expression.as_str(), source.parse()?),
        _ => ("rdn(ring(3),1)", 0),
    };
    let network: Network = expression.parse()?;
    let (mut to_visit, mut reached) = (vec![(source, 0)], 0);
    while let Some((node, depth)) = to_visit.pop() {
        println!("{:indent$}{node} {}", "", network.address(node)?, indent = 2 * depth);
        reached += 1;
        let mut children: Vec<_> = network
            .fanout(node, source)?
            .map(|(_port, child)| (child, depth + 1))
            .collect();
        // The child that is served first is printed first.
        children.reverse();
        to_visit.append(&mut children);
    }
    println!("{reached} of {} nodes, each once", network.nodes());
    Ok(())
}
