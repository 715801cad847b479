//! Boards of different versions of the wire format on one wire, and updates between images of one version.

use hopwise_core::Network;
use hopwise_emulate::hosts::Carry;
use hopwise_emulate::package::package;
use hopwise_emulate::setup;
use hopwise_emulator::image::Image;
use hopwise_emulator::time::{MILLISECOND, SECOND};
use hopwise_emulator::world::{Board, BoardOptions, Port, World};
use hopwise_node::store::Slot;
use hopwise_node::wire::{BoardConfig, DELIMITER, Frame, LinkFault, VERSION, crc32c, decode};
use hopwise_rig::boards::KINDS;
use hopwise_rig::mesh::Mesh;
use hopwise_rig::plan::WiringPlan;
use hopwise_rig::survey::survey;
use hopwise_rig::update::{CannotUpdate, Package, update};
use hopwise_rig::wiring_check::{FindingKind, compare};

use crate::firmware_support::{Rig, build, stock};
use crate::update::{HostEnd, images};

/// In which version 2 differs from this one is what packets say; its hellos have the same fields.
const BEFORE: u8 = VERSION - 1;
const NETWORK: &str = "path(3)";

/// The hello in a frame as the version before says it; any other frame as it is.
fn as_before(frame: &[u8]) -> Vec<u8> {
    const CRC: usize = 4;
    let mut bytes: Vec<u8> = frame.iter().copied().filter(|byte| *byte != DELIMITER).collect();
    let Ok(mut content) = decode(&mut bytes).map(<[u8]>::to_vec) else {
        return frame.to_vec();
    };
    if !matches!(Frame::read(&content, 0), Ok(Frame::Hello(_))) {
        return frame.to_vec();
    }
    let guarded = content.len() - CRC;
    content[1] = BEFORE;
    let crc = crc32c([&content[..guarded]]).to_le_bytes();
    content[guarded..].copy_from_slice(&crc);
    // COBS of what is shorter than its longest run.
    let parts = content.split(|byte| *byte == DELIMITER);
    let stuffed = parts.flat_map(|part| [&[part.len() as u8 + 1], part].concat());
    [DELIMITER].into_iter().chain(stuffed).chain([DELIMITER]).collect()
}

/// A wire on which each end hears the other as a board of the version before.
fn translated() -> Carry {
    let mut coming = [Vec::new(), Vec::new()];
    Box::new(move |side: usize, bytes: &[u8], _| {
        let mut out = Vec::new();
        for byte in bytes {
            coming[side].push(*byte);
            if *byte == DELIMITER {
                out.extend(as_before(&std::mem::take(&mut coming[side])));
            }
        }
        out
    })
}

/// A mesh of three boards, of which the last is of the version before.
fn mixed_mesh() -> Option<HostEnd> {
    let images = images()?;
    let mut world = World::new(5);
    for node in 0..3 {
        let options = BoardOptions {
            unique_id: [node, 1, 2],
            ..BoardOptions::default()
        };
        let mut board = Board::new(&images.flashed.image, options);
        let config = BoardConfig::new(NETWORK, node.into()).expect("a config").write();
        setup::configure(&mut board, &images.flashed.image, &config, None, 10 + node);
        world.add(board);
    }
    let port = |board, link: usize| Port::new(board, setup::LINKS[link]);
    world.wire(port(0, 0), port(1, 1)).expect("free ports");
    let mut rig = Rig::with(&images.flashed, NETWORK.parse().expect("a network"), world);
    let ends = [port(1, 0), port(2, 0)];
    rig.hosts.tap(&mut rig.world, ends, translated()).expect("free ports");
    Some(HostEnd::new(rig))
}

#[test]
fn a_board_of_the_version_before_is_refused_once_and_named() {
    let Some(mut host_end) = mixed_mesh() else { return };
    host_end.rig.run_for(5 * SECOND);
    for (board, link) in [(1, 0), (2, 0)] {
        let report = host_end.rig.link_report(board, link);
        assert_eq!((report.up, report.fault), (false, LinkFault::Version), "board {board}");
    }
    let log = host_end.rig.log();
    for (board, times) in [(0, 0), (1, 1), (2, 1)] {
        let told = log.iter().filter(|line| line.board == board);
        let told = told.filter(|line| line.text.contains(&format!("Version({BEFORE})")));
        assert_eq!(told.count(), times, "board {board}: {log:?}");
    }
    // The rest of the mesh is none the worse for it.
    assert!(host_end.rig.link_report(0, 0).up);
    let network: Network = NETWORK.parse().expect("a network");
    let mesh = Mesh::new(network, KINDS[0]).expect("a mesh");
    let seen = survey(&mut host_end, &mesh, &[0, 1, 2]);
    let plan = WiringPlan::new(&mesh);
    let report = compare(&mesh, &plan, plan.cables.len(), &seen, None);
    let found: Vec<_> = report
        .findings
        .iter()
        .map(|finding| (finding.kind, finding.node))
        .collect();
    assert_eq!(found, [(FindingKind::Version, 1), (FindingKind::NoAnswer, 2)]);
    let advice = "boards 1 and 2 speak different versions of the wire format: `hopwise flash MESH.toml --only 2` gives board 2 what the \
                  mesh file says";
    assert_eq!(report.moves, [advice]);
    // Nothing is begun that could not be ended.
    let Some(images) = images() else { return };
    let refused = host_end.update(&images.package).expect_err("a refusal");
    assert_eq!(refused, CannotUpdate::Silent(vec![2]));
    assert_eq!(
        refused.to_string(),
        "a board does not respond: node 2; `hopwise check` says what is heard of it"
    );
    host_end.rig.run_for(100 * MILLISECOND);
    host_end.rig.assert_healthy();
}

/// Hopwise's own image as another build has it, which calls itself `program`, as long as `before`.
fn another_build(before: &str, program: &str) -> Package {
    let [first, second] = [stock(), stock().for_second_slot()].map(|firmware| {
        let mut elf = std::fs::read(build(&firmware).expect("an image")).expect("the ELF file");
        let places: Vec<usize> = (0..=elf.len() - before.len())
            .filter(|place| elf[*place..].starts_with(before.as_bytes()))
            .collect();
        assert!(!places.is_empty(), "it calls itself {before}");
        for place in places {
            elf[place..place + program.len()].copy_from_slice(program.as_bytes());
        }
        Image::from_elf(&elf).expect("firmware")
    });
    package(&first, &second).expect("an update")
}

/// Old and new boards of one wire format work together: an older build comes board by board, and the newer one the same way.
#[test]
fn an_older_build_comes_and_goes_board_by_board() {
    let Some(images) = images() else { return };
    let mut host_end = HostEnd::mesh(images, "path(2)");
    let newer = host_end.rig.status(0).card.program.to_string();
    let older = "hopwise 0.0.0-older"
        .get(..newer.len())
        .expect("a short name")
        .to_string();
    assert_ne!(older, newer);
    let package = another_build(&newer, &older);
    for (package, program, slot) in [(&package, &older, Slot::Second), (&images.package, &newer, Slot::First)] {
        let report = update(&mut host_end, package, &[vec![1], vec![0]]).expect("an update");
        assert_eq!((report.boards, report.bricked), (2, 0), "{program}");
        host_end.rig.wait_for_links(SECOND);
        for board in 0..2 {
            let state = host_end.state(board);
            assert_eq!((state.slot, state.on_trial), (slot, false), "board {board}: {program}");
            assert_eq!(
                host_end.rig.status(board).card.program.as_str(),
                program,
                "board {board}"
            );
        }
    }
    host_end.rig.assert_healthy();
}
