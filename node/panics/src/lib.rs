//! What every program here needs: a panic handler that the linker keeps only if something can panic.

#![no_std]

use core::panic::PanicInfo;

#[panic_handler]
fn a_panic_is_linked(_: &PanicInfo) -> ! {
    loop {}
}

/// Bytes from outside: the compiler knows nothing about them.
pub fn outside() -> &'static [u8] {
    core::hint::black_box(&[])
}
