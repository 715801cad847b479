//! The expression parser.

#![no_std]
#![no_main]

use core::hint::black_box;

use hopwise_core::Network;
use hopwise_panics as _;

#[unsafe(no_mangle)]
extern "C" fn _start() {
    let _ = black_box(black_box("").parse::<Network>());
}
