//! How much of the stack was never used. It is the first thing in RAM, so that what runs over its end meets nothing, which is a fault.
//!
//! The start-up code paints the whole stack. A probe goes up through the paint a little at a time, so that nobody waits for
//! it. The stack has never been deeper than where the paint ends.

use core::ptr::addr_of;

/// What `cortex-m-rt` paints with.
const PAINT: u32 = 0xcccc_cccc;
/// Words that are looked at in one step.
const STRIDE: usize = 2_048;

unsafe extern "C" {
    // SAFETY: boot.x defines both; memory from the first up to the second is the stack.
    pub(crate) static _stack_end: u32;
    static _stack_start: u32;
}

pub(crate) struct StackProbe {
    at: *const u32,
}

impl StackProbe {
    pub(crate) fn new() -> Self {
        StackProbe {
            at: addr_of!(_stack_end),
        }
    }

    /// Goes on. Returns the free bytes at the end of the paint, and begins again.
    pub(crate) fn step(&mut self) -> Option<u32> {
        for _ in 0..STRIDE {
            // SAFETY: it reads RAM between the end of the stack and its start; volatile, since the stack is in use.
            let painted = self.at < addr_of!(_stack_start) && unsafe { self.at.read_volatile() } == PAINT;
            if !painted {
                let free = self.at as u32 - addr_of!(_stack_end) as u32;
                *self = StackProbe::new();
                return Some(free);
            }
            self.at = self.at.wrapping_add(1);
        }
        None
    }
}

/// Uses more of the stack than there is.
// What is returned depends on the caller's own bytes, so that the calls do not become a loop.
#[inline(never)]
pub(crate) fn overflow(depth: u32) -> u32 {
    let bytes = core::hint::black_box([depth; 32]);
    if depth == u32::MAX {
        return 0;
    }
    overflow(depth + 1).wrapping_add(bytes[31])
}
