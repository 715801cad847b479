//! A flash whose power fails at every possible moment, and the boot loader after it.

#[cfg(feature = "signed")]
mod signed;

use core::cell::Cell;
use std::collections::BTreeSet;
use std::vec;
use std::vec::Vec;

use sha2::{Digest, Sha256};

use super::*;
use crate::boot::{choose, has_image};
use crate::store::tests::Power;
use crate::wire::Command;

const BEGIN: [u32; 2] = [0x0801_0000, 0x0804_0000];
const SLOT_BYTES: usize = 1_024;
const SECTOR: usize = 512;
/// Small, so that the log starts over with every other update.
const RECORDS: usize = 10;
/// Units of work of an erase, which can be torn at any.
const ERASE_UNITS: u64 = 6;
const LENGTH: usize = 832;

#[derive(Clone)]
struct Chip {
    slots: [Vec<u8>; 2],
    log: Vec<u8>,
    /// How many records of it were read.
    log_reads: Cell<usize>,
    running: Slot,
    has_loader: bool,
    /// A record is written as nothing, and no error says so.
    loses_records: bool,
    power: Power,
}

fn image(slot: Slot, version: u8) -> Vec<u8> {
    let mut image = vec![version; LENGTH];
    image[..4].copy_from_slice(&0x2001_4000_u32.to_le_bytes());
    image[4..8].copy_from_slice(&(BEGIN[slot as usize] + 0x201).to_le_bytes());
    for (place, byte) in image.iter_mut().enumerate().skip(8) {
        *byte = byte.wrapping_mul(31) ^ place as u8;
    }
    image
}

fn plan(slot: Slot, version: u8) -> UpdatePlan {
    let image = image(slot, version);
    UpdatePlan {
        board: UpdatePlan::board_named("model"),
        slot,
        length: LENGTH as u32,
        crc: crc32c([&image]),
        hash: Sha256::digest(&image).into(),
    }
}

fn block(plan: &UpdatePlan, image: &[u8], index: usize) -> Vec<u8> {
    let block = Block {
        id: plan.id(),
        index: index as u16,
        bytes: image.chunks(BLOCK).nth(index).expect("a block"),
    };
    block.write().to_vec()
}

impl Chip {
    /// The state after flashing by a probe.
    fn new() -> Self {
        let mut first = image(Slot::First, 1);
        first.resize(SLOT_BYTES, 0xff);
        Chip {
            slots: [first, vec![0xff; SLOT_BYTES]],
            log: vec![0xff; RECORDS * RECORD],
            log_reads: Cell::new(0),
            running: Slot::First,
            has_loader: true,
            loses_records: false,
            power: Power::FULL,
        }
    }

    /// Simulates the boot loader.
    fn boot(&mut self, trial: Option<Trial>) -> u8 {
        let on_trial = trial.and_then(|trial| Trial::read(&trial.write())).filter(|trial| {
            let bytes = &self.slots[trial.slot as usize][..trial.length as usize];
            Sha256::digest(bytes)[..] == trial.hash
        });
        let (records, _) = self.log.as_chunks();
        let kept = Log::read(records.iter().copied()).kept;
        let begins = |slot: Slot| {
            let word = |at: usize| {
                let bytes = &self.slots[slot as usize][at..at + 4];
                u32::from_le_bytes(bytes.try_into().unwrap())
            };
            has_image([word(0), word(4)], BEGIN[slot as usize], SLOT_BYTES as u32)
        };
        let chosen = choose(on_trial.map(|trial| trial.slot), kept, begins).expect("bricked");
        let whole = (0..=u8::MAX).find(|version| self.slots[chosen as usize][..LENGTH] == image(chosen, *version));
        self.running = chosen;
        whole.expect("half an image")
    }

    /// A whole update, as far as the power lasts. Returns the version that ran last.
    fn update(&mut self, version: u8, keeps: bool) -> u8 {
        let plan = plan(self.running.other(), version);
        let image = image(plan.slot, version);
        let mut update = Update::new(self, None);
        assert_eq!(update.begin(plan, None, self), CommandResult::Done);
        // An upper bound of the steps.
        (0..10).for_each(|_| update.step(self));
        let blocks = plan.blocks();
        // From the back, and some twice.
        for index in (0..blocks).rev().chain([2]) {
            take(&mut update, &block(&plan, &image, index), self);
        }
        match update.trial(&plan.hash).filter(|_| self.power.left > 0) {
            None => 0,
            Some(trial) => {
                let runs = self.boot(Some(trial));
                let mut update = Update::new(self, None);
                assert!(update.is_on_trial());
                if keeps {
                    let _ = update.keep(self);
                }
                runs
            }
        }
    }
}

