//! The priority of the node: above programs, which run in thread mode, and below the interrupts of serial ports, DMA and timer.
//!
//! The node's tasks run in an interrupt that no peripheral raises, so they interrupt programs whatever these do. Where the two share state,
//! a program raises its priority to the node's for a moment: that holds up the node, but no interrupt of a serial port.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use cortex_m::peripheral::SCB;
use cortex_m::register::{basepri, basepri_max};
use embassy_executor::{Spawner, raw};
use embassy_stm32::interrupt;
use embassy_stm32::interrupt::{InterruptExt, Priority};
use embassy_sync::blocking_mutex::raw::RawMutex;
use static_cell::StaticCell;

/// Its interrupt, which all supported chips have. It would tell that a clock is ready, and nothing enables that.
const NODE: interrupt::Interrupt = interrupt::RCC;
/// Those of the hardware are at 0, the highest of 16.
const PRIORITY: Priority = Priority::P12;

/// The node's executor, once there is one.
static RUNNING: AtomicPtr<raw::Executor> = AtomicPtr::new(null_mut());

/// Has tasks spawned that are the node's from then on, and starts them.
pub(crate) fn start_node(spawn: impl FnOnce(Spawner)) {
    static EXECUTOR: StaticCell<raw::Executor> = StaticCell::new();
    let executor: &raw::Executor = EXECUTOR.init(raw::Executor::new(NODE as usize as *mut ()));
    spawn(executor.spawner());
    RUNNING.store(core::ptr::from_ref(executor).cast_mut(), Ordering::Release);
    NODE.set_priority(PRIORITY);
    // SAFETY: its handler has what it needs.
    unsafe { NODE.enable() };
}

#[interrupt]
unsafe fn RCC() {
    // SAFETY: the interrupt is enabled once there is an executor, which lives for ever, and nothing else polls it.
    unsafe { (*RUNNING.load(Ordering::Acquire)).poll() };
}

/// Keeps the node from interrupting. Returns what to [`restore`].
pub(crate) fn keep_node_out() -> u8 {
    let before = basepri::read();
    basepri_max::write(PRIORITY as u8);
    before
}

/// # Safety
///
/// It must be what [`keep_node_out`] has returned, and the last not yet restored.
pub(crate) unsafe fn restore(before: u8) {
    // SAFETY: as the caller guarantees.
    unsafe { basepri::write(before) };
}

/// Does something in which the node does not interrupt.
pub(crate) fn with_node_out<R>(change: impl FnOnce() -> R) -> R {
    let before = keep_node_out();
    let result = change();
    // SAFETY: it is what was there before.
    unsafe { restore(before) };
    result
}

/// The lock between the node and its programs. Interrupts of the hardware are served while it is held, and must not use it.
#[derive(Debug)]
pub struct NodeLock(());

// SAFETY: programs in thread mode hold it with the node kept out, and the node never runs in the middle of its own holding. Anyone else is refused.
unsafe impl RawMutex for NodeLock {
    #[allow(clippy::declare_interior_mutable_const, reason = "there is none")]
    const INIT: Self = NodeLock(());

    fn lock<R>(&self, change: impl FnOnce() -> R) -> R {
        refuse_interrupts();
        with_node_out(change)
    }
}

/// Panics in an interrupt handler other than the node's.
// Not inlined: there are many locks.
#[inline(never)]
fn refuse_interrupts() {
    const EXCEPTIONS: u32 = 16;
    // SAFETY: reading the register changes nothing.
    let active = unsafe { (*SCB::PTR).icsr.read() } & 0x1ff;
    assert!(
        active == 0 || active == EXCEPTIONS + NODE as u32,
        "an interrupt uses what the node and its programs share"
    );
}
