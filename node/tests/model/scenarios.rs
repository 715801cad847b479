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
    depth: 0,
};

fn check(scenario: Scenario) {
    let depth = scenario.depth + FURTHER;
    let (states, slowest) = explore(&Scenario { depth, ..scenario });
    println!(
        "| {} | {depth} | {states} | {} ms |",
        scenario.name,
        slowest / MILLISECOND
    );
}

#[test]
fn packets_come_once_in_order_one_way() {
    check(Scenario {
        name: "packets one way",
        both_offer: false,
        depth: 9,
        ..UP
    });
}

#[test]
fn packets_come_once_in_order_both_ways() {
    check(Scenario {
        name: "packets both ways",
        depth: 7,
        ..UP
    });
}

#[test]
fn packets_are_sent_at_any_time() {
    check(Scenario {
        name: "packets, sent at any time",
        is_prompt: false,
        faults: 3,
        depth: 7,
        ..UP
    });
}

#[test]
fn sessions_are_not_mixed_up() {
    check(Scenario {
        name: "sessions, from the beginning",
        ages: &[],
        events: &[Send, Offer, Hear, Timer, Accept, Reset],
        wires: &[Carries, Loses],
        depth: 8,
        ..UP
    });
}

#[test]
fn resets_lose_nothing_that_was_acknowledged() {
    check(Scenario {
        name: "resets",
        events: &[Send, Offer, Hear, Timer, Reset],
        wires: &[Carries, Loses, Cuts],
        both_offer: false,
        depth: 8,
        ..UP
    });
}

#[test]
fn room_and_late_users() {
    check(Scenario {
        name: "no room, late users, a host",
        setup: Setup {
            roles: [Role::Node, Role::Host],
            fetches_late: true,
            ..UP.setup
        },
        events: &[Send, Offer, Hear, Timer, Fetch, Room, Accept],
        wires: &[Carries, Loses],
        both_offer: false,
        depth: 7,
        ..UP
    });
}

#[test]
fn everything_at_once() {
    check(Scenario {
        name: "everything, sent at any time",
        setup: Setup {
            fetches_late: true,
            ..UP.setup
        },
        events: &[Send, Offer, Hear, HearTwice, Timer, Fetch, Room, Accept, Reset],
        wires: &[Carries, Loses, Damages, Cuts],
        is_prompt: false,
        faults: 9,
        depth: 5,
        ..UP
    });
}

#[cfg(feature = "keys")]
#[test]
fn the_same_with_keys() {
    check(Scenario {
        name: "with keys",
        setup: Setup {
            is_keyed: true,
            ..UP.setup
        },
        events: &[Send, Offer, Hear, HearTwice, Timer, Reset],
        both_offer: false,
        depth: 7,
        ..UP
    });
}

/// Two rates: the ends ask for the other after 40 ms.
#[test]
fn ends_never_stay_at_different_rates() {
    check(Scenario {
        name: "rates",
        setup: Setup {
            baud: 1_000_000,
            steps: [0b11; 2],
            ..UP.setup
        },
        ages: &[38 * MILLISECOND, TRUSTED],
        events: &[Send, Hear, Timer, Reset, Port],
        wires: &[Carries, Loses, Damages],
        faults: 3,
        depth: 8,
        ..UP
    });
}
