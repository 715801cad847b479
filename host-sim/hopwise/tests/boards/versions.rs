//! Boards of different versions of the wire format on one wire, and updates between images of one version.

use std::sync::{Arc, OnceLock};

use hopwise_core::Network;
use hopwise_emulate::package::package;
use hopwise_emulate::setup;
use hopwise_emulator::image::Image;
use hopwise_emulator::time::{MILLISECOND, SECOND};
use hopwise_emulator::world::{Board, BoardOptions, World};
use hopwise_node::store::Slot;
use hopwise_node::wire::{BoardConfig, LinkFault, VERSION};
use hopwise_rig::board_log::{LogFormat, LogReaders};
use hopwise_rig::boards::KINDS;
use hopwise_rig::mesh::Mesh;
use hopwise_rig::plan::WiringPlan;
use hopwise_rig::survey::survey;
use hopwise_rig::update::{Boards, CannotUpdate, Package, update};
use hopwise_rig::wiring_check::{FindingKind, WiringReport, compare};

use crate::firmware_support::{Firmware, Rig, build, port, stock};
use crate::update::{HostEnd, Images, images};

/// The version before this one, and the last firmware of it, without its debug information.
const BEFORE: u8 = VERSION - 1;
static IMAGE_BEFORE: &[u8] = include_bytes!("version-3.elf");
const NETWORK: &str = "path(3)";

/// That firmware with the boot loader, as boards have it.
fn before(images: &Images) -> &'static Firmware {
    static FIRMWARE: OnceLock<Firmware> = OnceLock::new();
    FIRMWARE.get_or_init(|| {
        // A copy is aligned as an ELF file has to be.
        let elf = IMAGE_BEFORE.to_vec();
        let image = Image::from_elf(&elf).expect("firmware");
        Firmware {
            image: Arc::new(image.with_loader(&images.loader)),
            format: LogFormat::of_elf(&elf).expect("a log format"),
            elf,
        }
    })
}

/// A mesh of three boards, of which the last is of the version before.
fn mixed_mesh() -> Option<HostEnd> {
    let images = images()?;
    let firmware = [&images.flashed, &images.flashed, before(images)];
    let network: Network = NETWORK.parse().expect("a network");
    let mut world = World::new(5);
    for (node, firmware) in (0..).zip(firmware) {
        let options = BoardOptions {
            unique_id: [node, 1, 2],
            ..BoardOptions::default()
        };
        let mut board = Board::new(&firmware.image, options);
        let config = BoardConfig::new(NETWORK, node.into()).expect("a config").write();
        setup::configure(&mut board, &firmware.image, &config, None, 10 + node);
        world.add(board);
    }
    world.wire(port(0, 0), port(1, 1)).expect("free ports");
    world.wire(port(1, 0), port(2, 0)).expect("free ports");
    let readers = LogReaders::new(firmware.map(|firmware| &firmware.format));
    Some(HostEnd::new(Rig::with_logs(network, world, readers)))
}

fn findings(host_end: &mut HostEnd) -> WiringReport {
    let network: Network = NETWORK.parse().expect("a network");
    let mesh = Mesh::new(network, KINDS[0]).expect("a mesh");
    let seen = survey(host_end, &mesh, &[0, 1, 2]);
    let plan = WiringPlan::new(&mesh);
    compare(&mesh, &plan, plan.cables.len(), &seen, None)
}

/// Boards of the version before get this one in one go, and not one after the other.
fn update_from_before(rig: impl Fn(&'static Firmware, &str) -> Rig) {
    let Some(images) = images() else { return };
    let mut host_end = HostEnd::linked(rig(before(images), NETWORK));
    host_end.rig.hosts.trust_version_3();
    assert_eq!(host_end.wire_version(), BEFORE);
    assert_eq!(findings(&mut host_end).findings, []);
    let rolling = update(&mut host_end, &images.package, &[vec![2], vec![1], vec![0]]).expect_err("a refusal");
    let sentence = "the boards speak version 3 of the wire format and the image version 4, so they cannot switch one after the other: \
                    leave out `--rolling`";
    assert_eq!(rolling.to_string(), sentence);
    let report = host_end.update(&images.package).expect("an update");
    assert_eq!((report.boards, report.bricked), (3, 0), "{report:?}");
    host_end.rig.wait_for_links(SECOND);
    for board in 0..3 {
        let state = host_end.state(board);
        assert_eq!((state.slot, state.on_trial), (Slot::Second, false), "board {board}");
        assert_eq!(host_end.rig.hosts.wire_version(board), VERSION);
        host_end.assert_whole(board, images, "after the update");
    }
}

#[test]
fn a_mesh_of_the_version_before_is_updated_by_one_command() {
    update_from_before(Rig::new);
}

#[test]
fn a_mesh_of_the_version_before_is_updated_by_one_command_with_keys() {
    update_from_before(Rig::keyed);
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
    for (board, other, times) in [(0, BEFORE, 0), (1, BEFORE, 1), (2, VERSION, 1)] {
        let told = log.iter().filter(|line| line.board == board);
        let told = told.filter(|line| line.text.contains(&format!("Version({other})")));
        assert_eq!(told.count(), times, "board {board}: {log:?}");
    }
    // The rest of the mesh is none the worse for it.
    assert!(host_end.rig.link_report(0, 0).up);
    let report = findings(&mut host_end);
    let findings = report.findings.iter();
    let found: Vec<_> = findings.map(|finding| (finding.kind, finding.node)).collect();
    assert_eq!(found, [(FindingKind::Version, 1), (FindingKind::NoAnswer, 2)]);
    let advice = "boards 1 and 2 speak different versions of the wire format: `hopwise flash MESH.toml --only 2` gives board 2 what the \
                  mesh file says";
    assert_eq!(report.moves, [advice]);
    // Nothing is begun that could not be ended.
    let Some(images) = images() else { return };
    let refused = host_end.update(&images.package).expect_err("a refusal");
    assert_eq!(refused, CannotUpdate::Silent(vec![2]));
    let why = "a board does not respond: node 2; `hopwise check` says what is heard of it";
    assert_eq!(refused.to_string(), why);
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
    let older = "hopwise 0.0.0-older".get(..newer.len()).expect("a short name");
    let older = older.to_string();
    assert_ne!(older, newer);
    let package = another_build(&newer, &older);
    for (package, program, slot) in [(&package, &older, Slot::Second), (&images.package, &newer, Slot::First)] {
        let report = update(&mut host_end, package, &[vec![1], vec![0]]).expect("an update");
        assert_eq!((report.boards, report.bricked), (2, 0), "{program}");
        host_end.rig.wait_for_links(SECOND);
        for board in 0..2 {
            let state = host_end.state(board);
            assert_eq!((state.slot, state.on_trial), (slot, false), "board {board}: {program}");
            let card = host_end.rig.status(board).card;
            assert_eq!(card.program.as_str(), program, "board {board}");
        }
    }
    host_end.rig.assert_healthy();
}
