//! Boards that change the rates of their cables together.

use hopwise_emulate::setup::{self, LINKS};
use hopwise_emulator::time::{MICROSECOND, MILLISECOND, SECOND, Time};
use hopwise_emulator::world::{Action, Script};
use hopwise_host::talk::BoardRequest;
use hopwise_node::wire::{AUTOMATIC_RATES, BoardConfig, Pattern, Query, Traffic};

use crate::firmware_support::{Firmware, Rig, firmware, port};

const TOP: u32 = 5_625_000;
/// Packets a second from each board to its neighbors.
const RATE: u32 = 2_000;

/// A ring with as many packets as cables at 1 Mbaud could not carry, and an option of each board; and this happens.
fn rig(firmware: &'static Firmware, options: &[u8], events: Vec<(Time, Action)>) -> Rig {
    let network = format!("ring({})", options.len());
    let mut rig = Rig::new(firmware, &network);
    for (node, board) in rig.world.boards_mut().iter_mut().enumerate() {
        let config = BoardConfig {
            options: options[node],
            traffic: Some(Traffic::new(RATE, 0, Pattern::Neighbors, 200)),
            ..BoardConfig::new(&network, node as u64).expect("a config")
        };
        setup::configure(board, &firmware.image, &config.write(), None, 1 + node as u32);
    }
    rig.world.set_script(Script::new(events)).expect("ports that there are");
    rig
}

const AUTO: [u8; 3] = [AUTOMATIC_RATES; 3];

fn bauds(rig: &Rig) -> Vec<u32> {
    let boards = rig.world.boards().iter();
    let ports = boards.flat_map(|board| [0, 1].map(|link| board.baud(LINKS[link])));
    ports.map(|baud| baud.expect("a port that is on")).collect()
}

/// What links say about damage, and how many sessions each had.
fn assert_links(rig: &mut Rig, is_clean: bool) {
    let boards = 0..rig.world.boards().len();
    for (board, link) in boards.flat_map(|board| [(board, 0), (board, 1)]) {
        let report = rig.link_report(board, link);
        let counters = report.counters;
        assert_eq!(
            (report.up, counters.sessions),
            (true, 1),
            "{board}.{link}: {counters:?}"
        );
        let lost = counters.damaged + counters.resent + counters.timeouts;
        assert!(!is_clean || lost == 0, "{board}.{link}: {counters:?}");
        assert_eq!(
            Some(report.baud),
            rig.world.boards()[board].baud(LINKS[usize::from(link)])
        );
    }
}

#[test]
fn cables_get_their_fastest_rates_under_traffic_and_lose_nothing() {
    let Some(firmware) = firmware() else { return };
    let mut rig = rig(firmware, &AUTO, vec![]);
    rig.run_for(2 * SECOND);
    assert_eq!(bauds(&rig), [TOP; 6]);
    assert_links(&mut rig, true);
    assert_traffic(&mut rig, 900);
}

/// More than this arrives at board 0 within half a second.
fn assert_traffic(rig: &mut Rig, packets: u32) {
    let before = rig.traffic(0).received;
    rig.run_for(500 * MILLISECOND);
    assert!(rig.traffic(0).received - before > packets);
    rig.assert_healthy();
}

/// As `hopwise check` does, again and again: first while nothing else happens and boards sleep, then under traffic.
#[test]
fn a_host_that_asks_all_boards_at_once_takes_no_link_down() {
    let Some(firmware) = firmware() else { return };
    let mut rig = rig(firmware, &[AUTOMATIC_RATES; 5], vec![]);
    let links = (0..5).flat_map(|dest| (0..2).map(move |link| (dest, Query::Link, vec![link])));
    let others = (0..5).flat_map(|dest| [Query::Identity, Query::Counters].map(|query| (dest, query, vec![])));
    let requests: Vec<_> = others
        .chain(links)
        .map(|(dest, query, more)| BoardRequest::new(0, dest, query).with(more))
        .collect();
    for pause in [700, 1_000] {
        rig.run_for(pause * MILLISECOND);
        for _ in 0..20 {
            let replies = rig.ask(&requests);
            assert!(replies.iter().all(Option::is_some), "{replies:?}");
            rig.run_for(3_700 * MICROSECOND);
        }
        assert_eq!(bauds(&rig), [TOP; 10]);
        assert_links(&mut rig, true);
        rig.assert_healthy();
    }
}

#[test]
fn a_cable_that_becomes_noisy_gets_slower_and_traffic_goes_on() {
    let Some(firmware) = firmware() else { return };
    // In one direction only.
    let noise = Action::NoiseAbove(port(0, 0), 3e-4, 2_000_000);
    let mut rig = rig(firmware, &AUTO, vec![(2 * SECOND, noise)]);
    rig.run_for(1_900 * MILLISECOND);
    assert_eq!(bauds(&rig), [TOP; 6]);
    rig.run_for(1_100 * MILLISECOND);
    // At most one step too fast: it may be trying.
    let other_end = rig.link_report(0, 0).peer.expect("a neighbor");
    rig.run_for(2 * SECOND);
    let far = rig.world.boards()[other_end.1 as usize].baud(LINKS[usize::from(other_end.2)]);
    assert_eq!((bauds(&rig)[0], far), (1_500_000, Some(1_500_000)));
    assert_eq!(bauds(&rig).iter().filter(|baud| **baud == TOP).count(), 4);
    assert_links(&mut rig, false);
    assert_traffic(&mut rig, 600);
}

#[test]
fn boards_that_are_reset_while_rates_change_agree_again() {
    let Some(firmware) = firmware() else { return };
    let events = [300, 316, 333, 451, 600, 1_500].into_iter().zip([0, 1, 2, 0, 1, 2]);
    let events = events.map(|(at, board)| (at * MILLISECOND, Action::Reset(board)));
    let mut rig = rig(firmware, &AUTO, events.collect());
    rig.run_for(8 * SECOND);
    assert_eq!(bauds(&rig), [TOP; 6]);
    rig.wait_for_links(SECOND);
    rig.assert_healthy();
}

#[test]
fn a_board_with_a_fixed_rate_keeps_it_and_so_do_its_neighbors_there() {
    let Some(firmware) = firmware() else { return };
    let mut rig = rig(firmware, &[AUTOMATIC_RATES, AUTOMATIC_RATES, 0], vec![]);
    rig.run_for(2 * SECOND);
    let all = bauds(&rig);
    assert_eq!(all[4..], [1_000_000; 2]);
    assert_eq!(all.iter().filter(|baud| **baud == TOP).count(), 2, "{all:?}");
    assert_links(&mut rig, false);
    rig.assert_healthy();
}
