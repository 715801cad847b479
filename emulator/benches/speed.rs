//! How fast the emulator is: `cargo bench -p hopwise-emulator` prints the figures of docs/performance-emulator.md.

#[path = "../tests/support/mod.rs"]
mod support;

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Instant;

use hopwise_emulator::chip::UARTS;
use hopwise_emulator::image::Image;
use hopwise_emulator::time::{MILLISECOND, SECOND, Time};
use hopwise_emulator::world::{Board, BoardOptions, World};

const BOARDS: usize = 18;

/// A checksum over memory, bit by bit, with a function call for each byte: loads, stores, conditional instructions,
/// branches and a stack, as compiled code has them. Assembled from:
///
/// ```text
///         ldr   r4, =0xedb88320
///         mov   r0, #0
/// outer:  ldr   r1, =0x20000000
///         movw  r5, #1024
/// byte:   ldrb  r3, [r1], #1
///         eors  r0, r3
///         movs  r2, #8
/// bit:    lsrs  r0, r0, #1
///         it    cs
///         eorcs r0, r4
///         subs  r2, r2, #1
///         bne   bit
///         bl    mixer
///         subs  r5, r5, #1
///         bne   byte
///         b     outer
/// mixer:  push  {r4, r5, lr}
///         ldr   r4, [sp, #4]
///         add   r5, r0, r4, lsl #3
///         ubfx  r5, r5, #4, #12
///         str   r5, [sp, #-4]
///         cmp   r5, #100
///         it    hi
///         movhi r5, #7
///         pop   {r4, r5, pc}
/// ```
const CHECKSUM: &[u16] = &[
    0x0000, 0x2001, 0x0009, 0x0800, 0x4c10, 0xf04f, 0x0000, 0xf04f, 0x5100, 0xf240, 0x4500, 0xf811, 0x3b01, 0x4058,
    0x2208, 0x0840, 0xbf28, 0x4060, 0x3a01, 0xd1fa, 0xf000, 0xf803, 0x3d01, 0xd1f2, 0xe7ed, 0xb530, 0x9c01, 0xeb00,
    0x05c4, 0xf3c5, 0x150b, 0xf84d, 0x5c04, 0x2d64, 0xbf88, 0x2507, 0xbd30, 0x0000, 0x8320, 0xedb8,
];

fn main() {
    // `-- NAME` prints one of them only.
    let only = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    if wanted("computation") {
        compute();
    }
    if let Some(image) = support::firmware() {
        if wanted("idle") {
            idle(&image);
        }
        for (name, baud) in [("115200", 115_200), ("1000000", 1_000_000)] {
            if wanted(name) {
                traffic(&image, baud);
            }
        }
    }
}

/// Runs and returns the seconds of processor time, which other programs on the machine do not lengthen as they do those
/// on the wall.
fn timed(world: &mut World, until: Time) -> f64 {
    let (begin, begin_cpu) = (Instant::now(), processor_seconds());
    world.run_until(until);
    match (begin_cpu, processor_seconds()) {
        (Some(begin), Some(end)) => end - begin,
        _ => begin.elapsed().as_secs_f64(),
    }
}

/// What this thread has used, where the kernel says so.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace()
        .next()?
        .parse::<f64>()
        .ok()
        .map(|nanoseconds| nanoseconds / 1e9)
}

fn compute() {
    let flash = CHECKSUM.iter().flat_map(|half| half.to_le_bytes()).collect();
    let mut world = World::new(1);
    world.add(Board::new(&Arc::new(Image::from_bytes(flash)), BoardOptions::default()));
    world.run_until(SECOND);
    let before = world.instructions();
    let wall = timed(&mut world, 31 * SECOND);
    let millions = (world.instructions() - before) as f64 / 1e6;
    println!(
        "computation, one board: {:.1} million instructions a second",
        millions / wall
    );
}

fn idle(image: &Arc<Image>) {
    let mut world = support::chain(image, BOARDS, 0, 115_200, |_| BoardOptions::default());
    world.run_until(100 * MILLISECOND);
    let before = memory();
    let wall = timed(&mut world, 30 * SECOND);
    println!("{BOARDS} idle boards: {:.0} times faster than real time", 29.9 / wall);
    println!(
        "{BOARDS} idle boards: {:.1} MB of memory in the whole process",
        before.max(memory())
    );
}

fn traffic(image: &Arc<Image>, baud: u32) {
    let mut world = support::chain(image, BOARDS, u32::MAX, baud, |_| BoardOptions::default());
    // A log is read between rounds, and so at other times if these become longer.
    for board in world.boards_mut() {
        board.read_log_every(None);
    }
    world.run_until(100 * MILLISECOND);
    let before = world.instructions();
    let wall = timed(&mut world, SECOND);
    let results = world.boards().iter().flat_map(support::results);
    let good: u32 = results.map(|link| link.good).sum();
    let received = |board: &Board| [0, 2].map(|uart| board.traffic(uart).received);
    let bytes: u64 = world.boards().iter().flat_map(received).sum();
    println!(
        "{BOARDS} boards in a chain, all links busy at {baud} baud: {:.2} times faster than real time on one core, \
         {:.1} million instructions a second, {bytes} bytes and {good} frames received, behavior {:016x}",
        0.9 / wall,
        (world.instructions() - before) as f64 / 1e6 / wall,
        behavior(&world)
    );
}

/// A hash of what the boards have done, as far as firmware and wires can tell: a change that only makes the emulator faster leaves
/// it as it is. It depends on the firmware, and so on the compiler.
fn behavior(world: &World) -> u64 {
    let mut hash = std::hash::DefaultHasher::new();
    for board in world.boards() {
        let cpu = &board.cpu;
        (cpu.r, cpu.s, cpu.next, cpu.instructions, cpu.exceptions).hash(&mut hash);
        (&cpu.memory.sram, board.resets(), board.violations(), board.remarks()).hash(&mut hash);
        (0..UARTS).for_each(|uart| format!("{:?}", board.traffic(uart)).hash(&mut hash));
    }
    hash.finish()
}

/// Resident memory in MB.
fn memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kilobytes.map_or(f64::NAN, |kilobytes| kilobytes / 1024.0)
}
