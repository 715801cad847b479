//! The logs of emulated boards, merged by virtual time.

use hopwise_emulator::world::World;
use hopwise_rig::board_log::{BoardLine, LogReaders};

/// All lines that the boards have written since the last call, by time and then by board.
pub fn take_lines(readers: &mut LogReaders<'_>, world: &mut World) -> Vec<BoardLine> {
    let mut lines = Vec::new();
    for (board, emulated) in world.boards_mut().iter_mut().enumerate() {
        for (at, bytes) in emulated.take_log() {
            lines.extend(readers.decode(board, at, &bytes));
        }
    }
    lines.sort_by_key(|line| (line.at, line.board));
    lines
}
