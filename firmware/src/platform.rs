//! What the runner uses of the chip.

use core::pin::pin;

use embassy_futures::poll_once;
use embassy_stm32::gpio::Output;
use embassy_stm32::mode::Async;
use embassy_stm32::usart::UartTx;
use embassy_stm32::wdg::{IndependentWatchdog, Instance};
use embassy_time::{Instant, Timer};
use hopwise_core::clock::{Grains, MeshTime};
use hopwise_core::link::Micros;
use hopwise_runner::{Arrival, LinkRx, LinkTx, Platform, Task, Upkeep};

use crate::boards;
use crate::images::Images;
use crate::kept;
use crate::stack::StackProbe;
use crate::time::{self, now};
use crate::uart::{RING, Receiver};

/// The chip.
pub(crate) struct Chip;

impl Platform for Chip {
    type Images = Images;

    const NAME: &'static str = boards::NAME;

    fn now(&self) -> Micros {
        now()
    }

    async fn wait_until(&self, at: Micros) {
        Timer::at(Instant::from_micros(at)).await;
    }

    fn can_run_at(baud: u32) -> bool {
        boards::ports_agree_on(baud)
    }

    fn publish(&self, time: &MeshTime) {
        time::publish(time);
    }

    fn note_task(&self, task: Task) {
        kept::run_task(task.number());
    }

    fn wake_receivers(&self) -> bool {
        boards::wake_receivers();
        true
    }
}

/// LED, watchdog and stack.
pub(crate) struct Rest<W: Instance + 'static> {
    pub(crate) led: Output<'static>,
    pub(crate) watchdog: IndependentWatchdog<'static, W>,
    pub(crate) probe: StackProbe,
}

impl<W: Instance + 'static> Upkeep for Rest<W> {
    fn heartbeat(&mut self) {
        self.watchdog.pet();
    }

    fn show(&mut self, lit: bool) {
        self.led.set_level(lit.into());
    }

    fn stack_free(&mut self) -> Option<u32> {
        self.probe.step()
    }

    fn settle(&mut self) {
        kept::settle();
    }
}

/// What comes at a serial port, at a rate.
pub(crate) struct Rx {
    pub(crate) receiver: Receiver,
    pub(crate) link: u8,
    pub(crate) baud: u32,
}

impl LinkRx for Rx {
    async fn wait(&mut self) {
        self.receiver.interrupt().await;
    }

    /// Its buffer is on the stack while it is used, and one for all ports.
    fn take(&mut self, give: impl FnOnce(Arrival<'_>)) {
        let (mut faults, idle_at) = self.receiver.take_notes();
        let mut buffer = [0; RING];
        let bytes = self.receiver.read(&mut buffer).unwrap_or_else(|| {
            defmt::warn!("link {}: bytes were overwritten before they were read", self.link);
            faults.overrun = true;
            &[]
        });
        let ended = idle_at.and_then(|idle_at| time::ended(idle_at, self.baud, now()));
        give(Arrival { bytes, ended, faults });
    }
}

/// What leaves it.
pub(crate) struct Tx(pub(crate) UartTx<'static, Async>);

impl LinkTx for Tx {
    async fn send(&mut self, frame: &[u8], started: Option<impl FnOnce(Grains)>) {
        let mut write = pin!(self.0.write(frame));
        if let Some(started) = started {
            // Nothing comes between the time and the start.
            let at = cortex_m::interrupt::free(|_| {
                let _ = poll_once(write.as_mut());
                time::started()
            });
            started(at);
        }
        // A write by DMA has no errors.
        let _ = write.await;
    }
}
