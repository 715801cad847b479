//! The board's own clock, and what time it is in the mesh.
//!
//! Frames are timed by interrupts: that of an idle line comes when a whole byte has not come after the last one. What passes between an
//! event on the wire and the look at the clock is the same each time, and taken off.

use core::cell::Cell;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::sync::atomic::{AtomicPtr, Ordering};
use core::task::{Context, Poll, RawWakerVTable, Waker};

use cortex_m::interrupt::{self, Mutex};
use embassy_time::{Instant, Timer};
use hopwise_app::Clock;
use hopwise_node::clock::{ClockTicks, MeshTime, TICKS_PER_MICRO, clock_ticks};
use hopwise_node::link::Micros;

/// From the first bit on the wire to the clock's reading.
const START_LATENCY: ClockTicks = 200;

/// What time it is in the mesh. By its name it is found from outside.
#[unsafe(no_mangle)]
static HOPWISE_MESH_TIME: Mutex<Cell<MeshTime>> = Mutex::new(Cell::new(MeshTime::UNKNOWN));

pub(crate) const CLOCK: Clock = Clock::Local { now, wake_at };

/// How the wakers of the executor's tasks are told from others, such as those of a program's own collection of futures: the timer takes only
/// these.
static TASKS: AtomicPtr<RawWakerVTable> = AtomicPtr::new(core::ptr::null_mut());

fn kind_of(waker: &Waker) -> *mut RawWakerVTable {
    core::ptr::from_ref(waker.vtable()).cast_mut()
}

/// Learns from the task that calls it which wakers those of tasks are.
pub(crate) async fn know_tasks() {
    poll_fn(|context| {
        TASKS.store(kind_of(context.waker()), Ordering::Relaxed);
        Poll::Ready(())
    })
    .await;
}

fn wake_at(at: Micros, waker: &Waker) -> bool {
    let is_task = kind_of(waker) == TASKS.load(Ordering::Relaxed);
    if is_task {
        // What is polled once wakes the task once, whatever becomes of it.
        let mut timer = Timer::at(Instant::from_micros(at));
        let _ = Pin::new(&mut timer).poll(&mut Context::from_waker(waker));
    }
    is_task
}

/// Microseconds since the start.
#[inline(never)]
pub(crate) fn now() -> Micros {
    Instant::now().as_micros()
}

/// What time it is in the mesh, for programs.
pub(crate) fn publish(time: &MeshTime) {
    interrupt::free(|token| HOPWISE_MESH_TIME.borrow(token).set(*time));
}

/// When a frame began that was started just now.
pub(crate) fn started() -> ClockTicks {
    // In the middle of the present tick of the clock.
    clock_ticks(now())
        .wrapping_add(TICKS_PER_MICRO / 2)
        .wrapping_sub(START_LATENCY)
}

/// A time that is not long ago, of which the low half is known.
pub(crate) fn whole(low: u32) -> Micros {
    let now = now();
    now.wrapping_sub(u64::from((now as u32).wrapping_sub(low)))
}
