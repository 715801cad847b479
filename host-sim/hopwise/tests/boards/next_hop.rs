//! Instructions for a next hop, counted on emulated boards.

use crate::firmware_support::{Firmware, Rig, firmware};
use hopwise_emulate::profile::{DebugInfo, Executed, Profile};
use hopwise_emulator::time::MILLISECOND;
use hopwise_node::wire::{Command, Pattern, Traffic};

pub(crate) fn start(rig: &mut Rig, board: usize, traffic: Traffic) {
    rig.command(board, &Command::StartTraffic(traffic));
}

/// Where the instructions of all boards went since their profiles began.
pub(crate) fn profile_of(firmware: &Firmware, rig: &Rig) -> Profile {
    let debug = DebugInfo::of_elf(&firmware.elf).expect("debug information");
    let executed = Executed::by(rig.world.boards().iter());
    Profile::new([(&executed, &*firmware.image, &debug)].into_iter())
}

/// Instructions in the code of networks for each packet that a node sent on.
fn per_next_hop(expression: &str) -> Option<u64> {
    let firmware = firmware()?;
    let mut rig = Rig::new(firmware, expression).linked();
    let boards = rig.world.boards().len();
    let forwarded = |rig: &mut Rig| -> u64 { (0..boards).map(|board| u64::from(rig.counters(board).forwarded)).sum() };
    let before = forwarded(&mut rig);
    for board in rig.world.boards_mut() {
        board.start_profile();
    }
    for board in 0..boards {
        start(&mut rig, board, Traffic::new(500, 10, Pattern::Uniform, 20));
    }
    rig.run_for(300 * MILLISECOND);
    let profile = profile_of(firmware, &rig);
    let packets = forwarded(&mut rig) - before;
    assert!(packets > 10 * boards as u64, "{packets}");
    let rooms = profile.rooms.iter().filter(|count| count.room.starts_with("core::"));
    let instructions: i64 = rooms.map(|count| count.instructions).sum();
    Some(instructions as u64 / packets)
}

pub(crate) fn a_next_hop_takes_at_most(most: u64, expression: &str) {
    let instructions = per_next_hop(expression);
    let Some(instructions) = instructions else { return };
    println!("{expression}: {instructions} instructions for a next hop");
    assert!(instructions <= most, "{expression}: {instructions}");
}
