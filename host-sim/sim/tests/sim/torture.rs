//! Boards are reset all the time.

use crate::{on, run};

/// Boards restart so often that senders know nobody's epoch: a packet delivered before a restart is not delivered again after it.
#[test]
fn nothing_arrives_twice_when_every_board_restarts_all_the_time() {
    for network in ["torus(3,3)", "re(ring(3),complete(3),1)"] {
        for seed in 1..=8 {
            let settings = on(&format!(
                "{network} --confirmed --packets 1500 --ber 3e-4 --reset-every 100ms --seed {seed}"
            ));
            let tally = run(&settings).tally;
            // Boards are off for up to seconds.
            assert!(tally.delivered > tally.sent / 3, "{}: {tally:?}", settings.command());
        }
    }
}