impl Flash for Chip {
    fn board(&self) -> &'static str {
        "model"
    }

    fn has_loader(&self) -> bool {
        self.has_loader
    }

    fn own_slot(&self) -> Slot {
        self.running
    }

    fn log_records(&self) -> usize {
        RECORDS
    }

    fn read_record(&self, place: usize) -> [u8; RECORD] {
        self.log_reads.update(|reads| reads + 1);
        self.log[place * RECORD..][..RECORD].try_into().unwrap()
    }

    fn erase_log(&mut self) -> Result<(), FlashFailed> {
        self.power.erase(&mut self.log, ERASE_UNITS)
    }

    fn write_record(&mut self, place: usize, record: &[u8; RECORD]) -> Result<(), FlashFailed> {
        let record = if self.loses_records { &[0xff; RECORD] } else { record };
        self.power.program(&mut self.log, place * RECORD, record)
    }

    fn slot_bytes(&self) -> usize {
        SLOT_BYTES
    }

    fn erase_sector(&mut self, at: usize) -> Result<usize, FlashFailed> {
        assert!(at.is_multiple_of(SECTOR) && at < SLOT_BYTES);
        let cells = &mut self.slots[self.running.other() as usize][at..at + SECTOR];
        self.power.erase(cells, ERASE_UNITS).map(|()| at + SECTOR)
    }

    fn read(&self, at: usize) -> [u8; RECORD] {
        self.slots[self.running.other() as usize][at..at + RECORD]
            .try_into()
            .unwrap()
    }

    fn write(&mut self, at: usize, bytes: &[u8]) -> Result<(), FlashFailed> {
        let cells = &mut self.slots[self.running.other() as usize];
        self.power.program(cells, at, bytes)
    }
}

#[test]
fn an_image_on_trial_is_kept_or_left() {
    let mut chip = Chip::new();
    for version in 2..20 {
        assert_eq!(chip.update(version, false), version);
        assert_eq!(chip.boot(None), version - 1, "nobody has kept it");
        assert_eq!(chip.update(version, true), version);
        assert!(!Update::new(&chip, None).is_on_trial());
        assert_eq!(chip.boot(None), version);
    }
}

/// An erase wears the flash, and the log is empty while it lasts.
#[test]
fn a_log_begins_anew_only_when_it_is_full() {
    let mut chip = Chip::new();
    for used in (1..=RECORDS).chain([1]) {
        chip.running = chip.running.other();
        // An existing confirmation is not written again.
        for _ in 0..2 {
            assert_eq!(Update::new(&chip, None).keep(&mut chip), Ok(()));
            let kept = Some(chip.running);
            assert_eq!(log(&chip), Log { kept, used });
        }
    }
}

#[test]
fn what_a_board_cannot_run_is_refused() {
    let chip = Chip::new();
    let good = plan(Slot::Second, 2);
    let begin = |plan: UpdatePlan| Update::new(&chip, None).begin(plan, None, &chip);
    assert_eq!(begin(good), CommandResult::Done);
    let board = UpdatePlan::board_named("other");
    assert_eq!(begin(UpdatePlan { board, ..good }), CommandResult::OtherBoard);
    assert_eq!(begin(plan(Slot::First, 2)), CommandResult::OtherSlot);
    assert_eq!(begin(UpdatePlan { length: 1_056, ..good }), CommandResult::TooLarge);
    assert_eq!(begin(UpdatePlan { length: 31, ..good }), CommandResult::Unknown);
    assert_eq!(begin(UpdatePlan { length: 33, ..good }), CommandResult::Unknown);
    let mut on_trial = chip.clone();
    on_trial.update(2, false);
    assert_eq!(
        Update::new(&on_trial, None).begin(plan(Slot::First, 3), None, &on_trial),
        CommandResult::OnTrial
    );
    let without = Chip {
        has_loader: false,
        ..chip
    };
    assert_eq!(
        Update::new(&without, None).begin(good, None, &without),
        CommandResult::NoLoader
    );
}

