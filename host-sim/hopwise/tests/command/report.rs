//! `hopwise report`: what a trace tells agrees with what the simulator knows.

use crate::support::{Folder, printed, printed_json, simulate, words};
use serde_json::Value;

fn report(trace: &str) -> Value {
    printed_json(&["report", trace, "--json"])
}

fn sum(report: &Value, key: &str) -> u64 {
    let links = report["links"].as_array().unwrap();
    links.iter().map(|link| link[key].as_u64().unwrap()).sum()
}

#[test]
fn the_figures_are_those_of_the_simulator() {
    let folder = Folder::new("figures");
    let trace = folder.path("trace.jsonl");
    let settings = words("heawood --packets 2000 --ber 5e-5 --pull-every 200ms --seed 3", &[]);
    let known = simulate(&trace, &settings);
    let told = report(&trace);
    assert_eq!(told["network"], "heawood");
    assert_eq!(told["nodes"], 14);
    let datagrams = &told["delivery"]["datagram"];
    assert_eq!(datagrams["packets"], known["sent"]);
    assert_eq!(datagrams["delivered"], known["delivered"]);
    assert_eq!(datagrams["duplicates"], known["duplicated"]);
    let found = sum(&told, "retransmissions");
    assert_eq!(found, known["retransmissions"].as_u64().unwrap());
    assert_eq!(sum(&told, "ups"), known["links_up"].as_u64().unwrap());
    assert_eq!(told["detours"], known["detours"]);
    for (reason, count) in known["drops"].as_object().unwrap() {
        assert_eq!(&told["drops"][reason]["count"], count, "{reason}");
    }
    let found = told["drops"].as_object().unwrap().len();
    assert_eq!(found, known["drops"].as_object().unwrap().len());
    let latency = &told["latency"]["end_to_end"];
    assert_eq!(latency["count"], known["delivered"]);
    let mean = |of: &Value, key: &str| of[key].as_f64().unwrap();
    let (ours, theirs) = (mean(latency, "mean_us"), mean(&known, "latency_mean_us"));
    assert!((ours - theirs).abs() < 0.01, "{ours} {theirs}");
    assert!(sum(&told, "damaged") > 0 && sum(&told, "downs") > 0);
}

#[test]
fn detours_are_longer_and_named() {
    let folder = Folder::new("detours");
    let trace = folder.path("trace.jsonl");
    simulate(&trace, &["ring(6)", "--packets", "300", "--events", "0s cut 0.0"]);
    let told = report(&trace);
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
