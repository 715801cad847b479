//! Announcements that must be signed.

use super::*;
use crate::signature::{Owner, Signature, owner_key, sign};
const SEED: [u8; 32] = [3; 32];

fn owner() -> Option<Owner> {
    Some(Owner {
        key: owner_key(&SEED),
        floor: 4,
        next_floor: 0,
    })
}

/// Announces an image to a board; what it says in the end.
fn announced(update: &mut Update, plan: UpdatePlan, signature: Option<&Signature>, chip: &Chip) -> CommandResult {
    let found = update.begin(plan, signature, chip);
    if found == CommandResult::Busy {
        assert!(!update.is_making_room(), "nothing is erased before it is verified");
        let is_valid = update.job().expect("a job").is_valid();
        update.finish_job(is_valid);
        return update.begin(plan, signature, chip);
    }
    found
}

#[test]
fn a_board_with_an_owner_takes_what_the_owner_has_signed_and_nothing_else() {
    let (chip, plan) = (Chip::new(), plan(Slot::Second, 2));
    let told = |plan, signature: Option<&Signature>| {
        let mut update = Update::new(&chip, owner());
        let found = announced(&mut update, plan, signature, &chip);
        assert_eq!(update.is_making_room(), found == CommandResult::Done);
        found
    };
    let good = sign(&SEED, &plan, 7, 5);
    assert_eq!(told(plan, Some(&good)), CommandResult::Done);
    assert_eq!(told(plan, None), CommandResult::NoSignature);
    assert_eq!(
        told(plan, Some(&sign(&[4; 32], &plan, 7, 5))),
        CommandResult::BadSignature,
        "of someone else"
    );
    // Another image, and the same for another slot: a board of another type refuses by its name.
    let other = UpdatePlan { hash: [1; 32], ..plan };
    assert_eq!(
        told(plan, Some(&sign(&SEED, &other, 7, 5))),
        CommandResult::BadSignature
    );
    let other = UpdatePlan {
        slot: Slot::First,
        ..plan
    };
    assert_eq!(
        told(plan, Some(&sign(&SEED, &other, 7, 5))),
        CommandResult::BadSignature
    );
    // Older than the floor, or than the floor that it brings, which would keep itself out.
    assert_eq!(told(plan, Some(&sign(&SEED, &plan, 3, 0))), CommandResult::Outdated);
    assert_eq!(told(plan, Some(&sign(&SEED, &plan, 4, 0))), CommandResult::Done);
    assert_eq!(told(plan, Some(&sign(&SEED, &plan, 7, 8))), CommandResult::Outdated);
    // A board that nobody owns takes them all.
    for signature in [None, Some(&sign(&[4; 32], &plan, 1, 0))] {
        let mut update = Update::new(&chip, None);
        assert_eq!(update.begin(plan, signature, &chip), CommandResult::Done);
    }
}

#[test]
fn a_signed_announcement_with_a_wrong_bit_is_refused() {
    let (chip, plan) = (Chip::new(), plan(Slot::Second, 2));
    let signed = Command::BeginUpdate(plan, Some(sign(&SEED, &plan, 7, 5)));
    let bytes = signed.payload();
    let told = |bytes: &[u8]| match Command::read(signed.number(), bytes) {
        Some(Command::BeginUpdate(plan, signature)) => {
            announced(&mut Update::new(&chip, owner()), plan, signature.as_ref(), &chip)
        }
        _ => CommandResult::Unknown,
    };
    assert_eq!(told(&bytes), CommandResult::Done);
    for bit in 0..bytes.len() * 8 {
        let mut wrong = bytes.clone();
        wrong[bit / 8] ^= 1 << (bit % 8);
        assert_ne!(told(&wrong), CommandResult::Done, "bit {bit}");
    }
    for length in 0..bytes.len() {
        assert_ne!(told(&bytes[..length]), CommandResult::Done, "{length} bytes");
    }
}

/// One announcement is verified at a time. Until it is, the update in progress goes on; afterwards as well if it was wrong.
#[test]
fn announcements_that_come_while_one_is_verified_wait() {
    let mut chip = Chip::new();
    let (one, other) = (plan(Slot::Second, 2), plan(Slot::Second, 3));
    let [first, second] = [one, other].map(|plan| sign(&SEED, &plan, 7, 5));
    let mut update = Update::new(&chip, owner());
    assert_eq!(announced(&mut update, one, Some(&first), &chip), CommandResult::Done);
    (0..10).for_each(|_| update.step(&mut chip));
    take(&mut update, &block(&one, &image(Slot::Second, 2), 1), &mut chip);
    let missing = update.state(&chip).missing;
    let wrong = Signature { version: 8, ..first };
    for _ in 0..3 {
        assert_eq!(update.begin(one, Some(&wrong), &chip), CommandResult::Busy);
        assert_eq!(update.begin(other, Some(&second), &chip), CommandResult::Busy);
    }
    // The one that came first is verified, whatever came then.
    assert!(!update.job().expect("a job").is_valid());
    update.finish_job(false);
    assert_eq!((update.job(), update.state(&chip).missing), (None, missing));
    assert_eq!(update.begin(one, Some(&wrong), &chip), CommandResult::BadSignature);
    assert_eq!(update.job(), None, "it is not verified once more");
    // The same image with another floor keeps its blocks.
    let higher = sign(&SEED, &one, 9, 9);
    assert_eq!(announced(&mut update, one, Some(&higher), &chip), CommandResult::Done);
    assert_eq!(
        (update.state(&chip).missing, update.gate().floor_to_try()),
        (missing, Some(9))
    );
    assert_eq!(announced(&mut update, other, Some(&second), &chip), CommandResult::Done);
    assert!(update.is_making_room());
    // A verdict that nobody has asked for changes nothing.
    update.finish_job(true);
    assert_eq!(update.gate().floor_to_try(), Some(5));
}

#[test]
fn the_floor_rises_with_the_image_that_is_kept() {
    let chip = Chip::new();
    let on_trial = Owner {
        next_floor: 6,
        ..owner().expect("an owner")
    };
    let mut update = Update::new(&chip, Some(on_trial));
    let plan = plan(Slot::Second, 2);
    let old = sign(&SEED, &plan, 5, 5);
    assert_eq!(update.gate().floor_to_keep(), Some(6));
    update.gate().raise(6);
    assert_eq!(update.gate().floor_to_keep(), None);
    assert_eq!(announced(&mut update, plan, Some(&old), &chip), CommandResult::Outdated);
    let lower = Owner {
        next_floor: 4,
        ..on_trial
    };
    assert_eq!(Update::new(&chip, Some(lower)).gate().floor_to_keep(), None);
}
