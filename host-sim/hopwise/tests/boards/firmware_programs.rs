//! Programs of users on boards: the examples of the firmware, on emulated ones.

use hopwise_emulator::time::SECOND;

use crate::firmware_support::{Firmware, Rig, build, load, stock};

/// An example of the firmware; `None` if there is no ARM compiler.
fn example(name: &'static str) -> Option<&'static Firmware> {
    Some(Box::leak(Box::new(load(build(&stock().with_example(name)))?)))
}

#[test]
fn every_board_tells_node_0_its_temperature() {
    let Some(firmware) = example("temperature") else { return };
    let mut rig = Rig::new(firmware, "rdn(ring(3),1)");
    rig.run_for(5 * SECOND);
    let lines: Vec<_> = rig.log().into_iter().map(|line| (line.board, line.text)).collect();
    for node in 1..18 {
        let reading = format!("node {node} has {} tenths of a degree", 200 + node);
        let times = lines
            .iter()
            .filter(|(board, text)| *board == 0 && *text == reading)
            .count();
        assert!((3..=5).contains(&times), "{reading:?} is there {times} times");
        let answers: Vec<usize> = lines
            .iter()
            .filter(|(board, _)| *board == node)
            .filter_map(|(_, text)| text.strip_prefix("node 0 has heard of us ")?.strip_suffix(" times"))
            .map(|times| times.parse().unwrap())
            .collect();
        // The first may have been sent before node 0 was there.
        let first = answers[0];
        assert!(first <= 1 && answers.len() >= 3, "node {node}: {answers:?}");
        assert!(
            answers.iter().zip(first..).all(|(&heard, expected)| heard == expected),
            "node {node}: {answers:?}"
        );
    }
    rig.assert_healthy();
}
