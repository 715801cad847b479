//! What the compiler calls where there is no instruction: the run-time ABI of the Arm architecture, as far as its own
//! library spends more flash on it than a board has use for.
//!
//! - The library has a loop of its own for each alignment to fill or to copy. One is enough.
//! - It divides 64 bits in steps that suit large divisors. Here they are small, nearly always 1,000.

use crate::division::divide;

unsafe extern "C" {
    fn __aeabi_memset(dest: *mut u8, count: usize, byte: i32);
    fn __aeabi_memcpy(dest: *mut u8, source: *const u8, count: usize);
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

/// The same for those that copy.
macro_rules! copy {
    ($($name:ident)*) => {$(
        /// # Safety
        ///
        /// As of `memcpy`.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(dest: *mut u8, source: *const u8, count: usize) {
            // SAFETY: the caller's.
            unsafe { __aeabi_memcpy(dest, source, count) }
        }
    )*};
}

copy!(__aeabi_memcpy4 __aeabi_memcpy8);

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
