//! Bytes flipped, lost, inserted and doubled, ends restarted: packets arrive in order, once each, none is invented, and every
//! one's sender learns its fate.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::cases;

use crate::link::pair::{Fault, Faults, Pair};

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        4 => any::<u8>().prop_map(Fault::Flip),
        2 => Just(Fault::Lose),
        1 => any::<u8>().prop_map(Fault::Insert),
        1 => Just(Fault::Double),
    ]
}

/// Faults far apart, close together, or in bursts.
fn faults() -> impl Strategy<Value = Faults> {
    let gap = prop_oneof![3 => 100..2_000_u16, 1 => 0..60_u16];
    vec((gap, fault()), 0..60).prop_map(Faults::from)
}

#[derive(Clone, Copy, Debug)]
enum Incident {
    Restart(usize),
    Dead(usize),
    Alive(usize),
}

fn incident() -> impl Strategy<Value = (u64, Incident)> {
    let what = prop_oneof![
        2 => (0..2_usize).prop_map(Incident::Restart),
        1 => (0..2_usize).prop_map(Incident::Dead),
        1 => (0..2_usize).prop_map(Incident::Alive),
    ];
    (prop_oneof![0..10_000_u64, 0..400_000_u64], what)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(200), ..ProptestConfig::default() })]

    #[test]
    fn every_packet_comes_once_in_order_and_its_sender_knows(
        faults in [faults(), faults()],
        incidents in vec(incident(), 0..6),
        packets in [0..150_usize, 0..150_usize],
        refuse_every in 2..20_u64,
        baud in prop::sample::select(vec![115_200, 1_000_000]),
    ) {
        let mut pair = Pair::new(baud, packets, refuse_every);
        let [zero, one] = faults;
        (pair.ends[0].faults, pair.ends[1].faults) = (zero, one);
        for (wait, incident) in incidents {
            pair.run(wait, |_| false);
            match incident {
                Incident::Restart(end) => pair.restart(end),
                Incident::Dead(end) => pair.ends[end].dead = true,
                Incident::Alive(end) => pair.ends[end].dead = false,
            }
        }
        pair.ends.iter_mut().for_each(|end| end.dead = false);
        let done = pair.run(60_000_000, |pair| pair.all_sent());
        prop_assert!(done, "not all packets have come a minute after the troubles");
        // The wire is good now, whatever happened before: a second later both ends know.
        pair.ends.iter_mut().for_each(|end| end.faults.clear());
        pair.run(1_000_000, |_| false);
        prop_assert!(pair.both_up());
    }
}
