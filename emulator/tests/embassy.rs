//! A real embassy firmware boots, and its boards exchange frames by DMA without losing any.

mod support;

use std::sync::Arc;

use hopwise_emulator::chip::pins::Pin;
use hopwise_emulator::image::Image;
use hopwise_emulator::time::{MICROSECOND, MILLISECOND, SECOND, Time};
use hopwise_emulator::world::{Action, Board, BoardOptions, Port, Script, World};
use support::{LinkResult, chain, firmware, results};

fn clean() -> BoardOptions {
    BoardOptions {
        unique_id: [1, 2, 3],
        ..BoardOptions::default()
    }
}

/// Frames that fit into a receiver's ring: they may be read after the wire is cut.
const RING: u32 = 8;

fn assert_no_trouble(world: &World) {
    for (number, board) in world.boards().iter().enumerate() {
        if let Some(fault) = board.faults().first() {
            panic!("board {number}: {fault}");
        }
        assert_eq!(board.remarks(), [], "board {number}");
        assert_eq!(board.violations(), [], "board {number}");
    }
}

/// Frames that were all sent and received.
fn all_of(frames: u32) -> LinkResult {
    LinkResult {
        sent: frames,
        good: frames,
        bad: 0,
        missing: 0,
        errors: 0,
    }
}

fn assert_all_arrived(world: &World, frames: u32) {
    let last = world.boards().len() - 1;
    for (number, board) in world.boards().iter().enumerate() {
        for (link, result) in results(board).into_iter().enumerate() {
            let has_neighbor = link == 0 && number < last || link == 1 && number > 0;
            let count = if has_neighbor { frames } else { 0 };
            assert_eq!(result, all_of(count), "board {number}, link {link}");
        }
    }
}

#[test]
fn frames_at_115200_baud_all_arrive() {
    let Some(image) = firmware() else { return };
    let mut world = chain(&image, 3, 100, 115_200, |_| clean());
    world.run_until(SECOND);
    assert_no_trouble(&world);
    assert_all_arrived(&world, 100);
}

#[test]
fn clocks_that_drift_and_start_apart_lose_nothing() {
    let Some(image) = firmware() else { return };
    let options = |number: usize| BoardOptions {
        hse_ppm: [100.0, -100.0, 30.0][number],
        start: number as Time * 3 * MILLISECOND,
        ..clean()
    };
    let mut world = chain(&image, 3, 500, 1_000_000, options);
    world.run_until(SECOND);
    assert_no_trouble(&world);
    assert_all_arrived(&world, 500);
}

/// What the boards have done. The log is not read, which would be at other times.
fn history(image: &Arc<Image>, ends: impl Iterator<Item = Time>) -> (String, u64) {
    let options = |number: usize| BoardOptions {
        hse_ppm: [100.0, -100.0, 30.0][number],
        ..clean()
    };
    let mut world = chain(image, 3, u32::MAX, 1_000_000, options);
    for board in world.boards_mut() {
        board.read_log_every(None);
    }
    ends.for_each(|end| world.run_until(end));
    assert_no_trouble(&world);
    let boards = world.boards().iter().map(|board| {
        let cpu = &board.cpu;
        let counted = (cpu.instructions, cpu.exceptions, results(board));
        format!("{counted:?} {:?} {:#x} {:?}", cpu.r, cpu.next, cpu.memory.sram)
    });
    (boards.collect::<Vec<_>>().join("\n"), world.rounds())
}

/// Boards that send all the time exchange what they have sent about as rarely as they may, and do the same if they do so more often.
#[test]
fn the_length_of_rounds_changes_nothing() {
    let Some(image) = firmware() else { return };
    const END: Time = 100 * MILLISECOND;
    let (once, rounds) = history(&image, std::iter::once(END));
    // Nine bits each.
    let fewest = END / (9 * MICROSECOND);
    assert!(rounds < fewest * 5 / 4, "{rounds} rounds, {fewest} at least");
    for piece in [17, 5, 2] {
        let ends = (1..).map(|number| number * piece * MICROSECOND + 123_456);
        let (pieces, more) = history(&image, ends.take_while(|end| *end < END).chain([END]));
        assert!(more > rounds);
        assert!(once == pieces, "pieces of {piece} microseconds");
    }
}

