//! What it costs a board to pass on frames: `pass-frames FILE` runs an ELF file on an emulated nucleo-f446re, feeds it the frames of the standard
//! input at USART1, one in each line in hexadecimal digits, and prints as JSON what leaves by USART3 and the instructions for each frame,
//! beyond those of the same time without frames. `tools/bench-peers` uses it.

use std::error::Error;
use std::sync::Arc;

use hopwise_emulate::profile::{DebugInfo, Executed, Profile};
use hopwise_emulator::image::Image;
use hopwise_emulator::time::{MILLISECOND, SECOND, Time};
use hopwise_emulator::world::{Board, BoardOptions, Port, World};

/// USART1 and USART3.
const IN: usize = 0;
const OUT: usize = 2;
/// From one frame to the next: longer than the largest takes on the wire.
const INTERVAL: Time = SECOND / 397;
/// After this a board has started, or has sent what it has.
const PAUSE: Time = 100 * MILLISECOND;

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("pass-frames FILE < FRAMES")?;
    let elf = std::fs::read(&file).map_err(|error| format!("{file}: {error}"))?;
    let image = Arc::new(Image::from_elf(&elf)?);
    let frames: Vec<Vec<u8>> = std::io::stdin()
        .lines()
        .map(|line| bytes(&line?))
        .collect::<Result<_, _>>()?;

    let mut world = World::new(1);
    world.add(Board::new(&image, BoardOptions::default()));
    for uart in [IN, OUT] {
        world.connect_host(Port::new(0, uart))?;
    }
    world.boards_mut()[0].start_profile();
    world.run_until(PAUSE);
    let executed = |world: &World| Executed::by(world.boards().iter());
    let begin = executed(&world);
    pass(&mut world, frames.iter().map(|_| &[][..]));
    let idle = executed(&world).without(&begin);
    let before = executed(&world);
    pass(&mut world, frames.iter().map(Vec::as_slice));
    let spent = executed(&world).without(&before).without(&idle);

    let board = &mut world.boards_mut()[0];
    if let Some(fault) = board.faults().first() {
        return Err(fault.to_string().into());
    }
    if let Some(violation) = board.violations().first() {
        return Err(violation.how.clone().into());
    }
    if board.traffic(IN).overruns > 0 {
        return Err("a byte was not taken in time".into());
    }
    let sent: String = board.take_bytes(OUT).iter().map(|byte| format!("{byte:02x}")).collect();
    let mut profile = Profile::new([(&spent, &*image, &DebugInfo::of_elf(&elf)?)].into_iter());
    let times = frames.len().max(1) as i64;
    profile.rooms.iter_mut().for_each(|room| room.instructions /= times);
    let line =
        serde_json::json!({ "instructions": profile.instructions / times, "rooms": profile.rooms, "sent": sent });
    println!("{line}");
    Ok(())
}

fn pass<'f>(world: &mut World, frames: impl Iterator<Item = &'f [u8]>) {
    for frame in frames {
        world.boards_mut()[0].feed(IN, frame);
        world.run_until(world.now() + INTERVAL);
    }
    world.run_until(world.now() + PAUSE);
}

fn bytes(line: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let pairs = line.as_bytes().chunks(2);
    let byte = |pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?);
    pairs.map(byte).collect()
}
