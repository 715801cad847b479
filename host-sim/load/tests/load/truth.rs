//! The simulator against the reference simulator BookSim 2: topology=torus routing_function=dim_order, or topology=anynet
//! routing_function=min; num_vcs=2 vc_buf_size=8 traffic=uniform use_noc_latency=0, every pipeline delay 1.
//! Its uniform traffic is from every node to every node, itself included: `uniform-with-self`.

use crate::support::{network, point, saturation};
use hopwise_load::parameters::Parameters;
use hopwise_testing::networks;

/// Network, flits, rate, the reference's mean latency, and how far off it may be. The reference's own noise is 1%.
const REFERENCE: [(&str, u32, f64, f64, f64); 12] = [
    ("torus(8,8)", 1, 0.002, 26.95, 0.02),
    ("torus(8,8)", 1, 0.05, 27.55, 0.02),
    ("torus(8,8)", 4, 0.05, 34.15, 0.02),
    ("torus(8,8)", 1, 0.25, 40.30, 0.05),
    ("rdn(ring(3),1)", 1, 0.002, 19.65, 0.02),
    ("rdn(ring(3),1)", 1, 0.05, 19.59, 0.02),
    ("rdn(ring(3),1)", 1, 0.25, 20.80, 0.05),
    ("rdn(ring(3),1)", 1, 0.35, 22.34, 0.05),
    ("rdn(torus(3,3),1)", 1, 0.05, 27.51, 0.02),
    ("rdn(torus(3,3),1)", 1, 0.15, 28.35, 0.05),
    ("rdn(petersen,1)", 1, 0.05, 29.32, 0.02),
    ("rsn(2,ring(14))", 1, 0.05, 41.80, 0.02),
];

#[test]
fn latencies_are_those_of_the_reference() {
    for (expression, flits, rate, latency, tolerance) in REFERENCE {
        let point = point(&format!("{expression} --packet-flits {flits} --rate {rate}"));
        let off = point.latency_mean / latency - 1.0;
        assert!(
            off.abs() <= tolerance && !point.saturated,
            "{expression} at {rate}, {flits} flits: {} instead of {latency}, off by {:.1}%",
            point.latency_mean,
            100.0 * off
        );
    }
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

/// The same two virtual channels for every packet, as the reference has them on networks other than tori, without a
/// guarantee against deadlock: what is left of the difference is noise.
#[test]
fn difference_at_high_load_is_the_extra_channel() {
    for (rate, latency) in [(0.25, 20.80), (0.35, 22.34)] {
        let point = point(&format!("rdn(ring(3),1) --rate {rate} --class-limit 1"));
        let off = point.latency_mean / latency - 1.0;
        assert!(off.abs() < 0.01, "at {rate}: off by {:.2}%", 100.0 * off);
    }
}
