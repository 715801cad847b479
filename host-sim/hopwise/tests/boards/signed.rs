//! Images that their owner has signed, on emulated boards with the real firmware and boot loader.

use std::sync::Arc;

use hopwise_emulate::setup;
use hopwise_emulator::time::{MILLISECOND, SECOND};
use hopwise_host::talk::BoardRequest;
use hopwise_node::signature::{OwnerKey, SEED_BYTES, owner_key};
use hopwise_node::store::Slot;
use hopwise_node::wire::{Command, CommandResult, UpdatePhase};
use hopwise_rig::board_log::LogFormat;
use hopwise_rig::boards::DEFAULT;
use hopwise_rig::update::{CannotUpdate, Package};

use crate::firmware_busy::confirmed_while;
use crate::firmware_programs::example;
use crate::firmware_support::{Firmware, KEYS, Rig, config};
use crate::update::{HostEnd, images, images_of};

pub(crate) const SEED: [u8; SEED_BYTES] = [5; SEED_BYTES];

/// Gives boards an owner, as a probe would: what they had before is gone.
pub(crate) fn own(rig: &mut Rig, expression: &str, is_keyed: bool, owner: OwnerKey) {
    for (node, board) in rig.world.boards_mut().iter_mut().enumerate() {
        let image = board.cpu.memory.image().clone();
        let keys = is_keyed.then(|| KEYS.of_board(node as u64));
        let config = config(expression, node as u64);
        setup::configure_owned(board, &image, &config, keys, Some(owner), 1_000 + 7 * node as u32);
    }
}

fn signed(package: &Package, seed: &[u8; SEED_BYTES], version: u32, floor: u32) -> Package {
    let mut package = package.clone();
    package.sign(seed, version, floor);
    package
}

/// A board of a kind takes its owner's image, and no other, before and after.
pub(crate) fn only_what_the_owner_has_signed(kind: &str) {
    let Some(images) = images_of(kind) else { return };
    let rig = images.single(kind);
    let mut host_end = HostEnd::new_owned(rig, owner_key(&SEED));
    let package = &images.package;
    let refused = |host_end: &mut HostEnd, package: &Package| {
        let refusal = host_end.update(package).expect_err("a refusal");
        let state = host_end.state(0);
        assert_eq!((state.slot, state.phase), (Slot::First, UpdatePhase::Idle), "{refusal}");
        refusal.to_string()
    };
    let found = refused(&mut host_end, package);
    assert!(
        found.starts_with("node 0 has an owner, and takes only images that the owner has signed"),
        "{found}"
    );
    let why = "the signature of the image is not that of the owner of node 0";
    assert_eq!(refused(&mut host_end, &signed(package, &[6; SEED_BYTES], 7, 5)), why);
    let good = signed(package, &SEED, 7, 5);
    // That of the image for the other slot, and one of which the last byte was lost and made up.
    let wrong = [(Slot::First, 0), (Slot::Second, 1)].map(|(slot, change)| {
        let mut signature = good.for_slot(slot).signature.expect("a signature");
        signature.bytes[63] ^= change;
        signature
    });
    let plan = good.for_slot(Slot::Second).plan;
    for signature in wrong {
        assert_eq!(
            host_end.announce(&Command::BeginUpdate(plan, Some(signature))),
            CommandResult::BadSignature
        );
    }
    let report = host_end.update(&good).expect("an update");
    assert_eq!((report.boards, report.bricked), (1, 0));
    println!("{kind}: {report:?}");
    // What was signed before, and a restart or a config over the serial port makes no difference.
    let old = signed(package, &SEED, 4, 0);
    let why = CannotUpdate::Outdated { version: 4, node: 0 };
    assert_eq!(host_end.update(&old), Err(why.clone()));
    host_end.tell(&Command::WriteConfig(&config("path(2)", 0)));
    host_end.rig.run_for(3 * SECOND);
    assert_eq!(host_end.update(&old), Err(why));
    assert_eq!(host_end.update(package), Err(CannotUpdate::NoSignature(0)));
    assert_eq!(host_end.state(0).slot, Slot::Second);
    host_end.rig.assert_healthy();
}

