//! How a board gets its next image and which it starts with, whatever its flash holds and whatever comes.

use core::hint::black_box;

use crate::outside;
use hopwise_node::boot::{Log, RECORD, TRIAL_BYTES, Trial, choose, has_image};
use hopwise_node::signature::Signature;
use hopwise_node::store::{FlashFailed, Slot};
use hopwise_node::update::{Flash, Update};
use hopwise_node::wire::{Block, UpdatePlan};

struct AnyFlash;

impl Flash for AnyFlash {
    fn board(&self) -> &'static str {
        black_box("board")
    }

    fn has_loader(&self) -> bool {
        black_box(true)
    }

    fn own_slot(&self) -> Slot {
        black_box(Slot::First)
    }

    fn log_records(&self) -> usize {
        black_box(512)
    }

    fn read_record(&self, place: usize) -> [u8; RECORD] {
        black_box(place);
        black_box([0; RECORD])
    }

    fn erase_log(&mut self) -> Result<(), FlashFailed> {
        black_box(Ok(()))
    }

    fn write_record(&mut self, place: usize, record: &[u8; RECORD]) -> Result<(), FlashFailed> {
        black_box((place, record));
        black_box(Ok(()))
    }

    fn slot_bytes(&self) -> usize {
        black_box(1 << 18)
    }

    fn erase_sector(&mut self, at: usize) -> Result<usize, FlashFailed> {
        black_box(Ok(at))
    }

    fn read(&self, at: usize) -> [u8; RECORD] {
        black_box(at);
        black_box([0; RECORD])
    }

    fn write(&mut self, at: usize, bytes: &[u8]) -> Result<(), FlashFailed> {
        black_box((at, bytes));
        black_box(Err(FlashFailed))
    }
}

pub fn run() {
    let mut flash = AnyFlash;
    let mut update = Update::new(&flash, crate::store::owner());
    while black_box(true) {
        if let Some(plan) = UpdatePlan::read(outside()) {
            black_box(update.begin(plan, Signature::read(outside()).as_ref(), &flash));
            black_box(plan.write());
        }
        if let Some(block) = Block::read(outside()) {
            black_box(block.write());
        }
        // The verification itself is for a task of its own, and not here: salty looks into arrays at places that the compiler does not see to be
        // inside, though none of them depends on the input.
        black_box(update.job());
        update.finish_job(black_box(true));
        black_box((update.gate().floor_to_try(), update.gate().floor_to_keep()));
        update.gate().raise(black_box(1));
        update.step(&mut flash);
        black_box(update.take(outside(), &mut flash));
        black_box(update.look());
        black_box(update.take_response(outside(), &mut flash));
        black_box(update.block(black_box(0), black_box(0), &flash));
        black_box(update.state(&flash));
        black_box(update.trial(outside()).map(|trial| trial.write()));
        black_box(update.is_on_trial());
        let _ = black_box(update.keep(&mut flash));
        let trial = Trial::read(&black_box([0; TRIAL_BYTES])).map(|trial| trial.slot);
        let log = Log::read((0..black_box(512)).map(|_| black_box([0; RECORD])));
        black_box(choose(trial, log.kept, |_| {
            has_image(black_box([0; 2]), black_box(0), black_box(0))
        }));
    }
}
