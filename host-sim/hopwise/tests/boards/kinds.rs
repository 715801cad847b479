//! Boards of other kinds than the default, alone and together: the firmware for each, on its own chip.

use hopwise_core::Network;
use hopwise_emulate::firmware;
use hopwise_emulate::log::LogReaders;
use hopwise_emulate::setup::{self, Differences, Program};
use hopwise_emulator::boards::{self, BoardKind};
use hopwise_emulator::world::World;
use hopwise_rig::emulated;
use hopwise_rig::mesh::Mesh;

use crate::firmware_support::{Firmware, Rig, build, load};

const DIFFERENCES: Differences = Differences {
    seed: 11,
    drift_ppm: 30.0,
};

/// A kind of board with its image, which is built if need be; `None` if there is no ARM compiler.
fn programmed(name: &str) -> Option<(Program, &'static Firmware)> {
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
    for (number, board) in world.boards().iter().enumerate() {
        let name = board.kind().name;
        assert_eq!(board.violations(), [], "board {number}, a {name}");
        assert_eq!(board.remarks(), [], "board {number}, a {name}");
        assert!(board.faults().is_empty(), "board {number}, a {name}");
        assert_eq!(board.resets(), 0, "board {number}, a {name}");
    }
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
    let world = emulated::build(&mesh, &programs, DIFFERENCES).expect("boards");
    let kinds: Vec<&BoardKind> = world.boards().iter().map(|board| board.kind()).collect();
    assert!(
        kinds
            .iter()
            .zip(names.iter().cycle())
            .all(|(kind, name)| kind.name == *name)
    );
    let formats = (0..nodes).map(|node| &images[node % images.len()].format);
    let readers = LogReaders::new(formats);
    assert_flawless(Rig::with_logs(mesh.network.clone(), world, readers));
}

#[test]
fn two_kinds_of_boards_make_one_mesh() {
    a_ring_of_many_kinds(&["nucleo-f401re", "nucleo-f446re"]);
}
