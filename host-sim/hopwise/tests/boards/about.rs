//! `hopwise about`: how an image was built.

use std::process::Command;

use hopwise_emulate::about::{About, UnknownOrigin};
use hopwise_emulate::repository::Repository;
use hopwise_node::store::Slot;
use hopwise_rig::boards::DEFAULT;
use hopwise_rig::update::hex;

use crate::firmware_support::{firmware, stock};
use crate::update::images;

#[test]
fn an_image_records_how_it_was_built() {
    let (Some(firmware), Some(images)) = (firmware(), images()) else {
        return;
    };
    let git = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    let commit = git.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    let commit = commit.map(|commit| commit.trim().to_string());
    let about = About::of(&firmware.elf).expect("an image");
    assert_eq!(
        (about.board.as_str(), about.version.as_str()),
        (DEFAULT, env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(about.commit, commit.filter(|commit| !commit.is_empty()));
    assert!(
        about.features.iter().any(|feature| feature == "all-networks"),
        "{about:?}"
    );
    // Boards and `hopwise update` identify it by the same hash.
    let plan = images.package.for_slot(Slot::First).plan;
    assert_eq!(
        (about.slot, about.bytes, about.sha256),
        ("first", plan.length, hex(&plan.hash))
    );
}

#[test]
fn a_file_that_is_no_image_is_refused() {
    let Some(firmware) = firmware() else { return };
    let loader = stock().loader_path(&Repository::find(None).expect("a repository"));
    let loader = std::fs::read(loader).expect("the boot loader");
    assert!(matches!(About::of(&loader), Err(UnknownOrigin::NotRecorded)));
    for length in [0, 3, 52, 1_000, firmware.elf.len() / 2, firmware.elf.len() - 1] {
        assert!(About::of(&firmware.elf[..length]).is_err(), "{length}");
    }
}