#[test]
fn a_board_takes_only_what_its_owner_has_signed() {
    only_what_the_owner_has_signed(DEFAULT);
}

/// A member of the mesh, and the host that may change boards, cannot choose their images without the owner's key.
#[test]
fn whoever_may_change_a_board_still_needs_its_owner() {
    let Some(images) = images() else { return };
    let mut rig = Rig::locked(&images.flashed, "path(2)", None);
    own(&mut rig, "path(2)", true, owner_key(&SEED));
    let mut host_end = HostEnd::linked(rig);
    let good = signed(&images.package, &SEED, 7, 5);
    assert_eq!(host_end.update(&good), Err(CannotUpdate::NotAllowed(1)));
    host_end.rig.hosts.lock(&KEYS, Some(KEYS.management));
    assert_eq!(host_end.update(&images.package), Err(CannotUpdate::NoSignature(1)));
    assert_eq!(
        host_end.update(&signed(&images.package, &[6; SEED_BYTES], 7, 5)),
        Err(CannotUpdate::BadSignature(1))
    );
    // A config over the mesh, which is on trial, brings no other owner.
    let written = BoardRequest::command(0, &Command::WriteConfig(&config("path(2)", 1)));
    host_end.rig.have_done(BoardRequest { dest: 1, ..written });
    host_end.rig.run_for(3 * SECOND);
    assert_eq!(host_end.update(&images.package), Err(CannotUpdate::NoSignature(1)));
}

/// Also while one signature after the other is verified on the board that they pass twice, and its program computes.
#[test]
fn packets_pass_a_board_that_verifies_a_signature() {
    /// Microseconds by which a packet may be late at each pass.
    const DELAY: u64 = 100;
    let (Some(trials), Some(images)) = (example("trials"), images()) else {
        return;
    };
    let firmware: &'static Firmware = Box::leak(Box::new(Firmware {
        image: Arc::new(trials.image.with_loader(&images.loader)),
        format: LogFormat::of_elf(&trials.elf).expect("a log format"),
        elf: trials.elf.clone(),
    }));
    let three = || {
        let mut rig = Rig::new(firmware, "path(3)");
        own(&mut rig, "path(3)", false, owner_key(&SEED));
        let mut rig = rig.linked();
        rig.log();
        rig
    };
    let begin = |version| {
        let image = signed(&images.package, &[6; SEED_BYTES], version, 0);
        let image = image.for_slot(Slot::Second);
        BoardRequest::command(1, &Command::BeginUpdate(image.plan, image.signature))
    };
    // The work of a verification, in a board that does nothing else.
    let mut rig = three();
    let instructions = |rig: &mut Rig| {
        let before = rig.world.boards()[1].cpu.instructions;
        rig.run_for(SECOND);
        rig.world.boards()[1].cpu.instructions - before
    };
    let idle = instructions(&mut rig);
    let asked = |rig: &mut Rig, version| {
        rig.ask_one::<CommandResult>(BoardRequest {
            dest: 1,
            ..begin(version)
        })
    };
    assert_eq!(asked(&mut rig, 1), CommandResult::Busy);
    let verified = instructions(&mut rig) - idle;
    let hclk = rig.world.boards()[1].cpu.bus.clocks().hclk;
    let milliseconds = verified as f64 * 1_000.0 / hclk as f64;
    println!("a signature is verified in {verified} instructions, {milliseconds:.0} ms at one per cycle of {hclk} Hz");
    assert_eq!(asked(&mut rig, 1), CommandResult::BadSignature);

    let (idle_mean, idle_longest, _) = confirmed_while(&mut three(), |rig| rig.run_for(3 * SECOND));
    let mut rig = three();
    let (mean, longest, _) = confirmed_while(&mut rig, |rig| {
        for version in 1..=10 {
            assert_eq!(asked(rig, version), CommandResult::Busy);
            rig.run_for(290 * MILLISECOND);
        }
    });
    println!("idle: {idle_mean} us, at most {idle_longest}; verifying: {mean} us, at most {longest}");
    assert!(mean <= idle_mean + 2 * DELAY && longest <= idle_longest + 4 * DELAY);
}