/// A host that is told that an image is kept relies on it.
#[test]
fn an_image_is_not_kept_if_its_record_cannot_be_read() {
    let mut chip = Chip::new();
    chip.update(2, false);
    let mut update = Update::new(&chip, None);
    chip.loses_records = true;
    assert_eq!(update.keep(&mut chip), Err(FlashFailed));
    assert!(update.state(&chip).on_trial);
    chip.loses_records = false;
    assert_eq!(update.keep(&mut chip), Ok(()));
    assert!(!update.state(&chip).on_trial);
    assert_eq!(chip.boot(None), 2);
}

/// The log of an H743 has 4,096 records: a board that read them all while it works was taken for dead by its neighbors.
#[test]
fn the_log_is_read_only_at_the_start() {
    let mut chip = Chip::new();
    chip.update(2, false);
    let update = Update::new(&chip, None);
    let reads = chip.log_reads.get();
    assert!(update.is_on_trial() && update.state(&chip).on_trial);
    assert_eq!(
        update.clone().begin(plan(Slot::First, 3), None, &chip),
        CommandResult::OnTrial
    );
    assert_eq!(chip.log_reads.get(), reads);
    assert_eq!(update.clone().keep(&mut chip), Ok(()));
    assert_eq!(chip.log_reads.get(), reads + 1, "what was written");
}

fn receiving(plan: UpdatePlan, chip: &mut Chip) -> Update {
    let mut update = Update::new(chip, None);
    assert_eq!(update.begin(plan, None, chip), CommandResult::Done);
    (0..10).for_each(|_| update.step(chip));
    assert_eq!(update.state(chip).phase, UpdatePhase::Receiving);
    update
}

/// Writes a block, in as many pieces as it takes.
fn take(update: &mut Update, block: &[u8], chip: &mut Chip) {
    let pieces = (1..10).find(|_| update.take(block, chip));
    assert!(pieces.is_some(), "a block has {BLOCK} bytes");
}

/// The processor stalls for each piece, and other tasks run in between.
#[test]
fn a_block_is_written_in_pieces_and_counts_when_all_are() {
    let mut chip = Chip::new();
    let plan = plan(Slot::Second, 2);
    let image = image(Slot::Second, 2);
    let mut update = receiving(plan, &mut chip);
    let blocks = [0, 1].map(|index| block(&plan, &image, index));
    for (index, block) in blocks.iter().enumerate() {
        for piece in 1..=BLOCK / PIECE {
            let missing = update.state(&chip).missing;
            assert_eq!(update.take(block, &mut chip), piece == BLOCK / PIECE);
            let at = index * BLOCK + (piece - 1) * PIECE;
            let written = &chip.slots[1][at + 32..at + PIECE];
            assert_eq!(written, &image[at + 32..at + PIECE]);
            assert_eq!(chip.slots[1][at + PIECE], 0xff, "and no more");
            assert_eq!(update.state(&chip).missing, missing - u16::from(piece == BLOCK / PIECE));
        }
    }
    // The board is told to begin with another image, in the middle of a block.
    assert!(!update.take(&block(&plan, &image, 2), &mut chip));
    let other = UpdatePlan { hash: [1; 32], ..plan };
    assert_eq!(update.begin(other, None, &chip), CommandResult::Done);
    (0..10).for_each(|_| update.step(&mut chip));
    (0..plan.blocks()).for_each(|index| take(&mut update, &block(&plan, &image, index), &mut chip));
    assert_eq!(update.state(&chip).phase, UpdatePhase::Whole);
}

