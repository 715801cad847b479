//! What the firmware costs in instructions, and what it carries at full speed.

use std::collections::BTreeSet;

use crate::firmware_support::{Rig, firmware};
use crate::next_hop::{a_next_hop_takes_at_most, profile_of, start};
use hopwise_emulate::cost::PAYLOADS;
use hopwise_emulate::profile::FunctionCount;
use hopwise_emulate::setup::{LINKS, Program};
use hopwise_emulate::{demangle, hop_time};
use hopwise_emulator::boards::BOARDS;
use hopwise_emulator::time::{MILLISECOND, SECOND, Time};
use hopwise_emulator::world::Board;
use hopwise_node::wire::{Command, Pattern, Traffic};

#[test]
fn instructions_for_a_next_hop() {
    a_next_hop_takes_at_most(150, "rdn(ring(3),1)");
    a_next_hop_takes_at_most(150, "heawood");
    a_next_hop_takes_at_most(400, "rcr(2,2,1)");
    a_next_hop_takes_at_most(400, "rcr(2,5,3)");
    a_next_hop_takes_at_most(400, "re(ring(3),ring(3),1)");
}

fn instructions_for(rig: &mut Rig, board: usize, time: Time) -> u64 {
    let before = rig.world.boards()[board].cpu.instructions;
    rig.run_for(time);
    rig.world.boards()[board].cpu.instructions - before
}

#[test]
fn instructions_for_a_forwarded_packet() {
    let Some(firmware) = firmware() else { return };
    // A tenth more than docs/performance.md says.
    forwarded_packets_cost_at_most([7_100, 10_770], Rig::new(firmware, "path(3)"), "without a key");
    forwarded_packets_cost_at_most([7_930, 11_570], Rig::new(firmware, "torus(3,3)"), "without a key");
    forwarded_packets_cost_at_most([9_460, 14_420], Rig::keyed(firmware, "path(3)"), "with a key");
}

/// So many instructions for the smaller and the larger payload.
fn forwarded_packets_cost_at_most(most: [u64; 2], mut rig: Rig, key: &str) {
    rig.wait_for_links(SECOND);
    for (payload, most) in PAYLOADS.into_iter().zip(most.into_iter().flat_map(|most| [most, most])) {
        let network = rig.network;
        let cost = rig.measured().forwarding(&network, payload).expect("it is measured");
        let each = cost.instructions;
        println!("{key}: {each} instructions for a forwarded packet of {payload:?}, with its acknowledgements");
        assert!(each <= most, "{key}: {each}");
    }
}

#[test]
fn how_long_a_packet_is_in_a_node() {
    let Some(firmware) = firmware() else { return };
    let program = Program::new(BOARDS[0], firmware.image.clone());
    let network = "path(4)".parse().expect("a network");
    let time = hop_time::measure(&program, &network, 5_625_000, 10).expect("it is measured");
    println!("{time:?}");
    // A tenth more than docs/performance.md says. The frame has 28 bytes.
    assert!(time.node_us.median <= 72.0, "{time:?}");
    assert!((48.0..=52.0).contains(&time.wire_us.median), "{time:?}");
}

/// The compiler inlines most of the node into the tasks that poll it, and its instructions are found all the same.
#[test]
fn every_instruction_is_attributed_to_the_innermost_function() {
    let Some(firmware) = firmware() else { return };
    let mut rig = Rig::new(firmware, "path(2)");
    rig.world.boards_mut().iter_mut().for_each(Board::start_profile);
    rig.wait_for_links(SECOND);
    // Memory is cleared at the start, by what has no debug information.
    rig.run_for(SECOND);
    let counted: u64 = rig.world.boards().iter().map(|board| board.cpu.instructions).sum();
    let profile = profile_of(firmware, &rig);
    let rooms: i64 = profile.rooms.iter().map(|room| room.instructions).sum();
    let functions: i64 = profile.functions.iter().map(|function| function.instructions).sum();
    assert_eq!([profile.instructions, rooms, functions], [counted as i64; 3]);
    let symbols = firmware.image.symbols().iter();
    let symbols: BTreeSet<String> = symbols.map(|symbol| demangle(&symbol.name)).collect();
    let is_inlined = |function: &&FunctionCount| !symbols.contains(&function.function);
    let functions = profile.functions.iter();
    let of_links = functions.filter(|function| function.room.starts_with("node::link"));
    let inlined: i64 = of_links.filter(is_inlined).map(|function| function.instructions).sum();
    assert!(inlined > counted as i64 / 200, "{inlined} of {counted}");
    let unknown = profile.rooms.iter().find(|room| room.room == "(no debug information)");
    let is_little = unknown.is_none_or(|room| room.instructions < counted as i64 / 10);
    assert!(is_little, "{unknown:?}");
}

