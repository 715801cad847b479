//! What is explored.

use Event::*;
use Wire::*;
use hopwise_node::link::Micros;
use hopwise_node::wire::Role;

use crate::FURTHER;
use crate::end::{Event, Setup};
use crate::machine::{Scenario, Wire, explore};

const MILLISECOND: Micros = 1_000;
/// The age from which on a link counts as one that works.
const TRUSTED: Micros = 31_000 * MILLISECOND;

/// Two nodes whose link has been up for a while. Bytes take no time.
const UP: Scenario = Scenario {
    name: "",
    setup: Setup {
        is_keyed: false,
        roles: [Role::Node; 2],
        baud: 4_000_000_000,
        steps: [0; 2],
        fetches_late: false,
    },
    ages: &[TRUSTED],
    events: &[Send, Offer, Hear, HearTwice, Timer],
    wires: &[Carries, Loses, Damages],
    is_prompt: true,
    both_offer: true,
    faults: 2,
    within: 1_000 * MILLISECOND,
    depth: 0,
};

fn check(scenario: &Scenario) {
    let (states, slowest) = explore(scenario);
    let Scenario { name, depth, .. } = scenario;
    println!("| {name} | {depth} | {states} | {} ms |", slowest / MILLISECOND);
}

/// A test for each: what it is called, how many steps it goes, and what is different from [`UP`].
macro_rules! scenarios {
    ($($(#[$attribute:meta])* $test:ident: $name:literal, $depth:literal $(, $field:ident: $value:expr)*;)*) => {$(
        $(#[$attribute])*
        #[test]
        fn $test() {
            check(&Scenario { name: $name, depth: $depth + FURTHER, $($field: $value,)* ..UP });
        }
    )*};
}

scenarios! {
    packets_come_once_in_order_one_way: "packets one way", 9, both_offer: false;

    packets_come_once_in_order_both_ways: "packets both ways", 7;

    packets_are_sent_at_any_time: "packets, sent at any time", 7, is_prompt: false, faults: 3;

    sessions_are_not_mixed_up: "sessions, from the beginning", 8,
        ages: &[], events: &[Send, Offer, Hear, Timer, Accept, Reset], wires: &[Carries, Loses];

    resets_lose_nothing_that_was_acknowledged: "resets, a host", 8,
        setup: Setup { roles: [Role::Node, Role::Host], ..UP.setup },
        events: &[Send, Offer, Hear, Timer, Reset], wires: &[Carries, Loses, Cuts], both_offer: false;

    room_and_late_users: "no room, late users, a host", 7,
        setup: Setup { roles: [Role::Node, Role::Host], fetches_late: true, ..UP.setup },
        events: &[Send, Offer, Hear, Timer, Fetch, Room, Accept], wires: &[Carries, Loses], both_offer: false;

    everything_at_once: "everything, sent at any time", 5,
        setup: Setup { fetches_late: true, ..UP.setup },
        events: &[Send, Offer, Hear, HearTwice, Timer, Fetch, Room, Accept, Reset],
        wires: &[Carries, Loses, Damages, Cuts], is_prompt: false, faults: 9;

    #[cfg(feature = "keys")]
    the_same_with_keys: "with keys", 7,
        setup: Setup { is_keyed: true, ..UP.setup },
        events: &[Send, Offer, Hear, HearTwice, Timer, Reset], both_offer: false;

    // Two rates: the ends ask for the other after 40 ms.
    ends_never_stay_at_different_rates: "rates", 8,
        setup: Setup { baud: 1_000_000, steps: [0b11; 2], ..UP.setup },
        ages: &[38 * MILLISECOND, TRUSTED], events: &[Send, Hear, Timer, Reset, Port], faults: 3;
}