#[test]
fn a_board_says_what_it_lacks() {
    let mut chip = Chip::new();
    let plan = plan(Slot::Second, 2);
    let image = image(Slot::Second, 2);
    let mut update = receiving(plan, &mut chip);
    for index in [0, 3] {
        take(&mut update, &block(&plan, &image, index), &mut chip);
    }
    // Of another image, too short, not of this image at all.
    let other = UpdatePlan { crc: !plan.crc, ..plan };
    assert!(update.take(&block(&other, &image, 1), &mut chip), "it is not wanted");
    assert!(
        update.take(&block(&plan, &image, 1)[..100], &mut chip),
        "it is not wanted"
    );
    assert!(update.take(&[0; 3], &mut chip), "it is not wanted");
    let beyond = Block {
        id: plan.id(),
        index: 5,
        bytes: &[0; 32],
    };
    assert!(update.take(&beyond.write(), &mut chip), "it is not wanted");
    let state = update.state(&chip);
    assert_eq!((state.missing, &state.first_missing[..]), (3, &[1, 2, 4][..]));
    assert_eq!(update.trial(&plan.hash), None);
    // An update with the same image continues where it was.
    assert_eq!(update.begin(plan, None, &chip), CommandResult::Done);
    assert_eq!(update.state(&chip).missing, 3);
    for index in [4, 2, 1] {
        take(&mut update, &block(&plan, &image, index), &mut chip);
    }
    assert_eq!(update.state(&chip).phase, UpdatePhase::Whole);
    assert_eq!(update.trial(&[0; 32]), None, "another one than was announced");
}

#[test]
fn a_damaged_image_gets_no_beginning() {
    let mut chip = Chip::new();
    let plan = plan(Slot::Second, 2);
    let mut image = image(Slot::Second, 2);
    image[500] ^= 4;
    let mut update = receiving(plan, &mut chip);
    (0..plan.blocks()).for_each(|index| take(&mut update, &block(&plan, &image, index), &mut chip));
    assert_eq!(update.state(&chip).phase, UpdatePhase::Damaged);
    assert_eq!((update.trial(&plan.hash), chip.read(0)), (None, [0xff; RECORD]));
    assert_eq!(update.begin(plan, None, &chip), CommandResult::Done);
    assert_eq!(update.state(&chip).phase, UpdatePhase::Erasing, "from the beginning");
}

#[test]
fn the_loader_refuses_an_image_of_another_hash() {
    let mut chip = Chip::new();
    chip.update(2, false);
    let trial = Trial {
        slot: Slot::Second,
        length: LENGTH as u32,
        hash: plan(Slot::Second, 3).hash,
    };
    assert_eq!(chip.boot(Some(trial)), 1);
}

/// Whenever the power fails, a board boots one of its two images completely, and takes the next.
#[test]
fn power_may_fail_at_any_moment() {
    let mut chip = Chip::new();
    let mut cuts = 0;
    for version in 2..6 {
        let mut whole = chip.clone();
        whole.update(version, true);
        for (power, seed) in (0..).flat_map(|power| [(power, 3), (power, 4)]) {
            let what = std::format!("version {version}: power fails after {power}, seed {seed}");
            let mut torn = chip.clone();
            torn.power = Power {
                left: power,
                random: seed * 7_919 + power,
            };
            torn.update(version, true);
            if torn.power.left > 0 {
                break;
            }
            cuts += 1;
            let mut ran = BTreeSet::new();
            // Once more, in the attempt after, at various places.
            for again in [u64::MAX, power % 53] {
                let mut chip = torn.clone();
                chip.power.left = again;
                ran.insert(chip.boot(None));
                let spurious = Update::new(&chip, None).is_on_trial()
                    && chip.slots[chip.running.other() as usize][..LENGTH] != image(chip.running.other(), version - 1);
                assert!(!spurious, "{what}: on trial, and nothing to go back to");
                if !Update::new(&chip, None).is_on_trial() {
                    chip.update(9, true);
                }
                chip.power.left = u64::MAX;
                ran.insert(chip.boot(None));
                let last = chip.update(10, true);
                assert_eq!((last, chip.boot(None)), (10, 10), "{what}");
            }
            let known = BTreeSet::from([version - 1, version, 9]);
            assert!(ran.is_subset(&known), "{what}: {ran:?}");
        }
        chip = whole;
    }
    assert!(cuts > 6_000, "{cuts}");
}

