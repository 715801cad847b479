//! Core and node on a board, and nothing else, to see whether a panic is linked in.

#![no_std]
#![no_main]

mod collective;
mod endpoint;
mod key;
mod link;
mod next_hop;
mod packet;
mod router;
mod store;
mod update;

use core::hint::black_box;
use core::panic::PanicInfo;

/// The linker keeps it only if something can panic.
#[panic_handler]
fn a_panic_is_linked(_: &PanicInfo) -> ! {
    loop {}
}

/// Bytes from outside: the compiler knows nothing about them.
fn outside() -> &'static [u8] {
    black_box(&[])
}

#[unsafe(no_mangle)]
extern "C" fn _start() {
    // Each may go on for ever, and none is known to.
    for part in black_box([
        key::run as fn(),
        packet::run,
        link::run,
        next_hop::run,
        collective::run,
        router::run,
        endpoint::run,
        store::run,
        update::run,
    ]) {
        part();
    }
}
