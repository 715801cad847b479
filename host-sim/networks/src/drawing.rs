//! Addresses and broadcast trees as text.

use std::fmt::Write;

use hopwise_core::{Network, Node};

use crate::broadcast::Broadcast;

pub fn address(network: &Network, node: Node) -> String {
    let address = network.address(node);
    address.map(|address| address.to_string()).unwrap_or_default()
}

/// The tree of a broadcast, a line a node, children in sending order.
pub fn broadcast_tree(network: &Network, broadcast: &Broadcast, source: Node) -> String {
    let children = |node| {
        let children = broadcast.children(node).iter();
        children.map(|&child| Node::from(child)).collect()
    };
    let label = |node: Node| match address(network, node) {
        address if address != node.to_string() => format!("{node} {address}"),
        _ => node.to_string(),
    };
    tree(source, children, label)
}

/// Draws a tree, a line a node, with the children indented below their parent.
///
/// `children` lists those of a node, `label` names it.
fn tree(root: u64, children: impl Fn(u64) -> Vec<u64>, label: impl Fn(u64) -> String) -> String {
    let mut drawing = String::new();
    // Each entry: the node, what stands before its branch, and whether a sister follows it.
    let mut waiting = vec![(root, String::new(), None)];
    while let Some((node, before, sister_follows)) = waiting.pop() {
        let (branch, inside) = match sister_follows {
            None => ("", ""),
            Some(true) => ("├─ ", "│  "),
            Some(false) => ("└─ ", "   "),
        };

        let _ = writeln!(drawing, "{before}{branch}{}", label(node));
        let inside = before + inside;

        let below = children(node);
        for (place, child) in below.iter().enumerate().rev() {
            waiting.push((*child, inside.clone(), Some(place + 1 < below.len())));
        }
    }
    drawing
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_tree_is_drawn_with_its_branches() {
        let children = |node| match node {
            0 => vec![1, 2],
            1 => vec![3, 4],
            2 => vec![5],
            _ => vec![],
        };
        let drawing = super::tree(0, children, |node| node.to_string());
        assert_eq!(drawing, "0\n├─ 1\n│  ├─ 3\n│  └─ 4\n└─ 2\n   └─ 5\n");
    }
}
