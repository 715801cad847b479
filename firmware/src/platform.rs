//! What the runner uses of the chip.

use embassy_stm32::gpio::Output;
use embassy_time::{Instant, Timer};
use hopwise_node::clock::{ClockTicks, MeshTime};
use hopwise_node::link::Micros;
#[cfg(feature = "signed")]
use hopwise_node::signature::Job;
use hopwise_node::wire::{StepSet, steps_above};
use hopwise_runner::{Platform, Task, Upkeep};

use crate::boards;
use crate::images::Images;
use crate::log::Losses;
use crate::programs::LifeSigns;
use crate::retained_ram;
use crate::stack::StackProbe;
use crate::time::{self, now};
#[cfg(feature = "signed")]
use crate::verification;

pub(crate) struct Chip;

impl Platform for Chip {
    type Images = Images;

    const NAME: &'static str = boards::NAME;

    fn now(&self) -> Micros {
        now()
    }

    fn wait_until(&self, at: Micros) -> impl Future<Output = ()> {
        Timer::at(Instant::from_micros(at))
    }

    fn can_run_at(port: u8, baud: u32) -> bool {
        boards::can_run_at(port, baud)
    }

    fn rate_steps(port: u8, baud: u32) -> StepSet {
        steps_above(baud, |rate| boards::can_run_at(port, rate))
    }

    fn time_start(start: impl FnOnce()) -> Option<ClockTicks> {
        // Nothing comes between the time and the start.
        cortex_m::interrupt::free(|_| {
            start();
            Some(time::started())
        })
    }

    fn publish(&self, time: &MeshTime) {
        time::publish(time);
    }

    fn complaint() -> Option<&'static str> {
        boards::complaint()
    }

    #[cfg(feature = "signed")]
    fn verify(&self, job: &Job) -> Option<bool> {
        verification::verify(job)
    }

    fn note_task(&self, task: Task) {
        retained_ram::run_task(task.number());
    }
}

pub(crate) struct Rest {
    led: Output<'static>,
    probe: StackProbe,
    programs: LifeSigns,
    losses: Losses,
}

impl Rest {
    pub(crate) fn new(led: Output<'static>) -> Self {
        Rest {
            led,
            probe: StackProbe::new(),
            programs: LifeSigns::default(),
            losses: Losses::default(),
        }
    }
}

impl Upkeep for Rest {
    fn heartbeat(&mut self) {
        boards::feed_watchdog();
        #[cfg(not(chip_l4))]
        boards::switch_to_external_clock();
        self.programs.look();
        self.losses.tell();
    }

    fn show(&mut self, lit: bool) {
        self.led.set_level(lit.into());
    }

    fn stack_free(&mut self) -> Option<u32> {
        self.probe.step()
    }

    fn settle(&mut self) {
        retained_ram::settle();
    }
}
