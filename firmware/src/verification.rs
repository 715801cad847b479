//! Verifies signatures of images, in an interrupt of its own: below the node, which goes on routing meanwhile, and above programs, since one
//! that never waits must not keep a new image out.

use core::cell::RefCell;

use cortex_m::interrupt::{Mutex, free};
use embassy_stm32::interrupt;
use embassy_stm32::interrupt::{InterruptExt, Priority};
use hopwise_node::signature::Job;

/// Its interrupt, which all supported chips have. It would tell that the flash is ready, and nothing enables that.
const VERIFICATION: interrupt::Interrupt = interrupt::FLASH;
/// Below the node.
const PRIORITY: Priority = Priority::P14;

/// The last job, and its verdict once there is one.
static LAST: Mutex<RefCell<Option<(Job, Option<bool>)>>> = Mutex::new(RefCell::new(None));

/// The verdict about a job; `None` until there is one. Starts with the first call.
pub(crate) fn verify(job: &Job) -> Option<bool> {
    free(|section| {
        let mut last = LAST.borrow(section).borrow_mut();
        if let Some((other, verdict)) = &*last
            && (other == job || verdict.is_none())
        {
            return verdict.filter(|_| other == job);
        }
        *last = Some((*job, None));
        VERIFICATION.set_priority(PRIORITY);
        // SAFETY: its handler has what it needs.
        unsafe { VERIFICATION.enable() };
        VERIFICATION.pend();
        None
    })
}

#[interrupt]
unsafe fn FLASH() {
    let Some((job, None)) = free(|section| *LAST.borrow(section).borrow()) else {
        return;
    };
    let verdict = job.is_valid();
    free(|section| *LAST.borrow(section).borrow_mut() = Some((job, Some(verdict))));
}
