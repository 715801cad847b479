//! Where the instructions go: executions counted per function.

use std::collections::BTreeMap;

use hopwise_emulator::memory::FLASH;
use hopwise_emulator::world::World;

use super::demangle;

/// Instructions executed in a function, over all boards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCount {
    /// Its name.
    pub function: String,
    /// Instructions executed in it.
    pub instructions: u64,
}

/// The functions by how many instructions they took, most first.
pub fn functions(world: &World) -> Vec<FunctionCount> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for board in world.boards() {
        let image = board.cpu.memory.image();
        for (place, count) in board.cpu.profile.iter().enumerate().filter(|(_, count)| **count > 0) {
            let function = image.function_at(FLASH + place as u32 * 2);
            *counts
                .entry(function.map_or("(no function)", |symbol| &symbol.name))
                .or_default() += count;
        }
    }
    let mut list: Vec<FunctionCount> = counts
        .into_iter()
        .map(|(function, instructions)| FunctionCount {
            function: demangle(function),
            instructions,
        })
        .collect();
    list.sort_by(|a, b| {
        b.instructions
            .cmp(&a.instructions)
            .then_with(|| a.function.cmp(&b.function))
    });
    list
}
