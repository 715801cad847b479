//! The packet parser and writer.

#![no_std]
#![no_main]

use core::hint::black_box;

use hopwise_core::limits::BODY;
use hopwise_core::node::{Header, MAX_HEADER, Packet};
use hopwise_panics::outside;

#[unsafe(no_mangle)]
extern "C" fn _start() {
    black_box(Packet::<BODY>::read(outside()));
    if let Some((header, _)) = Header::read(outside()) {
        black_box(header.write(&mut black_box([0; MAX_HEADER])));
    }
}
