//! What the compiler calls where there is no instruction: the run-time ABI of the Arm architecture, as far as its own
//! library spends more flash on it than a board has use for.
//!
//! - It has a loop of its own for each alignment to fill, and more to copy. One is enough.
//! - It divides 64 bits in steps that suit large divisors. Here they are small, nearly always 1,000.

use core::arch::asm;

use crate::division::divide;

unsafe extern "C" {
    fn __aeabi_memset(dest: *mut u8, count: usize, byte: i32);
}

/// Writes the functions that fill.
macro_rules! fill {
    ($($name:ident($($byte:ident: i32)?) = $value:expr;)*) => {$(
        /// # Safety
        ///
        /// As of `memset`.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(dest: *mut u8, count: usize $(, $byte: i32)?) {
            // SAFETY: the caller's.
            unsafe { __aeabi_memset(dest, count, $value) }
        }
    )*};
}

fill! {
    __aeabi_memset4(byte: i32) = byte;
    __aeabi_memset8(byte: i32) = byte;
    __aeabi_memclr() = 0;
    __aeabi_memclr4() = 0;
    __aeabi_memclr8() = 0;
}

/// Writes the functions that copy.
macro_rules! copy {
    ($($name:ident)*) => {$(
        /// # Safety
        ///
        /// As of `memcpy`.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(dest: *mut u8, source: *const u8, count: usize) {
            // SAFETY: the caller's.
            unsafe { copy(dest, source, count) }
        }
    )*};
}

copy!(__aeabi_memcpy __aeabi_memcpy4 __aeabi_memcpy8);

/// Two words at a time, then bytes. A Cortex-M4 or M7 reads and writes words at any address.
///
/// Instructions, since the compiler would make a call of `memcpy` of such a loop.
///
/// # Safety
///
/// As of `memcpy`.
#[inline(never)]
unsafe fn copy(dest: *mut u8, source: *const u8, count: usize) {
    // SAFETY: `count` bytes are read and written, in order.
    unsafe {
        asm!(
            "subs {count}, #8",
            "blo 3f",
            "2: ldr {first}, [{source}], #4",
            "ldr {second}, [{source}], #4",
            "str {first}, [{dest}], #4",
            "str {second}, [{dest}], #4",
            "subs {count}, #8",
            "bhs 2b",
            "3: adds {count}, #8",
            "beq 5f",
            "4: ldrb {first}, [{source}], #1",
            "strb {first}, [{dest}], #1",
            "subs {count}, #1",
            "bne 4b",
            "5:",
            count = inout(reg) count => _,
            source = inout(reg) source => _,
            dest = inout(reg) dest => _,
            first = out(reg) _,
            second = out(reg) _,
            options(nostack),
        );
    }
}

/// The quotient of two numbers and, if wanted, what remains. Called by all divisions of 64 bits.
///
/// # Safety
///
/// `remainder` is null or can be written to.
#[unsafe(no_mangle)]
unsafe extern "C" fn __udivmoddi4(number: u64, divisor: u64, remainder: *mut u64) -> u64 {
    let (quotient, rest) = divide(number, divisor);
    if !remainder.is_null() {
        // SAFETY: the caller's.
        unsafe { *remainder = rest };
    }
    quotient
}
