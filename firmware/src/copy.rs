//! How memory is copied and filled: the functions that compiled code calls for a packet, a frame or the state of a task.
//!
//! The compiler's own are replaced because these are faster, or as fast and a tenth of the size: docs/firmware.md says what a
//! forwarded packet costs. They are written in instructions, since the compiler would make a call of `memcpy` of such a loop.

use core::arch::naked_asm;

/// Any bytes: two words at a time, which a Cortex-M4 or M7 reads and writes at any address, then single bytes.
///
/// # Safety
///
/// As of `memcpy`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __aeabi_memcpy(dest: *mut u8, source: *const u8, count: usize) {
    naked_asm!(
        "subs r2, #8",
        "blo 2f",
        "1: ldr r3, [r1], #4",
        "ldr r12, [r1], #4",
        "str r3, [r0], #4",
        "str r12, [r0], #4",
        "subs r2, #8",
        "bhs 1b",
        "2: adds r2, #8",
        "beq 4f",
        "3: ldrb r3, [r1], #1",
        "strb r3, [r0], #1",
        "subs r2, #1",
        "bne 3b",
        "4: bx lr",
    )
}

/// From and to whole words: four at a time, and the rest as any bytes.
///
/// # Safety
///
/// As of `memcpy`, and both addresses are multiples of 4.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __aeabi_memcpy4(dest: *mut u8, source: *const u8, count: usize) {
    naked_asm!(
        "subs r2, #16",
        "blo 2f",
        "push {{r4, r5}}",
        "1: ldm r1!, {{r3, r4, r5, r12}}",
        "stm r0!, {{r3, r4, r5, r12}}",
        "subs r2, #16",
        "bhs 1b",
        "pop {{r4, r5}}",
        "2: adds r2, #16",
        "b {any}",
        any = sym __aeabi_memcpy,
    )
}

/// From and to pairs of words.
///
/// # Safety
///
/// As of `memcpy`, and both addresses are multiples of 8.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __aeabi_memcpy8(dest: *mut u8, source: *const u8, count: usize) {
    naked_asm!("b {words}", words = sym __aeabi_memcpy4)
}

/// Any bytes, also where source and destination overlap: from the end if the destination begins within the source.
///
/// # Safety
///
/// As of `memmove`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __aeabi_memmove(dest: *mut u8, source: *const u8, count: usize) {
    naked_asm!(
        "subs r3, r0, r1",
        "cmp r3, r2",
        "bhs {forward}",
        "adds r0, r2",
        "adds r1, r2",
        "subs r2, #8",
        "blo 2f",
        "1: ldr r3, [r1, #-4]!",
        "ldr r12, [r1, #-4]!",
        "str r3, [r0, #-4]!",
        "str r12, [r0, #-4]!",
        "subs r2, #8",
        "bhs 1b",
        "2: adds r2, #8",
        "beq 4f",
        "3: ldrb r3, [r1, #-1]!",
        "strb r3, [r0, #-1]!",
        "subs r2, #1",
        "bne 3b",
        "4: bx lr",
        forward = sym __aeabi_memcpy,
    )
}

/// Fills any bytes: two words at a time, then single bytes.
///
/// # Safety
///
/// As of `memset`, with count and value exchanged.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __aeabi_memset(dest: *mut u8, count: usize, value: i32) {
    naked_asm!(
        "uxtb r2, r2",
        "orr r2, r2, r2, lsl #8",
        "orr r2, r2, r2, lsl #16",
        "subs r1, #8",
        "blo 2f",
        "1: str r2, [r0], #4",
        "str r2, [r0], #4",
        "subs r1, #8",
        "bhs 1b",
        "2: adds r1, #8",
        "beq 4f",
        "3: strb r2, [r0], #1",
        "subs r1, #1",
        "bne 3b",
        "4: bx lr",
    )
}

/// Fills with zeros.
///
/// # Safety
///
/// As of [`__aeabi_memset`].
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __aeabi_memclr(dest: *mut u8, count: usize) {
    naked_asm!("movs r2, #0", "b {fill}", fill = sym __aeabi_memset)
}

/// The names under which compiled code calls these where it knows that addresses are multiples of 4 or 8.
macro_rules! aligned {
    ($($name:ident = $any:ident($($argument:ident: $kind:ty),*);)*) => {$(
        /// # Safety
        ///
        /// As of the function for any bytes.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $kind),*) {
            naked_asm!("b {any}", any = sym $any)
        }
    )*};
}

aligned! {
    __aeabi_memmove4 = __aeabi_memmove(dest: *mut u8, source: *const u8, count: usize);
    __aeabi_memmove8 = __aeabi_memmove(dest: *mut u8, source: *const u8, count: usize);
    __aeabi_memset4 = __aeabi_memset(dest: *mut u8, count: usize, value: i32);
    __aeabi_memset8 = __aeabi_memset(dest: *mut u8, count: usize, value: i32);
    __aeabi_memclr4 = __aeabi_memclr(dest: *mut u8, count: usize);
    __aeabi_memclr8 = __aeabi_memclr(dest: *mut u8, count: usize);
}
