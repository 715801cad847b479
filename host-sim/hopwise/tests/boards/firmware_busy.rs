//! Programs that keep the processor to themselves do not hold up the node, on emulated boards: `firmware/examples/trials/busy.rs`.

use hopwise_emulator::chip::i2c::I2cMemory;
use hopwise_emulator::time::{MILLISECOND, SECOND};
use hopwise_node::wire::Command;
use hopwise_rig::board_log::BoardLine;

use crate::firmware_programs::{example, order};
use crate::firmware_support::Rig;

/// The trials, by their numbers in the image.
const HANG: u8 = 5;
const CONFIRM: u8 = 6;
const COMPUTE: u8 = 7;
const READ_SENSOR: u8 = 8;
const MASK_INTERRUPTS: u8 = 9;
const WRITE_LOG: u8 = 10;
const CHANGE_FLASH: u8 = 11;
const HANG_WATCHED: u8 = 12;

/// Microseconds by which a program may delay a packet that passes through its board.
const DELAY: u64 = 100;
/// Microseconds on a wire of 1 Mbaud of an acknowledgment that became due while interrupts were masked, and leaves before the packet.
const DUE: u64 = 100;
/// The bytes of the sensor, and their sum.
const REGISTERS: [u8; 3] = [17, 4, 21];

/// Three boards in a row, the middle one with a sensor; `None` if there is no ARM compiler.
fn three_boards() -> Option<Rig> {
    let mut rig = Rig::new(example("trials")?, "path(3)");
    let sensor = Box::new(I2cMemory::new(256).with(&REGISTERS));
    assert!(rig.world.boards_mut()[1].attach_i2c("I2C1", 0x50, sensor));
    rig.wait_for_links(SECOND);
    rig.log();
    Some(rig)
}

/// Mean and longest time in microseconds of a hundred confirmed messages from node 0 to node 2, all of which are delivered, and the log. All links
/// stay up, and no board restarts.
fn confirmed(rig: &mut Rig) -> (u64, u64, Vec<BoardLine>) {
    confirmed_while(rig, |rig| rig.run_for(3 * SECOND))
}

/// The same while something takes these three seconds.
pub(crate) fn confirmed_while(rig: &mut Rig, pass: impl FnOnce(&mut Rig)) -> (u64, u64, Vec<BoardLine>) {
    order(rig, 0, CONFIRM, 2);
    pass(rig);
    let lines = rig.log();
    let result = lines.iter().find_map(|line| {
        let rest = line.text.strip_prefix("confirmed ").filter(|_| line.board == 0)?;
        let numbers = rest.split(' ').filter_map(|word| word.parse().ok());
        <[u64; 3]>::try_from(numbers.collect::<Vec<_>>()).ok()
    });
    let Some([delivered, mean, longest]) = result else {
        panic!("board 0 has not sent: {lines:?}")
    };
    assert_eq!(delivered, 100);
    assert_links_stay_up(&lines);
    assert_eq!(rig.resets(), [0; 3]);
    rig.assert_healthy();
    (mean, longest, lines)
}

pub(crate) fn assert_links_stay_up(lines: &[BoardLine]) {
    let down: Vec<_> = lines.iter().filter(|line| line.text.starts_with("LinkDown")).collect();
    assert!(down.is_empty(), "{down:?}");
}

/// Whether board 1 has logged a line.
fn says(lines: &[BoardLine], text: &str) -> bool {
    lines.iter().any(|line| line.board == 1 && line.text == text)
}

/// What is confirmed passes the busy board twice.
#[test]
fn a_busy_program_delays_nothing_that_passes_through_its_board() {
    let (mut idle_mean, mut idle_longest) = (0, 0);
    // Messages meet hellos and what boards do every now and then at other moments each time.
    for wait in [0, 7, 13, 29] {
        let Some(mut rig) = three_boards() else { return };
        rig.run_for(wait * MILLISECOND);
        let (mean, longest, _) = confirmed(&mut rig);
        (idle_mean, idle_longest) = (idle_mean.max(mean), idle_longest.max(longest));
        println!("idle: {mean} us, at most {longest}");
    }
    let sensor = format!("sensor {}, 0 failed", REGISTERS.map(u32::from).iter().sum::<u32>());
    for (trial, masked, end) in [
        (COMPUTE, 0, "computed"),
        (READ_SENSOR, 0, &sensor),
        (MASK_INTERRUPTS, 1_000, "masked"),
    ] {
        let mut rig = three_boards().expect("a compiler");
        order(&mut rig, 1, trial, 0);
        let (mean, longest, lines) = confirmed(&mut rig);
        println!("{end}: {mean} us, at most {longest}");
        assert!(mean <= idle_mean + 2 * (DELAY + masked), "{end}: {mean} us");
        let due = if masked > 0 { DUE } else { 0 };
        assert!(
            longest <= idle_longest + 2 * (DELAY + masked + due),
            "{end}: {longest} us"
        );
        rig.run_for(2 * SECOND);
        let lines = [lines, rig.log()].concat();
        assert!(says(&lines, end), "{end}: {lines:?}");
        let is_reported = lines.iter().any(|line| line.text.contains("not let others run"));
        assert_eq!(is_reported, trial != COMPUTE, "{end}: {lines:?}");
    }
}

