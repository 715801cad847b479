//! `hopwise report`: the paths that a trace tells of.

use crate::support::{Folder, printed, printed_json, simulate};
use serde_json::Value;

#[test]
fn detours_are_longer_and_named() {
    let folder = Folder::new("detours");
    let trace = folder.path("trace.jsonl");
    simulate(&trace, &["ring(6)", "--packets", "300", "--events", "0s cut 0.0"]);
    let told = printed_json(&["report", &trace, "--json"]);
    let paths = &told["paths"];
    assert!(paths["longer"].as_u64().unwrap() > 0, "{paths}");
    let nodes = |example: &Value, key: &str| example[key].as_array().unwrap().clone();
    let mut longer = 0;
    for example in paths["examples"].as_array().unwrap() {
        let (path, computed) = (nodes(example, "path"), nodes(example, "computed"));
        assert_eq!((path.first(), path.last()), (computed.first(), computed.last()));
        // The cable that was cut is on the computed path, and not on the one taken.
        let cut = |path: &[Value]| path.windows(2).any(|hop| hop == [0, 1] || hop == [1, 0]);
        assert!(cut(&computed) && !cut(&path), "{example}");
        longer += usize::from(path.len() > computed.len());
    }
    assert!(longer > 0, "{paths}");
    let text = printed(&["report", &trace]);
    assert!(text.contains("| packet | path it took | computed path |"), "{text}");
}
