//! Keys, and tags made with them.

#![no_std]
#![no_main]

use core::hint::black_box;

use hopwise_core::key::{Key, same_tag};
use hopwise_panics::outside;

#[unsafe(no_mangle)]
extern "C" fn _start() {
    let key = Key::new(black_box([7; 16]));
    let derived = key.derive_key("purpose", &[outside(), outside()]);
    let tag = derived.tag(black_box(1), outside());
    black_box(same_tag(&tag, &black_box([0; 8])));
}
