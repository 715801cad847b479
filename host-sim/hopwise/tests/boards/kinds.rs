//! Boards of other kinds than the default, alone and together: the firmware for each, on its own chip.

use hopwise_core::Network;
use hopwise_emulate::bench::assert_healthy;
use hopwise_emulate::doctor::{BoardFault, EmulatedPatient};
use hopwise_emulate::firmware;
use hopwise_emulate::rig;
use hopwise_emulate::setup::{self, Differences, Program};
use hopwise_emulator::boards::{self, BoardKind};
use hopwise_emulator::chip::clocks::Source;
use hopwise_emulator::chip::rules::Rule;
use hopwise_emulator::image::Image;
use hopwise_emulator::time::{MILLISECOND, SECOND};
use hopwise_emulator::world::{Board, BoardOptions, World};
use hopwise_host::talk::BoardRequest;
use hopwise_node::wire::{BoardState, CONFIG_BYTES, Command, CommandResult, Pattern, Traffic};
use hopwise_rig::board_log::LogReaders;
use hopwise_rig::doctor::{Scope, examine};
use hopwise_rig::mesh::Mesh;

use crate::firmware_power::stored;
use crate::firmware_support::{Firmware, Rig, build, config, load};
use crate::next_hop::start;

const DIFFERENCES: Differences = Differences::new(11, 30.0);

/// A kind of board with its image, which is built if need be; `None` if there is no ARM compiler.
pub(crate) fn programmed(name: &str) -> Option<(Program, &'static Firmware)> {
    let kind = boards::find(name).expect("a board");
    let firmware: &'static Firmware = Box::leak(Box::new(load(build(&firmware::Firmware::new(kind.name)))?));
    let image = firmware.image.clone();
    Some((Program { kind, image }, firmware))
}

fn assert_flawless(mut rig: Rig) {
    let report = rig.check();
    assert_eq!(report.findings, [""; 0]);
    assert!(report.links_up > 0 && report.pongs > 0);
    assert_strict(&rig.world);
}

fn assert_strict(world: &World) {
    assert_healthy(world);
    for (number, board) in world.boards().iter().enumerate() {
        assert_eq!(board.resets(), 0, "board {number}, a {}", board.kind().name);
    }
}

pub(crate) fn broken_rules(rig: &Rig) -> Vec<Rule> {
    let violations = rig.world.boards().iter().flat_map(|board| board.violations());
    violations.map(|violation| violation.rule).collect()
}

/// A board whose external clock starts so many microseconds after it is switched on. Where that is too late, it runs from the one inside, which it says,
/// until then: it is not reset, and its time goes on.
pub(crate) fn a_late_clock(name: &str, hse_start: u32, is_late: bool) {
    let Some((program, firmware)) = programmed(name) else {
        return;
    };
    let what = format!("{name}, {hse_start}");
    let mut rig = Rig::special(firmware, &config("path(2)", 0), |options| {
        *options = BoardOptions::of(program.kind);
        (options.hse_start, options.hsi_ppm) = (hse_start, 9_000.0);
    });
    let mut times = Vec::new();
    for (is_inside, has_changed) in [(is_late, false), (false, is_late)] {
        rig.run_for(500 * MILLISECOND);
        let status = rig.status(0);
        assert_eq!(status.state, BoardState::Configured, "{what}");
        assert_eq!(status.fault.is_some(), is_inside, "{what}: {:?}", status.fault);
        let resets = rig.world.boards()[0].resets();
        assert_eq!((broken_rules(&rig), resets), (vec![], 0), "{what}");
        let source = if is_inside { Source::Internal } else { Source::External };
        assert_eq!(rig.world.boards()[0].cpu.bus.clocks().source, source, "{what}");
        let change = "the external clock has come, and is used";
        let lines = rig.log();
        assert_eq!(lines.iter().any(|line| line.text == change), has_changed, "{what}");
        times.push(status.uptime_ms);
    }
    // The clock inside is 9,000 parts in a million too fast.
    let passed = times[1] - times[0];
    assert!((499..507).contains(&passed), "{what}: {passed} ms");
}