/// It is reported, and its board goes on, also with the program's messages unread.
#[test]
fn a_program_that_hangs_is_reported_and_stops_nobody() {
    let Some(mut rig) = three_boards() else { return };
    order(&mut rig, 1, HANG, 0);
    rig.run_for(25 * SECOND);
    let lines = rig.log();
    assert_links_stay_up(&lines);
    for seconds in [2, 4, 8, 16] {
        let why = format!("a program has not let others run for {seconds} s");
        assert!(says(&lines, &why), "{lines:?}");
    }
    confirmed(&mut rig);
    assert_eq!(rig.status(1).fault, None);
}

#[test]
fn a_program_that_wants_to_be_watched_restarts_its_board_when_it_hangs() {
    let Some(mut rig) = three_boards() else { return };
    order(&mut rig, 1, HANG_WATCHED, 0);
    rig.run_for(2 * SECOND);
    assert_eq!(rig.resets(), [0, 1, 0]);
    assert_eq!(rig.status(1).fault.as_deref(), Some("task 19 hung"));
}

/// The core stands still for longer than a link lives without a sign of life.
#[test]
fn links_stay_up_while_a_program_changes_the_flash() {
    let Some(mut rig) = three_boards() else { return };
    order(&mut rig, 1, CHANGE_FLASH, 0);
    rig.run_for(3 * SECOND);
    let lines = rig.log();
    assert!(says(&lines, "flash changed: Some(true)"), "{lines:?}");
    assert_links_stay_up(&lines);
    confirmed(&mut rig);
}

/// Lines of the node about packets, and of the program.
fn count_lines(lines: &[BoardLine]) -> (usize, usize) {
    let of_board = || lines.iter().filter(|line| line.board == 1);
    let packets = ["Received", "Sent", "Forwarded"];
    let of_node = of_board().filter(|line| packets.iter().any(|event| line.text.starts_with(event)));
    let of_program = of_board().filter(|line| line.text.ends_with("of a program"));
    (of_node.count(), of_program.count())
}

fn log_packets(rig: &mut Rig) {
    rig.command(1, &Command::LogPackets(true));
    rig.log();
}

/// A program writes a line every millisecond, and the node writes some for every packet.
#[test]
fn no_line_of_the_log_is_lost_to_another() {
    let Some(mut rig) = three_boards() else { return };
    log_packets(&mut rig);
    let alone = count_lines(&confirmed(&mut rig).2);
    let mut rig = three_boards().expect("a compiler");
    order(&mut rig, 1, WRITE_LOG, 0);
    log_packets(&mut rig);
    let together = count_lines(&confirmed(&mut rig).2);
    println!("alone {alone:?}, together {together:?}");
    assert_eq!(alone.1, 0);
    assert!(alone.0 >= 400, "{alone:?}");
    assert_eq!(together, (alone.0, 2_000));
}

/// A probe that reads too rarely misses lines, and learns how many.
#[test]
fn lines_without_room_are_counted() {
    let Some(mut rig) = three_boards() else { return };
    rig.world.boards_mut()[1].read_log_every(Some(SECOND));
    order(&mut rig, 1, WRITE_LOG, 0);
    rig.run_for(5 * SECOND);
    let lines = rig.log();
    let count = |line: &BoardLine| line.text.strip_suffix(" lines of the log are lost")?.parse().ok();
    let lost: Vec<usize> = lines.iter().filter_map(count).collect();
    let (_, arrived) = count_lines(&lines);
    println!("{arrived} lines have arrived, {lost:?} are lost");
    assert!(arrived > 500 && lost.len() > 1, "{lines:?}");
    assert_eq!(arrived + lost.iter().sum::<usize>(), 2_000);
}
