//! The simulator against the reference simulator BookSim 2: topology=torus routing_function=dim_order, or topology=anynet
//! routing_function=min; num_vcs=2 vc_buf_size=8 traffic=uniform use_noc_latency=0, every pipeline delay 1.
//! Its uniform traffic is from every node to every node, itself included: `uniform-with-self`.

use crate::support::{network, point, saturation, without_times};
use hopwise_load::parameters::Parameters;
use hopwise_testing::networks;

/// An experiment, the reference's mean latency, and how far off it may be. The reference's own noise is 1%.
const REFERENCE: [(&str, f64, f64); 16] = [
    ("torus(8,8) --rate 0.002", 26.95, 0.02),
    ("torus(8,8) --rate 0.05", 27.55, 0.02),
    ("torus(8,8) --packet-flits 4 --rate 0.05", 34.15, 0.02),
    ("torus(8,8) --rate 0.25", 40.30, 0.05),
    ("rdn(ring(3),1) --rate 0.002", 19.65, 0.02),
    ("rdn(ring(3),1) --rate 0.05", 19.59, 0.02),
    ("rdn(ring(3),1) --rate 0.25", 20.80, 0.05),
    ("rdn(ring(3),1) --rate 0.35", 22.34, 0.05),
    // The same two virtual channels for every packet, as the reference has them on networks other than tori, without a guarantee against
    // deadlock: what is left of the difference is noise.
    ("rdn(ring(3),1) --rate 0.25 --class-limit 1", 20.80, 0.01),
    ("rdn(ring(3),1) --rate 0.35 --class-limit 1", 22.34, 0.01),
    ("rdn(torus(3,3),1) --rate 0.05", 27.51, 0.02),
    ("rdn(torus(3,3),1) --rate 0.15", 28.35, 0.05),
    ("rdn(petersen,1) --rate 0.05", 29.32, 0.02),
    ("rsn(2,ring(14)) --rate 0.05", 41.80, 0.02),
    // BookSim 2 with `continue` for `break` where it looks for work, which makes its stages pipelined; 32.89 as it is.
    (
        "torus(4,4) --rate 0.2 --routing-delay 3 --stages pipelined",
        26.82,
        0.01,
    ),
    // 17.62 where nodes take in every flit at once, 19.02 where credits of sources are delayed, too.
    (
        "ghc(4,4) --rate 0.2 --class-limit 1 --shared-channels 0 --buffers 3 --credit-delay 4",
        18.33,
        0.01,
    ),
];

fn assert_latency(line: &str, latency: f64, tolerance: f64) {
    let point = point(line);
    let (mean, off) = (point.latency_mean, 100.0 * (point.latency_mean / latency - 1.0));
    let agrees = off.abs() <= 100.0 * tolerance && !point.saturated;
    assert!(agrees, "{line}: {mean} instead of {latency}, off by {off:.1}%");
}

#[test]
fn latencies_are_those_of_the_reference() {
    for (line, latency, tolerance) in REFERENCE {
        assert_latency(line, latency, tolerance);
    }
}

/// Points drawn by `tools/booksim-accuracy --points`, as it prints them; both stages take batches there.
const DRAWN: &str = include_str!("drawn.txt");

#[test]
fn drawn_points_are_those_of_the_reference() {
    for row in DRAWN.lines() {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let number = |cell: usize| -> f64 { cells[cell].parse().unwrap_or_else(|_| panic!("{row}")) };
        let (expression, rate) = (cells[2], number(11));
        let channels = match number(7) as u32 {
            all if expression.starts_with("torus") => format!("--class-channels {}", all / 2),
            all => format!("--class-limit 1 --shared-channels {}", all - 1),
        };
        let cycles = (60_000.0 / rate / network(expression).nodes() as f64) as u32;
        let names = "traffic routing-delay traversal-delay credit-delay - buffers packet-flits - rate".split(' ');
        let options = names.zip(&cells[3..]).filter(|(name, _)| *name != "-");
        let options: String = options.map(|(name, value)| format!(" --{name} {value}")).collect();
        let tolerance = if number(10) < 0.5 { 0.01 } else { 0.03 };
        let line = format!("{expression} {channels} --cycles {cycles}{options}");
        assert_latency(&line, number(12), tolerance);
    }
    assert_eq!(DRAWN.lines().count(), 10);
}

/// To the last digit.
#[test]
fn stages_of_one_cycle_take_no_batches() {
    let line = "torus(4,4) --rate 0.2 --cycles 20000 --stages";
    let run = |stages: &str| without_times(point(&format!("{line} {stages}")));

    assert_eq!(run("batch"), run("pipelined"));
}

/// The reference carries 0.272 on the torus and not 0.275.
#[test]
fn torus_saturates_where_the_reference_does() {
    let found = saturation("torus(8,8)");
    assert!((0.95 * 0.272..1.05 * 0.275).contains(&found), "{found}");
}

/// The reference stops at 0.50 on this network, where it has no buffer classes. Without them so do we; with them, more is
/// carried: the difference is what the classes are worth.
#[test]
fn saturation_differs_by_the_buffer_classes() {
    let with = saturation("rdn(ring(3),1)");
    let without = saturation("rdn(ring(3),1) --class-limit 1");
    assert!((0.95 * 0.50..1.05 * 0.50).contains(&without), "{without}");
    assert!(with > 1.1 * without, "{with} with classes, {without} without");
}

/// One packet at a time: the latency of each is exactly 7 + 5 d.
#[test]
fn zero_load_latency_is_exact() {
    for expression in networks("zero_load") {
        let rate = 1e-4 / network(expression).nodes() as f64;
        let point = point(&format!("{expression} --rate {rate} --cycles 4000000"));
        let expected = Parameters::BOOKSIM.zero_load_latency(point.hops_mean);
        assert!((expected - 7.0 - 5.0 * point.hops_mean).abs() < 1e-9);
        let (packets, mean) = (point.packets_measured, point.latency_mean);
        assert!(packets > 100, "{expression}: only {packets} packets");
        assert!((mean - expected).abs() < 1e-9, "{expression}: {mean} is not {expected}");
    }
}
