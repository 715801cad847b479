//! A mesh with a key: who has none is not accepted, be it a board or someone on a cable. See `docs/keys.md`.

use hopwise_sim::Settings;
use hopwise_sim::faulty_node::Misbehavior;

use super::{also, flag, on, run};

/// A network whose boards have a key, and one of them is a faulty node.
fn with(kind: Misbehavior, key: bool, confirmed: bool, network: &str) -> Settings {
    let (key, confirmed) = (flag("--key test", key), flag("--confirmed", confirmed));
    on(&format!(
        "{network} --rogue 4:{} --packets 2000 {key} {confirmed}",
        kind.name()
    ))
}

#[test]
fn nothing_is_taken_from_a_board_without_the_key() {
    for network in ["rdn(ring(3),1)", "torus(4,4)"] {
        for kind in Misbehavior::ALL {
            for confirmed in [false, true] {
                let settings = with(kind, true, confirmed, network);
                let account = run(&settings);
                let (tally, command) = (&account.tally, settings.command());
                assert_eq!((tally.forged_accepted, tally.forged), (0, 0), "{command}");
                // It is as good as dead, whatever it does.
                assert_eq!(tally.innocent_delivered, tally.innocent_sent, "{command}");
            }
        }
    }
}

/// A malicious member costs the others what a faulty node costs a mesh without keys, and no more.
#[test]
fn a_member_with_the_key_harms_no_more_than_a_faulty_node_without_keys() {
    for kind in Misbehavior::ALL {
        for confirmed in [false, true] {
            let settings = also(with(kind, true, confirmed, "rdn(ring(3),1)"), "--rogue-has-key");
            let account = run(&settings);
            let (tally, command) = (&account.tally, settings.command());
            let share = tally.innocent_delivered as f64 / tally.innocent_sent as f64;
            println!(
                "{command}: {share:.4}, {} forged packets accepted",
                tally.forged_accepted
            );
            let least = match kind {
                Misbehavior::Hole if !confirmed => 0.85,
                _ if confirmed => 0.995,
                _ => 0.99,
            };
            assert!(share >= least, "{command}: {share}");
            // It is a member: what it makes up is believed.
            let forges = matches!(kind, Misbehavior::Flood | Misbehavior::Lie | Misbehavior::Replay);
            assert_eq!(tally.forged_accepted > 0, forges, "{command}");
        }
    }
}

/// So that the first test can fail.
#[test]
fn without_a_key_whoever_sends_packets_is_accepted() {
    for kind in [
        Misbehavior::Flood,
        Misbehavior::Lie,
        Misbehavior::Hole,
        Misbehavior::Replay,
    ] {
        let settings = with(kind, false, false, "torus(4,4)");
        let taken = run(&settings).tally.forged_accepted;
        assert_eq!(taken > 0, kind != Misbehavior::Hole, "{}: {taken}", settings.command());
    }
}

/// Someone is on a cable, boards are reset and cables are pulled, by seed.
fn tapped(key: bool, seed: u64) -> Settings {
    let (key, confirmed) = (flag("--key test", key), flag("--confirmed", seed.is_multiple_of(2)));
    let faults = ["", "--pull-every 700ms", "--reset-every 900ms", ""][seed as usize % 4];
    on(&format!(
        "torus(4,4) --tap 4.0,7.1 {key} --packets 1500 {confirmed} {faults} --seed {seed}"
    ))
}

#[test]
fn nothing_is_taken_from_someone_on_a_cable() {
    for seed in 1..=12 {
        let settings = tapped(true, seed);
        let account = run(&settings);
        assert_eq!(account.tally.forged_accepted, 0, "{}", settings.command());
        assert!(account.tally.delivered > 1_000, "{}", settings.command());
    }
}

/// So that the test above can fail.
#[test]
fn without_a_key_someone_on_a_cable_is_accepted() {
    let forged = (1..=4).map(|seed| {
        let run = tapped(false, seed).run().expect("settings that make sense");
        let account = hopwise_sim::simulate(&run, None, &mut |_| ()).expect("a run");
        account.tally.forged_accepted + u64::from(account.violation.is_some())
    });
    let forged: Vec<u64> = forged.collect();
    assert!(forged.iter().sum::<u64>() >= 1, "{forged:?}");
}
