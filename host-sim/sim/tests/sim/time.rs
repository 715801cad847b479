//! The clock of the mesh, beside a board that lies about it.

use hopwise_figures::Agreement;
use hopwise_node::clock::TICKS_PER_MICRO;
use hopwise_sim::mesh_time::{Lie, TimedNodes, Trial};

const SECOND: u64 = 1_000_000_000;

/// The honest boards of a torus agree with each other, and their time runs as before.
fn withstand(liar: u64, seed: u64, lie: Lie) {
    let trial = Trial {
        network: "torus(4,4)".parse().expect("a network"),
        seed,
        drift: 50.0,
        starts_within: SECOND / 10,
        full: false,
        liar: Some((liar, lie)),
    };
    let mut nodes = TimedNodes::new(&trial);
    let honest = |nodes: &TimedNodes| -> Vec<f64> {
        let shown = nodes.read();
        let honest = (0..).zip(shown).filter(|(node, _)| *node != liar);
        honest.map(|(_, shown)| shown.expect("a time")).collect()
    };
    nodes.run_until(8 * SECOND).unwrap();
    let before = honest(&nodes);
    let mut agreement = Agreement::default();
    for step in 1..=20 {
        nodes.run_until(8 * SECOND + step * SECOND / 2).unwrap();
        agreement.add(honest(&nodes));
    }
    let worst = agreement.worst_us;
    assert!(worst <= 10.0, "liar {liar}, seed {seed}: {worst} us");
    for (before, after) in before.iter().zip(honest(&nodes)) {
        let passed = after - before;
        let off = (passed - 10e6).abs();
        assert!(off < 2_500.0, "liar {liar}, seed {seed}: {passed} us in 10 s");
    }
}

/// The lies begin when the mesh has agreed.
const TRUE_UNTIL: u64 = 5 * SECOND;

#[test]
fn a_liar_from_the_far_future_drags_nobody() {
    let far: Lie = |now, signal| {
        if now > TRUE_UNTIL {
            signal.mesh = signal
                .mesh
                .map(|mesh| mesh.wrapping_add(3_600_000_000 * TICKS_PER_MICRO));
        }
    };
    for (liar, seed) in [(0, 1), (0, 2), (5, 3), (15, 4)] {
        withstand(liar, seed, far);
    }
}

#[test]
fn a_liar_that_jumps_drags_nobody() {
    let jumps: Lie = |now, signal| {
        if now > TRUE_UNTIL && (now / (SECOND / 3)).is_multiple_of(2) {
            signal.mesh = signal.mesh.map(|mesh| mesh.wrapping_sub(700 * TICKS_PER_MICRO));
        }
    };
    for (liar, seed) in [(0, 1), (6, 2), (10, 3)] {
        withstand(liar, seed, jumps);
    }
}
