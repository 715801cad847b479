//! How memory is copied: the functions that compiled code calls to copy a packet, a frame or the state of a task.
//!
//! The compiler's own are replaced because these are faster: docs/firmware.md says what a forwarded packet costs with
//! and without them. They are written in instructions, since the compiler would make a call of `memcpy` of such a loop.

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