#[test]
fn the_log_comes_out_and_the_led_blinks() {
    let Some(image) = firmware() else { return };
    let mut world = chain(&image, 2, 0, 115_200, |_| clean());
    let mut levels = Vec::new();
    for step in 1..=10 {
        world.run_until(step * 250 * MILLISECOND + 100 * MILLISECOND);
        levels.push(world.boards()[0].output(0, 5));
    }
    let blinks = levels.windows(2).all(|pair| pair[0].is_some() && pair[0] != pair[1]);
    assert!(blinks, "{levels:?}");
    let log = world.boards_mut()[0].take_log();
    assert!(!log.is_empty() && log[0].0 < 5 * MILLISECOND, "{log:?}");
}

#[test]
fn the_same_inputs_give_the_same_state_on_any_number_of_threads() {
    let Some(image) = firmware() else { return };
    let run = |threads, seed| {
        let options = |number: usize| BoardOptions {
            hse_ppm: number as f64 * 7.5,
            ..clean()
        };
        let mut world = chain(&image, 5, u32::MAX, 1_000_000, options);
        world.set_threads(threads);
        let faults = Script::random(seed, &world.wired_ports(), 20.0, 150 * MILLISECOND);
        world.set_script(faults).expect("ports that there are");
        world.run_until(150 * MILLISECOND);
        (world.state_hash(), world.instructions())
    };
    let one = run(1, 7);
    assert_eq!(one, run(1, 7));
    assert_eq!(one, run(2, 7));
    assert_eq!(one, run(3, 7));
    assert_ne!(one, run(1, 8));
}

#[test]
fn a_cut_wire_loses_frames_and_recovers() {
    let Some(image) = firmware() else { return };
    let mut world = chain(&image, 2, u32::MAX, 1_000_000, |_| clean());
    let port = Port::new(1, support::LEFT);
    let events = vec![
        (100 * MILLISECOND, Action::Cut(port)),
        (200 * MILLISECOND, Action::Plug(port)),
    ];
    world.set_script(Script::new(events)).expect("a port that there is");
    world.run_until(100 * MILLISECOND);
    let before = results(&world.boards()[1])[1];
    assert_eq!((before.missing, before.bad, before.errors), (0, 0, 0));
    world.run_until(200 * MILLISECOND);
    let during = results(&world.boards()[1])[1];
    assert!(during.good - before.good <= RING, "{during:?}");
    world.run_until(400 * MILLISECOND);
    let after = results(&world.boards()[1])[1];
    assert!(after.missing > 100 && after.good > during.good + 200, "{after:?}");
}

fn good(world: &World, board: usize, link: usize) -> u32 {
    results(&world.boards()[board])[link].good
}

#[test]
fn a_plug_in_a_new_place_takes_the_frames_there() {
    let Some(image) = firmware() else { return };
    let mut world = chain(&image, 3, u32::MAX, 1_000_000, |_| clean());
    // The wire from 0 to 1 is parked at a port that nobody uses, and 2 is connected to where it was.
    let port = |board, uart| Port { board, uart };
    let script = vec![
        (100 * MILLISECOND, Action::PlugInto(port(0, 0), port(2, 3))),
        (100 * MILLISECOND, Action::PlugInto(port(2, 2), port(1, 2))),
    ];
    world.set_script(Script::new(script)).expect("wires");
    world.run_until(100 * MILLISECOND);
    let before = [(0, 0), (1, 0), (1, 1), (2, 1)].map(|(board, link)| good(&world, board, link));
    world.run_until(200 * MILLISECOND);
    let after = [(0, 0), (1, 0), (1, 1), (2, 1)].map(|(board, link)| good(&world, board, link));
    for (place, has_wire) in [false, false, true, true].into_iter().enumerate() {
        let more = after[place] - before[place];
        assert_eq!(more > 100, has_wire, "{before:?} {after:?}");
        assert!(has_wire || more <= RING, "{before:?} {after:?}");
    }
}