/// Six boards with as much traffic of packets of a size to all five neighbors as the wires take, at one million baud.
fn full_speed(rig: &mut Rig, size: u8) {
    rig.wait_for_links(SECOND);
    for board in 0..6 {
        start(rig, board, Traffic::new(100_000, 0, Pattern::Neighbors, size));
    }
    rig.run_for(50 * MILLISECOND);
}

/// Checks that a board's wires carry at least so much of what they could for a while in the mean, none much less, and that nothing is lost on any. Returns
/// the instructions a second.
fn hold_full_speed(rig: &mut Rig, time: Time, least: f64) -> f64 {
    let sent = |rig: &Rig, link: usize| rig.world.boards()[0].traffic(LINKS[link]).sent;
    let before: Vec<u64> = (0..5).map(|link| sent(rig, link)).collect();
    let instructions = instructions_for(rig, 0, time);
    let seconds = time as f64 / SECOND as f64;
    let shares: Vec<f64> = before
        .iter()
        .enumerate()
        .map(|(link, before)| (sent(rig, link) - before) as f64 / (100_000.0 * seconds))
        .collect();
    println!("of the line: {shares:.3?}");
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    assert!(mean > least, "{mean:.4} in the mean: {shares:?}");
    assert!(shares.iter().all(|&share| share > least - 0.02), "{shares:?}");
    let losses: Vec<_> = (0..6)
        .flat_map(|board| (0..5).map(move |link| (board, link)))
        .map(|(board, link)| (board, link, rig.link_report(board, link).counters))
        .filter(|(_, _, counters)| counters.damaged + counters.resent + counters.timeouts > 0 || counters.sessions != 1)
        .collect();
    assert_eq!(losses, [], "(board, link, counters)");
    rig.assert_healthy();
    instructions as f64 / seconds
}

#[test]
fn five_links_at_full_speed_in_both_directions() {
    let Some(mut rig) = Rig::of("complete(6)") else { return };
    full_speed(&mut rig, 200);
    let instructions = hold_full_speed(&mut rig, 100 * MILLISECOND, 0.95);
    let millions = instructions / 1e6;
    println!("{millions:.0} million instructions a second of 180 million cycles");
    // Packets wait for the wires, though not at every moment, and that can be seen from afar.
    let seen = (0..10).filter(|_| {
        let waiting: u32 = (0..5).map(|link| u32::from(rig.link_report(0, link).waiting)).sum();
        waiting > 0
    });
    assert!(seen.count() >= 3, "nothing waits");
    let counters = rig.counters(0);
    assert!(counters.buffers_used >= counters.held(), "{counters:?}");
}

/// Here the processor is the limit.
#[test]
fn five_links_full_of_small_packets() {
    let Some(mut rig) = Rig::of("complete(6)") else { return };
    full_speed(&mut rig, 40);
    // The processor is full: 0.67, with more packets than in version 3 of the wire format, whose frames were longer.
    hold_full_speed(&mut rig, 100 * MILLISECOND, 0.65);
}

#[test]
fn five_links_with_a_key_at_full_speed_in_both_directions() {
    let Some(firmware) = firmware() else { return };
    let mut rig = Rig::keyed(firmware, "complete(6)");
    full_speed(&mut rig, 200);
    let instructions = hold_full_speed(&mut rig, 100 * MILLISECOND, 0.88);
    let millions = instructions / 1e6;
    println!("with a key: {millions:.0} million instructions a second of 180 million cycles");
}

/// How the log is read, with every event of every packet in it.
#[test]
fn the_log_does_not_disturb_full_links() {
    let Some(firmware) = firmware() else { return };
    for (probe, interval) in [
        ("a probe", Some(0)),
        ("a slow probe", Some(50 * MILLISECOND)),
        ("no probe", None),
    ] {
        let mut rig = Rig::new(firmware, "complete(6)");
        for board in rig.world.boards_mut() {
            board.read_log_every(interval);
        }
        rig.wait_for_links(SECOND);
        for board in 0..6 {
            rig.command(board, &Command::LogPackets(true));
        }
        full_speed(&mut rig, 200);
        rig.log();
        let instructions = hold_full_speed(&mut rig, 100 * MILLISECOND, 0.75);
        let lines = rig.log();
        let frames = lines
            .iter()
            .filter(|line| line.board == 0 && line.text.starts_with("Sent"));
        let frames = frames.count();
        let millions = instructions / 1e6;
        println!("{probe}: {millions:.0} million instructions a second, {frames} frames logged");
        assert_eq!(rig.readers.undecodable, 0, "{probe}");
        match interval {
            // Five links of 100,000 bytes a second, and frames of 223.
            Some(0) => assert!(frames > 150, "{probe}: {frames}"),
            Some(_) => assert!(frames > 10, "{probe}: {frames}"),
            None => assert_eq!(lines, []),
        }
    }
}