/// Boards of one kind, as a network whose nodes have as many links as the board.
pub(crate) fn a_mesh_of_one_kind(name: &str) {
    let Some((program, firmware)) = programmed(name) else {
        return;
    };
    let nodes = program.kind.links().len() + 1;
    let network: Network = format!("complete({nodes})").parse().expect("a network");
    let world = setup::build_of(&program, &network, DIFFERENCES).expect("boards");
    let readers = firmware.format.readers(nodes);
    assert_flawless(Rig::with_logs(network, world, readers));
}

/// Boards of one kind with as much traffic to all neighbors, five or as many as they have links, as the wires take, at one million
/// baud: prints what the wires of one carry, which is at least so much, and what that costs it. Nothing is damaged on any; only a board
/// that is too slow to acknowledge in time is sent packets again.
pub(crate) fn full_links(name: &str, least: f64, is_slow: bool) {
    const TIME: u64 = 100 * MILLISECOND;
    let Some((program, firmware)) = programmed(name) else {
        return;
    };
    let links = program.kind.links().len().min(5);
    let boards = links + 1;
    let network: Network = format!("complete({boards})").parse().expect("a network");
    let world = setup::build_of(&program, &network, DIFFERENCES).expect("boards");
    let mut rig = Rig::with_logs(network, world, firmware.format.readers(boards)).linked();
    for board in 0..boards {
        let traffic = Traffic::new(100_000, 0, Pattern::Neighbors, 200);
        start(&mut rig, board, traffic);
    }
    rig.run_for(50 * MILLISECOND);
    let count = |rig: &Rig| {
        let board = &rig.world.boards()[0];
        let links = program.kind.links()[..links].iter();
        let sent: Vec<u64> = links.map(|link| board.traffic(link.uart).sent).collect();
        (sent, board.cpu.instructions)
    };
    let before = count(&rig);
    rig.run_for(TIME);
    let after = count(&rig);
    let whole = 100_000.0 * TIME as f64 / SECOND as f64;
    let pairs = after.0.iter().zip(&before.0);
    let shares = pairs.map(|(after, before)| (after - before) as f64 / whole);
    let shares: Vec<f64> = shares.collect();
    let lowest = shares.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = shares.iter().copied().fold(0.0, f64::max);
    let hclk = rig.world.boards()[0].cpu.bus.clocks().hclk / 1_000_000;
    let millions = (after.1 - before.1) as f64 / (TIME as f64 / SECOND as f64) / 1e6;
    println!(
        "{name}: {links} links, {:.0} to {:.0} % of the line, {millions:.0} million instructions a second of {hclk} million cycles",
        lowest * 100.0,
        highest * 100.0
    );
    let all = (0..boards).flat_map(|board| (0..links).map(move |link| (board, link)));
    let reports: Vec<_> = all
        .map(|(board, link)| (board, link, rig.link_report(board, link as u8).counters))
        .collect();
    let resent: u32 = reports.iter().map(|(_, _, counters)| counters.resent).sum();
    println!("{name}: {resent} packets were retransmitted");
    let losses: Vec<_> = reports
        .into_iter()
        .filter(|(_, _, counters)| {
            let late = counters.resent + counters.timeouts;
            let late = if is_slow { 0 } else { late };
            counters.damaged + late > 0 || counters.sessions != 1
        })
        .collect();
    assert_eq!(losses, [], "(board, link, counters) of {name}");
    assert!(lowest > least, "{name}: {shares:?}");
    assert_strict(&rig.world);
}

/// A ring of boards of one kind, in whose flash a reset has torn the word at an address, which every start reads.
pub(crate) fn a_torn_word_stops_nothing(name: &str, address: u32, bytes: u32) {
    let Some((program, firmware)) = programmed(name) else {
        return;
    };
    let network: Network = "ring(3)".parse().expect("a network");
    let mut world = setup::build_of(&program, &network, DIFFERENCES).expect("boards");
    for board in world.boards_mut() {
        board.tear_flash(address..address + bytes);
    }
    assert_flawless(Rig::with_logs(network, world, firmware.format.readers(3)));
}

pub(crate) fn doctors_findings(name: &str, faults: &[BoardFault]) -> Option<Vec<String>> {
    let (program, _) = programmed(name)?;
    let mut patient = EmulatedPatient::new(&program, &[0xff; CONFIG_BYTES], None, faults).expect("a board");
    Some(crate::doctor::faults(&examine(&mut patient, Scope::Short)))
}

