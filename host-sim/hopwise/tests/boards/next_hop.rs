//! Instructions for a next hop, counted on emulated boards.

use crate::firmware_support::{Rig, firmware};
use hopwise_emulate::profile;
use hopwise_emulator::time::{MILLISECOND, SECOND};
use hopwise_host::talk::BoardRequest;
use hopwise_node::wire::{Command, CommandResult, Pattern, Traffic};

pub(crate) fn start(rig: &mut Rig, board: usize, traffic: Traffic) {
    let done: CommandResult = rig.ask_one(BoardRequest::command(board, &Command::StartTraffic(traffic)));
    assert_eq!(done, CommandResult::Done);
}

/// Instructions in the code of networks for each packet that a node sent on.
fn per_next_hop(expression: &str) -> Option<u64> {
    let mut rig = Rig::new(firmware()?, expression);
    rig.wait_for_links(SECOND);
    let boards = rig.world.boards().len();
    let forwarded = |rig: &mut Rig| {
        (0..boards)
            .map(|board| u64::from(rig.counters(board).forwarded))
            .sum::<u64>()
    };
    let before = forwarded(&mut rig);
    rig.world
        .boards_mut()
        .iter_mut()
        .for_each(|board| board.start_profile());
    for board in 0..boards {
        let traffic = Traffic {
            rate: 500,
            count: 10,
            pattern: Pattern::Uniform,
            size: 20,
        };
        start(&mut rig, board, traffic);
    }
    rig.run_for(300 * MILLISECOND);
    let functions = profile::functions(&rig.world);
    let packets = forwarded(&mut rig) - before;
    assert!(packets > 10 * boards as u64, "{packets}");
    let about_networks = |name: &str| {
        ["hopwise_core::network", "hopwise_core::graph"]
            .iter()
            .any(|part| name.contains(part))
    };
    let instructions: u64 = functions
        .iter()
        .filter(|count| about_networks(&count.function))
        .map(|count| count.instructions)
        .sum();
    Some(instructions / packets)
}

pub(crate) fn a_next_hop_takes_at_most(most: u64, expression: &str) {
    let Some(instructions) = per_next_hop(expression) else {
        return;
    };
    println!("{expression}: {instructions} instructions for a next hop");
    assert!(instructions <= most, "{expression}: {instructions}");
}
