//! Drawings in text.

use std::fmt::Write;

/// Draws a tree, a line a node, with the children indented below their parent.
///
/// `children` lists those of a node, `label` names it.
pub(super) fn tree(root: u64, children: impl Fn(u64) -> Vec<u64>, label: impl Fn(u64) -> String) -> String {
    let mut drawing = String::new();
    // Each entry: the node, what stands before its branch, and whether a sister follows it.
    let mut waiting = vec![(root, String::new(), None)];
    while let Some((node, before, sister_follows)) = waiting.pop() {
        let branch = match sister_follows {
            None => "",
            Some(true) => "├─ ",
            Some(false) => "└─ ",
        };
        let _ = writeln!(drawing, "{before}{branch}{}", label(node));
        let inside = match sister_follows {
            None => before,
            Some(true) => before + "│  ",
            Some(false) => before + "   ",
        };
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
