//! What the node does for programs besides messages: it notices those that hang, and lets them change the flash.

use core::future::poll_fn;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::Poll;

use embassy_executor::Spawner;
use embassy_stm32::flash::{Blocking, Flash};
use embassy_stm32::peripherals;
use embassy_sync::waitqueue::AtomicWaker;
use hopwise_app::Mesh;
use hopwise_node::link::Micros;

use crate::ONCE;
use crate::boards;
use crate::priority::with_node_out;
use crate::time::now;

/// Between two looks.
const INTERVAL: Micros = 1_000_000;
/// A program may compute for so many intervals without a word in the log.
const PATIENCE: u32 = 2;

static ALIVE: AtomicBool = AtomicBool::new(false);
static WAKER: AtomicWaker = AtomicWaker::new();

/// Has programs that hang noticed from now on.
pub(crate) fn begin(spawner: Spawner) {
    ALIVE.store(true, Ordering::Relaxed);
    spawner.spawn(show_life().expect(ONCE));
}

/// Shows that programs let each other run, whenever it is woken.
#[embassy_executor::task]
async fn show_life() {
    poll_fn(|context| {
        WAKER.register(context.waker());
        ALIVE.store(true, Ordering::Relaxed);
        Poll::<()>::Pending
    })
    .await
}

/// Reports programs that let nobody else run. They do not hold up the node, so nothing else is done about it.
#[derive(Default)]
pub(crate) struct LifeSigns {
    next_look: Micros,
    /// Intervals without a sign, if there ever was one.
    silent: Option<u32>,
}

impl LifeSigns {
    /// Called several times a second.
    pub(crate) fn look(&mut self) {
        let now = now();
        if now < self.next_look {
            return;
        }
        self.next_look = now + INTERVAL;
        if ALIVE.swap(false, Ordering::Relaxed) {
            if let Some(silent) = self.silent.replace(0).filter(|silent| *silent >= PATIENCE) {
                defmt::info!("the program has let others run again after {} s", silent);
            }
        } else if let Some(silent) = &mut self.silent {
            *silent += 1;
            // Ever more rarely.
            if *silent >= PATIENCE && silent.is_power_of_two() {
                defmt::warn!("a program has not let others run for {} s", silent);
            }
        }
        WAKER.wake();
    }
}

/// Lets a program change the flash, within a number of microseconds: two seconds at most, in which the watchdog lives. The neighbors know of the
/// pause before it begins, so links stay up. `None` if the flash is not laid out as embassy expects, or the supply is too low.
///
/// A program has only the parts of the flash that the board's memory map leaves free. Without this, writing to them would stop
/// the board's links, and could meet the node's own writing in the middle.
pub async fn change_flash<R>(
    mesh: Mesh<'_>,
    within: Micros,
    change: impl FnOnce(&mut Flash<'_, Blocking>) -> R,
) -> Option<R> {
    let _pause = mesh.pause(within).await;
    // SAFETY: others change other parts of the flash, and none of them runs meanwhile.
    let mut flash = boards::flash(unsafe { peripherals::FLASH::steal() })?;
    with_node_out(|| boards::change_flash(|| change(&mut flash)))
}
