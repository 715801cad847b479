//! What a board keeps in its flash, whatever is there.

use core::hint::black_box;

use crate::outside;
use hopwise_node::signature::Owner;
use hopwise_node::store::{Flash, FlashFailed, Slot, Store, committed};
use hopwise_node::wire::CONFIG_BYTES;

struct AnyFlash;

impl Flash for AnyFlash {
    fn slot_bytes(&self) -> usize {
        black_box(1_024)
    }

    fn read(&self, slot: Slot, at: usize, bytes: &mut [u8]) {
        black_box((slot, at));
        bytes.iter_mut().zip(outside()).for_each(|(byte, any)| *byte = *any);
    }

    fn erase(&mut self, slot: Slot) -> Result<(), FlashFailed> {
        black_box(slot);
        black_box(Ok(()))
    }

    fn write(&mut self, slot: Slot, at: usize, bytes: &[u8]) -> Result<(), FlashFailed> {
        black_box((slot, at, bytes));
        black_box(Err(FlashFailed))
    }
}

/// Of a board that has one.
pub fn owner() -> Option<Owner> {
    Store::new(AnyFlash).start(black_box(0)).owner
}

pub fn run() {
    let mut store = Store::new(AnyFlash);
    while black_box(true) {
        let config = black_box([0; CONFIG_BYTES]);
        black_box(committed(&config, black_box(None), black_box(None), black_box(0)));
        black_box(store.start(black_box(0)));
        let _ = black_box(store.write_config(&config, black_box(true), black_box(0)));
        let _ = black_box(store.write_floor(black_box(1), black_box(true), black_box(0)));
        let _ = black_box(store.keep());
        let _ = black_box(store.go_back(black_box(0)));
        black_box(store.config());
    }
}
