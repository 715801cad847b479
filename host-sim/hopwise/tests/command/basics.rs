//! The `hopwise` command as a script sees it: keys, exit status, one sentence for bad input.

use serde_json::Value;

use crate::support::{hopwise, printed_json};

#[test]
fn deadlock_has_its_keys_and_shows_a_cycle() {
    let safe = printed_json(&["deadlock", "rcr(2,2,2)", "--json"]);
    assert_eq!(safe["acyclic"], true);
    assert!(safe["classes"].as_u64() >= Some(2));
    let output = hopwise(&["deadlock", "rcr(2,2,2)", "--scheme", "one", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let unsafe_: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(unsafe_["acyclic"], false);
    let cycle = unsafe_["cycle"].as_array().unwrap();
    for (first, second) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
        assert_eq!(first["to"], second["from"], "{cycle:?}");
    }
}

#[test]
fn choose_ranks_what_fits() {
    let found = printed_json(&["choose", "--nodes", "18", "--ports", "3", "--json"]);
    let networks = found["networks"].as_array().expect("a list");
    assert!(networks.len() > 10);
    let mean = |network: &Value| network["mean_distance"].as_f64().expect("known for 18 nodes");
    let rises = networks.windows(2).all(|pair| mean(&pair[0]) <= mean(&pair[1]));
    assert!(rises, "best first");
    let excess = networks[0]["excess"].as_f64().expect("known for 18 nodes");
    assert!((0.0..0.03).contains(&excess), "{excess} above the bound");
    let regular = networks
        .iter()
        .find(|network| network["expression"] == "rdn(ring(3),1)");
    assert!(regular.is_some(), "the papers' networks are ranked too");
    for network in networks {
        assert_eq!(network["nodes"], 18);
        assert!(network["degree_max"].as_u64().expect("a number") <= 3, "{network}");
        let expression = network["expression"].as_str().expect("text");
        let searches = expression.starts_with("lift(") || expression.ends_with(",sd)");
        assert_eq!(
            network["next_hop"],
            if searches { "search" } else { "formula" },
            "{expression}"
        );
    }
    let best = (
        &found["best"]["network"],
        &found["best"]["mean"],
        &found["best"]["bound"],
    );
    let first = (
        &networks[0]["expression"],
        &networks[0]["mean_distance"],
        &found["bound_mean_distance"],
    );
    assert_eq!(best, first);
    assert!(found["recommended"].is_null(), "rdn(ring(3),1) is 15% above");
    let readable = printed_json(&["choose", "--nodes", "16", "--ports", "3", "--json", "--top", "1"]);
    let (best, recommended) = (&readable["best"], &readable["recommended"]);
    let next_hops = (&best["next_hop"], &recommended["next_hop"]);
    assert_eq!(next_hops, (&"search".into(), &"formula".into()));
    let above = recommended["mean"].as_f64().expect("known") / best["mean"].as_f64().expect("known");
    assert!((1.0..=1.05).contains(&above), "{recommended} is {above} times the best");
}
