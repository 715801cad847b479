//! Packets that do not only follow the routing function, and networks that several threads work on.

use std::path::Path;

use crate::support::{assert_flows, network, point, without_times};
use hopwise_core::Rule;
use hopwise_load::RouteTable;
use hopwise_networks::export;
use hopwise_testing::networks;

/// Districts have nothing in common but letters, which are read in order: whoever works on them, the result is the same.
#[test]
fn any_number_of_threads_gives_the_same_result() {
    for (expression, flits, paths) in [
        ("torus(36,36)", 1, "rule"),
        ("torus(40,40)", 5, "valiant"),
        ("hypercube(10)", 2, "adaptive"),
        ("rdn(torus(5,5),1)", 3, "rule"),
    ] {
        let rate = 0.05 / f64::from(flits);
        let line = format!("{expression} --packet-flits {flits} --paths {paths} --rate {rate} --cycles 1024");
        let run = |threads: usize| without_times(point(&format!("{line} --threads {threads}")));
        let alone = run(1);
        let packets = alone.packets_measured;
        assert!(packets > 1_000, "{expression}: {packets}");
        for threads in [2, 3] {
            assert_eq!(alone, run(threads), "{expression}, {threads} threads");
        }
    }
}

/// Far above what they can carry, packets that choose their way, or visit another node first, keep arriving.
#[test]
fn neither_valiant_nor_adaptive_packets_lock_up() {
    for expression in networks("overloaded_by_other_paths") {
        for (paths, flits) in [("valiant", 1), ("valiant", 12), ("adaptive", 1), ("adaptive", 8)] {
            assert_flows(expression, &format!("--paths {paths}"), flits);
        }
    }
}

/// Adaptive packets take shortest paths, and where the routing function piles them up they spread.
#[test]
fn adaptive_packets_spread_over_shortest_paths() {
    let line = "mesh(8,8) --traffic transpose --rate 0.05";
    let (rule, adaptive) = (point(line), point(&format!("{line} --paths adaptive")));
    let [ours, theirs] = [&adaptive, &rule].map(|point| (point.hops_mean, point.link_load_max));
    assert!((ours.0 - theirs.0).abs() < 0.05, "{ours:?} {theirs:?}");
    assert!(ours.1 < 0.8 * theirs.1, "{ours:?} {theirs:?}");
    let carried = |paths: &str| !point(&format!("{line} --rate 0.17 --cycles 5120 --paths {paths}")).saturated;
    assert!(carried("adaptive") && !carried("rule"));
}

/// Valiant's packets load all links alike, whatever the pattern, for twice the hops of uniform traffic.
#[test]
fn valiant_makes_any_pattern_uniform() {
    let line = "torus(8,8) --traffic tornado --rate 0.05";
    let (rule, valiant) = (point(line), point(&format!("{line} --paths valiant")));
    let unevenness = |point: &hopwise_load::measure::Point| point.link_load_max / point.link_load_mean;
    assert!((7.9..8.1).contains(&valiant.hops_mean), "{}", valiant.hops_mean);
    assert!(unevenness(&rule) > 1.9, "{}", unevenness(&rule));
    assert!(unevenness(&valiant) < 1.5, "{}", unevenness(&valiant));
    assert_eq!((valiant.classes, valiant.virtual_channels), (4, 5));
}

#[test]
fn histograms_add_up() {
    let point = point("torus(6,5) --rate 0.1 --cycles 20480");
    assert_eq!(point.hops_histogram.iter().sum::<u64>(), point.packets_measured);
    // Halves of rings of 6 and 5.
    assert_eq!(point.hops_histogram.len(), 3 + 2 + 1);
    assert_eq!(point.link_histogram.iter().sum::<u64>(), 30 * 4);
    let expected = point.accepted_rate * point.hops_mean / 4.0;
    let mean = point.link_load_mean;
    assert!((mean / expected - 1.0).abs() < 0.02, "{mean} {expected}");
    assert!(point.link_load_max > point.link_load_mean && point.link_load_max < 1.0);
}

/// A table of routes in a file.
fn with_routes(name: &str, line: &str, table: &str) -> String {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, table).unwrap();
    format!("{line} --routes '{}'", file.display())
}

#[test]
fn exported_routes_are_those_of_the_routing_function() {
    let line = "rdn(ring(3),1) --rate 0.2 --cycles 20000 --class-limit 1";
    let table = export::routes(&network("rdn(ring(3),1)"), Rule::Exact).unwrap();
    let own = without_times(point(&with_routes("exported.csv", line, &table)));
    assert_eq!(own, without_times(point(line)));
}

/// All packets go one way round a ring: 1 to 4 hops, where the routing function needs 1 or 2. Tables with a pair missing, a loop or a line
/// that is none are refused.
#[test]
fn packets_go_by_a_table_that_leads_them_home() {
    let ring = network("ring(5)");
    let one_way = |node| ring.unchecked().port_to(node, (node + 1) % 5).unwrap();
    let pairs = (0..25).map(|pair| (pair / 5, pair % 5));
    let pairs = pairs.filter(|(node, dest)| node != dest);

    let lines = pairs.map(|(node, dest)| format!("{node},{dest},{}\n", one_way(node)));
    let lines: Vec<String> = std::iter::once("node,destination,port\n".into()).chain(lines).collect();
    let line = "ring(5) --traffic uniform --rate 0.02 --cycles 100000";
    let hops = point(&with_routes("one-way.csv", line, &lines.concat())).hops_mean;
    assert!((hops - 2.5).abs() < 0.05, "{hops} hops");
    let back = format!("1,3,{}\n", 1 - one_way(1));
    let none = |line: &str| format!("line 22: '{line}' is not a node, a destination and a port");
    for (table, why) in [
        (lines[..20].concat(), "the routes from node 4 do not lead to node 3"),
        (lines.concat() + &back, "the routes from node 0 do not lead to node 3"),
        (lines.concat() + "1,2\n", &none("1,2")),
        (lines.concat() + "1,2,2\n", &none("1,2,2")),
    ] {
        let error = RouteTable::read(&ring, table.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