#[test]
fn a_fault_is_reported_with_the_functions_on_the_stack() {
    let Some(image) = firmware() else { return };
    let mut world = chain(&image, 1, 0, 115_200, |_| clean());
    let main = image.address_of("main").expect("a main function");
    // The second instruction of `main`, behind its prologue, becomes one that does not exist.
    let broken = main + 4;
    world.boards_mut()[0]
        .write_flash(broken, &[0x00, 0xde])
        .expect("code is in the flash");
    world.run_until(10 * MILLISECOND);
    let board = &world.boards()[0];
    let report = &board.faults()[0];
    assert_eq!((report.pc & !3, report.instruction), (broken & !3, "UDF T1"));
    let names: Vec<&str> = report.stack.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names.first(), Some(&"main"), "{report}");
    assert!(names.contains(&"Reset"), "{report}");
    assert_eq!(board.cpu.exception(), 3, "the hard fault handler runs");
}

#[test]
fn all_six_ports_carry_frames_by_dma_at_once() {
    let Some(image) = firmware() else { return };
    let mut world = World::new(1);
    for _ in 0..2 {
        world.add(support::board(&image, 200, 1_000_000, 0b11_1111, clean()));
    }
    for uart in 0..6 {
        world
            .wire(Port { board: 0, uart }, Port { board: 1, uart })
            .expect("a free port");
    }
    world.run_until(400 * MILLISECOND);
    assert_no_trouble(&world);
    for (number, board) in world.boards().iter().enumerate() {
        for (link, result) in results(board).into_iter().enumerate() {
            assert_eq!(result, all_of(200), "board {number}, link {link}");
        }
    }
}

/// A pressed button, flash, watchdog and resets as embassy's drivers use them.
#[test]
fn a_board_lives_four_times_and_remembers() {
    let Some(elf) = support::elf() else { return };
    let image = support::image(&elf.with_file_name("peripherals"));
    let mut world = World::new(1);
    world.add(Board::new(&image, clean()));
    let script = vec![
        (3000 * MILLISECOND, Action::Press(0)),
        (3020 * MILLISECOND, Action::Release(0)),
        (3500 * MILLISECOND, Action::Press(0)),
        (3600 * MILLISECOND, Action::Release(0)),
        (4000 * MILLISECOND, Action::Reset(0)),
    ];
    world.set_script(Script::new(script)).expect("a board");
    world.run_until(5 * SECOND);
    assert_no_trouble(&world);
    let kept = world.boards()[0].variable("KEPT", 11).expect("a variable");
    assert_eq!((kept[1], world.boards()[0].resets()), (4, 3), "{kept:x?}");
    // Power-on, software, watchdog, pin; the reset pin goes down every time.
    assert_eq!(kept[2..6], [0b1110, 0b1_0100, 0b10_0100, 0b100], "{kept:x?}");
    assert_eq!(
        kept[6..9],
        [400, 2000, 1],
        "sectors of 16 and 128 KiB, byte by byte: embassy does not set PSIZE for an erase"
    );
    // The firmware's clock begins when it has set up its chip, in less than a millisecond.
    let pressed = kept[9];
    assert!((2999..=3000).contains(&pressed), "pressed after {pressed} ms");
    assert_eq!(kept[10], 1, "the unique number");
}

#[test]
fn a_board_in_a_laboratory_hears_itself() {
    let Some(elf) = support::elf() else { return };
    let image = support::image(&elf.with_file_name("lab"));
    let mut world = World::new(1);
    let mut board = Board::new(&image, clean());
    for (one, other) in [("PA9", "PA10"), ("PA7", "PA6")] {
        board.join_pins(Pin::named(one), Pin::named(other));
    }
    world.add(board);
    let port = Port { board: 0, uart: 0 };
    world.join(port, Some(port)).expect("a port");
    world.run_until(SECOND);
    assert_no_trouble(&world);
    let worked = world.boards()[0].variable("WORKED", 1).expect("a variable");
    assert_eq!(worked, [0xff]);
}
