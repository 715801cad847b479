//! Shared by the tests of the load simulator.

use hopwise_core::Network;
use hopwise_load::measure::Point;

use hopwise_load::settings::{Found, Settings};
use serde_json::{Map, Value};

pub(crate) fn network(expression: &str) -> Network {
    let parsed = expression.parse();
    parsed.unwrap_or_else(|error| panic!("{expression}: {error}"))
}

/// What `hopwise load` finds of a line such as `ring(8) --rate 0.9 --packet-flits 4`, measured as exactly as tests need it; with `--cycles`
/// for exactly so many. A later option comes in place of an earlier one.
fn found(line: &str) -> Found {
    let (network, options) = line.split_once(' ').unwrap_or((line, ""));
    let mut table: Map<String, Value> = Map::new();
    table.insert("network".into(), network.into());
    let options = format!(" --precision 0.005 --most-cycles {} {options}", 200 << 10);
    for option in options.split(" --").skip(1) {
        let (name, value) = option.trim().split_once(' ').unwrap_or((option, "true"));
        let value: Value = serde_json::from_str(value).unwrap_or_else(|_| value.trim_matches('\'').into());
        if name == "cycles" {
            table.insert("most-cycles".into(), value.clone());
        }
        table.insert(name.into(), value);
    }
    let settings = Settings::of(&table);
    let found = settings.and_then(|settings| settings.run(&|_, _| ()));
    found.unwrap_or_else(|error| panic!("{line}: {error}"))
}

pub(crate) fn point(line: &str) -> Point {
    match found(line) {
        Found::Point(point) => *point,
        Found::Saturation(_) => panic!("{line}: no point"),
    }
}

/// Far above what a network can carry, packets of so many flits keep arriving.
pub(crate) fn assert_flows(expression: &str, options: &str, flits: u32) {
    let line = format!("{expression} {options} --packet-flits {flits} --rate 0.9 --cycles 3072");
    let point = point(&line);
    assert_eq!(point.deadlock, None, "{line}");
    let busy = f64::from(flits) * point.accepted_rate;
    assert!(busy > 0.005, "{line}: only {busy} flits a node a cycle");
}

pub(crate) fn saturation(line: &str) -> f64 {
    match found(&format!("{line} --saturation --saturation-precision 0.01 --seeds 1")) {
        Found::Point(_) => panic!("{line}: a point"),
        Found::Saturation(found) => found.saturation_rate,
    }
}

/// What must not differ between two runs.
pub(crate) fn without_times(mut point: Point) -> Point {
    (point.setup_seconds, point.wall_seconds) = (0.0, 0.0);
    (point.node_cycles_per_second, point.packets_per_second) = (0.0, 0.0);
    point
}