/// A ring in which one board has its flash as one bank, not two: it is part of the mesh, says that its config cannot be written, and keeps it.
pub(crate) fn one_bank_is_told(name: &str) {
    let Some((program, firmware)) = programmed(name) else {
        return;
    };
    let network: Network = "ring(3)".parse().expect("a network");
    let mut world = setup::build_of(&program, &network, DIFFERENCES).expect("boards");
    let first = config("ring(3)", 0);
    let mut board = Board::new(
        &program.image,
        BoardOptions {
            dual_bank: false,
            ..BoardOptions::of(program.kind)
        },
    );
    setup::configure(&mut board, &program.image, &first, None, 1);
    world.boards_mut()[0] = board;
    let mut rig = Rig::with_logs(network, world, firmware.format.readers(3)).linked();
    let status = rig.status(0);
    let fault = status.fault.unwrap_or_default();
    assert_eq!(status.state, BoardState::Configured);
    assert!(fault.contains("DBANK"), "{fault:?}");
    let other = config("ring(3)", 1);
    let done: CommandResult = rig.ask_one(BoardRequest::command(0, &Command::WriteConfig(&other)));
    assert_eq!(done, CommandResult::Done, "it is asked to, and cannot");
    rig.run_for(3 * SECOND);
    assert_eq!(stored(&mut rig), first, "the config that it has");
    let board = &rig.world.boards()[0];
    assert_eq!(board.faults().len(), 0);
    assert_strict(&rig.world);
}

/// What a probe writes with an image covers the boot loader's log, or the sector that all of it is in: whatever was kept before is forgotten.
pub(crate) fn flashing_empties_the_log(name: &str) {
    const SMALLEST: u32 = 16 * 1024;
    let built = build(&firmware::Firmware::new(name));
    let path = load(built.clone()).and(built.ok());
    let Some(path) = path else { return };
    let elf = std::fs::read(path).expect("the ELF file");
    let image = Image::from_elf(&elf).expect("firmware");
    let [begin, bytes] = ["_boot_log", "_boot_log_bytes"].map(|name| image.address_of(name).expect("a log"));
    let word = |at: usize| u32::from_le_bytes(elf[at..at + 4].try_into().expect("four bytes"));
    // The program headers of an ELF file of 32 bits: where they begin, how long each is, and how many there are.
    let first = word(28) as usize;
    let [each, count] = [42, 44].map(|place| word(place) as usize & 0xffff);
    let mut end = begin;
    for header in (0..count).map(|number| first + number * each) {
        let (place, length) = (word(header + 12), word(header + 16));
        if word(header) == 1 && (place..place + length).contains(&end) {
            end = place + length;
        }
    }
    let is_written = end >= begin + bytes.min(SMALLEST);
    assert!(is_written, "{name}: the log is written from {begin:#x} to {end:#x}");
}

#[test]
fn an_image_that_a_probe_flashes_is_the_one_that_starts() {
    flashing_empties_the_log(hopwise_rig::boards::DEFAULT);
}

/// Boards of all these kinds in turn, around a ring.
pub(crate) fn a_ring_of_many_kinds(names: &[&str]) {
    let programs: Option<Vec<_>> = names.iter().map(|name| programmed(name)).collect();
    let Some(programs) = programs else { return };
    let nodes = 2 * names.len();
    let mut text = format!("network = \"ring({nodes})\"\nboard = \"{}\"\n", names[0]);
    for (node, name) in names.iter().cycle().take(nodes).enumerate() {
        text += &format!("[[node]]\naddress = {node}\nboard = \"{name}\"\n");
    }
    let mesh = Mesh::parse(&text).expect("a mesh");
    let (programs, images): (Vec<Program>, Vec<&Firmware>) = programs.into_iter().unzip();
    let world = rig::build(&mesh, &programs, DIFFERENCES).expect("boards");
    let kinds: Vec<&BoardKind> = world.boards().iter().map(|board| board.kind()).collect();
    let mut pairs = kinds.iter().zip(names.iter().cycle());
    assert!(pairs.all(|(kind, name)| kind.name == *name));
    let formats = (0..nodes).map(|node| &images[node % images.len()].format);
    let readers = LogReaders::new(formats);
    assert_flawless(Rig::with_logs(mesh.network, world, readers));
}

#[test]
fn two_kinds_of_boards_make_one_mesh() {
    a_ring_of_many_kinds(&["nucleo-f401re", "nucleo-f446re"]);
}