/// Answers a board's requests for blocks as a neighbor does, altered by `lie`, until it has no more. Returns their number.
fn ask_neighbor(
    (update, chip): (&mut Update, &mut Chip),
    neighbor: (&Update, &Chip),
    lie: impl Fn(&mut [u8]),
) -> usize {
    let mut next = (0..4).find_map(|_| update.look());
    let mut requests = 0;
    while let Some(request) = next {
        requests += 1;
        let Some(Command::ReadBlock { id, index }) = Command::read(Command::READ_BLOCK, &request) else {
            panic!("{request:?}");
        };
        let mut response = neighbor.0.block(id, index, neighbor.1).unwrap_or_default();
        lie(&mut response);
        next = update.take_response(&response, chip);
    }
    requests
}

#[test]
fn missing_blocks_come_from_a_neighbor() {
    let plan = plan(Slot::Second, 2);
    let image = image(Slot::Second, 2);
    let (mut chip, mut other) = (Chip::new(), Chip::new());
    let mut update = receiving(plan, &mut chip);
    let mut neighbor = receiving(plan, &mut other);
    assert_eq!(ask_neighbor((&mut update, &mut chip), (&neighbor, &other), |_| {}), 1);
    assert_eq!(update.state(&chip).missing, 5, "it has none either");
    [0, 1, 2, 4]
        .iter()
        .for_each(|index| take(&mut neighbor, &block(&plan, &image, *index), &mut other));
    take(&mut update, &block(&plan, &image, 1), &mut chip);
    assert_eq!((0..3).find_map(|_| update.look()), None, "one has just come");
    // Blocks 0 and 2; 3 is missing there too.
    assert_eq!(ask_neighbor((&mut update, &mut chip), (&neighbor, &other), |_| {}), 3);
    assert_eq!(update.state(&chip).first_missing, [3, 4]);
    take(&mut neighbor, &block(&plan, &image, 3), &mut other);
    assert_eq!(neighbor.state(&other).phase, UpdatePhase::Whole);
    // While a block is being written, a response is not taken for the rest of it.
    assert!(!update.take(&block(&plan, &image, 3), &mut chip));
    assert_eq!(update.take_response(&block(&plan, &image, 4), &mut chip), None);
    assert_eq!(update.state(&chip).missing, 2);
    take(&mut update, &block(&plan, &image, 3), &mut chip);
    update.look();
    assert_eq!(ask_neighbor((&mut update, &mut chip), (&neighbor, &other), |_| {}), 1);
    assert_eq!(update.state(&chip).phase, UpdatePhase::Whole);
    assert_eq!(chip.slots[1], other.slots[1]);
    assert_eq!((0..9).find_map(|_| update.look()), None, "nothing is missing");
    // Who does not have a block says so.
    let id = plan.id();
    for (id, index) in [(!id, 0), (id, 5), (id, u16::MAX)] {
        assert_eq!(neighbor.block(id, index, &other), None);
    }
}

#[test]
fn a_neighbor_that_lies_is_asked_once() {
    let plan = plan(Slot::Second, 2);
    let image = image(Slot::Second, 2);
    let (mut chip, mut other) = (Chip::new(), Chip::new());
    let mut neighbor = receiving(plan, &mut other);
    (0..plan.blocks()).for_each(|index| take(&mut neighbor, &block(&plan, &image, index), &mut other));
    let mut update = receiving(plan, &mut chip);
    // Another block than the requested one is as good, and a malformed one is ignored.
    assert_eq!(
        ask_neighbor((&mut update, &mut chip), (&neighbor, &other), |response| response[3] =
            9),
        1
    );
    update.look();
    let lie = |response: &mut [u8]| response[20] ^= 1;
    assert_eq!(ask_neighbor((&mut update, &mut chip), (&neighbor, &other), lie), 5);
    assert_eq!(update.state(&chip).phase, UpdatePhase::Damaged);
    assert_eq!((update.trial(&plan.hash), chip.read(0)), (None, [0xff; RECORD]));
    assert_eq!(update.begin(plan, None, &chip), CommandResult::Done);
    (0..10).for_each(|_| update.step(&mut chip));
    assert_eq!((0..9).find_map(|_| update.look()), None, "the host has to send all");
    assert_eq!(update.take_response(&block(&plan, &image, 0), &mut chip), None);
    assert_eq!(update.state(&chip).missing, 5);
    (0..plan.blocks()).for_each(|index| take(&mut update, &block(&plan, &image, index), &mut chip));
    assert_eq!(update.state(&chip).phase, UpdatePhase::Whole);
}
